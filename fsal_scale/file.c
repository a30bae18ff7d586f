// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Open files: opening, reading, writing, locking, closing.
 *
 * A state_t is made and freed by the backend, which keeps its file descriptor
 * around it (scale_alloc_state(), scale_free_state()). SCALE hands it down as
 * it came and never looks inside.
 */
#include "lookup.h"
#include "permit.h"

/* --- Opening ------------------------------------------------------------- */

struct opening {
	struct state_t *state;
	fsal_openflags_t openflags;
	enum fsal_create_mode createmode;
	const char *name;
	struct fsal_attrlist *attrs_in;
	void *verifier;
	bool *caller_perm_check;
};

static fsal_status_t call_open2(struct fsal_obj_handle *sub,
				const struct opening *o,
				struct fsal_obj_handle **sub_new,
				struct fsal_attrlist *attrs)
{
	return sub->obj_ops->open2(sub, o->state, o->openflags, o->createmode,
				   o->name, o->attrs_in, o->verifier, sub_new,
				   attrs, o->caller_perm_check);
}

/* May it change what is there? */
static bool changes(const struct opening *o)
{
	return (o->openflags & FSAL_O_TRUNC) != 0 ||
	       o->createmode != FSAL_NO_CREATE;
}

/* Without a name the object itself was opened. Some backends return nothing
 * then, some (PROXY_V4) the very object they were called with: neither is a
 * new one.
 */
static fsal_status_t open_object(struct fsal_obj_handle *obj_hdl,
				 const struct opening *o,
				 struct fsal_attrlist *attrs_out)
{
	bool changing = changes(o);
	struct fsal_obj_handle *ignored = NULL;
	struct scale_change ch;
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_OPEN);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_change_begin(&ch, use.call.exp);
	if (changing)
		scale_change_obj(&ch, use.obj);
	status = call_open2(use.sub, o, &ignored, attrs_out);
	if (changing)
		scale_changed_obj(&ch, use.obj);
	if (!FSAL_IS_ERROR(status))
		scale_obj_hold(use.obj, o->state, &use.ref);
	return scale_use_end(&use, status);
}

/** What is known of a name before it is opened, perhaps to create it. */
struct before {
	bool absent;
	bool exists; /**< and then key */
	struct mdx_key key;
	char buf[MDX_KEY_MAX];
};

static void look_before(struct scale_export *exp, const struct scale_obj *dir,
			const char *name, struct before *before)
{
	struct mdx_answer child;
	int rc;

	*before = (struct before){ .absent = false };
	if (!exp->cached || !scale_obj_cached(dir) ||
	    exp->fresh.mode == SCALE_ASK)
		return;
	rc = mdx_lookup(SCALE.cache, scale_obj_key(dir), name, strlen(name),
			&child);
	before->absent = rc == -ENOENT;
	before->exists = rc == 0;
	if (rc != 0)
		return;
	memcpy(before->buf, child.key, child.key_len);
	before->key =
		(struct mdx_key){ before->buf, child.key_len, child.backend };
}

/* The file was there, or may have been, and the open may have emptied it or
 * set its attributes: a fetch that is under way must not store what was.
 */
static void finish_file(struct scale_change *ch, const struct opening *o,
			const struct before *before,
			const struct scale_obj *obj)
{
	if (before->exists)
		(void)mdx_changed_entry(SCALE.cache, &ch->ch, before->key, NULL,
					0, 0);
	if (obj == NULL || !scale_obj_cached(obj) ||
	    o->createmode == FSAL_GUARDED || before->absent ||
	    (before->exists &&
	     scale_obj_has_key(obj, before->buf, before->key.len)))
		return;
	mdx_invalidate(SCALE.cache, scale_obj_key(obj), MDX_ALL);
}

static fsal_status_t open_name(struct fsal_obj_handle *dir_hdl,
			       const struct opening *o,
			       struct fsal_obj_handle **new_obj,
			       struct fsal_attrlist *attrs_out)
{
	bool changing = changes(o);
	struct fsal_attrlist attrs;
	struct scale_found found = { .attrs = &attrs };
	struct scale_obj *obj = NULL;
	struct scale_export *exp;
	struct scale_change ch;
	struct before before;
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, dir_hdl,
				 changing ? SCALE_OP_CREATE : SCALE_OP_OPEN);
	if (FSAL_IS_ERROR(status))
		return status;
	exp = use.call.exp;
	scale_change_begin(&ch, exp);
	before = (struct before){ .absent = false };
	if (changing) {
		scale_change_obj(&ch, use.obj);
		scale_change_name(&ch, use.obj, o->name);
		look_before(exp, use.obj, o->name, &before);
		if (before.exists)
			(void)mdx_change_entry(SCALE.cache, &ch.ch, before.key);
	}
	found.ticket = scale_ticket(exp);
	scale_attrs_prepare(exp, attrs_out, &attrs);
	status = call_open2(use.sub, o, &found.sub, &attrs);
	status = scale_no_null(status, found.sub);
	if (status.major == ERR_FSAL_NOENT && !changing)
		scale_store_name(exp, found.ticket, use.obj, o->name, NULL);
	if (!FSAL_IS_ERROR(status))
		status = scale_obj_adopt_opened(exp, &found, o->state, &obj);
	if (changing) {
		scale_changed_name(&ch, use.obj, o->name,
				   obj != NULL ?
					   MDX_NAME_PRESENT :
					   scale_failed_name(use.obj, o->name,
							     status),
				   obj);
		finish_file(&ch, o, &before, obj);
		scale_changed_obj(&ch, use.obj);
	} else if (obj != NULL) {
		scale_store_name(exp, found.ticket, use.obj, o->name, obj);
	}
	if (obj != NULL) {
		scale_lookup_give(exp, obj, &attrs, attrs_out);
		*new_obj = &obj->obj;
	}
	fsal_release_attrs(&attrs);
	return scale_use_end(&use, status);
}

/* NFSv4 opens by name what may not be there, again and again. */
static bool known_absent(struct fsal_obj_handle *dir_hdl, const char *name)
{
	struct scale_export *exp = scale_current();
	struct scale_obj *dir = scale_obj(dir_hdl);
	enum scale_outcome outcome;
	struct scale_obj *obj;

	if (!scale_permitted(exp, dir, SCALE_MAY_SEARCH))
		return false;
	scale_lookup_cached(exp, dir, name, &obj, NULL, &outcome);
	if (obj != NULL)
		scale_obj_free(obj);
	if (outcome != SCALE_OUTCOME_NEGATIVE)
		return false;
	scale_stats_request(exp->stats, SCALE_OP_OPEN, outcome);
	return true;
}

static fsal_status_t
scale_open2(struct fsal_obj_handle *obj_hdl, struct state_t *state,
	    fsal_openflags_t openflags, enum fsal_create_mode createmode,
	    const char *name, struct fsal_attrlist *attrs_in,
	    fsal_verifier_t verifier, struct fsal_obj_handle **new_obj,
	    struct fsal_attrlist *attrs_out, bool *caller_perm_check)
{
	const struct opening o = { state,    openflags, createmode,	  name,
				   attrs_in, verifier,	caller_perm_check };

	*new_obj = NULL;
	if (name != NULL && !changes(&o) && known_absent(obj_hdl, name))
		return fsalstat(ERR_FSAL_NOENT, ENOENT);
	return name == NULL ? open_object(obj_hdl, &o, attrs_out) :
			      open_name(obj_hdl, &o, new_obj, attrs_out);
}

static fsal_status_t scale_reopen2(struct fsal_obj_handle *obj_hdl,
				   struct state_t *state,
				   fsal_openflags_t openflags)
{
	bool changing = (openflags & FSAL_O_TRUNC) != 0;
	struct scale_change ch;
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_OPEN);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_change_begin(&ch, use.call.exp);
	if (changing)
		scale_change_obj(&ch, use.obj);
	status = use.sub->obj_ops->reopen2(use.sub, state, openflags);
	if (changing)
		scale_changed_obj(&ch, use.obj);
	if (!FSAL_IS_ERROR(status))
		scale_obj_hold(use.obj, state, &use.ref);
	return scale_use_end(&use, status);
}

/* --- Reading and writing ------------------------------------------------- */

/** A read or a write, until the backend says that it is done. */
struct io {
	struct scale_use use;
	struct scale_change ch;
	bool writing;
	bool stateless;
	struct fsal_export *self;
	fsal_async_cb done_cb;
	void *caller_arg;
};

/* Called by the backend, in its context, perhaps on a thread of its own. */
static void scale_io_done(struct fsal_obj_handle *sub, fsal_status_t ret,
			  void *obj_data, void *caller_data)
{
	struct io *io = caller_data;
	struct scale_obj *obj = io->use.obj;
	struct fsal_export *below = scale_enter(io->self);

	(void)sub;
	scale_stats_backend(io->use.call.exp->stats, io->use.op,
			    io->use.call.began, FSAL_IS_ERROR(ret));
	/* Before anybody hears of it. */
	if (io->writing)
		scale_changed_obj(&io->ch, obj);
	if (ret.major == ERR_FSAL_STALE)
		scale_obj_gone(io->use.call.exp, obj);
	/* A backend opens a descriptor of its own for these, and keeps it. */
	if (io->stateless && io->use.ref.handle != NULL)
		mdx_pool_set_fds(SCALE.cache, io->use.ref.handle,
				 io->use.call.exp->pools_fds);
	/* Their use ends first: the object may go with the call. */
	scale_ref_put(&io->use.ref);
	io->done_cb(&obj->obj, ret, obj_data, io->caller_arg);
	scale_up(below);
	gsh_free(io);
}

static struct io *io_begin(struct fsal_obj_handle *obj_hdl, bool writing,
			   fsal_async_cb done_cb, struct fsal_io_arg *arg,
			   void *caller_arg)
{
	struct io *io = gsh_malloc(sizeof(*io));
	fsal_status_t status;

	io->self = op_ctx->fsal_export;
	io->writing = writing;
	io->stateless = arg->state == NULL;
	io->done_cb = done_cb;
	io->caller_arg = caller_arg;
	status = scale_use_begin(&io->use, obj_hdl,
				 writing ? SCALE_OP_WRITE : SCALE_OP_READ);
	if (FSAL_IS_ERROR(status)) {
		gsh_free(io);
		done_cb(obj_hdl, status, arg, caller_arg);
		return NULL;
	}
	/* Used for its data: it belongs in the file tier. */
	if (scale_obj_cached(io->use.obj))
		(void)mdx_promote(SCALE.cache, scale_obj_key(io->use.obj));
	if (writing) {
		scale_change_begin(&io->ch, io->use.call.exp);
		scale_change_obj(&io->ch, io->use.obj);
	}
	return io;
}

static void scale_read2(struct fsal_obj_handle *obj_hdl, bool bypass,
			fsal_async_cb done_cb, struct fsal_io_arg *read_arg,
			void *caller_arg)
{
	struct fsal_export *self = op_ctx->fsal_export;
	struct io *io = io_begin(obj_hdl, false, done_cb, read_arg, caller_arg);

	if (io == NULL)
		return;
	io->use.sub->obj_ops->read2(io->use.sub, bypass, scale_io_done,
				    read_arg, io);
	scale_up(self);
}

static void scale_write2(struct fsal_obj_handle *obj_hdl, bool bypass,
			 fsal_async_cb done_cb, struct fsal_io_arg *write_arg,
			 void *caller_arg)
{
	struct fsal_export *self = op_ctx->fsal_export;
	struct io *io = io_begin(obj_hdl, true, done_cb, write_arg, caller_arg);

	if (io == NULL)
		return;
	io->use.sub->obj_ops->write2(io->use.sub, bypass, scale_io_done,
				     write_arg, io);
	scale_up(self);
}

static fsal_status_t scale_commit2(struct fsal_obj_handle *obj_hdl,
				   off_t offset, size_t len)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_COMMIT);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->commit2(use.sub, offset, len);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_fallocate(struct fsal_obj_handle *obj_hdl,
				     struct state_t *state, uint64_t offset,
				     uint64_t length, bool allocate)
{
	struct scale_change ch;
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_WRITE);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_change_begin(&ch, use.call.exp);
	scale_change_obj(&ch, use.obj);
	status = use.sub->obj_ops->fallocate(use.sub, state, offset, length,
					     allocate);
	scale_changed_obj(&ch, use.obj);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_seek(struct fsal_obj_handle *obj_hdl,
				struct io_info *info)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_READ);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->seek(use.sub, info);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_seek2(struct fsal_obj_handle *obj_hdl,
				 struct state_t *state, struct io_info *info)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_READ);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->seek2(use.sub, state, info);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_io_advise(struct fsal_obj_handle *obj_hdl,
				     struct io_hints *hints)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_OTHER);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->io_advise(use.sub, hints);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_io_advise2(struct fsal_obj_handle *obj_hdl,
				      struct state_t *state,
				      struct io_hints *hints)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_OTHER);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->io_advise2(use.sub, state, hints);
	return scale_use_end(&use, status);
}

/* --- Open state ---------------------------------------------------------- */

static bool scale_check_verifier(struct fsal_obj_handle *obj_hdl,
				 fsal_verifier_t verifier)
{
	struct scale_use use;
	fsal_status_t status;
	bool result;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_OTHER);
	if (FSAL_IS_ERROR(status))
		return false;
	result = use.sub->obj_ops->check_verifier(use.sub, verifier);
	(void)scale_use_end(&use, status);
	return result;
}

static fsal_openflags_t scale_status2(struct fsal_obj_handle *obj_hdl,
				      struct state_t *state)
{
	fsal_openflags_t flags;
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_OTHER);
	if (FSAL_IS_ERROR(status))
		return FSAL_O_CLOSED;
	flags = use.sub->obj_ops->status2(use.sub, state);
	(void)scale_use_end(&use, status);
	return flags;
}

static fsal_status_t scale_lock_op2(struct fsal_obj_handle *obj_hdl,
				    struct state_t *state, void *owner,
				    fsal_lock_op_t lock_op,
				    fsal_lock_param_t *request_lock,
				    fsal_lock_param_t *conflicting_lock)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_LOCK);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->lock_op2(use.sub, state, owner, lock_op,
					    request_lock, conflicting_lock);
	/* Even a test may have opened a descriptor in the state. */
	scale_obj_hold(use.obj, state, &use.ref);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_lease_op2(struct fsal_obj_handle *obj_hdl,
				     struct state_t *state, void *owner,
				     fsal_deleg_t deleg)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_LOCK);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->lease_op2(use.sub, state, owner, deleg);
	return scale_use_end(&use, status);
}

/* The descriptor that a backend keeps in its object, if there is one. MDCACHE
 * calls it when it drops an object, perhaps without an export: no object is
 * made for it, and nothing may block.
 */
static fsal_status_t scale_close(struct fsal_obj_handle *obj_hdl)
{
	struct scale_export *exp = scale_current();
	struct scale_ref ref;
	struct fsal_export *self;
	fsal_status_t status;
	uint64_t began;

	if (!scale_ref_get_pooled(&ref, scale_obj(obj_hdl)))
		return fsalstat(ERR_FSAL_NOT_OPENED, 0);
	self = scale_down();
	began = scale_stats_begin();
	status = ref.sub->obj_ops->close(ref.sub);
	scale_up(self);
	scale_stats_backend(exp ? exp->stats : NULL, SCALE_OP_CLOSE, began,
			    FSAL_IS_ERROR(status) &&
				    status.major != ERR_FSAL_NOT_OPENED);
	if (ref.handle != NULL)
		mdx_pool_set_fds(SCALE.cache, ref.handle, 0);
	scale_ref_put(&ref);
	return status;
}

static fsal_status_t scale_close2(struct fsal_obj_handle *obj_hdl,
				  struct state_t *state)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_CLOSE);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->close2(use.sub, state);
	scale_obj_unhold(use.obj, state);
	return scale_use_end(&use, status);
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
