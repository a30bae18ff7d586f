// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Exports: reading the FSAL block, putting FAULT on top of another FSAL's
 * export or of a tree's, and taking both away again.
 */
#include "fault.h"

#include <errno.h>

#include "tree.h"

struct export_args {
	struct subfsal_args backend;
	/** an FSAL block was there, and named a FSAL that can be loaded */
	bool stacked;
	bool has_tree;
	struct tree_shape tree;
};

static int backend_commit(void *node, void *link_mem, void *self_struct,
			  struct config_error_type *err_type)
{
	struct subfsal_args *backend = self_struct;

	if (subfsal_commit(node, link_mem, self_struct, err_type) != 0)
		return 1;
	container_of(backend, struct export_args, backend)->stacked = true;
	return 0;
}

static int tree_commit(void *node, void *link_mem, void *self_struct,
		       struct config_error_type *err_type)
{
	struct tree_shape *tree = self_struct;

	(void)node;
	(void)link_mem;
	(void)err_type;
	container_of(tree, struct export_args, tree)->has_tree = true;
	return 0;
}

static struct config_item backend_params[] = {
	CONF_ITEM_STR("name", 1, 32, NULL, subfsal_args, name), CONFIG_EOL
};

static struct config_item tree_params[] = {
	CONF_ITEM_UI32("Directories", 0, TREE_MAX_DIRECTORIES, 100, tree_shape,
		       directories),
	CONF_ITEM_UI32("Files", 0, TREE_MAX_FILES, 1000, tree_shape, files),
	CONF_ITEM_UI32("Links", 0, TREE_MAX_FILES, 0, tree_shape, links),
	CONF_ITEM_UI64("File_Size", 0, INT64_MAX / 2, 16384, tree_shape,
		       file_size),
	CONF_ITEM_BOOL("Readdir_Plus", true, tree_shape, readdir_plus),
	CONFIG_EOL
};

static struct config_item export_params[] = {
	CONF_ITEM_NOOP("name"),
	CONF_RELAX_BLOCK("FSAL", backend_params, noop_conf_init, backend_commit,
			 export_args, backend),
	CONF_ITEM_BLOCK("Tree", tree_params, noop_conf_init, tree_commit,
			export_args, tree),
	CONFIG_EOL
};

static struct config_block export_block = {
	.dbus_interface_name = "org.ganesha.nfsd.config.fsal.fault-export%d",
	.blk_desc.name = "FSAL",
	.blk_desc.type = CONFIG_BLOCK,
	.blk_desc.u.blk.init = noop_conf_init,
	.blk_desc.u.blk.params = export_params,
	.blk_desc.u.blk.commit = noop_conf_commit
};

/*
 * Read the FSAL block.
 * @param[out] backend  The module below, with a reference; NULL for a tree
 * @return false when an error was reported.
 */
static bool read_block(void *parse_node, struct export_args *args,
		       struct fsal_module **backend,
		       struct config_error_type *err_type)
{
	memset(args, 0, sizeof(*args));
	*backend = NULL;
	(void)load_config_from_node(parse_node, &export_block, args, true,
				    err_type);
	/* subfsal_commit() has taken the reference. */
	if (args->stacked) {
		*backend = lookup_fsal(args->backend.name);
		if (*backend != NULL)
			fsal_put(*backend);
	}
	gsh_free(args->backend.name);
	if (config_error_is_harmless(err_type) &&
	    args->has_tree != (*backend != NULL))
		return true;
	LogCrit(COMPONENT_CONFIG,
		"FSAL FAULT needs one backend: a block FSAL { Name = VFS; } or a block Tree { Directories = 100; }, which must not be empty, and not both");
	if (*backend != NULL)
		fsal_put(*backend);
	err_type->invalid = true;
	return false;
}

fsal_status_t fault_create_export(struct fsal_module *fsal_hdl,
				  void *parse_node,
				  struct config_error_type *err_type,
				  const struct fsal_up_vector *up_ops)
{
	struct fault_export *exp;
	struct fsal_module *backend;
	struct export_args args;
	fsal_status_t status = { ERR_FSAL_NO_ERROR, 0 };

	if (!read_block(parse_node, &args, &backend, err_type))
		return fsalstat(ERR_FSAL_INVAL, EINVAL);

	/* Keys are the backend's, so its up-calls need no translation: it gets
	 * the vector of the layer above.
	 */
	if (backend == NULL)
		tree_create_export(&args.tree);
	else
		status = backend->m_ops.create_export(
			backend, args.backend.fsal_node, err_type, up_ops);
	if (FSAL_IS_ERROR(status)) {
		fsal_put(backend);
		return status;
	}

	exp = gsh_calloc(1, sizeof(*exp));
	exp->export.fsal = fsal_hdl;
	exp->export.up_ops = up_ops;
	fsal_export_init(&exp->export);
	fault_export_ops_init(&exp->export.exp_ops);
	fsal_export_stack(op_ctx->fsal_export, &exp->export);
	fault_count_export(exp);
	op_ctx->fsal_export = &exp->export;
	return status;
}

fsal_status_t fault_update_export(struct fsal_module *fsal_hdl,
				  void *parse_node,
				  struct config_error_type *err_type,
				  struct fsal_export *original,
				  struct fsal_module *updated_super)
{
	struct fsal_module *backend;
	struct export_args args;
	struct fsal_export *above;
	fsal_status_t status;

	status = update_export(fsal_hdl, parse_node, err_type, original,
			       updated_super);
	if (FSAL_IS_ERROR(status))
		return status;
	if (!read_block(parse_node, &args, &backend, err_type))
		return fsalstat(ERR_FSAL_INVAL, EINVAL);
	/* A tree stays as it was made. */
	if (backend == NULL)
		return status;
	if (backend != original->sub_export->fsal) {
		status = fsalstat(ERR_FSAL_INVAL, EINVAL);
	} else {
		above = op_ctx->fsal_export;
		op_ctx->fsal_export = original->sub_export;
		status = backend->m_ops.update_export(
			backend, args.backend.fsal_node, err_type,
			original->sub_export, fsal_hdl);
		op_ctx->fsal_export = above;
	}
	fsal_put(backend);
	return status;
}

void fault_export_release(struct fsal_export *exp_hdl)
{
	struct fault_export *exp = fault_export(exp_hdl);
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_module *backend = sub_exp->fsal;
	struct fault_call call;

	fault_begin_sure(&call, FAULT_OP_export_release, exp_hdl);
	sub_exp->exp_ops.release(sub_exp);
	fault_up(&call);
	if (!tree_is_module(backend))
		fsal_put(backend);
	fault_forget_export(exp);
	free_export_ops(exp_hdl);
	gsh_free(exp);
}
