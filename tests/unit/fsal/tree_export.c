// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The backend of tree.h: exports, and handles of clients.
 */
#include "tree_backend.h"

#include <stdlib.h>

struct tree_export {
	struct fsal_export export;
	const struct fsal_up_vector *up;
	uint64_t fsid; /**< of its root, once that was looked up */
};

static struct tree_export *tree_export(struct fsal_export *exp_hdl)
{
	return container_of(exp_hdl, struct tree_export, export);
}

const struct fsal_up_vector *tree_up(const struct fsal_export *sub_export)
{
	return tree_export((struct fsal_export *)sub_export)->up;
}

/* "/2" is the root of the other file system, all else of the first. */
static fsal_status_t tree_lookup_path(struct fsal_export *exp_hdl,
				      const char *path,
				      struct fsal_obj_handle **handle,
				      struct fsal_attrlist *attrs_out)
{
	struct tree_node *node = strcmp(path, "/2") == 0 ? tree.other :
							   tree.root;
	fsal_status_t status;

	if (!tree_begin(TREE_LOOKUP_PATH, &status))
		return status;
	tree_export(exp_hdl)->fsid = node->fsid;
	tree_fill(attrs_out, node);
	*handle = tree_new_obj(node);
	return tree_end(TREE_LOOKUP_PATH, status);
}

static fsal_status_t tree_wire_to_host(struct fsal_export *exp_hdl,
				       fsal_digesttype_t in_type,
				       struct gsh_buffdesc *fh_desc, int flags)
{
	char *bytes = fh_desc->addr;

	(void)exp_hdl;
	(void)in_type;
	(void)flags;
	if (fh_desc->len != 16 + tree.key_padding)
		return fsalstat(ERR_FSAL_BADHANDLE, 0);
	for (size_t i = 0; tree.wire_apart && i < fh_desc->len; i++)
		bytes[i] = (char)~bytes[i];
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t tree_host_to_key(struct fsal_export *exp_hdl,
				      struct gsh_buffdesc *fh_desc)
{
	(void)exp_hdl;
	memset((char *)fh_desc->addr + fh_desc->len, 'x', tree.key_extra);
	fh_desc->len += tree.key_extra;
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static struct tree_node *by_handle(const struct gsh_buffdesc *fh)
{
	struct glist_head *g;
	char key[160];

	glist_for_each(g, &tree.nodes) {
		struct tree_node *node = glist_entry(g, struct tree_node, all);

		if (tree_key(node, key) - tree.key_extra == fh->len &&
		    memcmp(key, fh->addr, fh->len) == 0)
			return node;
	}
	return NULL;
}

static fsal_status_t tree_create_handle(struct fsal_export *exp_hdl,
					struct gsh_buffdesc *fh_desc,
					struct fsal_obj_handle **handle,
					struct fsal_attrlist *attrs_out)
{
	struct tree_node *node;
	fsal_status_t status;

	if (!tree_begin(TREE_CREATE_HANDLE, &status))
		return status;
	node = tree.lie_other != NULL ? tree.lie_other : by_handle(fh_desc);
	if (node == NULL || node->nlink == 0 ||
	    (tree.check_fsid && node->fsid != tree_export(exp_hdl)->fsid))
		return tree_end(TREE_CREATE_HANDLE,
				fsalstat(ERR_FSAL_STALE, ESTALE));
	tree_fill(attrs_out, node);
	status = tree_end(TREE_CREATE_HANDLE, status);
	if (!FSAL_IS_ERROR(status))
		*handle = tree_new_obj(node);
	return status;
}

static fsal_status_t tree_space(struct fsal_export *exp_hdl,
				struct fsal_obj_handle *obj_hdl,
				fsal_dynamicfsinfo_t *info)
{
	fsal_status_t status;

	(void)exp_hdl;
	if (!tree_begin(TREE_SPACE, &status))
		return status;
	memset(info, 0, sizeof(*info));
	info->total_bytes = tree_obj(obj_hdl)->node->fsid * 1000;
	info->free_bytes = tree.calls[TREE_SPACE];
	return tree_end(TREE_SPACE, status);
}

static bool tree_fs_supports(struct fsal_export *exp_hdl,
			     fsal_fsinfo_options_t option)
{
	(void)exp_hdl;
	return (tree.supports >> option) & 1;
}

static attrmask_t tree_fs_supported_attrs(struct fsal_export *exp_hdl)
{
	(void)exp_hdl;
	return tree.supported;
}

static void tree_export_release(struct fsal_export *exp_hdl)
{
	free(tree_export(exp_hdl));
}

fsal_status_t tree_create_export(struct fsal_module *fsal_hdl, void *parse_node,
				 struct config_error_type *err_type,
				 const struct fsal_up_vector *up_ops)
{
	struct tree_export *exp = calloc(1, sizeof(*exp));
	struct export_ops *ops = &exp->export.exp_ops;

	(void)parse_node;
	(void)err_type;
	fsal_export_init(&exp->export);
	ops->release = tree_export_release;
	ops->lookup_path = tree_lookup_path;
	ops->wire_to_host = tree_wire_to_host;
	ops->host_to_key = tree_host_to_key;
	ops->create_handle = tree_create_handle;
	ops->get_fs_dynamic_info = tree_space;
	ops->fs_supports = tree_fs_supports;
	ops->fs_supported_attrs = tree_fs_supported_attrs;
	tree_file_export_ops_init(ops);
	exp->export.fsal = fsal_hdl;
	exp->up = up_ops;
	op_ctx->fsal_export = &exp->export;
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}
