// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The module: how Ganesha finds SCALE, and what SCALE reads when it is loaded.
 */
#include "cache.h"
#include "control.h"
#include "notify.h"
#include "scale.h"
#include "stats_dbus.h"

#include <errno.h>

#include "nfs_core.h"

/* No .fs_info: every question about limits and abilities is put to an export,
 * and so to its backend; nobody asks the module.
 */
struct scale_module SCALE;

/* The root of the configuration that a block belongs to. */
static struct config_root *root_of(struct config_node *node)
{
	while (node->type != TYPE_ROOT)
		node = node->u.nterm.parent;
	return container_of(node, struct config_root, root);
}

/* An export that is added by D-Bus may stand in a file of its own, without the
 * SCALE block: that one is looked for in the server's configuration, too.
 */
static int load_from_main_file(const struct config_root *root,
			       struct config_error_type *err_type)
{
	config_file_t file;
	int rc;

	for (const struct file_list *f = root->files; f != NULL; f = f->next) {
		if (strcmp(f->pathname, nfs_config_path) == 0)
			return -ENOENT;
	}
	file = config_ParseFile(nfs_config_path, err_type);
	if (file == NULL)
		return -ENOENT;
	rc = scale_config_load(&SCALE.config, file, err_type);
	config_Free(file);
	return rc;
}

bool scale_configure(void *node, struct config_error_type *err_type)
{
	const struct config_root *root = root_of(node);
	int rc;

	/* Each configuration is tried once: Ganesha asks again for every
	 * export in it.
	 */
	if (SCALE.configured || SCALE.generation == root->generation)
		return SCALE.configured;
	SCALE.generation = root->generation;

	rc = scale_config_load(&SCALE.config, (config_file_t)root, err_type);
	if (rc == -ENOENT)
		rc = load_from_main_file(root, err_type);
	SCALE.configured = rc == 0 || rc == -ENOENT;
	if (SCALE.configured) {
		LogEvent(COMPONENT_FSAL,
			 "SCALE %s: maxFilesToCache %" PRIu64
			 ", maxStatCache %" PRIu64 ", pagepool %" PRIu64
			 " bytes%s",
			 SCALE_VERSION, SCALE.config.max_files,
			 SCALE.config.max_stats, SCALE.config.pagepool,
			 rc == 0 ? "" : " (defaults: no SCALE block)");
		/* Once; Ganesha has gone into the background by now. */
		(void)scale_control_start(SCALE.config.control_socket);
	}
	return SCALE.configured;
}

/*
 * Called once, when the first export that names SCALE is read. When it fails
 * the module stays loaded all the same, and the next export would find it: so
 * each export makes sure (scale_configure()), and a corrected block counts.
 */
static fsal_status_t scale_init_config(struct fsal_module *fsal_hdl,
				       config_file_t config_struct,
				       struct config_error_type *err_type)
{
	struct config_root *root = (struct config_root *)config_struct;

	(void)fsal_hdl;
	if (!scale_configure(&root->root, err_type))
		return fsalstat(ERR_FSAL_INVAL, EINVAL);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

void scale_obj_ops_init(struct fsal_obj_ops *ops)
{
	fsal_default_obj_ops_init(ops);
	scale_handle_ops_init(ops);
	scale_attribute_ops_init(ops);
	scale_name_ops_init(ops);
	scale_change_ops_init(ops);
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
	 * DS block names (FSAL_ID_NO_PNFS says it is never SCALE).
	 */
	ops->init_config = scale_init_config;
	ops->create_export = scale_create_export;
	ops->update_export = scale_update_export;

	scale_stats_dbus_init(&SCALE.module);
	scale_obj_ops_init(&SCALE.obj_ops);
}

MODULE_FINI void scale_unload(void)
{
	scale_control_set_cache(NULL);
	scale_control_stop();
	scale_notify_stop();
	scale_cache_stop();
	if (unregister_fsal(&SCALE.module) != 0)
		fprintf(stderr, "FSAL SCALE could not be unregistered\n");
}
