// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The module: how Ganesha finds FAULT, and the FAULT block.
 */
#include "fault.h"

#include <errno.h>

#include "async.h"
#include "command.h"
#include "control.h"
#include "inject.h"
#include "tree.h"

struct fault_module FAULT;

struct settings {
	char *control;
	char *initially;
};

static struct config_item params[] = {
	CONF_ITEM_STR("Control", 1, MAXPATHLEN, NULL, settings, control),
	CONF_ITEM_STR("Initially", 1, MAXPATHLEN, NULL, settings, initially),
	CONFIG_EOL
};

static struct config_block block = {
	.dbus_interface_name = "org.ganesha.nfsd.config.fault",
	.blk_desc.name = FAULT_NAME,
	.blk_desc.type = CONFIG_BLOCK,
	.blk_desc.flags = CONFIG_UNIQUE,
	.blk_desc.u.blk.init = noop_conf_init,
	.blk_desc.u.blk.params = params,
	.blk_desc.u.blk.commit = noop_conf_commit
};

/* The commands of Initially, which are changed. */
static bool run_initially(char *commands)
{
	char *rest = commands;
	char *command;

	while ((command = strsep(&rest, ";")) != NULL) {
		char *answer;
		bool ok;

		if (command[strspn(command, " \t\n")] == '\0')
			continue;
		ok = fault_command(command, &answer);
		if (!ok)
			LogCrit(COMPONENT_CONFIG, "FAULT: Initially: %s",
				answer);
		free(answer);
		if (!ok)
			return false;
	}
	return true;
}

/* Called once, when the first export that names FAULT is read. */
static fsal_status_t fault_init_config(struct fsal_module *fsal_hdl,
				       config_file_t config_struct,
				       struct config_error_type *err_type)
{
	struct settings settings = { .control = NULL };
	bool ok;

	(void)fsal_hdl;
	(void)load_config_from_parse(config_struct, &block, &settings, true,
				     err_type);
	ok = config_error_is_harmless(err_type) && fault_async_start() == 0;
	if (ok && settings.initially != NULL)
		ok = run_initially(settings.initially);
	if (ok && settings.control != NULL)
		ok = fault_control_start(settings.control);
	gsh_free(settings.control);
	gsh_free(settings.initially);
	return ok ? fsalstat(ERR_FSAL_NO_ERROR, 0) :
		    fsalstat(ERR_FSAL_INVAL, EINVAL);
}

MODULE_INIT void fault_load(void)
{
	struct fsal_ops *ops = &FAULT.module.m_ops;

	if (register_fsal(&FAULT.module, FAULT_NAME, FSAL_MAJOR_VERSION,
			  FSAL_MINOR_VERSION, FSAL_ID_NO_PNFS) != 0) {
		fprintf(stderr, "FSAL FAULT could not be registered\n");
		return;
	}
	ops->init_config = fault_init_config;
	ops->create_export = fault_create_export;
	ops->update_export = fault_update_export;

	fsal_default_obj_ops_init(&FAULT.obj_ops);
	fault_object_ops_init(&FAULT.obj_ops);
	fault_file_ops_init(&FAULT.obj_ops);
	tree_init();
}

MODULE_FINI void fault_unload(void)
{
	fault_go();
	fault_control_stop();
	fault_async_stop();
	if (unregister_fsal(&FAULT.module) != 0)
		fprintf(stderr, "FSAL FAULT could not be unregistered\n");
}
