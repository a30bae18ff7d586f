// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * What an export can do and how it is doing: limits, abilities, quotas, space;
 * and the state objects that it hands out. All of it is the backend's answer:
 * about abilities, which are asked for with each request, when the export is
 * made or updated; about space, at most once a second.
 */
#include "lookup.h"

/** How long an answer about space stays, nanoseconds. */
#define SPACE_NS UINT64_C(1000000000)

static_assert(fso_xattr_support < 64,
	      "one bit each in scale_abilities.supports");

void scale_abilities_read(struct scale_export *exp)
{
	struct fsal_export *sub = exp->export.sub_export;
	struct scale_abilities *a = &exp->abilities;
	struct fsal_export *self = scale_enter(sub);
	struct user_cred root = { .caller_uid = 0 };
	struct user_cred other = { .caller_uid = 1 };
	uint64_t supports = 0;

	for (unsigned int i = 0; i <= fso_xattr_support; i++) {
		if (sub->exp_ops.fs_supports(sub, i))
			supports |= UINT64_C(1) << i;
	}
	a->supports = supports;
	a->maxfilesize = sub->exp_ops.fs_maxfilesize(sub);
	a->maxread = sub->exp_ops.fs_maxread(sub);
	a->maxwrite = sub->exp_ops.fs_maxwrite(sub);
	a->maxlink = sub->exp_ops.fs_maxlink(sub);
	a->maxnamelen = sub->exp_ops.fs_maxnamelen(sub);
	a->maxpathlen = sub->exp_ops.fs_maxpathlen(sub);
	a->acl_support = sub->exp_ops.fs_acl_support(sub);
	a->umask = sub->exp_ops.fs_umask(sub);
	a->expiretimeparent = sub->exp_ops.fs_expiretimeparent(sub);
	a->plain_superuser = sub->exp_ops.is_superuser(sub, &root) &&
			     !sub->exp_ops.is_superuser(sub, &other);
	exp->supported = sub->exp_ops.fs_supported_attrs(sub);
	scale_up(self);
}

/* Clients ask for it all the time, and much of it changes slowly. */
static bool cached_space(struct scale_export *exp,
			 const struct fsal_obj_handle *obj_hdl,
			 fsal_dynamicfsinfo_t *info)
{
	struct scale_space *space = &exp->space;
	bool found;

	if (!scale_serves(exp))
		return false;
	PTHREAD_MUTEX_lock(&space->lock);
	found = space->fsid.major == obj_hdl->fsid.major &&
		space->fsid.minor == obj_hdl->fsid.minor &&
		scale_stats_begin() < space->until_ns;
	if (found)
		*info = space->info;
	PTHREAD_MUTEX_unlock(&space->lock);
	return found;
}

static fsal_status_t scale_get_fs_dynamic_info(struct fsal_export *exp_hdl,
					       struct fsal_obj_handle *obj_hdl,
					       fsal_dynamicfsinfo_t *info)
{
	struct scale_export *exp = scale_export(exp_hdl);
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct scale_obj *obj = scale_obj(obj_hdl);
	struct scale_call call;
	struct scale_ref ref;
	fsal_status_t status;

	if (cached_space(exp, obj_hdl, info)) {
		scale_stats_request(exp->stats, SCALE_OP_FSSTAT,
				    SCALE_OUTCOME_HIT);
		return fsalstat(ERR_FSAL_NO_ERROR, 0);
	}
	scale_stats_request(exp->stats, SCALE_OP_FSSTAT, SCALE_OUTCOME_EXPIRED);
	status = scale_ref_get(&ref, exp, obj, NULL, NULL);
	if (FSAL_IS_ERROR(status))
		return status;
	call = scale_call_begin(exp);
	status = sub_exp->exp_ops.get_fs_dynamic_info(sub_exp, ref.sub, info);
	scale_call_end(&call, SCALE_OP_FSSTAT, status);
	scale_ref_put(&ref);
	if (!FSAL_IS_ERROR(status)) {
		PTHREAD_MUTEX_lock(&exp->space.lock);
		exp->space.fsid = obj_hdl->fsid;
		exp->space.info = *info;
		exp->space.until_ns = scale_stats_begin() + SPACE_NS;
		PTHREAD_MUTEX_unlock(&exp->space.lock);
	}
	return status;
}

/* SCALE gives cookies of its own, and attributes with each name of a listing;
 * see dirents.c for why it does not offer to compute a cookie.
 */
static bool scale_fs_supports(struct fsal_export *exp_hdl,
			      fsal_fsinfo_options_t option)
{
	struct scale_export *exp = scale_export(exp_hdl);

	if (scale_serves(exp)) {
		switch (option) {
		case fso_readdir_plus:
			return true;
		case fso_compute_readdir_cookie:
		case fso_whence_is_name:
			return false;
		default:
			break;
		}
	}
	return (exp->abilities.supports >> option) & 1;
}

static uint64_t scale_fs_maxfilesize(struct fsal_export *exp_hdl)
{
	return scale_export(exp_hdl)->abilities.maxfilesize;
}

static uint32_t scale_fs_maxread(struct fsal_export *exp_hdl)
{
	return scale_export(exp_hdl)->abilities.maxread;
}

static uint32_t scale_fs_maxwrite(struct fsal_export *exp_hdl)
{
	return scale_export(exp_hdl)->abilities.maxwrite;
}

static uint32_t scale_fs_maxlink(struct fsal_export *exp_hdl)
{
	return scale_export(exp_hdl)->abilities.maxlink;
}

static uint32_t scale_fs_maxnamelen(struct fsal_export *exp_hdl)
{
	return scale_export(exp_hdl)->abilities.maxnamelen;
}

static uint32_t scale_fs_maxpathlen(struct fsal_export *exp_hdl)
{
	return scale_export(exp_hdl)->abilities.maxpathlen;
}

static fsal_aclsupp_t scale_fs_acl_support(struct fsal_export *exp_hdl)
{
	return scale_export(exp_hdl)->abilities.acl_support;
}

static uint32_t scale_fs_umask(struct fsal_export *exp_hdl)
{
	return scale_export(exp_hdl)->abilities.umask;
}

static int32_t scale_fs_expiretimeparent(struct fsal_export *exp_hdl)
{
	return scale_export(exp_hdl)->abilities.expiretimeparent;
}

static attrmask_t scale_fs_supported_attrs(struct fsal_export *exp_hdl)
{
	return scale_export(exp_hdl)->supported;
}

static bool scale_is_superuser(struct fsal_export *exp_hdl,
			       const struct user_cred *creds)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self;
	bool result;

	if (scale_export(exp_hdl)->abilities.plain_superuser)
		return creds->caller_uid == 0;
	self = scale_enter(sub_exp);
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

void scale_fsinfo_export_ops_init(struct export_ops *ops,
				  const struct export_ops *below)
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
	/* Asked before each write, and no backend of 4.3 has an answer. */
	if (below->check_quota != ops->check_quota)
		ops->check_quota = scale_check_quota;
	ops->get_quota = scale_get_quota;
	ops->set_quota = scale_set_quota;
	ops->get_write_verifier = scale_get_write_verifier;
	ops->alloc_state = scale_alloc_state;
	ops->free_state = scale_free_state;
}
