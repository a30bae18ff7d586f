// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The computed tree: open files and their content. Changes are refused.
 */
#include "tree.h"

#include <errno.h>

struct tree_state {
	struct state_t state;
	fsal_openflags_t openflags;
};

struct state_t *tree_alloc_state(struct fsal_export *exp_hdl,
				 enum state_type type, struct state_t *related)
{
	struct tree_state *self = gsh_calloc(1, sizeof(*self));

	self->openflags = FSAL_O_CLOSED;
	return init_state(&self->state, exp_hdl, type, related);
}

void tree_free_state(struct fsal_export *exp_hdl, struct state_t *state)
{
	(void)exp_hdl;
	gsh_free(container_of(state, struct tree_state, state));
}

static void set_openflags(struct state_t *state, fsal_openflags_t openflags)
{
	if (state != NULL)
		container_of(state, struct tree_state, state)->openflags =
			openflags;
}

static fsal_status_t check_open(struct tree_export *exp, uint64_t number,
				fsal_openflags_t openflags)
{
	if (!tree_exists(exp, number))
		return fsalstat(ERR_FSAL_STALE, ESTALE);
	switch (tree_type(&exp->shape, number)) {
	case TREE_DIRECTORY:
		return fsalstat(ERR_FSAL_ISDIR, EISDIR);
	case TREE_LINK:
		return fsalstat(ERR_FSAL_SYMLINK, ELOOP);
	case TREE_FILE:
		break;
	}
	if (openflags & (FSAL_O_WRITE | FSAL_O_TRUNC))
		return fsalstat(ERR_FSAL_ROFS, EROFS);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t
tree_open2(struct fsal_obj_handle *obj_hdl, struct state_t *state,
	   fsal_openflags_t openflags, enum fsal_create_mode createmode,
	   const char *name, struct fsal_attrlist *attrs_in,
	   fsal_verifier_t verifier, struct fsal_obj_handle **new_obj,
	   struct fsal_attrlist *attrs_out, bool *caller_perm_check)
{
	struct tree_export *exp = tree_export(op_ctx->fsal_export);
	uint64_t number = tree_obj(obj_hdl)->number;
	fsal_status_t status;

	(void)attrs_in;
	(void)verifier;
	if (name != NULL) {
		if (!tree_exists(exp, number))
			return fsalstat(ERR_FSAL_STALE, ESTALE);
		number = tree_lookup(&exp->shape, number, name);
		if (number == 0 || !tree_exists(exp, number)) {
			if (createmode == FSAL_NO_CREATE)
				return fsalstat(ERR_FSAL_NOENT, ENOENT);
			return fsalstat(ERR_FSAL_ROFS, EROFS);
		}
		if (createmode >= FSAL_GUARDED)
			return fsalstat(ERR_FSAL_EXIST, EEXIST);
	}
	status = check_open(exp, number, openflags);
	if (FSAL_IS_ERROR(status))
		return status;
	set_openflags(state, openflags);
	*caller_perm_check = true;
	if (name != NULL)
		*new_obj = tree_new(exp, number, attrs_out);
	else if (attrs_out != NULL)
		tree_get_attrs(exp, number, attrs_out);
	return status;
}

static fsal_status_t tree_reopen2(struct fsal_obj_handle *obj_hdl,
				  struct state_t *state,
				  fsal_openflags_t openflags)
{
	fsal_status_t status = check_open(tree_export(op_ctx->fsal_export),
					  tree_obj(obj_hdl)->number, openflags);

	if (!FSAL_IS_ERROR(status))
		set_openflags(state, openflags);
	return status;
}

static fsal_openflags_t tree_status2(struct fsal_obj_handle *obj_hdl,
				     struct state_t *state)
{
	(void)obj_hdl;
	return container_of(state, struct tree_state, state)->openflags;
}

static fsal_status_t tree_close2(struct fsal_obj_handle *obj_hdl,
				 struct state_t *state)
{
	(void)obj_hdl;
	set_openflags(state, FSAL_O_CLOSED);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

/* Nothing is ever open without a state. */
static fsal_status_t tree_close(struct fsal_obj_handle *obj_hdl)
{
	(void)obj_hdl;
	return fsalstat(ERR_FSAL_NOT_OPENED, 0);
}

static void tree_read2(struct fsal_obj_handle *obj_hdl, bool bypass,
		       fsal_async_cb done_cb, struct fsal_io_arg *io,
		       void *caller_arg)
{
	struct tree_export *exp = tree_export(op_ctx->fsal_export);
	uint64_t number = tree_obj(obj_hdl)->number;
	struct change change = changes_get(&exp->changes, number);
	uint64_t size = exp->shape.file_size + change.version;
	uint64_t offset = io->offset;
	fsal_status_t status = check_open(exp, number, FSAL_O_READ);

	(void)bypass;
	io->io_amount = 0;
	if (io->info != NULL)
		status = fsalstat(ERR_FSAL_NOTSUPP, 0);
	for (int i = 0; i < io->iov_count && !FSAL_IS_ERROR(status); i++) {
		size_t len = io->iov[i].iov_len;

		if (offset >= size)
			break;
		if (len > size - offset)
			len = size - offset;
		tree_content(number, change.version, offset,
			     io->iov[i].iov_base, len);
		io->io_amount += len;
		offset += len;
	}
	io->end_of_file = offset >= size;
	done_cb(obj_hdl, status, io, caller_arg);
}

static void tree_write2(struct fsal_obj_handle *obj_hdl, bool bypass,
			fsal_async_cb done_cb, struct fsal_io_arg *io,
			void *caller_arg)
{
	(void)bypass;
	io->io_amount = 0;
	done_cb(obj_hdl, fsalstat(ERR_FSAL_ROFS, EROFS), io, caller_arg);
}

static fsal_status_t tree_commit2(struct fsal_obj_handle *obj_hdl, off_t offset,
				  size_t len)
{
	(void)obj_hdl;
	(void)offset;
	(void)len;
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t tree_setattr2(struct fsal_obj_handle *obj_hdl, bool bypass,
				   struct state_t *state,
				   struct fsal_attrlist *attrs)
{
	(void)obj_hdl;
	(void)bypass;
	(void)state;
	(void)attrs;
	return fsalstat(ERR_FSAL_ROFS, EROFS);
}

void tree_file_ops_init(struct fsal_obj_ops *ops)
{
	ops->open2 = tree_open2;
	ops->reopen2 = tree_reopen2;
	ops->status2 = tree_status2;
	ops->close = tree_close;
	ops->close2 = tree_close2;
	ops->read2 = tree_read2;
	ops->write2 = tree_write2;
	ops->commit2 = tree_commit2;
	ops->setattr2 = tree_setattr2;
}
