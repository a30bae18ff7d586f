// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * What an export can do and how it is doing: limits, abilities, quotas, space;
 * and the state objects that it hands out. All of it is the backend's answer.
 */
#include "scale.h"

static fsal_status_t scale_get_fs_dynamic_info(struct fsal_export *exp_hdl,
					       struct fsal_obj_handle *obj_hdl,
					       fsal_dynamicfsinfo_t *info)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	fsal_status_t status;

	status = sub_exp->exp_ops.get_fs_dynamic_info(sub_exp,
						      scale_sub(obj_hdl), info);
	scale_up(self);
	return status;
}

static bool scale_fs_supports(struct fsal_export *exp_hdl,
			      fsal_fsinfo_options_t option)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	bool result;

	result = sub_exp->exp_ops.fs_supports(sub_exp, option);
	scale_up(self);
	return result;
}

static uint64_t scale_fs_maxfilesize(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	uint64_t result;

	result = sub_exp->exp_ops.fs_maxfilesize(sub_exp);
	scale_up(self);
	return result;
}

static uint32_t scale_fs_maxread(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	uint32_t result;

	result = sub_exp->exp_ops.fs_maxread(sub_exp);
	scale_up(self);
	return result;
}

static uint32_t scale_fs_maxwrite(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	uint32_t result;

	result = sub_exp->exp_ops.fs_maxwrite(sub_exp);
	scale_up(self);
	return result;
}

static uint32_t scale_fs_maxlink(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	uint32_t result;

	result = sub_exp->exp_ops.fs_maxlink(sub_exp);
	scale_up(self);
	return result;
}

static uint32_t scale_fs_maxnamelen(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	uint32_t result;

	result = sub_exp->exp_ops.fs_maxnamelen(sub_exp);
	scale_up(self);
	return result;
}

static uint32_t scale_fs_maxpathlen(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	uint32_t result;

	result = sub_exp->exp_ops.fs_maxpathlen(sub_exp);
	scale_up(self);
	return result;
}

static fsal_aclsupp_t scale_fs_acl_support(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	fsal_aclsupp_t result;

	result = sub_exp->exp_ops.fs_acl_support(sub_exp);
	scale_up(self);
	return result;
}

static attrmask_t scale_fs_supported_attrs(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	attrmask_t result;

	result = sub_exp->exp_ops.fs_supported_attrs(sub_exp);
	scale_up(self);
	return result;
}

static uint32_t scale_fs_umask(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	uint32_t result;

	result = sub_exp->exp_ops.fs_umask(sub_exp);
	scale_up(self);
	return result;
}

static int32_t scale_fs_expiretimeparent(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	int32_t result;

	result = sub_exp->exp_ops.fs_expiretimeparent(sub_exp);
	scale_up(self);
	return result;
}

static bool scale_is_superuser(struct fsal_export *exp_hdl,
			       const struct user_cred *creds)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	bool result;

	result = sub_exp->exp_ops.is_superuser(sub_exp, creds);
	scale_up(self);
	return result;
}

static fsal_status_t scale_check_quota(struct fsal_export *exp_hdl,
				       const char *filepath, int quota_type)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	fsal_status_t status;

	status = sub_exp->exp_ops.check_quota(sub_exp, filepath, quota_type);
	scale_up(self);
	return status;
}

static fsal_status_t scale_get_quota(struct fsal_export *exp_hdl,
				     const char *filepath, int quota_type,
				     int quota_id, fsal_quota_t *quota)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	fsal_status_t status;

	status = sub_exp->exp_ops.get_quota(sub_exp, filepath, quota_type,
					    quota_id, quota);
	scale_up(self);
	return status;
}

static fsal_status_t scale_set_quota(struct fsal_export *exp_hdl,
				     const char *filepath, int quota_type,
				     int quota_id, fsal_quota_t *quota,
				     fsal_quota_t *resquota)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	fsal_status_t status;

	status = sub_exp->exp_ops.set_quota(sub_exp, filepath, quota_type,
					    quota_id, quota, resquota);
	scale_up(self);
	return status;
}

static void scale_get_write_verifier(struct fsal_export *exp_hdl,
				     struct gsh_buffdesc *verf_desc)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);

	sub_exp->exp_ops.get_write_verifier(sub_exp, verf_desc);
	scale_up(self);
}

static struct state_t *scale_alloc_state(struct fsal_export *exp_hdl,
					 enum state_type state_type,
					 struct state_t *related_state)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	struct state_t *result;

	result = sub_exp->exp_ops.alloc_state(sub_exp, state_type,
					      related_state);
	scale_up(self);
	return result;
}

static void scale_free_state(struct fsal_export *exp_hdl, struct state_t *state)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);

	sub_exp->exp_ops.free_state(sub_exp, state);
	scale_up(self);
}

void scale_fsinfo_export_ops_init(struct export_ops *ops)
{
	ops->get_fs_dynamic_info = scale_get_fs_dynamic_info;
	ops->fs_supports = scale_fs_supports;
	ops->fs_maxfilesize = scale_fs_maxfilesize;
	ops->fs_maxread = scale_fs_maxread;
	ops->fs_maxwrite = scale_fs_maxwrite;
	ops->fs_maxlink = scale_fs_maxlink;
	ops->fs_maxnamelen = scale_fs_maxnamelen;
	ops->fs_maxpathlen = scale_fs_maxpathlen;
	ops->fs_acl_support = scale_fs_acl_support;
	ops->fs_supported_attrs = scale_fs_supported_attrs;
	ops->fs_umask = scale_fs_umask;
	ops->fs_expiretimeparent = scale_fs_expiretimeparent;
	ops->is_superuser = scale_is_superuser;
	ops->check_quota = scale_check_quota;
	ops->get_quota = scale_get_quota;
	ops->set_quota = scale_set_quota;
	ops->get_write_verifier = scale_get_write_verifier;
	ops->alloc_state = scale_alloc_state;
	ops->free_state = scale_free_state;
}
