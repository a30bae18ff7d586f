// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The methods of an export.
 */
#include "pass.h"

PASS_EXP_VOID(prepare_unexport, (EXPORT), (below))
PASS_EXP_VOID(unexport, (EXPORT, struct fsal_obj_handle *root),
	      (below, root != NULL ? fault_sub(root) : NULL))
PASS_EXP_VOID(unmount, (EXPORT, struct fsal_obj_handle *junction),
	      (below, fault_sub(junction)))

PASS_EXP_NEW(lookup_path,
	     (EXPORT, const char *path, struct fsal_obj_handle **handle,
	      struct fsal_attrlist *attrs),
	     (below, path, &sub_new, attrs))
PASS_EXP_NEW(create_handle,
	     (EXPORT, struct gsh_buffdesc *fh_desc,
	      struct fsal_obj_handle **handle, struct fsal_attrlist *attrs),
	     (below, fh_desc, &sub_new, attrs))

static fsal_status_t fault_lookup_junction(struct fsal_export *exp,
					   struct fsal_obj_handle *junction,
					   struct fsal_obj_handle **handle)
{
	struct fsal_export *below = exp->sub_export;
	struct fsal_obj_handle *sub_new = NULL;
	fsal_status_t status = { ERR_FSAL_NO_ERROR, 0 };
	struct fault_call call;

	if (fault_begin(&call, FAULT_OP_lookup_junction, exp))
		status = below->exp_ops.lookup_junction(
			below, fault_sub(junction), &sub_new);
	return fault_end_new(&call, status, sub_new, handle, NULL);
}

PASS_EXP(wire_to_host,
	 (EXPORT, fsal_digesttype_t type, struct gsh_buffdesc *fh_desc,
	  int flags),
	 (below, type, fh_desc, flags))
PASS_EXP(host_to_key, (EXPORT, struct gsh_buffdesc *fh_desc), (below, fh_desc))
PASS_EXP(get_fs_dynamic_info,
	 (EXPORT, struct fsal_obj_handle *obj, fsal_dynamicfsinfo_t *info),
	 (below, fault_sub(obj), info))

PASS_EXP_VALUE(bool, fs_supports, (EXPORT, fsal_fsinfo_options_t option),
	       (below, option))
PASS_EXP_VALUE(uint64_t, fs_maxfilesize, (EXPORT), (below))
PASS_EXP_VALUE(uint32_t, fs_maxread, (EXPORT), (below))
PASS_EXP_VALUE(uint32_t, fs_maxwrite, (EXPORT), (below))
PASS_EXP_VALUE(uint32_t, fs_maxlink, (EXPORT), (below))
PASS_EXP_VALUE(uint32_t, fs_maxnamelen, (EXPORT), (below))
PASS_EXP_VALUE(uint32_t, fs_maxpathlen, (EXPORT), (below))
PASS_EXP_VALUE(fsal_aclsupp_t, fs_acl_support, (EXPORT), (below))
PASS_EXP_VALUE(attrmask_t, fs_supported_attrs, (EXPORT), (below))
PASS_EXP_VALUE(uint32_t, fs_umask, (EXPORT), (below))
PASS_EXP_VALUE(int32_t, fs_expiretimeparent, (EXPORT), (below))
PASS_EXP_VALUE(bool, is_superuser, (EXPORT, const struct user_cred *creds),
	       (below, creds))

PASS_EXP(check_quota, (EXPORT, const char *path, int type), (below, path, type))
PASS_EXP(get_quota,
	 (EXPORT, const char *path, int type, int id, fsal_quota_t *quota),
	 (below, path, type, id, quota))
PASS_EXP(set_quota,
	 (EXPORT, const char *path, int type, int id, fsal_quota_t *quota,
	  fsal_quota_t *result),
	 (below, path, type, id, quota, result))

PASS_EXP_VALUE(nfsstat4, getdevicelist,
	       (EXPORT, layouttype4 type, void *opaque,
		bool (*cb)(void *opaque, const uint64_t id),
		struct fsal_getdevicelist_res *res),
	       (below, type, opaque, cb, res))
PASS_EXP_VOID(fs_layouttypes,
	      (EXPORT, int32_t *count, const layouttype4 **types),
	      (below, count, types))
PASS_EXP_VALUE(uint32_t, fs_layout_blocksize, (EXPORT), (below))
PASS_EXP_VALUE(uint32_t, fs_maximum_segments, (EXPORT), (below))
PASS_EXP_VALUE(size_t, fs_loc_body_size, (EXPORT), (below))

PASS_EXP_VOID(get_write_verifier, (EXPORT, struct gsh_buffdesc *verifier),
	      (below, verifier))
PASS_EXP_VALUE(struct state_t *, alloc_state,
	       (EXPORT, enum state_type type, struct state_t *related),
	       (below, type, related))
PASS_EXP_VOID(free_state, (EXPORT, struct state_t *state), (below, state))

void fault_export_ops_init(struct export_ops *ops)
{
	ops->prepare_unexport = fault_prepare_unexport;
	ops->unexport = fault_unexport;
	ops->unmount = fault_unmount;
	ops->release = fault_export_release;
	ops->lookup_path = fault_lookup_path;
	ops->lookup_junction = fault_lookup_junction;
	ops->create_handle = fault_create_handle;
	ops->wire_to_host = fault_wire_to_host;
	ops->host_to_key = fault_host_to_key;
	ops->get_fs_dynamic_info = fault_get_fs_dynamic_info;
	ops->fs_supports = fault_fs_supports;
	ops->fs_maxfilesize = fault_fs_maxfilesize;
	ops->fs_maxread = fault_fs_maxread;
	ops->fs_maxwrite = fault_fs_maxwrite;
	ops->fs_maxlink = fault_fs_maxlink;
	ops->fs_maxnamelen = fault_fs_maxnamelen;
	ops->fs_maxpathlen = fault_fs_maxpathlen;
	ops->fs_acl_support = fault_fs_acl_support;
	ops->fs_supported_attrs = fault_fs_supported_attrs;
	ops->fs_umask = fault_fs_umask;
	ops->fs_expiretimeparent = fault_fs_expiretimeparent;
	ops->is_superuser = fault_is_superuser;
	ops->check_quota = fault_check_quota;
	ops->get_quota = fault_get_quota;
	ops->set_quota = fault_set_quota;
	ops->getdevicelist = fault_getdevicelist;
	ops->fs_layouttypes = fault_fs_layouttypes;
	ops->fs_layout_blocksize = fault_fs_layout_blocksize;
	ops->fs_maximum_segments = fault_fs_maximum_segments;
	ops->fs_loc_body_size = fault_fs_loc_body_size;
	ops->get_write_verifier = fault_get_write_verifier;
	ops->alloc_state = fault_alloc_state;
	ops->free_state = fault_free_state;
	/* get_name stays Ganesha's: the module's name. */
}
