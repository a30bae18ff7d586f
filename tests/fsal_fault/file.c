// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Open files: opening, reading, writing, locking, closing; and layouts. A
 * state_t is the backend's and goes down as it came.
 */
#include "pass.h"

#include "async.h"

static fsal_status_t
fault_open2(struct fsal_obj_handle *self, struct state_t *state,
	    fsal_openflags_t openflags, enum fsal_create_mode createmode,
	    const char *name, struct fsal_attrlist *attrs_in,
	    fsal_verifier_t verifier, struct fsal_obj_handle **new_obj,
	    struct fsal_attrlist *attrs_out, bool *caller_perm_check)
{
	struct fsal_obj_handle *sub = fault_sub(self);
	struct fsal_obj_handle *sub_new = NULL;
	fsal_status_t status = { ERR_FSAL_NO_ERROR, 0 };
	fsal_status_t answer;
	struct fault_call call;

	*new_obj = NULL;
	if (!fault_begin(&call, FAULT_OP_open2, NULL))
		return fault_end(&call, status);

	status = sub->obj_ops->open2(sub, state, openflags, createmode, name,
				     attrs_in, verifier, &sub_new, attrs_out,
				     caller_perm_check);
	/* Without a name the object itself was opened, whatever is in sub_new:
	 * PROXY_V4 returns there what it was called with.
	 */
	if (name == NULL)
		sub_new = NULL;
	answer = fault_answer(&call, status);
	if (!FSAL_IS_ERROR(answer)) {
		if (sub_new != NULL)
			*new_obj = fault_wrap(sub_new);
	} else if (!FSAL_IS_ERROR(status)) {
		/* It is open, and nobody will hear of it. */
		struct fsal_obj_handle *opened = sub_new ? sub_new : sub;

		/* MDCACHE counts what is open without a state by what open2
		 * and close say; a close that it did not expect makes the
		 * count negative, and creates get DELAY for ever.
		 */
		if (state != NULL)
			(void)opened->obj_ops->close2(opened, state);
		else
			(void)opened->obj_ops->close(opened);
		if (sub_new != NULL)
			sub_new->obj_ops->release(sub_new);
		if (attrs_out != NULL)
			fsal_release_attrs(attrs_out);
	}
	fault_up(&call);
	return answer;
}

/** What the backend hands back when a read or a write is done. */
struct io_arg {
	struct fsal_obj_handle *obj;
	struct fault_call call;
	fsal_async_cb done_cb;
	void *caller_arg;
};

/* Called by the backend, in its context, perhaps on a thread of its own. */
static void fault_io_done(struct fsal_obj_handle *sub, fsal_status_t status,
			  void *obj_data, void *caller_data)
{
	struct io_arg *arg = caller_data;
	struct fsal_export *below = op_ctx->fsal_export;

	(void)sub;
	status = fault_answer(&arg->call, status);
	op_ctx->fsal_export = arg->call.above;
	fault_complete(arg->call.op, arg->done_cb, arg->obj, status, obj_data,
		       arg->caller_arg);
	op_ctx->fsal_export = below;
	gsh_free(arg);
}

static struct io_arg *io_arg_new(struct fsal_obj_handle *obj,
				 fsal_async_cb done_cb, void *caller_arg)
{
	struct io_arg *arg = gsh_malloc(sizeof(*arg));

	arg->obj = obj;
	arg->done_cb = done_cb;
	arg->caller_arg = caller_arg;
	return arg;
}

static void io_failed(struct io_arg *arg, struct fsal_io_arg *io)
{
	fault_io_done(NULL, fsalstat(ERR_FSAL_NO_ERROR, 0), io, arg);
}

static void fault_read2(struct fsal_obj_handle *self, bool bypass,
			fsal_async_cb done_cb, struct fsal_io_arg *io,
			void *caller_arg)
{
	struct fsal_obj_handle *sub = fault_sub(self);
	struct io_arg *arg = io_arg_new(self, done_cb, caller_arg);
	struct fsal_export *above = op_ctx->fsal_export;

	if (fault_begin(&arg->call, FAULT_OP_read2, NULL))
		sub->obj_ops->read2(sub, bypass, fault_io_done, io, arg);
	else
		io_failed(arg, io);
	op_ctx->fsal_export = above;
}

static void fault_write2(struct fsal_obj_handle *self, bool bypass,
			 fsal_async_cb done_cb, struct fsal_io_arg *io,
			 void *caller_arg)
{
	struct fsal_obj_handle *sub = fault_sub(self);
	struct io_arg *arg = io_arg_new(self, done_cb, caller_arg);
	struct fsal_export *above = op_ctx->fsal_export;

	if (fault_begin(&arg->call, FAULT_OP_write2, NULL))
		sub->obj_ops->write2(sub, bypass, fault_io_done, io, arg);
	else
		io_failed(arg, io);
	op_ctx->fsal_export = above;
}

PASS_VALUE(bool, check_verifier, (SELF, fsal_verifier_t verifier),
	   (sub, verifier))
PASS_VALUE(fsal_openflags_t, status2, (SELF, struct state_t *state),
	   (sub, state))
PASS(reopen2, (SELF, struct state_t *state, fsal_openflags_t flags),
     (sub, state, flags))
PASS(commit2, (SELF, off_t offset, size_t len), (sub, offset, len))
PASS(fallocate,
     (SELF, struct state_t *state, uint64_t offset, uint64_t length,
      bool allocate),
     (sub, state, offset, length, allocate))
PASS(seek, (SELF, struct io_info *info), (sub, info))
PASS(seek2, (SELF, struct state_t *state, struct io_info *info),
     (sub, state, info))
PASS(io_advise, (SELF, struct io_hints *hints), (sub, hints))
PASS(io_advise2, (SELF, struct state_t *state, struct io_hints *hints),
     (sub, state, hints))
PASS(lock_op2,
     (SELF, struct state_t *state, void *owner, fsal_lock_op_t lock_op,
      fsal_lock_param_t *lock, fsal_lock_param_t *conflict),
     (sub, state, owner, lock_op, lock, conflict))
PASS(lease_op2, (SELF, struct state_t *state, void *owner, fsal_deleg_t deleg),
     (sub, state, owner, deleg))
PASS(close, (SELF), (sub))
PASS(close2, (SELF, struct state_t *state), (sub, state))

PASS_VALUE(nfsstat4, layoutget,
	   (SELF, XDR *body, const struct fsal_layoutget_arg *arg,
	    struct fsal_layoutget_res *res),
	   (sub, body, arg, res))
PASS_VALUE(nfsstat4, layoutreturn,
	   (SELF, XDR *body, const struct fsal_layoutreturn_arg *arg),
	   (sub, body, arg))
PASS_VALUE(nfsstat4, layoutcommit,
	   (SELF, XDR *body, const struct fsal_layoutcommit_arg *arg,
	    struct fsal_layoutcommit_res *res),
	   (sub, body, arg, res))

void fault_file_ops_init(struct fsal_obj_ops *ops)
{
	ops->open2 = fault_open2;
	ops->read2 = fault_read2;
	ops->write2 = fault_write2;
	ops->check_verifier = fault_check_verifier;
	ops->status2 = fault_status2;
	ops->reopen2 = fault_reopen2;
	ops->commit2 = fault_commit2;
	ops->fallocate = fault_fallocate;
	ops->seek = fault_seek;
	ops->seek2 = fault_seek2;
	ops->io_advise = fault_io_advise;
	ops->io_advise2 = fault_io_advise2;
	ops->lock_op2 = fault_lock_op2;
	ops->lease_op2 = fault_lease_op2;
	ops->close = fault_close;
	ops->close2 = fault_close2;
	ops->layoutget = fault_layoutget;
	ops->layoutreturn = fault_layoutreturn;
	ops->layoutcommit = fault_layoutcommit;
}
