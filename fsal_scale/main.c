// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The module: how Ganesha finds SCALE, and what SCALE reads when it is loaded.
 */
#include "scale.h"

struct scale_module SCALE = {
	.module = {
		/* Every question about limits and abilities is put to an
		 * export, and so to its backend; nobody asks the module.
		 */
		.fs_info = {
			.maxfilesize = INT64_MAX,
			.maxlink = UINT32_MAX,
			.maxnamelen = MAXNAMLEN,
			.maxpathlen = MAXPATHLEN,
			.no_trunc = true,
			.case_preserving = true,
			.link_support = true,
			.symlink_support = true,
			.lock_support = true,
			.unique_handles = true,
			.cansettime = true,
			.homogenous = true,
			.supported_attrs = ALL_ATTRIBUTES,
			.maxread = FSAL_MAXIOSIZE,
			.maxwrite = FSAL_MAXIOSIZE,
			.expire_time_parent = -1,
		},
	},
};

/*
 * Called once, when the first export that names SCALE is read. When it fails
 * the module stays loaded and is found for the next export: therefore
 * 'configured', which create_export looks at.
 */
static fsal_status_t scale_init_config(struct fsal_module *fsal_hdl,
				       config_file_t config_struct,
				       struct config_error_type *err_type)
{
	if (scale_config_load(&SCALE.config, config_struct, err_type) != 0)
		return fsalstat(ERR_FSAL_INVAL, EINVAL);
	SCALE.configured = true;

	LogEvent(COMPONENT_FSAL,
		 "SCALE %s: maxFilesToCache %" PRIu64 ", maxStatCache %" PRIu64
		 ", pagepool %" PRIu64 " bytes",
		 SCALE_VERSION, SCALE.config.max_files, SCALE.config.max_stats,
		 SCALE.config.pagepool);
	display_fsinfo(fsal_hdl);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

void scale_obj_ops_init(struct fsal_obj_ops *ops)
{
	fsal_default_obj_ops_init(ops);
	scale_handle_ops_init(ops);
	scale_dirent_ops_init(ops);
	scale_file_ops_init(ops);
	scale_xattr_ops_init(ops);
	scale_pnfs_ops_init(ops);
}

MODULE_INIT void scale_load(void)
{
	struct fsal_ops *ops = &SCALE.module.m_ops;

	if (register_fsal(&SCALE.module, SCALE_NAME, FSAL_MAJOR_VERSION,
			  FSAL_MINOR_VERSION, FSAL_ID_NO_PNFS) != 0) {
		fprintf(stderr, "FSAL SCALE could not be registered\n");
		return;
	}
	/* The rest of this vector is the backend's own business: pNFS devices
	 * and data servers are asked of the module that the device id or the
	 * DS block names (FSAL_ID_NO_PNFS says it is never SCALE), and
	 * statistics of the module that the administrator names.
	 */
	ops->init_config = scale_init_config;
	ops->create_export = scale_create_export;
	ops->update_export = scale_update_export;

	scale_obj_ops_init(&SCALE.obj_ops);
}

MODULE_FINI void scale_unload(void)
{
	if (unregister_fsal(&SCALE.module) != 0)
		fprintf(stderr, "FSAL SCALE could not be unregistered\n");
}
