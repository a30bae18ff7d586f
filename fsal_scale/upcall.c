// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Up-calls: what a backend tells about changes, locks, layouts and
 * delegations goes on to MDCACHE.
 *
 * A backend may bring an event on any thread, at any time from its
 * create_export on, and (through Ganesha's general_fridge) even after its
 * export is gone, for an event holds no reference to the export. So the vector
 * outlives the export: it is closed by scale_upcall_close(), after which
 * events are dropped, and freed never. It is some 250 bytes for each export
 * that is ever added.
 *
 * Events before the export is served are dropped too. MDCACHE's vector becomes
 * ready only when create_export has returned, and until then nobody has seen
 * any of the export's objects. Ours is ready from the start, so that no
 * backend waits for it (GLUSTER would, and it would wait for ever where
 * creating the export fails).
 *
 * Keys: the methods on cached objects are given keys, to which SCALE's id is
 * added. The methods on locks, layouts and delegations are given handles,
 * which Ganesha resolves by create_handle, whence they come down to SCALE and
 * the backend as a client's would: those are passed on as they are.
 */
#include "scale.h"

#include <stdatomic.h>
#include <unistd.h>

struct scale_upcall {
	/** given to the backend; first, so that it leads to the rest */
	struct fsal_up_vector ops;
	/** MDCACHE's; not to be touched unless entered */
	struct fsal_up_vector *super;
	/** the export's, once open */
	uint32_t backend_id;
	/** events on their way, and CLOSED */
	atomic_uint busy;
};

/** In scale_upcall.busy: no event may enter any more. */
#define CLOSED (1u << 31)

static bool super_is_ready(struct fsal_up_vector *super)
{
	bool ready;

	PTHREAD_MUTEX_lock(&super->up_mutex);
	ready = super->up_ready;
	PTHREAD_MUTEX_unlock(&super->up_mutex);
	return ready;
}

/*
 * Begin to handle an event.
 * @return MDCACHE's vector, good until upcall_leave(), or NULL: drop it.
 */
static struct fsal_up_vector *upcall_enter(const struct fsal_up_vector *vec)
{
	struct scale_upcall *up = container_of(vec, struct scale_upcall, ops);

	if ((atomic_fetch_add(&up->busy, 1) & CLOSED) != 0 ||
	    !super_is_ready(up->super)) {
		atomic_fetch_sub(&up->busy, 1);
		return NULL;
	}
	return up->super;
}

static void upcall_leave(const struct fsal_up_vector *vec)
{
	struct scale_upcall *up = container_of(vec, struct scale_upcall, ops);

	atomic_fetch_sub(&up->busy, 1);
}

/*
 * Make MDCACHE's key of a backend's.
 * @return false when it is longer than any key can be.
 */
static bool translate(const struct fsal_up_vector *vec,
		      const struct gsh_buffdesc *key, char *buf,
		      struct gsh_buffdesc *out)
{
	struct scale_upcall *up = container_of(vec, struct scale_upcall, ops);

	if (key->len > SCALE_KEY_MAX - SCALE_KEY_ID_BYTES) {
		LogCrit(COMPONENT_FSAL_UP,
			"An event for a key of %zu bytes was dropped: a backend's keys have at most %zu",
			key->len, SCALE_KEY_MAX - SCALE_KEY_ID_BYTES);
		return false;
	}
	memcpy(buf, key->addr, key->len);
	out->addr = buf;
	out->len = key->len;
	scale_key_append(out, up->backend_id);
	return true;
}

static fsal_status_t scale_up_invalidate(const struct fsal_up_vector *vec,
					 struct gsh_buffdesc *obj,
					 uint32_t flags)
{
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);
	struct fsal_up_vector *super = upcall_enter(vec);
	char buf[SCALE_KEY_MAX];
	struct gsh_buffdesc key;

	if (super == NULL)
		return status;
	if (translate(vec, obj, buf, &key))
		status = super->invalidate(super, &key, flags);
	upcall_leave(vec);
	return status;
}

static fsal_status_t scale_up_invalidate_close(const struct fsal_up_vector *vec,
					       struct gsh_buffdesc *obj,
					       uint32_t flags)
{
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);
	struct fsal_up_vector *super = upcall_enter(vec);
	char buf[SCALE_KEY_MAX];
	struct gsh_buffdesc key;

	if (super == NULL)
		return status;
	if (translate(vec, obj, buf, &key))
		status = super->invalidate_close(super, &key, flags);
	upcall_leave(vec);
	return status;
}

static fsal_status_t scale_up_update(const struct fsal_up_vector *vec,
				     struct gsh_buffdesc *obj,
				     struct fsal_attrlist *attr, uint32_t flags)
{
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);
	struct fsal_up_vector *super = upcall_enter(vec);
	char buf[SCALE_KEY_MAX];
	struct gsh_buffdesc key;

	if (super == NULL)
		return status;
	if (translate(vec, obj, buf, &key))
		status = super->update(super, &key, attr, flags);
	upcall_leave(vec);
	return status;
}

static fsal_status_t scale_up_try_release(const struct fsal_up_vector *vec,
					  struct gsh_buffdesc *obj,
					  uint32_t flags)
{
	/* "No such entry" is what MDCACHE says of a key it does not hold. */
	fsal_status_t status = fsalstat(ERR_FSAL_STALE, 0);
	struct fsal_up_vector *super = upcall_enter(vec);
	char buf[SCALE_KEY_MAX];
	struct gsh_buffdesc key;
	struct fsal_export *below;

	if (super == NULL)
		return status;
	/* The one method for which MDCACHE takes the context as it finds it. */
	below = scale_enter(super->up_fsal_export);
	if (translate(vec, obj, buf, &key))
		status = super->try_release(super, &key, flags);
	scale_up(below);
	upcall_leave(vec);
	return status;
}

static state_status_t scale_up_lock_grant(const struct fsal_up_vector *vec,
					  struct gsh_buffdesc *file,
					  void *owner,
					  fsal_lock_param_t *lock_param)
{
	struct fsal_up_vector *super = upcall_enter(vec);
	state_status_t status;

	if (super == NULL)
		return STATE_NOT_FOUND;
	status = super->lock_grant(super, file, owner, lock_param);
	upcall_leave(vec);
	return status;
}

static state_status_t scale_up_lock_avail(const struct fsal_up_vector *vec,
					  struct gsh_buffdesc *file,
					  void *owner,
					  fsal_lock_param_t *lock_param)
{
	struct fsal_up_vector *super = upcall_enter(vec);
	state_status_t status;

	if (super == NULL)
		return STATE_NOT_FOUND;
	status = super->lock_avail(super, file, owner, lock_param);
	upcall_leave(vec);
	return status;
}

static state_status_t
scale_up_layoutrecall(const struct fsal_up_vector *vec,
		      struct gsh_buffdesc *handle, layouttype4 layout_type,
		      bool changed, const struct pnfs_segment *segment,
		      void *cookie, struct layoutrecall_spec *spec)
{
	struct fsal_up_vector *super = upcall_enter(vec);
	state_status_t status;

	if (super == NULL)
		return STATE_NOT_FOUND;
	status = super->layoutrecall(super, handle, layout_type, changed,
				     segment, cookie, spec);
	upcall_leave(vec);
	return status;
}

static state_status_t scale_up_delegrecall(const struct fsal_up_vector *vec,
					   struct gsh_buffdesc *handle)
{
	struct fsal_up_vector *super = upcall_enter(vec);
	state_status_t status;

	if (super == NULL)
		return STATE_NOT_FOUND;
	status = super->delegrecall(super, handle);
	upcall_leave(vec);
	return status;
}

void scale_up_ops_init(struct fsal_up_vector *ops)
{
	ops->invalidate = scale_up_invalidate;
	ops->invalidate_close = scale_up_invalidate_close;
	ops->update = scale_up_update;
	ops->try_release = scale_up_try_release;
	ops->lock_grant = scale_up_lock_grant;
	ops->lock_avail = scale_up_lock_avail;
	ops->layoutrecall = scale_up_layoutrecall;
	ops->delegrecall = scale_up_delegrecall;
	/* notify_device has neither a vector nor a handle among its
	 * arguments: the method that is there already is the one to call.
	 */
}

struct scale_upcall *scale_upcall_new(struct scale_export *exp,
				      const struct fsal_up_vector *super)
{
	struct scale_upcall *up = gsh_calloc(1, sizeof(*up));

	/* Whatever other members the vector has in this version are kept. */
	up->ops = *super;
	up->ops.up_gsh_export = op_ctx->ctx_export;
	up->ops.up_fsal_export = &exp->export;
	PTHREAD_MUTEX_init(&up->ops.up_mutex, NULL);
	PTHREAD_COND_init(&up->ops.up_cond, NULL);
	up->ops.up_ready = true;
	up->ops.up_cancel = false;
	scale_up_ops_init(&up->ops);

	/* Handed to us as const, but it is MDCACHE's export that owns it, and
	 * its mutex must be taken.
	 */
	up->super = (struct fsal_up_vector *)super;
	atomic_init(&up->busy, CLOSED);
	return up;
}

const struct fsal_up_vector *scale_upcall_vector(struct scale_upcall *up)
{
	return &up->ops;
}

bool scale_upcall_is_ours(const struct fsal_up_vector *vec)
{
	return vec->invalidate == scale_up_invalidate;
}

void scale_upcall_open(struct scale_upcall *up, uint32_t backend_id)
{
	up->backend_id = backend_id;
	atomic_fetch_and(&up->busy, ~CLOSED);
}

void scale_upcall_close(struct scale_upcall *up, bool wait)
{
	/* Waited for once in an export's life, and events are short: no
	 * condition variable is worth its place in each event's path.
	 */
	atomic_fetch_or(&up->busy, CLOSED);
	while (wait && (atomic_load(&up->busy) & ~CLOSED) != 0)
		usleep(1000);
}
