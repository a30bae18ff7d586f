// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The backend of tree.h: objects, and what is done with names.
 */
#include "tree_backend.h"

#include "passing.h"

#include <stdio.h>
#include <stdlib.h>

#include "nfs4_acls.h"

struct fsal_obj_ops tree_obj_ops;

void tree_wrong(const char *what)
{
	fprintf(stderr, "\n    the backend was misused: %s", what);
	__atomic_add_fetch(&tree.wrong, 1, __ATOMIC_RELAXED);
}

/* --- Each call ----------------------------------------------------------- */

static void run_hook(enum tree_op op, bool after)
{
	struct tree_hook hook = tree.hook;
	struct fsal_export *mine = op_ctx->fsal_export;

	if (hook.run == NULL || hook.op != op || hook.after != after)
		return;
	tree.hook.run = NULL;
	/* As another request of a client's would come. */
	op_ctx->fsal_export = mine->super_export;
	hook.run(hook.arg);
	op_ctx->fsal_export = mine;
}

static bool fails(enum tree_op op, bool after, fsal_status_t *status)
{
	struct tree_fault *fault = &tree.faults[op];

	if (fault->times == 0 || fault->after != after)
		return false;
	fault->times--;
	*status = fsalstat(fault->error, 0);
	return true;
}

bool tree_begin(enum tree_op op, fsal_status_t *status)
{
	*status = fsalstat(ERR_FSAL_NO_ERROR, 0);
	tree.calls[op]++;
	tree.total++;
	if (op_ctx == NULL || op_ctx->fsal_export == NULL ||
	    op_ctx->fsal_export->fsal == &SCALE.module)
		tree_wrong("its export was not current");
	pass_ns(tree.delay_ns[op]);
	run_hook(op, false);
	return !fails(op, false, status);
}

fsal_status_t tree_end(enum tree_op op, fsal_status_t status)
{
	run_hook(op, true);
	(void)fails(op, true, &status);
	return status;
}

/* --- Objects ------------------------------------------------------------- */

#define MAGIC 0x74726565

static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER;

struct tree_obj *tree_obj(const struct fsal_obj_handle *obj_hdl)
{
	struct tree_obj *obj = container_of(obj_hdl, struct tree_obj, obj);

	if (obj->magic != MAGIC)
		tree_wrong("an object was used after its release");
	return obj;
}

struct fsal_obj_handle *tree_new_obj(struct tree_node *node)
{
	struct tree_obj *obj;

	if (tree.lie_nothing)
		return NULL;
	PTHREAD_MUTEX_lock(&objects_lock);
	obj = tree.same_object ? node->obj : NULL;
	if (obj != NULL) {
		obj->refs++;
		PTHREAD_MUTEX_unlock(&objects_lock);
		return &obj->obj;
	}
	obj = calloc(1, sizeof(*obj));
	obj->magic = MAGIC;
	obj->refs = 1;
	obj->node = node;
	obj->key_len = tree_key(node, obj->key);
	obj->obj.obj_ops = &tree_obj_ops;
	obj->obj.type = node->type;
	obj->obj.fileid = node->id;
	obj->obj.fsid.major = node->fsid;
	obj->obj.fs =
		(struct fsal_filesystem *)(uintptr_t)(0x1000 * node->fsid);
	obj->obj.fsal = op_ctx->fsal_export->fsal;
	if (tree.same_object)
		node->obj = obj;
	tree.objects++;
	PTHREAD_MUTEX_unlock(&objects_lock);
	return &obj->obj;
}

static void tree_release(struct fsal_obj_handle *obj_hdl)
{
	struct tree_obj *obj = tree_obj(obj_hdl);

	if (op_ctx == NULL || op_ctx->fsal_export == NULL ||
	    op_ctx->fsal_export->fsal == &SCALE.module)
		tree_wrong("an object was released in a wrong context");
	PTHREAD_MUTEX_lock(&objects_lock);
	if (--obj->refs == 0) {
		if (obj->states != 0)
			tree_wrong("an object was released with open states");
		if (obj->fd)
			tree_wrong("an object was released without a close");
		if (obj->node->obj == obj)
			obj->node->obj = NULL;
		tree.objects--;
		obj->magic = 0;
		free(obj);
	}
	PTHREAD_MUTEX_unlock(&objects_lock);
}

/* As VFS: what is open in the duplicate is open in the original from now on. */
static fsal_status_t tree_merge(struct fsal_obj_handle *orig_hdl,
				struct fsal_obj_handle *dupe_hdl)
{
	struct tree_obj *orig = tree_obj(orig_hdl);
	struct tree_obj *dupe = tree_obj(dupe_hdl);

	if (orig->node != dupe->node)
		tree_wrong("two different objects were merged");
	if ((orig->writers != 0 && dupe->deny_write != 0) ||
	    (dupe->writers != 0 && orig->deny_write != 0))
		return fsalstat(ERR_FSAL_SHARE_DENIED, 0);
	orig->states += dupe->states;
	orig->writers += dupe->writers;
	orig->deny_write += dupe->deny_write;
	dupe->states = dupe->writers = dupe->deny_write = 0;
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static void tree_handle_to_key(struct fsal_obj_handle *obj_hdl,
			       struct gsh_buffdesc *fh_desc)
{
	struct tree_obj *obj = tree_obj(obj_hdl);

	fh_desc->addr = obj->key;
	fh_desc->len = obj->key_len;
}

static fsal_status_t tree_handle_to_wire(const struct fsal_obj_handle *obj_hdl,
					 fsal_digesttype_t output_type,
					 struct gsh_buffdesc *fh_desc)
{
	char wire[160];
	size_t len = tree_wire(tree_obj(obj_hdl)->node, wire);

	(void)output_type;
	if (fh_desc->len < len)
		return fsalstat(ERR_FSAL_TOOSMALL, 0);
	memcpy(fh_desc->addr, wire, len);
	fh_desc->len = len;
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

bool tree_dead(const struct tree_obj *obj, fsal_status_t *status)
{
	if (obj->node->nlink != 0 || obj->states != 0)
		return false;
	*status = fsalstat(ERR_FSAL_STALE, ESTALE);
	return true;
}

void tree_fill(struct fsal_attrlist *attrs, const struct tree_node *node)
{
	if (attrs == NULL)
		return;
	attrs->supported = tree.supported;
	attrs->valid_mask =
		tree.gives & ~(attrmask_t)ATTR_ACL &
		(tree.gives_asked_only ? attrs->request_mask : UINT64_MAX);
	attrs->type = node->type;
	attrs->fsid.major = node->fsid;
	attrs->fileid = node->id;
	attrs->mode = node->mode;
	attrs->numlinks = node->nlink;
	attrs->owner = node->owner;
	attrs->group = node->owner;
	attrs->filesize = node->size;
	attrs->spaceused = node->size;
	attrs->change = node->change;
	attrs->atime = attrs->mtime = attrs->ctime = node->ctime;
	if ((tree.gives & attrs->request_mask & ATTR_ACL) != 0 &&
	    node->acl != NULL) {
		nfs4_acl_entry_inc_ref(node->acl);
		attrs->acl = node->acl;
		attrs->valid_mask |= ATTR_ACL;
	}
}

static bool refused(const struct tree_obj *dir, fsal_status_t *status)
{
	(void)dir;
	if (tree.refused_uid == 0 ||
	    op_ctx->creds.caller_uid != tree.refused_uid)
		return false;
	*status = fsalstat(ERR_FSAL_ACCESS, EACCES);
	return true;
}

static fsal_status_t tree_lookup(struct fsal_obj_handle *dir_hdl,
				 const char *name,
				 struct fsal_obj_handle **handle,
				 struct fsal_attrlist *attrs_out)
{
	struct tree_obj *dir = tree_obj(dir_hdl);
	struct tree_node *node;
	fsal_status_t status;

	if (!tree_begin(TREE_LOOKUP, &status) || tree_dead(dir, &status) ||
	    refused(dir, &status))
		return status;
	node = strcmp(name, "..") == 0 ? dir->node->parent :
					 tree_find(dir->node, name);
	if (node == NULL)
		return tree_end(TREE_LOOKUP, fsalstat(ERR_FSAL_NOENT, ENOENT));
	tree_fill(attrs_out, node);
	status = tree_end(TREE_LOOKUP, status);
	if (!FSAL_IS_ERROR(status))
		*handle = tree_new_obj(node);
	return status;
}

static bool whence_is_name(void)
{
	return (tree.supports >> fso_whence_is_name) & 1;
}

/* A cookie is good whatever has been removed: it goes on after it. */
static fsal_cookie_t begin_after(const struct tree_node *dir,
				 const fsal_cookie_t *whence)
{
	if (whence == NULL)
		return 0;
	if (!whence_is_name())
		return *whence;
	for (size_t i = 0; i < dir->num_names; i++) {
		if (strcmp(dir->names[i].name, (const char *)whence) == 0)
			return dir->names[i].cookie + 2;
	}
	return 0;
}

static fsal_status_t tree_readdir(struct fsal_obj_handle *dir_hdl,
				  fsal_cookie_t *whence, void *dir_state,
				  fsal_readdir_cb cb, attrmask_t attrmask,
				  bool *eof)
{
	struct fsal_export *mine = op_ctx->fsal_export;
	struct tree_obj *dir = tree_obj(dir_hdl);
	fsal_cookie_t after = begin_after(dir->node, whence);
	struct tree_node *node = dir->node;
	fsal_status_t status;
	size_t given = 0;

	*eof = false;
	if (!tree_begin(TREE_READDIR, &status) || tree_dead(dir, &status) ||
	    refused(dir, &status))
		return status;
	for (size_t i = 0; i < node->num_names; i++) {
		struct tree_name *name = &node->names[i];
		struct fsal_attrlist attrs;
		enum fsal_dir_result result;

		if (name->cookie + 2 <= after)
			continue;
		if (tree.stuck)
			return tree_end(TREE_READDIR, status);
		if (tree.batch != 0 && given++ == tree.batch)
			return tree_end(TREE_READDIR, status);
		pass_ns(tree.name_delay_ns);
		fsal_prepare_attrs(&attrs, attrmask);
		tree_fill(&attrs, name->node);
		result = cb(name->name, tree_new_obj(name->node), &attrs,
			    dir_state, name->cookie + 2);
		fsal_release_attrs(&attrs);
		if (op_ctx->fsal_export != mine)
			tree_wrong("a callback left another export current");
		if (result >= DIR_READAHEAD) {
			*eof = false;
			return tree_end(TREE_READDIR, status);
		}
	}
	*eof = true;
	return tree_end(TREE_READDIR, status);
}

static fsal_status_t make(enum tree_op op, struct fsal_obj_handle *dir_hdl,
			  const char *name, object_file_type_t type,
			  struct fsal_obj_handle **new_obj,
			  struct fsal_attrlist *attrs_out, const char *target)
{
	struct tree_obj *dir = tree_obj(dir_hdl);
	struct tree_node *node;
	fsal_status_t status;

	if (!tree_begin(op, &status) || tree_dead(dir, &status))
		return status;
	if (tree_find(dir->node, name) != NULL)
		return tree_end(op, fsalstat(ERR_FSAL_EXIST, EEXIST));
	node = tree_make(dir->node, name, type);
	if (target != NULL)
		node->target = strdup(target);
	tree_fill(attrs_out, node);
	status = tree_end(op, status);
	if (!FSAL_IS_ERROR(status))
		*new_obj = tree_new_obj(node);
	return status;
}

static fsal_status_t tree_mkdir(struct fsal_obj_handle *dir, const char *name,
				struct fsal_attrlist *attrs_in,
				struct fsal_obj_handle **new_obj,
				struct fsal_attrlist *attrs_out)
{
	(void)attrs_in;
	return make(TREE_MKDIR, dir, name, DIRECTORY, new_obj, attrs_out, NULL);
}

static fsal_status_t tree_mknode(struct fsal_obj_handle *dir, const char *name,
				 object_file_type_t type,
				 struct fsal_attrlist *attrs_in,
				 struct fsal_obj_handle **new_obj,
				 struct fsal_attrlist *attrs_out)
{
	(void)attrs_in;
	return make(TREE_MKNODE, dir, name, type, new_obj, attrs_out, NULL);
}

static fsal_status_t tree_symlink(struct fsal_obj_handle *dir, const char *name,
				  const char *link_path,
				  struct fsal_attrlist *attrs_in,
				  struct fsal_obj_handle **new_obj,
				  struct fsal_attrlist *attrs_out)
{
	(void)attrs_in;
	return make(TREE_SYMLINK, dir, name, SYMBOLIC_LINK, new_obj, attrs_out,
		    link_path);
}

static fsal_status_t tree_do_link(struct fsal_obj_handle *obj_hdl,
				  struct fsal_obj_handle *dir_hdl,
				  const char *name)
{
	struct tree_obj *obj = tree_obj(obj_hdl);
	struct tree_obj *dir = tree_obj(dir_hdl);
	fsal_status_t status;

	if (!tree_begin(TREE_LINK, &status) || tree_dead(obj, &status) ||
	    tree_dead(dir, &status))
		return status;
	if (tree_find(dir->node, name) != NULL)
		return tree_end(TREE_LINK, fsalstat(ERR_FSAL_EXIST, EEXIST));
	tree_link(dir->node, name, obj->node);
	return tree_end(TREE_LINK, status);
}

static fsal_status_t tree_do_rename(struct fsal_obj_handle *obj_hdl,
				    struct fsal_obj_handle *old_hdl,
				    const char *old_name,
				    struct fsal_obj_handle *new_hdl,
				    const char *new_name)
{
	struct tree_node *from = tree_obj(old_hdl)->node;
	struct tree_node *to = tree_obj(new_hdl)->node;
	struct tree_node *node, *replaced;
	fsal_status_t status;

	(void)tree_obj(obj_hdl);
	if (!tree_begin(TREE_RENAME, &status))
		return status;
	node = tree_find(from, old_name);
	replaced = tree_find(to, new_name);
	if (node == NULL)
		return tree_end(TREE_RENAME, fsalstat(ERR_FSAL_NOENT, ENOENT));
	if (replaced != NULL && replaced->num_names != 0)
		return tree_end(TREE_RENAME,
				fsalstat(ERR_FSAL_NOTEMPTY, ENOTEMPTY));
	tree_rename(from, old_name, to, new_name);
	return tree_end(TREE_RENAME, status);
}

static fsal_status_t tree_unlink(struct fsal_obj_handle *dir_hdl,
				 struct fsal_obj_handle *obj_hdl,
				 const char *name)
{
	struct tree_node *dir = tree_obj(dir_hdl)->node;
	struct tree_node *node;
	fsal_status_t status;

	(void)tree_obj(obj_hdl);
	if (!tree_begin(TREE_UNLINK, &status))
		return status;
	node = tree_find(dir, name);
	if (node == NULL)
		return tree_end(TREE_UNLINK, fsalstat(ERR_FSAL_NOENT, ENOENT));
	if (node->num_names != 0)
		return tree_end(TREE_UNLINK,
				fsalstat(ERR_FSAL_NOTEMPTY, ENOTEMPTY));
	tree_remove(dir, name);
	return tree_end(TREE_UNLINK, status);
}

int tree_register(const char *name)
{
	struct fsal_module *module = calloc(1, sizeof(*module));
	struct fsal_obj_ops *ops = &tree_obj_ops;
	int rc = register_fsal(module, name, FSAL_MAJOR_VERSION,
			       FSAL_MINOR_VERSION, FSAL_ID_NO_PNFS);

	if (rc != 0)
		return rc;
	module->m_ops.create_export = tree_create_export;
	fsal_default_obj_ops_init(ops);
	ops->release = tree_release;
	ops->merge = tree_merge;
	ops->handle_to_key = tree_handle_to_key;
	ops->handle_to_wire = tree_handle_to_wire;
	ops->lookup = tree_lookup;
	ops->readdir = tree_readdir;
	ops->mkdir = tree_mkdir;
	ops->mknode = tree_mknode;
	ops->symlink = tree_symlink;
	ops->link = tree_do_link;
	ops->rename = tree_do_rename;
	ops->unlink = tree_unlink;
	tree_file_ops_init(ops);
	return 0;
}
