// SPDX-License-Identifier: LGPL-3.0-or-later
#include "object.h"

#include <arpa/inet.h>

#include "attrs.h"
#include "cache.h"
#include "learn.h"
#include "live.h"
#include "names_above.h"
#include "notify.h"

#include "nfs_fh.h"

/* --- File systems of an export ------------------------------------------- */

/*
 * Ganesha wants each object's file system (LINK compares the pointers), which
 * the engine does not keep: an export learns them from the objects that its
 * backend hands out. They are a few, and stay while the export does.
 *
 * What the backend has never shown in this export is not served from memory to
 * it, although another export with the same keys may have filled it in: only
 * the backend can say whether a foreign handle is good here.
 */
static void learn_fs(struct scale_export *exp,
		     const struct fsal_obj_handle *sub,
		     const struct gsh_buffdesc *key)
{
	unsigned int n =
		atomic_load_explicit(&exp->fs_count, memory_order_acquire);
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (exp->fs[i].fsid.major == sub->fsid.major &&
		    exp->fs[i].fsid.minor == sub->fsid.minor) {
			if (atomic_load(&exp->fs[i].fs) != sub->fs)
				atomic_store(&exp->fs[i].fs, sub->fs);
			return;
		}
	}
	PTHREAD_MUTEX_lock(&exp->fs_lock);
	if (n == atomic_load(&exp->fs_count) && n < SCALE_FS_MAX) {
		exp->fs[n].fsid = sub->fsid;
		atomic_store(&exp->fs[n].fs, sub->fs);
		atomic_store_explicit(&exp->fs_count, n + 1,
				      memory_order_release);
		scale_notify_learnt(exp, &exp->fs[n], key);
	}
	PTHREAD_MUTEX_unlock(&exp->fs_lock);
}

static bool find_fs(struct scale_export *exp, const struct mdx_attrs *attrs,
		    struct fsal_filesystem **fs)
{
	unsigned int n =
		atomic_load_explicit(&exp->fs_count, memory_order_acquire);

	for (unsigned int i = 0; i < n; i++) {
		if (exp->fs[i].fsid.major == attrs->fsid_major &&
		    exp->fs[i].fsid.minor == attrs->fsid_minor) {
			*fs = atomic_load(&exp->fs[i].fs);
			return true;
		}
	}
	return false;
}

bool scale_obj_belongs(struct scale_export *exp,
		       const struct mdx_answer *answer)
{
	struct fsal_filesystem *fs;

	return !((answer->attrs.valid | answer->expired) & MDX_FSID) ||
	       find_fs(exp, &answer->attrs, &fs);
}

/* --- Making objects ------------------------------------------------------ */

static struct scale_obj *alloc_obj(struct scale_export *exp,
				   const struct gsh_buffdesc *key,
				   object_file_type_t type)
{
	struct scale_obj *self =
		gsh_malloc(sizeof(*self) + key->len + SCALE_KEY_ID_BYTES);
	struct gsh_buffdesc full = { self->key, key->len };

	memset(self, 0, sizeof(*self));
	memcpy(self->key, key->addr, key->len);
	scale_key_append(&full, exp->upcall.backend_id);
	self->key_len = (uint8_t)key->len;
	self->slot = exp->slot;
	glist_init(&self->holders);
	compat_obj_init(&self->obj, &SCALE.module, &SCALE.obj_ops, type);
	if (exp->fresh.mode == SCALE_NOTIFY)
		scale_live_add(self);
	return self;
}

struct scale_obj *scale_obj_from_answer(struct scale_export *exp,
					const struct mdx_answer *answer)
{
	const uint32_t needed = MDX_TYPE | MDX_FSID | MDX_FILEID;
	const struct mdx_attrs *attrs = &answer->attrs;
	struct gsh_buffdesc key = { (void *)answer->key, answer->key_len };
	struct fsal_filesystem *fs;
	struct scale_obj *self;

	if ((attrs->valid & needed) != needed || !find_fs(exp, attrs, &fs))
		return NULL;
	self = alloc_obj(exp, &key, attrs->type);
	self->obj.fsid.major = attrs->fsid_major;
	self->obj.fsid.minor = attrs->fsid_minor;
	self->obj.fileid = attrs->fileid;
	self->obj.fs = fs;
	scale_names_above_new(exp, self);
	return self;
}

/* Does the wire handle stand at the beginning of the key? It does for all
 * backends but GPFS, with the same rest for all objects of one (CEPH adds the
 * export's id).
 */
static bool wire_in_key(struct scale_export *exp, struct fsal_obj_handle *sub,
			const struct gsh_buffdesc *key)
{
	char buf[NFS4_FHSIZE];
	struct gsh_buffdesc wire = { buf, sizeof(buf) };
	fsal_status_t status;
	int rest, known = -1;

	status = sub->obj_ops->handle_to_wire(sub, FSAL_DIGEST_NFSV4, &wire);
	if (FSAL_IS_ERROR(status) || wire.len > key->len ||
	    memcmp(wire.addr, key->addr, wire.len) != 0)
		return false;
	rest = (int)(key->len - wire.len);
	return atomic_compare_exchange_strong(&exp->key_rest, &known, rest) ||
	       known == rest;
}

static bool cacheable(struct scale_export *exp, const struct scale_found *found,
		      const struct gsh_buffdesc *key)
{
	const struct fsal_attrlist *attrs = found->attrs;
	struct fsal_obj_handle *sub = found->sub;

	if (!exp->cached || key->len > MDX_KEY_MAX || key->len == 0)
		return false;
	/* Such an object cannot be made again from its handle: VFS keeps with
	 * it the directory and the name that it was found by.
	 */
	if (scale_obj_special(sub->type))
		return false;
	/* An object and its attributes that do not agree: let the backend
	 * answer for both.
	 */
	if (attrs != NULL && (((attrs->valid_mask & ATTR_FILEID) &&
			       attrs->fileid != sub->fileid) ||
			      ((attrs->valid_mask & ATTR_FSID) &&
			       (attrs->fsid.major != sub->fsid.major ||
				attrs->fsid.minor != sub->fsid.minor))))
		return false;
	return wire_in_key(exp, sub, key);
}

/* The object, without a place for the backend's. */
static struct scale_obj *adopt(struct scale_export *exp,
			       const struct scale_found *found, bool *cached)
{
	struct fsal_obj_handle *sub = found->sub;
	struct gsh_buffdesc key = { .addr = NULL, .len = 0 };
	struct fsal_export *above = scale_enter(exp->export.sub_export);
	struct scale_obj *self;

	sub->obj_ops->handle_to_key(sub, &key);
	assert(key.len + SCALE_KEY_ID_BYTES <= SCALE_KEY_MAX);
	*cached = cacheable(exp, found, &key);
	scale_up(above);

	self = alloc_obj(exp, &key, sub->type);
	self->obj.fsid = sub->fsid;
	self->obj.fileid = sub->fileid;
	self->obj.state_hdl = sub->state_hdl;
	self->obj.fs = sub->fs;
	if (*cached) {
		learn_fs(exp, sub, &key);
		if (found->attrs != NULL && found->ticket != 0)
			scale_learn_attrs(exp, found->ticket, self,
					  found->attrs);
		scale_names_above_new(exp, self);
	}
	return self;
}

static void release_sub(struct scale_export *exp, struct fsal_obj_handle *sub)
{
	struct fsal_export *above = scale_enter(exp->export.sub_export);

	sub->obj_ops->release(sub);
	scale_up(above);
}

struct scale_obj *scale_obj_adopt(struct scale_export *exp,
				  const struct scale_found *found)
{
	struct mdx_handle *handle;
	struct scale_obj *self;
	fsal_status_t status;
	bool cached;

	self = adopt(exp, found, &cached);
	if (!cached) {
		self->own = found->sub;
		return self;
	}
	if (found->listed) {
		if (!scale_pool_offer(exp, scale_obj_key(self), found->sub))
			release_sub(exp, found->sub);
		return self;
	}
	status = scale_pool_add(exp, scale_obj_key(self), found->sub, &handle);
	if (FSAL_IS_ERROR(status))
		release_sub(exp, found->sub);
	else
		mdx_pool_put(SCALE.cache, handle);
	return self;
}

fsal_status_t scale_obj_adopt_opened(struct scale_export *exp,
				     const struct scale_found *found,
				     struct state_t *state,
				     struct scale_obj **obj)
{
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);
	struct fsal_obj_handle *sub = found->sub;
	struct scale_ref ref = { .sub = sub };
	struct mdx_handle *handle;
	struct scale_obj *self;
	bool cached;

	self = adopt(exp, found, &cached);
	if (!cached) {
		self->own = sub;
	} else {
		status = scale_pool_add(exp, scale_obj_key(self), sub, &handle);
		if (FSAL_IS_ERROR(status)) {
			struct fsal_export *above =
				scale_enter(exp->export.sub_export);

			(void)sub->obj_ops->close2(sub, state);
			sub->obj_ops->release(sub);
			scale_up(above);
			scale_obj_free(self);
			return status;
		}
		ref.handle = handle;
		scale_obj_hold(self, state, &ref);
		scale_ref_put(&ref);
	}
	*obj = self;
	return status;
}

/** A state that has an object open or locked. */
struct holder {
	struct glist_head node;
	const struct state_t *state;
};

/** What was held, to be put when the lock is released. */
struct released {
	struct mdx_handle *handle;
	bool pinned;
};

/* Lets go of what is held, when nobody needs it. Under the lock. */
static struct released let_go(struct scale_obj *obj)
{
	struct released released = { obj->held, obj->pinned };

	if (!glist_empty(&obj->holders) || obj->users != 0)
		return (struct released){ NULL, false };
	obj->held = NULL;
	obj->pinned = false;
	return released;
}

static void put_released(const struct scale_obj *obj, struct released released)
{
	if (released.pinned)
		mdx_unpin(SCALE.cache, scale_obj_key(obj));
	if (released.handle != NULL)
		mdx_pool_put(SCALE.cache, released.handle);
}

void scale_obj_free(struct scale_obj *obj)
{
	struct glist_head *node, *next;

	if (obj->own != NULL) {
		struct fsal_export *above = scale_down();

		obj->own->obj_ops->release(obj->own);
		scale_up(above);
	}
	scale_live_remove(obj);
	/* Ganesha closes states before it drops their object. */
	glist_for_each_safe(node, next, &obj->holders)
		gsh_free(glist_entry(node, struct holder, node));
	put_released(obj, (struct released){ obj->held, obj->pinned });
	compat_obj_fini(&obj->obj);
	gsh_free(obj);
}

/* Two objects of the backend for one key: the first one was dropped from the
 * pool while it was in use, for the file was gone, or seemed to be.
 */
static fsal_status_t merge_subs(const struct mdx_handle *handle,
				const struct mdx_handle *dupe)
{
	struct fsal_obj_handle *sub = scale_pool_sub(handle);
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);
	struct scale_call call;

	if (handle == dupe)
		return status;
	call = scale_call_begin(scale_current());
	status = sub->obj_ops->merge(sub, scale_pool_sub(dupe));
	scale_call_end(&call, SCALE_OP_OTHER, status);
	return status;
}

fsal_status_t scale_obj_merge(struct scale_obj *obj, struct scale_obj *dupe)
{
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);
	struct released spare = { NULL, false };
	struct scale_call call;

	if (obj->own != NULL && dupe->own != NULL) {
		call = scale_call_begin(scale_current());
		status = obj->own->obj_ops->merge(obj->own, dupe->own);
		scale_call_end(&call, SCALE_OP_OTHER, status);
		return status;
	}
	if (dupe->held == NULL)
		return status;
	/* Nobody but this thread knows the duplicate. What it holds is most
	 * often the pool's one object of the key, merged already.
	 */
	PTHREAD_RWLOCK_wrlock(&obj->obj.obj_lock);
	glist_splice_tail(&obj->holders, &dupe->holders);
	if (obj->held == NULL) {
		obj->held = dupe->held;
		obj->pinned = dupe->pinned;
	} else {
		spare = (struct released){ dupe->held, dupe->pinned };
		status = merge_subs(obj->held, dupe->held);
	}
	PTHREAD_RWLOCK_unlock(&obj->obj.obj_lock);
	dupe->held = NULL;
	dupe->pinned = false;
	put_released(obj, spare);
	return status;
}

/* --- Using the backend's object ------------------------------------------ */

static bool get_held(struct scale_ref *ref, struct scale_obj *obj)
{
	/* Only a hint without the lock: an open that matters to this request
	 * happened before it.
	 */
	if (__atomic_load_n(&obj->held, __ATOMIC_ACQUIRE) == NULL)
		return false;
	PTHREAD_RWLOCK_wrlock(&obj->obj.obj_lock);
	if (obj->held != NULL) {
		obj->users++;
		ref->held_by = obj;
		ref->sub = scale_pool_sub(obj->held);
	}
	PTHREAD_RWLOCK_unlock(&obj->obj.obj_lock);
	return ref->sub != NULL;
}

bool scale_ref_get_pooled(struct scale_ref *ref, struct scale_obj *obj)
{
	*ref = (struct scale_ref){ .sub = obj->own };
	if (ref->sub != NULL || get_held(ref, obj))
		return true;
	if (mdx_pool_get(SCALE.cache, scale_obj_key(obj), &ref->handle) != 0)
		return false;
	ref->sub = scale_pool_sub(ref->handle);
	return true;
}

fsal_status_t scale_sub_create(struct scale_export *exp,
			       struct gsh_buffdesc *fh_desc,
			       struct fsal_obj_handle **sub,
			       struct fsal_attrlist *attrs)
{
	struct fsal_export *sub_exp = exp->export.sub_export;
	fsal_status_t status;

	*sub = NULL;
	status = sub_exp->exp_ops.create_handle(sub_exp, fh_desc, sub, attrs);
	status = scale_no_null(status, *sub);
	if (!FSAL_IS_ERROR(status) && exp->lends_handles)
		(*sub)->obj_ops->get_ref(*sub);
	return status;
}

static bool is_ours(struct fsal_obj_handle *sub, const struct scale_obj *obj)
{
	struct gsh_buffdesc key = { .addr = NULL, .len = 0 };

	sub->obj_ops->handle_to_key(sub, &key);
	return scale_obj_has_key(obj, key.addr, key.len);
}

static fsal_status_t make_sub(struct scale_ref *ref, struct scale_export *exp,
			      struct scale_obj *obj,
			      struct fsal_attrlist *attrs)
{
	/* Backends that are given a handle may look at all of it. */
	char buf[SCALE_KEY_MAX] = { 0 };
	struct gsh_buffdesc fh = {
		buf, obj->key_len - (size_t)atomic_load(&exp->key_rest)
	};
	const struct gsh_buffdesc key = { obj->key, obj->key_len };
	struct fsal_export *sub_exp = exp->export.sub_export;
	int flags = htons(1) == 1 ? FH_FSAL_BIG_ENDIAN : 0;
	struct scale_call call = scale_call_begin(exp);
	fsal_status_t status;

	memcpy(buf, obj->key, fh.len);
	status = sub_exp->exp_ops.wire_to_host(sub_exp, FSAL_DIGEST_NFSV4, &fh,
					       flags);
	if (!FSAL_IS_ERROR(status))
		status = scale_sub_create(exp, &fh, &ref->sub, attrs);
	if (!FSAL_IS_ERROR(status) &&
	    (ref->sub == NULL || !is_ours(ref->sub, obj))) {
		LogCrit(COMPONENT_FSAL,
			"FSAL %s made another object of a handle than the one it was given for",
			sub_exp->fsal->name);
		if (ref->sub != NULL)
			ref->sub->obj_ops->release(ref->sub);
		ref->sub = NULL;
		status = fsalstat(ERR_FSAL_SERVERFAULT, 0);
	}
	scale_call_end(&call, SCALE_OP_CREATE_HANDLE, status);
	if (FSAL_IS_ERROR(status)) {
		ref->sub = NULL;
		return status;
	}
	learn_fs(exp, ref->sub, &key);
	status =
		scale_pool_add(exp, scale_obj_key(obj), ref->sub, &ref->handle);
	if (FSAL_IS_ERROR(status)) {
		release_sub(exp, ref->sub);
		ref->sub = NULL;
		return status;
	}
	ref->sub = scale_pool_sub(ref->handle);
	return status;
}

fsal_status_t scale_ref_get(struct scale_ref *ref, struct scale_export *exp,
			    struct scale_obj *obj, struct fsal_attrlist *attrs,
			    bool *fetched)
{
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);

	if (fetched != NULL)
		*fetched = false;
	if (obj->nameless)
		return fsalstat(ERR_FSAL_STALE, ESTALE);
	if (scale_ref_get_pooled(ref, obj))
		return status;
	status = make_sub(ref, exp, obj, attrs);
	if (status.major == ERR_FSAL_STALE)
		scale_obj_gone(exp, obj);
	else if (fetched != NULL)
		*fetched = !FSAL_IS_ERROR(status);
	return status;
}

void scale_ref_put(struct scale_ref *ref)
{
	struct scale_obj *obj = ref->held_by;

	if (ref->handle != NULL)
		mdx_pool_put(SCALE.cache, ref->handle);
	if (obj != NULL) {
		struct released released;

		PTHREAD_RWLOCK_wrlock(&obj->obj.obj_lock);
		obj->users--;
		released = let_go(obj);
		PTHREAD_RWLOCK_unlock(&obj->obj.obj_lock);
		put_released(obj, released);
	}
}

fsal_status_t scale_use_begin(struct scale_use *use,
			      struct fsal_obj_handle *obj_hdl, enum scale_op op)
{
	struct scale_export *exp = scale_current();
	fsal_status_t status;

	scale_stats_request(exp->stats, op, SCALE_OUTCOME_UNCACHED);
	use->obj = scale_obj(obj_hdl);
	use->op = op;
	status = scale_ref_get(&use->ref, exp, use->obj, NULL, NULL);
	if (FSAL_IS_ERROR(status))
		return status;
	use->sub = use->ref.sub;
	use->call = scale_call_begin(exp);
	return status;
}

/* Without a state, a backend opens a descriptor in its object for these, and
 * keeps it.
 */
static bool opens_descriptor(const struct scale_use *use)
{
	if (use->ref.handle == NULL || use->obj->obj.type != REGULAR_FILE)
		return false;
	switch (use->op) {
	case SCALE_OP_READ:
	case SCALE_OP_WRITE:
	case SCALE_OP_COMMIT:
	case SCALE_OP_LOCK:
		return true;
	default:
		return false;
	}
}

fsal_status_t scale_use_end(struct scale_use *use, fsal_status_t status)
{
	struct scale_export *exp = use->call.exp;

	scale_call_end(&use->call, use->op, status);
	if (opens_descriptor(use))
		mdx_pool_set_fds(SCALE.cache, use->ref.handle, exp->pools_fds);
	scale_ref_put(&use->ref);
	if (status.major == ERR_FSAL_STALE)
		scale_obj_gone(exp, use->obj);
	return status;
}

static struct holder *find_holder(const struct scale_obj *obj,
				  const struct state_t *state)
{
	struct glist_head *node;

	glist_for_each(node, &obj->holders) {
		struct holder *holder = glist_entry(node, struct holder, node);

		if (holder->state == state)
			return holder;
	}
	return NULL;
}

void scale_obj_hold(struct scale_obj *obj, struct state_t *state,
		    struct scale_ref *ref)
{
	struct holder *holder;

	if (!scale_obj_cached(obj) || state == NULL)
		return;
	PTHREAD_RWLOCK_wrlock(&obj->obj.obj_lock);
	if (find_holder(obj, state) == NULL) {
		holder = gsh_malloc(sizeof(*holder));
		holder->state = state;
		glist_add_tail(&obj->holders, &holder->node);
	}
	if (obj->held == NULL) {
		/* Its use ends when the last state is closed. */
		__atomic_store_n(&obj->held, ref->handle, __ATOMIC_RELEASE);
		ref->handle = NULL;
		obj->pinned = mdx_pin(SCALE.cache, scale_obj_key(obj)) == 0;
	} else if (ref->handle != NULL) {
		(void)merge_subs(obj->held, ref->handle);
	}
	PTHREAD_RWLOCK_unlock(&obj->obj.obj_lock);
}

void scale_obj_unhold(struct scale_obj *obj, struct state_t *state)
{
	struct released released;
	struct holder *holder;

	if (!scale_obj_cached(obj) || state == NULL)
		return;
	PTHREAD_RWLOCK_wrlock(&obj->obj.obj_lock);
	holder = find_holder(obj, state);
	if (holder != NULL)
		glist_del(&holder->node);
	released = let_go(obj);
	PTHREAD_RWLOCK_unlock(&obj->obj.obj_lock);
	gsh_free(holder);
	put_released(obj, released);
}

void scale_obj_gone(struct scale_export *exp, struct scale_obj *obj)
{
	if (!scale_obj_cached(obj))
		return;
	mdx_forget(SCALE.cache, scale_obj_key(obj));
	(void)mdx_pool_drop(SCALE.cache, scale_obj_key(obj));
	scale_stats_invalidation(exp->stats, SCALE_SOURCE_STALE);
}
