// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The backend of tree.h: attributes, open files and their states.
 */
#include "tree_backend.h"

#include <stdio.h>
#include <stdlib.h>

/* --- Attributes ---------------------------------------------------------- */

static fsal_status_t tree_getattrs(struct fsal_obj_handle *obj_hdl,
				   struct fsal_attrlist *attrs_out)
{
	struct tree_obj *obj = tree_obj(obj_hdl);
	fsal_status_t status;

	if (!tree_begin(TREE_GETATTRS, &status) || tree_dead(obj, &status))
		return status;
	tree_fill(attrs_out, obj->node);
	return tree_end(TREE_GETATTRS, status);
}

static void set_attrs(struct tree_node *node, const struct fsal_attrlist *set)
{
	if (set == NULL)
		return;
	if (FSAL_TEST_MASK(set->valid_mask, ATTR_SIZE))
		node->size = set->filesize;
	if (FSAL_TEST_MASK(set->valid_mask, ATTR_MODE))
		node->mode = set->mode;
	if (FSAL_TEST_MASK(set->valid_mask, ATTR_OWNER))
		node->owner = set->owner;
	tree_touch(node);
}

static fsal_status_t tree_setattr2(struct fsal_obj_handle *obj_hdl, bool bypass,
				   struct state_t *state,
				   struct fsal_attrlist *attrib_set)
{
	struct tree_obj *obj = tree_obj(obj_hdl);
	fsal_status_t status;

	(void)bypass;
	(void)state;
	if (!tree_begin(TREE_SETATTR, &status) || tree_dead(obj, &status))
		return status;
	set_attrs(obj->node, attrib_set);
	return tree_end(TREE_SETATTR, status);
}

static fsal_status_t tree_readlink(struct fsal_obj_handle *obj_hdl,
				   struct gsh_buffdesc *link_content,
				   bool refresh)
{
	struct tree_obj *obj = tree_obj(obj_hdl);
	fsal_status_t status;

	(void)refresh;
	if (!tree_begin(TREE_READLINK, &status) || tree_dead(obj, &status))
		return status;
	status = tree_end(TREE_READLINK, status);
	if (!FSAL_IS_ERROR(status)) {
		link_content->addr = gsh_strdup(obj->node->target);
		link_content->len = strlen(obj->node->target) + 1;
	}
	return status;
}

static fsal_status_t tree_setxattrs(struct fsal_obj_handle *obj_hdl,
				    setxattr_option4 option, xattrkey4 *name,
				    xattrvalue4 *value)
{
	fsal_status_t status;

	(void)option;
	(void)name;
	(void)value;
	if (!tree_begin(TREE_XATTR, &status))
		return status;
	tree_touch(tree_obj(obj_hdl)->node);
	return tree_end(TREE_XATTR, status);
}

/* --- Opening ------------------------------------------------------------- */

struct tree_state {
	struct state_t state;
	bool open;
	fsal_openflags_t flags;
};

static struct state_t *tree_alloc_state(struct fsal_export *exp_hdl,
					enum state_type state_type,
					struct state_t *related)
{
	struct tree_state *state = calloc(1, sizeof(*state));

	(void)exp_hdl;
	(void)related;
	state->state.state_type = state_type;
	tree.states++;
	return &state->state;
}

static void tree_free_state(struct fsal_export *exp_hdl, struct state_t *state)
{
	struct tree_state *own = container_of(state, struct tree_state, state);

	(void)exp_hdl;
	if (own->open)
		tree_wrong("a state was freed that is open");
	tree.states--;
	free(own);
}

static fsal_status_t open_state(struct tree_obj *obj, struct state_t *state,
				fsal_openflags_t flags)
{
	struct tree_state *own;

	if (((flags & FSAL_O_WRITE) != 0 && obj->deny_write != 0) ||
	    ((flags & FSAL_O_DENY_WRITE) != 0 && obj->writers != 0))
		return fsalstat(ERR_FSAL_SHARE_DENIED, 0);
	if (state == NULL)
		return fsalstat(ERR_FSAL_NO_ERROR, 0);
	own = container_of(state, struct tree_state, state);
	if (own->open)
		tree_wrong("a state was opened twice");
	own->open = true;
	own->flags = flags;
	obj->states++;
	obj->writers += (flags & FSAL_O_WRITE) != 0;
	obj->deny_write += (flags & FSAL_O_DENY_WRITE) != 0;
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static void close_state(struct tree_obj *obj, struct tree_state *own)
{
	if (obj->states == 0)
		tree_wrong("a state was closed in another object");
	own->open = false;
	obj->states--;
	obj->writers -= (own->flags & FSAL_O_WRITE) != 0;
	obj->deny_write -= (own->flags & FSAL_O_DENY_WRITE) != 0;
}

static fsal_status_t open_node(struct tree_obj *obj, struct state_t *state,
			       fsal_openflags_t flags,
			       struct fsal_attrlist *attrs_in,
			       struct fsal_attrlist *attrs_out)
{
	fsal_status_t status = open_state(obj, state, flags);

	if (FSAL_IS_ERROR(status))
		return status;
	if ((flags & FSAL_O_TRUNC) != 0) {
		obj->node->size = 0;
		tree_touch(obj->node);
	}
	if (attrs_in != NULL && attrs_in->valid_mask != 0)
		set_attrs(obj->node, attrs_in);
	tree_fill(attrs_out, obj->node);
	return status;
}

static fsal_status_t
tree_open2(struct fsal_obj_handle *obj_hdl, struct state_t *state,
	   fsal_openflags_t flags, enum fsal_create_mode createmode,
	   const char *name, struct fsal_attrlist *attrs_in,
	   fsal_verifier_t verifier, struct fsal_obj_handle **new_obj,
	   struct fsal_attrlist *attrs_out, bool *caller_perm_check)
{
	struct tree_obj *obj = tree_obj(obj_hdl);
	struct fsal_obj_handle *opened;
	struct tree_node *node;
	fsal_status_t status;

	(void)verifier;
	*caller_perm_check = false;
	if (!tree_begin(TREE_OPEN, &status) || tree_dead(obj, &status))
		return status;
	if (name == NULL)
		return tree_end(TREE_OPEN, open_node(obj, state, flags,
						     attrs_in, attrs_out));
	node = tree_find(obj->node, name);
	if (node != NULL && createmode == FSAL_GUARDED)
		return tree_end(TREE_OPEN, fsalstat(ERR_FSAL_EXIST, EEXIST));
	if (node == NULL && createmode == FSAL_NO_CREATE)
		return tree_end(TREE_OPEN, fsalstat(ERR_FSAL_NOENT, ENOENT));
	if (node == NULL)
		node = tree_make(obj->node, name, REGULAR_FILE);
	opened = tree_new_obj(node);
	status = open_node(tree_obj(opened), state, flags,
			   createmode == FSAL_NO_CREATE ? NULL : attrs_in,
			   attrs_out);
	status = tree_end(TREE_OPEN, status);
	if (FSAL_IS_ERROR(status)) {
		if (state != NULL && tree_obj(opened)->states != 0)
			close_state(tree_obj(opened),
				    container_of(state, struct tree_state,
						 state));
		tree_obj_ops.release(opened);
	} else {
		*new_obj = opened;
	}
	return status;
}

static fsal_status_t tree_reopen2(struct fsal_obj_handle *obj_hdl,
				  struct state_t *state, fsal_openflags_t flags)
{
	struct tree_obj *obj = tree_obj(obj_hdl);
	struct tree_state *own = container_of(state, struct tree_state, state);
	fsal_status_t status;

	if (!tree_begin(TREE_REOPEN, &status))
		return status;
	if (own->open)
		close_state(obj, own);
	return tree_end(TREE_REOPEN, open_node(obj, state, flags, NULL, NULL));
}

static fsal_status_t tree_close2(struct fsal_obj_handle *obj_hdl,
				 struct state_t *state)
{
	struct tree_state *own = container_of(state, struct tree_state, state);
	fsal_status_t status;

	if (!tree_begin(TREE_CLOSE2, &status))
		return status;
	if (own->open)
		close_state(tree_obj(obj_hdl), own);
	return tree_end(TREE_CLOSE2, status);
}

/* A state of locks opens a descriptor of its own. */
static fsal_status_t tree_lock_op2(struct fsal_obj_handle *obj_hdl,
				   struct state_t *state, void *owner,
				   fsal_lock_op_t lock_op,
				   fsal_lock_param_t *request,
				   fsal_lock_param_t *conflicting)
{
	struct tree_state *own = container_of(state, struct tree_state, state);
	fsal_status_t status;

	(void)owner;
	(void)lock_op;
	(void)request;
	(void)conflicting;
	if (!tree_begin(TREE_LOCK, &status))
		return status;
	if (state != NULL && !own->open)
		status = open_state(tree_obj(obj_hdl), state, FSAL_O_READ);
	return tree_end(TREE_LOCK, status);
}

/* --- Reading and writing ------------------------------------------------- */

static void do_io(enum tree_op op, struct fsal_obj_handle *obj_hdl,
		  fsal_async_cb done_cb, struct fsal_io_arg *arg,
		  void *caller_arg)
{
	struct tree_obj *obj = tree_obj(obj_hdl);
	fsal_status_t status;

	if (tree_begin(op, &status) && !tree_dead(obj, &status)) {
		if (arg->state == NULL) {
			if (!obj->fd)
				atomic_inc_size_t(&open_fd_count);
			obj->fd = true;
		}
		if (op == TREE_WRITE) {
			obj->node->size = MAX(obj->node->size,
					      arg->offset + arg->io_amount);
			tree_touch(obj->node);
		}
		status = tree_end(op, status);
	}
	done_cb(obj_hdl, status, arg, caller_arg);
}

static void tree_read2(struct fsal_obj_handle *obj_hdl, bool bypass,
		       fsal_async_cb done_cb, struct fsal_io_arg *read_arg,
		       void *caller_arg)
{
	(void)bypass;
	do_io(TREE_READ, obj_hdl, done_cb, read_arg, caller_arg);
}

static void tree_write2(struct fsal_obj_handle *obj_hdl, bool bypass,
			fsal_async_cb done_cb, struct fsal_io_arg *write_arg,
			void *caller_arg)
{
	(void)bypass;
	do_io(TREE_WRITE, obj_hdl, done_cb, write_arg, caller_arg);
}

static fsal_status_t tree_close(struct fsal_obj_handle *obj_hdl)
{
	struct tree_obj *obj = tree_obj(obj_hdl);

	if (!obj->fd)
		return fsalstat(ERR_FSAL_NOT_OPENED, 0);
	obj->fd = false;
	__atomic_add_fetch(&tree.closed, 1, __ATOMIC_RELAXED);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

void tree_file_ops_init(struct fsal_obj_ops *ops)
{
	ops->getattrs = tree_getattrs;
	ops->setattr2 = tree_setattr2;
	ops->readlink = tree_readlink;
	ops->setxattrs = tree_setxattrs;
	ops->open2 = tree_open2;
	ops->reopen2 = tree_reopen2;
	ops->close2 = tree_close2;
	ops->lock_op2 = tree_lock_op2;
	ops->read2 = tree_read2;
	ops->write2 = tree_write2;
	ops->close = tree_close;
}

void tree_file_export_ops_init(struct export_ops *ops)
{
	ops->alloc_state = tree_alloc_state;
	ops->free_state = tree_free_state;
}
