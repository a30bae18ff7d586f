// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Up-calls: what a backend tells about changes, locks, layouts and
 * delegations goes on to MDCACHE.
 *
 * A backend may bring an event on any thread, at any time from its
 * create_export on, and even after its export is gone: Ganesha's queue for
 * up-calls (up_async_*) keeps the vector, but no reference to the export, and
 * GLUSTER goes on using the vector of the first export of a volume. So the
 * vector, and the export that it stands in, are never freed:
 * scale_upcall_close() makes the vector drop what comes, and waits for what is
 * on its way. It costs about a kilobyte for each export that is ever removed.
 *
 * The queue does not call the method of the vector it was given, but that of
 * vec->up_fsal_export->up_ops: therefore an export's up_ops is its own vector.
 *
 * Events before the export is served are dropped too. MDCACHE's vector becomes
 * ready only when create_export has returned, and until then nobody has seen
 * any of the export's objects. Ours is ready from the start, so that no
 * backend waits for it (GLUSTER would, and it would wait for ever where
 * creating the export fails).
 *
 * Where the exports of a backend share their objects (scale_backend_id()), an
 * event concerns them all, whichever vector brings it: when that vector drops
 * events, another one takes its place.
 *
 * What SCALE itself knows is dropped first, then MDCACHE is told: what it asks
 * for then is not answered with what was.
 *
 * Keys: the methods on cached objects are given keys, to which SCALE's id is
 * added. The methods on locks, layouts and delegations are given handles,
 * which Ganesha resolves by create_handle, whence they come down to SCALE and
 * the backend as a client's would: those are passed on as they are.
 */
#include "cache.h"
#include "permit.h"
#include "scale.h"

#include <stdatomic.h>
#include <unistd.h>

#include "fridgethr.h"
#include "fsal_convert.h"

/** In scale_upcall.busy: no event may enter any more. */
#define CLOSED (1u << 31)

/** How long to wait for events on their way, milliseconds. */
#define CLOSE_TIMEOUT_MS 10000

/** The vectors that are open, for events that come by a closed one. */
static struct glist_head open_vectors = GLIST_HEAD_INIT(open_vectors);
static pthread_mutex_t open_lock = PTHREAD_MUTEX_INITIALIZER;

/** Events that this thread is in the middle of. */
static __thread unsigned int depth;

static bool super_is_ready(struct fsal_up_vector *super)
{
	bool ready;

	PTHREAD_MUTEX_lock(&super->up_mutex);
	ready = super->up_ready;
	PTHREAD_MUTEX_unlock(&super->up_mutex);
	return ready;
}

static bool try_enter(struct scale_upcall *up)
{
	if ((atomic_fetch_add(&up->busy, 1) & CLOSED) == 0 &&
	    super_is_ready(up->super))
		return true;
	atomic_fetch_sub(&up->busy, 1);
	return false;
}

struct scale_upcall *scale_upcall_begin(uint32_t backend_id)
{
	struct scale_upcall *up = NULL;
	struct glist_head *node;

	PTHREAD_MUTEX_lock(&open_lock);
	glist_for_each(node, &open_vectors) {
		struct scale_upcall *other =
			glist_entry(node, struct scale_upcall, node);

		if (other->backend_id == backend_id && try_enter(other)) {
			up = other;
			depth++;
			break;
		}
	}
	PTHREAD_MUTEX_unlock(&open_lock);
	return up;
}

/*
 * Begin to handle an event.
 * @return The vector whose super to call, good until scale_upcall_end(), or
 * NULL: drop the event.
 */
static struct scale_upcall *upcall_enter(const struct fsal_up_vector *vec)
{
	struct scale_upcall *up = container_of(vec, struct scale_upcall, ops);

	if (try_enter(up)) {
		depth++;
		return up;
	}
	return scale_backend_shared(up->backend_id) ?
		       scale_upcall_begin(up->backend_id) :
		       NULL;
}

void scale_upcall_end(struct scale_upcall *up)
{
	depth--;
	atomic_fetch_sub(&up->busy, 1);
}

void scale_upcall_count(struct scale_upcall *up, enum scale_source source)
{
	if (up != NULL)
		scale_stats_invalidation(
			container_of(up, struct scale_export, upcall)->stats,
			source);
}

/*
 * Make MDCACHE's key of a backend's.
 * @return false when it is longer than any key can be.
 */
static bool translate(const struct scale_upcall *up,
		      const struct gsh_buffdesc *key, char *buf,
		      struct gsh_buffdesc *out)
{
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

void scale_upcall_tell(struct scale_upcall *up, const void *key, size_t len,
		       uint32_t flags)
{
	struct gsh_buffdesc obj = { (void *)key, len };
	char buf[SCALE_KEY_MAX];
	struct gsh_buffdesc full;

	if (translate(up, &obj, buf, &full))
		(void)up->super->invalidate(up->super, &full, flags);
}

/* Whether the engine may know this object; its key is then in *key. */
static struct scale_export *known_by(struct scale_upcall *up,
				     const struct gsh_buffdesc *obj,
				     struct mdx_key *key)
{
	struct scale_export *exp =
		container_of(up, struct scale_export, upcall);

	if (!exp->cached || obj->len == 0 || obj->len > MDX_KEY_MAX)
		return NULL;
	*key = (struct mdx_key){ obj->addr, (uint8_t)obj->len, exp->slot };
	return exp;
}

/* Of a directory, that its attributes have changed may mean that its names
 * have: backends do not tell one from the other reliably.
 */
static void drop_known(struct scale_upcall *up, const struct gsh_buffdesc *obj,
		       uint32_t flags)
{
	struct scale_export *exp;
	struct mdx_key key;

	exp = known_by(up, obj, &key);
	if (exp == NULL)
		return;
	mdx_invalidate(SCALE.cache, key, MDX_ALL | MDX_PAGES);
	mdx_invalidate_names(SCALE.cache, key);
	if (exp->per_user)
		scale_permits_forget(key.bytes, key.len);
	if (flags & FSAL_UP_INVALIDATE_CLOSE)
		(void)mdx_pool_drop_unused(SCALE.cache, key);
	scale_stats_invalidation(exp->stats, SCALE_SOURCE_UPCALL);
}

static void drop_pooled(struct scale_upcall *up, const struct gsh_buffdesc *obj)
{
	struct mdx_key key;

	if (known_by(up, obj, &key) != NULL)
		(void)mdx_pool_drop_unused(SCALE.cache, key);
}

static fsal_status_t scale_up_invalidate(const struct fsal_up_vector *vec,
					 struct gsh_buffdesc *obj,
					 uint32_t flags)
{
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);
	struct scale_upcall *up = upcall_enter(vec);
	char buf[SCALE_KEY_MAX];
	struct gsh_buffdesc key;

	if (up == NULL)
		return status;
	if (translate(up, obj, buf, &key)) {
		drop_known(up, obj, flags);
		status = up->super->invalidate(up->super, &key, flags);
	}
	scale_upcall_end(up);
	return status;
}

/** An invalidation on its way through the queue. */
struct tell_job {
	struct scale_upcall *up;
	uint32_t flags;
	struct gsh_buffdesc key;
	char buf[SCALE_KEY_MAX];
};

static void run_tell_job(struct fridgethr_context *ctx)
{
	struct tell_job *job = ctx->arg;
	struct scale_upcall *up = job->up;

	depth++;
	(void)up->super->invalidate(up->super, &job->key, job->flags);
	scale_upcall_end(up);
	gsh_free(job);
}

/* Ends the event: when the job has run, or, where there is none, at once. */
static int tell_later(struct scale_upcall *up, const struct gsh_buffdesc *obj,
		      uint32_t flags)
{
	struct tell_job *job = gsh_malloc(sizeof(*job));
	int rc = 0;

	job->up = up;
	job->flags = flags;
	if (translate(up, obj, job->buf, &job->key)) {
		rc = fridgethr_submit(general_fridge, run_tell_job, job);
		if (rc == 0) {
			/* The job leaves, when it has run. */
			depth--;
			return 0;
		}
	}
	gsh_free(job);
	scale_upcall_end(up);
	return rc;
}

void scale_upcall_tell_later(uint32_t backend_id, const void *key, size_t len,
			     uint32_t flags)
{
	struct gsh_buffdesc obj = { (void *)key, len };
	struct scale_upcall *up = scale_upcall_begin(backend_id);

	if (up != NULL)
		(void)tell_later(up, &obj, flags);
}

/*
 * Closing may block, so it is done by another thread, as MDCACHE does it. Its
 * method would only queue the event again, with its own vector, which must not
 * go while we say that nothing is on its way.
 */
static fsal_status_t scale_up_invalidate_close(const struct fsal_up_vector *vec,
					       struct gsh_buffdesc *obj,
					       uint32_t flags)
{
	struct scale_upcall *up = upcall_enter(vec);
	int rc;

	if (up == NULL)
		return fsalstat(ERR_FSAL_NO_ERROR, 0);
	drop_known(up, obj, flags);
	rc = tell_later(up, obj, flags | FSAL_UP_INVALIDATE_CLOSE);
	return fsalstat(posix2fsal_error(rc), rc);
}

static fsal_status_t scale_up_update(const struct fsal_up_vector *vec,
				     struct gsh_buffdesc *obj,
				     struct fsal_attrlist *attr, uint32_t flags)
{
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);
	struct scale_upcall *up = upcall_enter(vec);
	char buf[SCALE_KEY_MAX];
	struct gsh_buffdesc key;

	if (up == NULL)
		return status;
	if (translate(up, obj, buf, &key)) {
		/* With its last link gone, it need not be kept at hand. */
		drop_known(up, obj,
			   FSAL_UP_INVALIDATE_CACHE |
				   (flags & fsal_up_nlink ?
					    FSAL_UP_INVALIDATE_CLOSE :
					    0));
		status = up->super->update(up->super, &key, attr, flags);
	}
	scale_upcall_end(up);
	return status;
}

static fsal_status_t scale_up_try_release(const struct fsal_up_vector *vec,
					  struct gsh_buffdesc *obj,
					  uint32_t flags)
{
	/* "No such entry" is what MDCACHE says of a key it does not hold. */
	fsal_status_t status = fsalstat(ERR_FSAL_STALE, 0);
	struct scale_upcall *up = upcall_enter(vec);
	char buf[SCALE_KEY_MAX];
	struct gsh_buffdesc key;
	struct fsal_export *below;

	if (up == NULL)
		return status;
	/* The one method for which MDCACHE takes the context as it finds it. */
	below = scale_enter(up->super->up_fsal_export);
	if (translate(up, obj, buf, &key)) {
		/* The backend wants its object back (CEPH: a capability). */
		drop_pooled(up, obj);
		status = up->super->try_release(up->super, &key, flags);
	}
	scale_up(below);
	scale_upcall_end(up);
	return status;
}

static state_status_t scale_up_lock_grant(const struct fsal_up_vector *vec,
					  struct gsh_buffdesc *file,
					  void *owner,
					  fsal_lock_param_t *lock_param)
{
	struct scale_upcall *up = upcall_enter(vec);
	state_status_t status;

	if (up == NULL)
		return STATE_NOT_FOUND;
	status = up->super->lock_grant(up->super, file, owner, lock_param);
	scale_upcall_end(up);
	return status;
}

static state_status_t scale_up_lock_avail(const struct fsal_up_vector *vec,
					  struct gsh_buffdesc *file,
					  void *owner,
					  fsal_lock_param_t *lock_param)
{
	struct scale_upcall *up = upcall_enter(vec);
	state_status_t status;

	if (up == NULL)
		return STATE_NOT_FOUND;
	status = up->super->lock_avail(up->super, file, owner, lock_param);
	scale_upcall_end(up);
	return status;
}

static state_status_t
scale_up_layoutrecall(const struct fsal_up_vector *vec,
		      struct gsh_buffdesc *handle, layouttype4 layout_type,
		      bool changed, const struct pnfs_segment *segment,
		      void *cookie, struct layoutrecall_spec *spec)
{
	struct scale_upcall *up = upcall_enter(vec);
	state_status_t status;

	if (up == NULL)
		return STATE_NOT_FOUND;
	status = up->super->layoutrecall(up->super, handle, layout_type,
					 changed, segment, cookie, spec);
	scale_upcall_end(up);
	return status;
}

static state_status_t scale_up_delegrecall(const struct fsal_up_vector *vec,
					   struct gsh_buffdesc *handle)
{
	struct scale_upcall *up = upcall_enter(vec);
	state_status_t status;

	if (up == NULL)
		return STATE_NOT_FOUND;
	status = up->super->delegrecall(up->super, handle);
	scale_upcall_end(up);
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

void scale_upcall_init(struct scale_upcall *up, struct fsal_export *exp,
		       const struct fsal_up_vector *super, uint32_t backend_id)
{
	/* Whatever other members the vector has in this version are kept. */
	up->ops = *super;
	up->ops.up_gsh_export = op_ctx->ctx_export;
	up->ops.up_fsal_export = exp;
	PTHREAD_MUTEX_init(&up->ops.up_mutex, NULL);
	PTHREAD_COND_init(&up->ops.up_cond, NULL);
	up->ops.up_ready = true;
	up->ops.up_cancel = false;
	scale_up_ops_init(&up->ops);

	/* Handed to us as const, but it is MDCACHE's export that owns it, and
	 * its mutex must be taken.
	 */
	up->super = (struct fsal_up_vector *)super;
	up->backend_id = backend_id;
	glist_init(&up->node);
	atomic_init(&up->busy, CLOSED);
}

bool scale_upcall_is_ours(const struct fsal_up_vector *vec)
{
	return vec->invalidate == scale_up_invalidate;
}

void scale_upcall_open(struct scale_upcall *up)
{
	atomic_fetch_and(&up->busy, ~CLOSED);
	PTHREAD_MUTEX_lock(&open_lock);
	glist_add_tail(&open_vectors, &up->node);
	PTHREAD_MUTEX_unlock(&open_lock);
}

void scale_upcall_retire(struct scale_upcall *up)
{
	PTHREAD_MUTEX_lock(&open_lock);
	glist_del(&up->node);
	PTHREAD_MUTEX_unlock(&open_lock);
	atomic_fetch_or(&up->busy, CLOSED);
}

void scale_upcall_close(struct scale_upcall *up)
{
	unsigned int waited = 0;

	scale_upcall_retire(up);
	/* Waited for once in an export's life, and events are short: no
	 * condition variable is worth its place in each event's path.
	 */
	while (depth == 0 && (atomic_load(&up->busy) & ~CLOSED) != 0) {
		if (waited++ == CLOSE_TIMEOUT_MS) {
			LogCrit(COMPONENT_FSAL_UP,
				"%u up-calls of an export that is being removed did not end in %u seconds; going on without them",
				atomic_load(&up->busy) & ~CLOSED,
				CLOSE_TIMEOUT_MS / 1000);
			break;
		}
		usleep(1000);
	}
}
