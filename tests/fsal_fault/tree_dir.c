// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The computed tree: names. Changes of names are refused.
 */
#include "tree.h"

#include <errno.h>

/** Cookies 0, 1 and 2 are NFS's. */
#define FIRST_COOKIE 3

static fsal_status_t tree_lookup_name(struct fsal_obj_handle *dir_hdl,
				      const char *name,
				      struct fsal_obj_handle **handle,
				      struct fsal_attrlist *attrs)
{
	struct tree_export *exp = tree_export(op_ctx->fsal_export);
	uint64_t dir = tree_obj(dir_hdl)->number;
	uint64_t number;

	*handle = NULL;
	if (dir_hdl->type != DIRECTORY)
		return fsalstat(ERR_FSAL_NOTDIR, ENOTDIR);
	if (!tree_exists(exp, dir))
		return fsalstat(ERR_FSAL_STALE, ESTALE);
	if (strcmp(name, "..") == 0)
		number = tree_parent(&exp->shape, dir);
	else
		number = tree_lookup(&exp->shape, dir, name);
	if (number == 0 || !tree_exists(exp, number))
		return fsalstat(ERR_FSAL_NOENT, ENOENT);
	*handle = tree_new(exp, number, attrs);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

/* Must not go on for thousands of names where MDCACHE has answered with
 * DIR_READAHEAD: MDCACHE 4.3 hangs on a lock of its own later, as the server
 * is to end.
 */
static fsal_status_t tree_readdir(struct fsal_obj_handle *dir_hdl,
				  fsal_cookie_t *whence, void *dir_state,
				  fsal_readdir_cb cb, attrmask_t attrmask,
				  bool *eof)
{
	struct tree_export *exp = tree_export(op_ctx->fsal_export);
	uint64_t dir = tree_obj(dir_hdl)->number;
	uint64_t entries = tree_entries(&exp->shape, dir);
	uint64_t index = 0;

	if (!tree_exists(exp, dir))
		return fsalstat(ERR_FSAL_STALE, ESTALE);
	/* A cookie is that of the last name the caller has. */
	if (whence != NULL && *whence != 0) {
		if (*whence < FIRST_COOKIE)
			return fsalstat(ERR_FSAL_BADCOOKIE, 0);
		index = *whence - FIRST_COOKIE + 1;
	}
	*eof = true;
	for (; index < entries; index++) {
		uint64_t number = tree_child(&exp->shape, dir, index);
		char name[TREE_NAME_SIZE];
		struct fsal_attrlist attrs;
		enum fsal_dir_result result;

		if (changes_get(&exp->changes, number).hidden)
			continue;
		tree_name(&exp->shape, number, name);
		fsal_prepare_attrs(&attrs, attrmask);
		result = cb(name, tree_new(exp, number, &attrs), &attrs,
			    dir_state, index + FIRST_COOKIE);
		fsal_release_attrs(&attrs);
		/* As CEPH and GLUSTER do; else a page of a large directory
		 * costs all of what follows it. */
		if (result >= DIR_READAHEAD) {
			*eof = false;
			break;
		}
	}
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t tree_readlink(struct fsal_obj_handle *obj_hdl,
				   struct gsh_buffdesc *content, bool refresh)
{
	struct tree_export *exp = tree_export(op_ctx->fsal_export);
	uint64_t number = tree_obj(obj_hdl)->number;
	char target[TREE_NAME_SIZE];

	(void)refresh;
	if (!tree_exists(exp, number))
		return fsalstat(ERR_FSAL_STALE, ESTALE);
	tree_target(&exp->shape, number, target);
	content->addr = gsh_strdup(target);
	content->len = strlen(target) + 1;
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t read_only(void)
{
	return fsalstat(ERR_FSAL_ROFS, EROFS);
}

static fsal_status_t tree_mkdir(struct fsal_obj_handle *dir_hdl,
				const char *name, struct fsal_attrlist *attrs,
				struct fsal_obj_handle **new_obj,
				struct fsal_attrlist *attrs_out)
{
	(void)dir_hdl;
	(void)name;
	(void)attrs;
	(void)attrs_out;
	*new_obj = NULL;
	return read_only();
}

static fsal_status_t tree_mknode(struct fsal_obj_handle *dir_hdl,
				 const char *name, object_file_type_t nodetype,
				 struct fsal_attrlist *attrs,
				 struct fsal_obj_handle **new_obj,
				 struct fsal_attrlist *attrs_out)
{
	(void)nodetype;
	return tree_mkdir(dir_hdl, name, attrs, new_obj, attrs_out);
}

static fsal_status_t tree_symlink(struct fsal_obj_handle *dir_hdl,
				  const char *name, const char *target,
				  struct fsal_attrlist *attrs,
				  struct fsal_obj_handle **new_obj,
				  struct fsal_attrlist *attrs_out)
{
	(void)target;
	return tree_mkdir(dir_hdl, name, attrs, new_obj, attrs_out);
}

static fsal_status_t tree_link(struct fsal_obj_handle *obj_hdl,
			       struct fsal_obj_handle *dir_hdl,
			       const char *name)
{
	(void)obj_hdl;
	(void)dir_hdl;
	(void)name;
	return read_only();
}

static fsal_status_t tree_rename(struct fsal_obj_handle *obj_hdl,
				 struct fsal_obj_handle *old_dir,
				 const char *old_name,
				 struct fsal_obj_handle *new_dir,
				 const char *new_name)
{
	(void)obj_hdl;
	(void)old_dir;
	(void)old_name;
	(void)new_dir;
	(void)new_name;
	return read_only();
}

static fsal_status_t tree_unlink(struct fsal_obj_handle *dir_hdl,
				 struct fsal_obj_handle *obj_hdl,
				 const char *name)
{
	return tree_link(obj_hdl, dir_hdl, name);
}

void tree_dir_ops_init(struct fsal_obj_ops *ops)
{
	ops->lookup = tree_lookup_name;
	ops->readdir = tree_readdir;
	ops->readlink = tree_readlink;
	ops->mkdir = tree_mkdir;
	ops->mknode = tree_mknode;
	ops->symlink = tree_symlink;
	ops->link = tree_link;
	ops->rename = tree_rename;
	ops->unlink = tree_unlink;
}
