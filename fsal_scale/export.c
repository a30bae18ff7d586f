// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Exports: reading the FSAL block, putting SCALE on top of the backend's
 * export, and taking both away again.
 */
#include "scale.h"

#include <strings.h>

/* FSAL { Name = SCALE; FSAL { Name = VFS; ... } } */

struct export_args {
	struct subfsal_args backend;
};

static int backend_commit(void *node, void *link_mem, void *self_struct,
			  struct config_error_type *err_type)
{
	const struct subfsal_args *backend = self_struct;
	int errors;

	if (backend->name != NULL &&
	    strcasecmp(backend->name, SCALE_NAME) == 0) {
		scale_config_error(
			node, err_type,
			"FSAL SCALE on FSAL SCALE: Name = %s; "
			"name the file system's own FSAL here, as VFS",
			backend->name);
		err_type->invalid = true;
		return 1;
	}
	/* Loads the module; what is wrong with it was reported. */
	errors = subfsal_commit(node, link_mem, self_struct, err_type);
	if (errors != 0) {
		scale_config_error(
			node, err_type,
			"FSAL SCALE has no backend: Name = %s; give the name "
			"of an installed FSAL, as VFS, PROXY_V4, MEM, GLUSTER, "
			"CEPH or GPFS (packages nfs-ganesha-vfs and so on)",
			backend->name != NULL ? backend->name : "");
		return errors;
	}
	return 0;
}

static struct config_item backend_params[] = {
	CONF_ITEM_STR("name", 1, 32, NULL, subfsal_args, name), CONFIG_EOL
};

static struct config_item export_params[] = {
	CONF_ITEM_NOOP("name"),
	CONF_RELAX_BLOCK("FSAL", backend_params, noop_conf_init, backend_commit,
			 export_args, backend),
	CONFIG_EOL
};

static struct config_block export_block = {
	.dbus_interface_name = "org.ganesha.nfsd.config.fsal.scale-export%d",
	.blk_desc.name = "FSAL",
	.blk_desc.type = CONFIG_BLOCK,
	.blk_desc.u.blk.init = noop_conf_init,
	.blk_desc.u.blk.params = export_params,
	.blk_desc.u.blk.commit = noop_conf_commit
};

/*
 * Read the FSAL block and find the backend.
 * @return The backend's module with a reference, or NULL when an error was
 *         reported.
 */
static struct fsal_module *find_backend(void *parse_node,
					struct export_args *args,
					struct config_error_type *err_type)
{
	struct fsal_module *backend;

	memset(args, 0, sizeof(*args));
	if (!SCALE.configured) {
		scale_config_error(parse_node, err_type,
				   "FSAL SCALE is not configured: correct the "
				   "SCALE block, where an error was reported "
				   "when it was first used, and restart");
		err_type->invalid = true;
		return NULL;
	}
	if (load_config_from_node(parse_node, &export_block, args, true,
				  err_type) != 0)
		return NULL;
	if (args->backend.fsal_node == NULL) {
		scale_config_error(parse_node, err_type,
				   "FSAL SCALE has no backend: add a block "
				   "FSAL { Name = VFS; } inside this one");
		err_type->missing = true;
		return NULL;
	}
	/* subfsal_commit() took the reference when it loaded the module. */
	backend = lookup_fsal(args->backend.name);
	assert(backend != NULL);
	fsal_put(backend);
	return backend;
}

/*
 * The id that ends each key of an export (SCALE_KEY_ID_BYTES).
 *
 * Keys of VFS and GPFS name a file system and a file in it, so that exports of
 * one file system share what is known about its files, as they do without
 * SCALE: one id for all of them. The keys of the others are known to be unique
 * within an export only, and two exports could be given the same key for
 * different files: an id each, never used again.
 */
static uint32_t scale_backend_id(const struct fsal_export *sub_export)
{
	static const char *const shared[] = { "VFS", "GPFS" };
	static uint32_t last_private = 255;

	/* Keys are made at the bottom of the stack. */
	while (sub_export->sub_export != NULL)
		sub_export = sub_export->sub_export;
	for (uint32_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++) {
		if (strcasecmp(sub_export->fsal->name, shared[i]) == 0)
			return i + 1;
	}
	return __atomic_add_fetch(&last_private, 1, __ATOMIC_RELAXED);
}

static void scale_prepare_unexport(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);

	sub_exp->exp_ops.prepare_unexport(sub_exp);
	scale_up(self);
}

static void scale_unexport(struct fsal_export *exp_hdl,
			   struct fsal_obj_handle *root_obj)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self;

	/* This thread is the administrator's and brings no events, and
	 * MDCACHE has forgotten the export's objects: the place to wait.
	 * Release may come on any thread, even on one that brings an event.
	 */
	scale_upcall_close(scale_export(exp_hdl)->upcall, true);

	self = scale_enter(sub_exp);
	sub_exp->exp_ops.unexport(
		sub_exp, root_obj != NULL ? scale_sub(root_obj) : NULL);
	scale_up(self);
}

static void scale_unmount(struct fsal_export *parent_exp_hdl,
			  struct fsal_obj_handle *junction_obj)
{
	struct fsal_export *sub_exp = parent_exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);

	sub_exp->exp_ops.unmount(sub_exp, scale_sub(junction_obj));
	scale_up(self);
}

static void scale_export_release(struct fsal_export *exp_hdl)
{
	struct scale_export *exp = scale_export(exp_hdl);
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_module *backend = sub_exp->fsal;
	struct fsal_export *self;

	/* An export that failed half way is released without unexport. */
	scale_upcall_close(exp->upcall, false);

	self = scale_enter(sub_exp);
	sub_exp->exp_ops.release(sub_exp);
	scale_up(self);
	fsal_put(backend);

	/* Not attached to the module's list of exports, as MDCACHE's are not:
	 * what is left there at shutdown is released once more, in the order
	 * in which modules were loaded, and the backend's own list is enough.
	 */
	free_export_ops(exp_hdl);
	gsh_free(exp);
}

void scale_export_ops_init(struct export_ops *ops)
{
	ops->prepare_unexport = scale_prepare_unexport;
	ops->unexport = scale_unexport;
	ops->unmount = scale_unmount;
	ops->release = scale_export_release;
	scale_handle_export_ops_init(ops);
	scale_fsinfo_export_ops_init(ops);
	scale_pnfs_export_ops_init(ops);
	/* get_name stays Ganesha's: the module's name. */
}

fsal_status_t scale_create_export(struct fsal_module *fsal_hdl,
				  void *parse_node,
				  struct config_error_type *err_type,
				  const struct fsal_up_vector *up_ops)
{
	struct export_args args;
	struct fsal_module *backend;
	struct scale_export *exp;
	fsal_status_t status;

	if (scale_upcall_is_ours(up_ops)) {
		scale_config_error(parse_node, err_type,
				   "FSAL SCALE on FSAL SCALE, with another "
				   "FSAL between; take one of them away");
		err_type->invalid = true;
		return fsalstat(ERR_FSAL_INVAL, EINVAL);
	}
	backend = find_backend(parse_node, &args, err_type);
	if (backend == NULL)
		return fsalstat(ERR_FSAL_INVAL, EINVAL);

	exp = gsh_calloc(1, sizeof(*exp));
	exp->export.fsal = fsal_hdl;
	exp->export.up_ops = up_ops;
	exp->upcall = scale_upcall_new(exp, up_ops);

	status = backend->m_ops.create_export(backend, args.backend.fsal_node,
					      err_type,
					      scale_upcall_vector(exp->upcall));
	if (FSAL_IS_ERROR(status)) {
		scale_config_error(args.backend.fsal_node, err_type,
				   "FSAL SCALE: the backend %s cannot export "
				   "%s: %s",
				   backend->name, CTX_FULLPATH(op_ctx),
				   msg_fsal_err(status.major));
		fsal_put(backend);
		gsh_free(exp);
		return status;
	}

	fsal_export_init(&exp->export);
	scale_export_ops_init(&exp->export.exp_ops);
	fsal_export_stack(op_ctx->fsal_export, &exp->export);
	exp->backend_id = scale_backend_id(exp->export.sub_export);
	scale_upcall_open(exp->upcall, exp->backend_id);
	op_ctx->fsal_export = &exp->export;
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

fsal_status_t scale_update_export(struct fsal_module *fsal_hdl,
				  void *parse_node,
				  struct config_error_type *err_type,
				  struct fsal_export *original,
				  struct fsal_module *updated_super)
{
	struct export_args args;
	struct fsal_module *backend;
	fsal_status_t status;

	/* Is SCALE still where it was? */
	status = update_export(fsal_hdl, parse_node, err_type, original,
			       updated_super);
	if (FSAL_IS_ERROR(status))
		return status;

	backend = find_backend(parse_node, &args, err_type);
	if (backend == NULL)
		return fsalstat(ERR_FSAL_INVAL, EINVAL);

	if (backend != original->sub_export->fsal) {
		scale_config_error(args.backend.fsal_node, err_type,
				   "FSAL SCALE: the backend of an export "
				   "cannot be changed from %s to %s while it "
				   "is served; remove the export and add it",
				   original->sub_export->fsal->name,
				   backend->name);
		err_type->invalid = true;
		status = fsalstat(ERR_FSAL_INVAL, EINVAL);
	} else {
		status = backend->m_ops.update_export(
			backend, args.backend.fsal_node, err_type,
			original->sub_export, fsal_hdl);
	}
	/* The export keeps the reference of its creation. */
	fsal_put(backend);
	return status;
}
