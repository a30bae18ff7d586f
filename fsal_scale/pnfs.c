// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * pNFS: layouts are the backend's, and so are the devices they name.
 */
#include "learn.h"

static nfsstat4 no_object(fsal_status_t status)
{
	return status.major == ERR_FSAL_STALE ? NFS4ERR_STALE :
						NFS4ERR_SERVERFAULT;
}

static nfsstat4 scale_layoutget(struct fsal_obj_handle *obj_hdl, XDR *loc_body,
				const struct fsal_layoutget_arg *arg,
				struct fsal_layoutget_res *res)
{
	struct scale_use use;
	fsal_status_t found;
	nfsstat4 status;

	found = scale_use_begin(&use, obj_hdl, SCALE_OP_OTHER);
	if (FSAL_IS_ERROR(found))
		return no_object(found);
	status = use.sub->obj_ops->layoutget(use.sub, loc_body, arg, res);
	(void)scale_use_end(&use, found);
	return status;
}

static nfsstat4 scale_layoutreturn(struct fsal_obj_handle *obj_hdl,
				   XDR *lrf_body,
				   const struct fsal_layoutreturn_arg *arg)
{
	struct scale_use use;
	fsal_status_t found;
	nfsstat4 status;

	found = scale_use_begin(&use, obj_hdl, SCALE_OP_OTHER);
	if (FSAL_IS_ERROR(found))
		return no_object(found);
	status = use.sub->obj_ops->layoutreturn(use.sub, lrf_body, arg);
	(void)scale_use_end(&use, found);
	return status;
}

static nfsstat4 scale_layoutcommit(struct fsal_obj_handle *obj_hdl,
				   XDR *lou_body,
				   const struct fsal_layoutcommit_arg *arg,
				   struct fsal_layoutcommit_res *res)
{
	struct scale_change ch;
	struct scale_use use;
	fsal_status_t found;
	nfsstat4 status;

	found = scale_use_begin(&use, obj_hdl, SCALE_OP_OTHER);
	if (FSAL_IS_ERROR(found))
		return no_object(found);
	scale_change_begin(&ch, use.call.exp);
	scale_change_obj(&ch, use.obj);
	status = use.sub->obj_ops->layoutcommit(use.sub, lou_body, arg, res);
	scale_changed_obj(&ch, use.obj);
	(void)scale_use_end(&use, found);
	return status;
}

void scale_pnfs_ops_init(struct fsal_obj_ops *ops)
{
	ops->layoutget = scale_layoutget;
	ops->layoutreturn = scale_layoutreturn;
	ops->layoutcommit = scale_layoutcommit;
}

static nfsstat4 scale_getdevicelist(struct fsal_export *exp_hdl,
				    layouttype4 type, void *opaque,
				    bool (*cb)(void *opaque, const uint64_t id),
				    struct fsal_getdevicelist_res *res)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	nfsstat4 status;

	status = sub_exp->exp_ops.getdevicelist(sub_exp, type, opaque, cb, res);
	scale_up(self);
	return status;
}

static void scale_fs_layouttypes(struct fsal_export *exp_hdl, int32_t *count,
				 const layouttype4 **types)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);

	sub_exp->exp_ops.fs_layouttypes(sub_exp, count, types);
	scale_up(self);
}

static uint32_t scale_fs_layout_blocksize(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	uint32_t result;

	result = sub_exp->exp_ops.fs_layout_blocksize(sub_exp);
	scale_up(self);
	return result;
}

static uint32_t scale_fs_maximum_segments(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	uint32_t result;

	result = sub_exp->exp_ops.fs_maximum_segments(sub_exp);
	scale_up(self);
	return result;
}

static size_t scale_fs_loc_body_size(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	size_t result;

	result = sub_exp->exp_ops.fs_loc_body_size(sub_exp);
	scale_up(self);
	return result;
}

void scale_pnfs_export_ops_init(struct export_ops *ops)
{
	ops->getdevicelist = scale_getdevicelist;
	ops->fs_layouttypes = scale_fs_layouttypes;
	ops->fs_layout_blocksize = scale_fs_layout_blocksize;
	ops->fs_maximum_segments = scale_fs_maximum_segments;
	ops->fs_loc_body_size = scale_fs_loc_body_size;
}
