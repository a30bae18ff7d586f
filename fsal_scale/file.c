// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Open files: opening, reading, writing, locking, closing.
 *
 * A state_t is made and freed by the backend, which keeps its file descriptor
 * around it (scale_alloc_state(), scale_free_state()). SCALE hands it down as
 * it came and never looks inside.
 */
#include "scale.h"

static fsal_status_t
scale_open2(struct fsal_obj_handle *obj_hdl, struct state_t *state,
	    fsal_openflags_t openflags, enum fsal_create_mode createmode,
	    const char *name, struct fsal_attrlist *attrs_in,
	    fsal_verifier_t verifier, struct fsal_obj_handle **new_obj,
	    struct fsal_attrlist *attrs_out, bool *caller_perm_check)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_obj_handle *sub_new = NULL;
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->open2(sub, state, openflags, createmode, name,
				     attrs_in, verifier, &sub_new, attrs_out,
				     caller_perm_check);
	scale_up(self);

	/* Without a name the object itself was opened. Some backends return
	 * nothing then, some (PROXY_V4) the very object they were called
	 * with: neither is a new one, and to wrap it would free it twice.
	 */
	if (name == NULL) {
		*new_obj = NULL;
		return status;
	}
	return scale_wrap_result(status, sub_new, new_obj);
}

/** What the backend hands back when a read or a write is done. */
struct io_arg {
	struct fsal_obj_handle *obj;
	struct fsal_export *self;
	fsal_async_cb done_cb;
	void *caller_arg;
};

/* Called by the backend, in its context, perhaps on a thread of its own. */
static void scale_io_done(struct fsal_obj_handle *sub, fsal_status_t ret,
			  void *obj_data, void *caller_data)
{
	struct io_arg *arg = caller_data;
	struct fsal_export *below = scale_enter(arg->self);

	(void)sub;
	arg->done_cb(arg->obj, ret, obj_data, arg->caller_arg);
	scale_up(below);
	gsh_free(arg);
}

static struct io_arg *io_arg_new(struct fsal_obj_handle *obj_hdl,
				 fsal_async_cb done_cb, void *caller_arg)
{
	struct io_arg *arg = gsh_malloc(sizeof(*arg));

	arg->obj = obj_hdl;
	arg->self = op_ctx->fsal_export;
	arg->done_cb = done_cb;
	arg->caller_arg = caller_arg;
	return arg;
}

static void scale_read2(struct fsal_obj_handle *obj_hdl, bool bypass,
			fsal_async_cb done_cb, struct fsal_io_arg *read_arg,
			void *caller_arg)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct io_arg *arg = io_arg_new(obj_hdl, done_cb, caller_arg);
	struct fsal_export *self = scale_down();

	sub->obj_ops->read2(sub, bypass, scale_io_done, read_arg, arg);
	scale_up(self);
}

static void scale_write2(struct fsal_obj_handle *obj_hdl, bool bypass,
			 fsal_async_cb done_cb, struct fsal_io_arg *write_arg,
			 void *caller_arg)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct io_arg *arg = io_arg_new(obj_hdl, done_cb, caller_arg);
	struct fsal_export *self = scale_down();

	sub->obj_ops->write2(sub, bypass, scale_io_done, write_arg, arg);
	scale_up(self);
}

static bool scale_check_verifier(struct fsal_obj_handle *obj_hdl,
				 fsal_verifier_t verifier)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	bool result;

	result = sub->obj_ops->check_verifier(sub, verifier);
	scale_up(self);
	return result;
}

static fsal_openflags_t scale_status2(struct fsal_obj_handle *obj_hdl,
				      struct state_t *state)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_openflags_t flags;

	flags = sub->obj_ops->status2(sub, state);
	scale_up(self);
	return flags;
}

static fsal_status_t scale_reopen2(struct fsal_obj_handle *obj_hdl,
				   struct state_t *state,
				   fsal_openflags_t openflags)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->reopen2(sub, state, openflags);
	scale_up(self);
	return status;
}

static fsal_status_t scale_commit2(struct fsal_obj_handle *obj_hdl,
				   off_t offset, size_t len)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->commit2(sub, offset, len);
	scale_up(self);
	return status;
}

static fsal_status_t scale_fallocate(struct fsal_obj_handle *obj_hdl,
				     struct state_t *state, uint64_t offset,
				     uint64_t length, bool allocate)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->fallocate(sub, state, offset, length, allocate);
	scale_up(self);
	return status;
}

static fsal_status_t scale_seek(struct fsal_obj_handle *obj_hdl,
				struct io_info *info)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->seek(sub, info);
	scale_up(self);
	return status;
}

static fsal_status_t scale_seek2(struct fsal_obj_handle *obj_hdl,
				 struct state_t *state, struct io_info *info)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->seek2(sub, state, info);
	scale_up(self);
	return status;
}

static fsal_status_t scale_io_advise(struct fsal_obj_handle *obj_hdl,
				     struct io_hints *hints)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->io_advise(sub, hints);
	scale_up(self);
	return status;
}

static fsal_status_t scale_io_advise2(struct fsal_obj_handle *obj_hdl,
				      struct state_t *state,
				      struct io_hints *hints)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->io_advise2(sub, state, hints);
	scale_up(self);
	return status;
}

static fsal_status_t scale_lock_op2(struct fsal_obj_handle *obj_hdl,
				    struct state_t *state, void *owner,
				    fsal_lock_op_t lock_op,
				    fsal_lock_param_t *request_lock,
				    fsal_lock_param_t *conflicting_lock)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->lock_op2(sub, state, owner, lock_op,
					request_lock, conflicting_lock);
	scale_up(self);
	return status;
}

static fsal_status_t scale_lease_op2(struct fsal_obj_handle *obj_hdl,
				     struct state_t *state, void *owner,
				     fsal_deleg_t deleg)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->lease_op2(sub, state, owner, deleg);
	scale_up(self);
	return status;
}

static fsal_status_t scale_close(struct fsal_obj_handle *obj_hdl)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->close(sub);
	scale_up(self);
	return status;
}

static fsal_status_t scale_close2(struct fsal_obj_handle *obj_hdl,
				  struct state_t *state)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->close2(sub, state);
	scale_up(self);
	return status;
}

void scale_file_ops_init(struct fsal_obj_ops *ops)
{
	ops->open2 = scale_open2;
	ops->read2 = scale_read2;
	ops->write2 = scale_write2;
	ops->check_verifier = scale_check_verifier;
	ops->status2 = scale_status2;
	ops->reopen2 = scale_reopen2;
	ops->commit2 = scale_commit2;
	ops->fallocate = scale_fallocate;
	ops->seek = scale_seek;
	ops->seek2 = scale_seek2;
	ops->io_advise = scale_io_advise;
	ops->io_advise2 = scale_io_advise2;
	ops->lock_op2 = scale_lock_op2;
	ops->lease_op2 = scale_lease_op2;
	ops->close = scale_close;
	ops->close2 = scale_close2;
}
