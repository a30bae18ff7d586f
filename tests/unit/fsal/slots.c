// SPDX-License-Identifier: LGPL-3.0-or-later
#include "slots.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const obj_names[] = {
	"get_ref",
	"put_ref",
	"release",
	"merge",
	"lookup",
	"readdir",
	"compute_readdir_cookie",
	"dirent_cmp",
	"mkdir",
	"mknode",
	"symlink",
	"readlink",
	"test_access",
	"getattrs",
	"link",
	"rename",
	"unlink",
	"seek",
	"io_advise",
	"close",
	"fallocate",
	"list_ext_attrs",
	"getextattr_id_by_name",
	"getextattr_value_by_name",
	"getextattr_value_by_id",
	"setextattr_value",
	"setextattr_value_by_id",
	"remove_extattr_by_id",
	"remove_extattr_by_name",
	"handle_to_wire",
	"handle_to_key",
	"handle_cmp",
	"layoutget",
	"layoutreturn",
	"layoutcommit",
	"getxattrs",
	"setxattrs",
	"removexattrs",
	"listxattrs",
	"open2",
	"check_verifier",
	"status2",
	"reopen2",
	"read2",
	"write2",
	"seek2",
	"io_advise2",
	"commit2",
	"lock_op2",
	"lease_op2",
	"setattr2",
	"close2",
	"is_referral",
};

static const char *const export_names[] = {
	"get_name",
	"prepare_unexport",
	"unexport",
	"unmount",
	"release",
	"lookup_path",
	"lookup_junction",
	"wire_to_host",
	"host_to_key",
	"create_handle",
	"get_fs_dynamic_info",
	"fs_supports",
	"fs_maxfilesize",
	"fs_maxread",
	"fs_maxwrite",
	"fs_maxlink",
	"fs_maxnamelen",
	"fs_maxpathlen",
	"fs_acl_support",
	"fs_supported_attrs",
	"fs_umask",
	"check_quota",
	"get_quota",
	"set_quota",
	"getdevicelist",
	"fs_layouttypes",
	"fs_layout_blocksize",
	"fs_maximum_segments",
	"fs_loc_body_size",
	"get_write_verifier",
	"alloc_state",
	"free_state",
	"is_superuser",
	"fs_expiretimeparent",
};

static const char *const module_names[] = {
	"unload",	    "init_config",	  "dump_config",
	"create_export",    "update_export",	  "emergency_cleanup",
	"getdeviceinfo",    "fs_da_addr_size",	  "create_fsal_pnfs_ds",
	"fsal_pnfs_ds_ops", "fsal_extract_stats", "fsal_reset_stats",
};

static const char *const up_names[] = {
	"invalidate",  "update",	   "lock_grant",
	"lock_avail",  "layoutrecall",	   "notify_device",
	"delegrecall", "invalidate_close", "try_release",
};

#define COUNT(names) (sizeof(names) / sizeof((names)[0]))
#define COMPLETE(names, bytes)                                    \
	_Static_assert(COUNT(names) * sizeof(slot_fn) == (bytes), \
		       #names " is not the vector of this Ganesha")

COMPLETE(obj_names, sizeof(struct fsal_obj_ops));
COMPLETE(export_names, sizeof(struct export_ops));
COMPLETE(module_names, sizeof(struct fsal_ops));
COMPLETE(up_names, sizeof(struct fsal_up_vector) - UP_METHODS);

const struct vector obj_vector = { "object", obj_names, COUNT(obj_names) };
const struct vector export_vector = { "export", export_names,
				      COUNT(export_names) };
const struct vector module_vector = { "module", module_names,
				      COUNT(module_names) };
const struct vector up_vector = { "up-call", up_names, COUNT(up_names) };

size_t slot_find(const struct vector *v, const char *name)
{
	for (size_t i = 0; i < v->count; i++) {
		if (strcmp(v->names[i], name) == 0)
			return i;
	}
	fprintf(stderr, "there is no %s method %s\n", v->what, name);
	abort();
}
