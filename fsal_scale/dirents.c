// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Reading directories.
 */
#include "scale.h"

/** What the backend hands back with each name. */
struct readdir_arg {
	fsal_readdir_cb cb;
	void *dir_state;
	struct fsal_export *self;
};

/* Called by the backend, in its context, once for each name. */
static enum fsal_dir_result scale_readdir_cb(const char *name,
					     struct fsal_obj_handle *sub,
					     struct fsal_attrlist *attrs,
					     void *dir_state,
					     fsal_cookie_t cookie)
{
	const struct readdir_arg *arg = dir_state;
	struct fsal_export *below = scale_enter(arg->self);
	enum fsal_dir_result result;

	result = arg->cb(name, scale_wrap(sub), attrs, arg->dir_state, cookie);
	scale_up(below);
	return result;
}

static fsal_status_t scale_readdir(struct fsal_obj_handle *dir_hdl,
				   fsal_cookie_t *whence, void *dir_state,
				   fsal_readdir_cb cb, attrmask_t attrmask,
				   bool *eof)
{
	struct fsal_obj_handle *dir = scale_sub(dir_hdl);
	struct readdir_arg arg = {
		.cb = cb,
		.dir_state = dir_state,
		.self = op_ctx->fsal_export,
	};
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = dir->obj_ops->readdir(dir, whence, &arg, scale_readdir_cb,
				       attrmask, eof);
	scale_up(self);
	return status;
}

static fsal_cookie_t
scale_compute_readdir_cookie(struct fsal_obj_handle *dir_hdl, const char *name)
{
	struct fsal_obj_handle *dir = scale_sub(dir_hdl);
	struct fsal_export *self = scale_down();
	fsal_cookie_t cookie;

	cookie = dir->obj_ops->compute_readdir_cookie(dir, name);
	scale_up(self);
	return cookie;
}

static int scale_dirent_cmp(struct fsal_obj_handle *dir_hdl, const char *name1,
			    fsal_cookie_t cookie1, const char *name2,
			    fsal_cookie_t cookie2)
{
	struct fsal_obj_handle *dir = scale_sub(dir_hdl);
	struct fsal_export *self = scale_down();
	int result;

	result = dir->obj_ops->dirent_cmp(dir, name1, cookie1, name2, cookie2);
	scale_up(self);
	return result;
}

void scale_dirent_ops_init(struct fsal_obj_ops *ops)
{
	ops->readdir = scale_readdir;
	ops->compute_readdir_cookie = scale_compute_readdir_cookie;
	ops->dirent_cmp = scale_dirent_cmp;
}
