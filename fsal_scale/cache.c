// SPDX-License-Identifier: LGPL-3.0-or-later
#include "cache.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "memlimit.h"
#include "scale.h"

#include "nfs4_acls.h"

/**
 * Bytes of a stat entry, and of a name, all told (measured: 131 and 32). With
 * what the file tier needs, which is charged to the pagepool, they make the
 * limit of the engine.
 */
#define STAT_BYTES 136
#define NAME_BYTES 48

/** The server without any cache: its threads, tables and libraries. */
#define SERVER_BYTES (UINT64_C(40) << 20)

/**
 * The handle pool may take a part of pagepool besides. Descriptors that stay
 * open count in Ganesha's open_fd_count, which begins to close what it has at
 * half of the process's limit: so a part of that is ours.
 */
#define POOL_PART   4
#define POOL_LEAST  (UINT64_C(4) << 20)
#define POOL_FDS    8192
#define POOL_FDS_OF 4

/** Keeps exports in slots, while the pool releases an object in one's context. */
static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static struct glist_head members[MDX_BACKENDS];
/** exports that are served */
static struct glist_head claims = GLIST_HEAD_INIT(claims);
#define NAME_LOCKS 1024
static pthread_mutex_t *name_locks[MDX_BACKENDS];
static atomic_uint member_count[MDX_BACKENDS];
/** whose slot it is: a backend id, 0 for nobody's */
static uint32_t owners[MDX_BACKENDS];

static void release_acl(void *object, void *arg)
{
	(void)arg;
	nfs4_acl_release_entry(object);
}

/* Any export of a slot will do; it stays until it is given back. */
static struct scale_export *borrow_member(uint8_t slot)
{
	struct scale_export *exp = NULL;

	PTHREAD_MUTEX_lock(&slots_lock);
	if (!glist_empty(&members[slot])) {
		exp = glist_first_entry(&members[slot], struct scale_export,
					slot_node);
		atomic_fetch_add(&exp->borrowed, 1);
	}
	PTHREAD_MUTEX_unlock(&slots_lock);
	return exp;
}

/* On the engine's thread, which has no context of its own. Backends look at
 * the current export and at the credentials (zeroed ones are root's).
 */
static void release_pooled(void *object, void *arg)
{
	struct scale_pooled *pooled = object;
	struct scale_export *exp = borrow_member(pooled->slot);
	struct req_op_context ctx;

	(void)arg;
	if (exp != NULL) {
		init_op_context(&ctx, NULL, exp->export.sub_export, NULL, 0, 0,
				UNKNOWN_REQUEST);
		/* Tells Ganesha that a descriptor is closed; releasing alone
		 * would not.
		 */
		(void)fsal_close(pooled->sub);
		pooled->sub->obj_ops->release(pooled->sub);
		release_op_context();
		atomic_fetch_sub(&exp->borrowed, 1);
	} else {
		LogCrit(COMPONENT_FSAL,
			"An object of a backend outlived its export and is lost");
	}
	gsh_free(pooled);
}

static uint64_t pool_bytes(const struct scale_config *cfg)
{
	return MAX(cfg->pagepool / POOL_PART, POOL_LEAST);
}

static uint64_t cache_bytes(const struct scale_config *cfg)
{
	return cfg->pagepool + cfg->max_stats * (STAT_BYTES + NAME_BYTES) +
	       cfg->max_files * NAME_BYTES;
}

/* A file that is read and not opened (NFSv3) leaves a descriptor in its object,
 * and a build reads thousands of them again and again.
 */
static uint32_t pool_fds(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return POOL_FDS / POOL_FDS_OF;
	return (uint32_t)MIN(limit.rlim_cur / POOL_FDS_OF, POOL_FDS);
}

/* Bytes for the engine: what is configured, if that and the rest of the server
 * fit into the memory there is.
 */
static uint64_t engine_bytes(const struct scale_config *cfg)
{
	uint64_t rest = pool_bytes(cfg) + SERVER_BYTES;
	uint64_t bytes = cache_bytes(cfg);
	struct memlimit limit;

	memlimit_get("/proc", "/sys/fs/cgroup", &limit);
	if (bytes + rest <= limit.bytes)
		return bytes;
	LogWarn(COMPONENT_FSAL,
		"SCALE: maxFilesToCache, maxStatCache and pagepool would take up to %" PRIu64
		" bytes with the server itself, more than %s (%" PRIu64
		" bytes): fewer entries will be cached; make them smaller, or give the server more memory",
		bytes + rest, limit.source, limit.bytes);
	bytes = limit.bytes / 4 * 3;
	return MAX(bytes - MIN(rest, bytes), limit.bytes / 8);
}

int scale_cache_start(const struct scale_config *cfg)
{
	struct mdx_params params;
	static int rc;

	/* Once for all exports: they may share objects. */
	if (SCALE.cache != NULL || rc != 0)
		return rc;
	for (unsigned int i = 0; i < MDX_BACKENDS; i++)
		glist_init(&members[i]);

	mdx_params_init(&params);
	params.limits.max_files = cfg->max_files;
	params.limits.max_stats = cfg->max_stats;
	params.limits.max_bytes = engine_bytes(cfg);
	params.pool.max_charge = pool_bytes(cfg);
	params.pool.max_handles = (uint32_t)MIN(
		params.pool.max_charge / SCALE_HANDLE_BYTES, UINT32_MAX);
	params.pool.max_fds = pool_fds();
	params.attachment_release = release_acl;
	params.handle_release = release_pooled;
	rc = mdx_create(&params, &SCALE.cache);
	if (rc < 0) {
		SCALE.cache = NULL;
		LogCrit(COMPONENT_FSAL,
			"SCALE: no cache of %" PRIu64 " files, %" PRIu64
			" stats and %" PRIu64 " bytes can be made: %s",
			params.limits.max_files, params.limits.max_stats,
			params.limits.max_bytes, strerror(-rc));
	}
	return rc;
}

void scale_cache_stop(void)
{
	struct mdx_usage usage;

	if (SCALE.cache == NULL)
		return;
	mdx_usage(SCALE.cache, &usage);
	/* The backends' modules may be gone by now, and with them the methods
	 * of objects that are left.
	 */
	if (usage.handles == 0)
		mdx_destroy(SCALE.cache);
	SCALE.cache = NULL;
}

/* Exports that share their objects go by the shortest life of any: what one has
 * stored is served to all of them. Under the lock.
 */
static void agree(uint32_t backend_id)
{
	struct scale_freshness least = { .attr_ms = MDX_FOREVER,
					 .name_ms = MDX_FOREVER,
					 .negative_ms = MDX_FOREVER };
	struct glist_head *node;

	glist_for_each(node, &claims) {
		const struct scale_export *exp =
			glist_entry(node, struct scale_export, claim_node);

		if (exp->upcall.backend_id != backend_id)
			continue;
		least.attr_ms = MIN(least.attr_ms, exp->said.attr_ms);
		least.name_ms = MIN(least.name_ms, exp->said.name_ms);
		least.negative_ms =
			MIN(least.negative_ms, exp->said.negative_ms);
	}
	glist_for_each(node, &claims) {
		struct scale_export *exp =
			glist_entry(node, struct scale_export, claim_node);

		if (exp->upcall.backend_id != backend_id)
			continue;
		least.mode = exp->said.mode;
		least.by_handle = exp->said.by_handle;
		exp->fresh = least;
	}
}

int scale_cache_claim(struct scale_export *exp, enum scale_freshness_mode *mode)
{
	struct glist_head *node;
	int rc = 0;

	PTHREAD_MUTEX_lock(&slots_lock);
	glist_for_each(node, &claims) {
		const struct scale_export *other =
			glist_entry(node, struct scale_export, claim_node);

		if (other->upcall.backend_id == exp->upcall.backend_id &&
		    !scale_freshness_alike(&other->said, &exp->said)) {
			*mode = other->said.mode;
			rc = -EBUSY;
			break;
		}
	}
	if (rc == 0) {
		glist_add_tail(&claims, &exp->claim_node);
		agree(exp->upcall.backend_id);
	}
	PTHREAD_MUTEX_unlock(&slots_lock);
	return rc;
}

void scale_cache_reclaim(struct scale_export *exp,
			 const struct scale_freshness *said)
{
	PTHREAD_MUTEX_lock(&slots_lock);
	exp->said = *said;
	agree(exp->upcall.backend_id);
	PTHREAD_MUTEX_unlock(&slots_lock);
}

static void make_name_locks(unsigned int slot)
{
	if (name_locks[slot] != NULL)
		return;
	name_locks[slot] = gsh_malloc(NAME_LOCKS * sizeof(pthread_mutex_t));
	for (unsigned int i = 0; i < NAME_LOCKS; i++)
		PTHREAD_MUTEX_init(&name_locks[slot][i], NULL);
}

pthread_mutex_t *scale_cache_name_lock(uint8_t slot, uint64_t hash)
{
	return &name_locks[slot][hash % NAME_LOCKS];
}

int scale_cache_join(struct scale_export *exp)
{
	uint32_t id = exp->upcall.backend_id;
	int slot = -1;

	PTHREAD_MUTEX_lock(&slots_lock);
	for (int i = 0; i < MDX_BACKENDS; i++) {
		if (owners[i] == id) {
			slot = i;
			break;
		}
		if (owners[i] == 0 && slot < 0)
			slot = i;
	}
	if (slot >= 0) {
		make_name_locks((unsigned int)slot);
		owners[slot] = id;
		glist_add_tail(&members[slot], &exp->slot_node);
		atomic_fetch_add(&member_count[slot], 1);
		exp->slot = (uint8_t)slot;
		exp->cached = true;
	}
	PTHREAD_MUTEX_unlock(&slots_lock);
	return slot < 0 ? -ENOSPC : 0;
}

bool scale_cache_shared(const struct scale_export *exp)
{
	return atomic_load_explicit(&member_count[exp->slot],
				    memory_order_relaxed) > 1;
}

void scale_cache_flush(struct scale_export *exp)
{
	if (!exp->cached)
		return;
	if (scale_cache_shared(exp)) {
		/* What is known is the others' knowledge, too. */
		mdx_pool_drop_backend_unused(SCALE.cache, exp->slot);
	} else {
		mdx_invalidate_backend(SCALE.cache, exp->slot);
		mdx_pool_drop_backend(SCALE.cache, exp->slot);
	}
	mdx_quiesce(SCALE.cache);
}

void scale_cache_leave(struct scale_export *exp)
{
	PTHREAD_MUTEX_lock(&slots_lock);
	glist_del(&exp->claim_node);
	agree(exp->upcall.backend_id);
	PTHREAD_MUTEX_unlock(&slots_lock);
	if (!exp->cached)
		return;
	scale_cache_flush(exp);
	PTHREAD_MUTEX_lock(&slots_lock);
	exp->cached = false;
	glist_del(&exp->slot_node);
	atomic_fetch_sub(&member_count[exp->slot], 1);
	if (glist_empty(&members[exp->slot]))
		owners[exp->slot] = 0;
	PTHREAD_MUTEX_unlock(&slots_lock);
	/* An administrator's wait, for a release that is under way. */
	while (atomic_load(&exp->borrowed) != 0)
		usleep(1000);
}

static struct scale_pooled *new_pooled(const struct scale_export *exp,
				       struct fsal_obj_handle *sub)
{
	struct scale_pooled *pooled = gsh_malloc(sizeof(*pooled));

	pooled->sub = sub;
	pooled->slot = exp->slot;
	return pooled;
}

fsal_status_t scale_pool_add(struct scale_export *exp, struct mdx_key key,
			     struct fsal_obj_handle *sub,
			     struct mdx_handle **handle)
{
	struct scale_pooled *pooled = new_pooled(exp, sub);
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);
	struct fsal_export *above;
	struct fsal_obj_handle *old;
	int rc;

	rc = mdx_pool_add(SCALE.cache, key, pooled, exp->handle_bytes, 0,
			  handle);
	if (rc == 0)
		return status;
	gsh_free(pooled);
	if (rc != -EEXIST)
		return fsalstat(ERR_FSAL_NOMEM, -rc);

	old = scale_pool_sub(*handle);
	above = scale_enter(exp->export.sub_export);
	/* The same object again, with one more reference, is MEM's way. */
	if (old != sub)
		status = old->obj_ops->merge(old, sub);
	if (!FSAL_IS_ERROR(status))
		sub->obj_ops->release(sub);
	scale_up(above);
	if (FSAL_IS_ERROR(status))
		mdx_pool_put(SCALE.cache, *handle);
	return status;
}

bool scale_pool_offer(struct scale_export *exp, struct mdx_key key,
		      struct fsal_obj_handle *sub)
{
	struct scale_pooled *pooled = new_pooled(exp, sub);
	int rc = mdx_pool_offer(SCALE.cache, key, pooled, exp->handle_bytes, 0);

	if (rc != 0)
		gsh_free(pooled);
	return rc == 0;
}

uint64_t scale_pool_room(const struct scale_export *exp)
{
	return pool_bytes(&SCALE.config) / exp->handle_bytes;
}

struct fsal_obj_handle *scale_pool_sub(const struct mdx_handle *handle)
{
	return ((struct scale_pooled *)mdx_handle_object(handle))->sub;
}
