/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cache.h"

#include <errno.h>
#include <sys/random.h>

#include "mem.h"
#include "reclaim.h"

#define MAX_BYTES_LEAST	  ((uint64_t)1 << 20)
#define MAX_ENTRIES	  ((uint64_t)1 << 40)
#define SHARD_LEAST	  4096u /* entries a shard, so that each is typical */
#define SHARDS_AUTO	  64u
#define BYTES_OF_AN_ENTRY 128u

/* --- Time ---------------------------------------------------------------- */

static uint64_t now_ms(const struct mdx *c)
{
	struct timespec t;

	if (c->params.now_ms)
		return c->params.now_ms(c->params.arg);
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

uint32_t cache_tick(const struct mdx *c)
{
	return (uint32_t)((now_ms(c) - c->start_ms) / TICK_MS) + 1;
}

uint32_t cache_left_ms(const struct mdx *c, uint32_t until)
{
	uint64_t now;
	uint64_t end;

	if (until == TICK_FOREVER)
		return MDX_FOREVER;
	now = now_ms(c) - c->start_ms;
	end = (uint64_t)(until - 1) * TICK_MS;
	return end > now ? (uint32_t)(end - now) : 0;
}

uint32_t cache_until(const struct mdx *c, uint32_t ttl_ms)
{
	uint64_t until = (uint64_t)cache_tick(c) + ttl_ms / TICK_MS;

	return ttl_ms == MDX_FOREVER || until >= TICK_FOREVER ? TICK_FOREVER :
								(uint32_t)until;
}

/* --- Locks --------------------------------------------------------------- */

#ifdef MDX_LOCK_TIMING
static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void shard_lock(struct mdx *c, struct shard *sh)
{
	(void)c;
	pthread_mutex_lock(&sh->lock);
	sh->locked_at = now_ns();
}

void shard_unlock(struct mdx *c, struct shard *sh)
{
	uint64_t held = now_ns() - sh->locked_at;
	uint64_t longest = atomic_load(&c->lock_ns);

	pthread_mutex_unlock(&sh->lock);
	while (held > longest &&
	       !atomic_compare_exchange_weak(&c->lock_ns, &longest, held))
		;
}
#else
void shard_lock(struct mdx *c, struct shard *sh)
{
	(void)c;
	pthread_mutex_lock(&sh->lock);
}

void shard_unlock(struct mdx *c, struct shard *sh)
{
	(void)c;
	pthread_mutex_unlock(&sh->lock);
}
#endif

/* --- Life ---------------------------------------------------------------- */

void mdx_params_init(struct mdx_params *params)
{
	*params = (struct mdx_params){
		.limits = { .max_files = 100000,
			    .max_stats = 1000000,
			    .max_bytes = (uint64_t)256 << 20 },
		.pool = { .max_handles = 10000,
			  .max_fds = 1000,
			  .max_charge = (uint64_t)64 << 20 },
	};
}

static bool limits_sane(const struct mdx_limits *l)
{
	return l->max_files >= 1 && l->max_files <= MAX_ENTRIES &&
	       l->max_stats <= MAX_ENTRIES && l->max_bytes >= MAX_BYTES_LEAST;
}

static unsigned int choose_shards(const struct mdx_limits *l)
{
	uint64_t entries = l->max_files + l->max_stats;
	unsigned int n = 1;

	if (entries > l->max_bytes / BYTES_OF_AN_ENTRY)
		entries = l->max_bytes / BYTES_OF_AN_ENTRY;
	while (n < SHARDS_AUTO && entries / (2ull * n) >= SHARD_LEAST)
		n *= 2;
	return n;
}

static void destroy(struct mdx *c)
{
	for (unsigned int i = 0; c->shards && i < c->shard_count; i++) {
		struct shard *sh = &c->shards[i];

		for (unsigned int t = 0; t < TIERS; t++)
			ghosts_free(&sh->queue[t].ghosts, &c->budget);
		hash_destroy(&sh->hash);
		pthread_mutex_destroy(&sh->lock);
	}
	mem_free(c->shards);
	attach_destroy(c);
	ident_destroy(&c->idents);
	arena_destroy(&c->arena);
	pool_destroy(&c->pool);
	flight_destroy(&c->flights);
	pthread_mutex_destroy(&c->garbage_lock);
	pthread_mutex_destroy(&c->trim_lock);
	mem_free(c);
}

static int init(struct mdx *c)
{
	unsigned int n = c->params.shards;

	c->shard_count = n ? n : choose_shards(&c->params.limits);
	atomic_store(&c->clock, 1);
	c->start_ms = now_ms(c);
	if (getrandom(&c->seed, sizeof(c->seed), 0) != sizeof(c->seed))
		return -EIO;
	if (!arena_init(&c->arena, &c->budget) ||
	    !ident_init(&c->idents, &c->budget) || !attach_init(c) ||
	    !pool_init(&c->pool, &c->params.pool))
		return -ENOMEM;
	c->fixed_charge =
		sizeof(*c) +
		c->shard_count * (sizeof(struct shard) +
				  SEGMENTS_MAX * sizeof(_Atomic uint32_t));
	if (!budget_take(&c->budget, c->fixed_charge))
		return -EINVAL;
	c->shards = mem_alloc(c->shard_count * sizeof(struct shard));
	if (!c->shards)
		return -ENOMEM;
	for (unsigned int i = 0; i < c->shard_count; i++)
		pthread_mutex_init(&c->shards[i].lock, NULL);
	for (unsigned int i = 0; i < c->shard_count; i++)
		if (!hash_init(c, &c->shards[i].hash))
			return -ENOMEM;
	return release_start(c);
}

int mdx_create(const struct mdx_params *params, struct mdx **cache)
{
	unsigned int n = params->shards;
	struct mdx *c;
	int rc;

	if (!limits_sane(&params->limits) || n > SHARDS_MAX || n & (n - 1))
		return -EINVAL;
	c = mem_alloc(sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->params = *params;
	atomic_store(&c->budget.limit, params->limits.max_bytes);
	atomic_store(&c->max[TIER_FILE], params->limits.max_files);
	atomic_store(&c->max[TIER_STAT], params->limits.max_stats);
	pthread_mutex_init(&c->garbage_lock, NULL);
	pthread_mutex_init(&c->trim_lock, NULL);
	flight_init(&c->flights);
	rc = init(c);
	if (rc) {
		destroy(c);
		return rc;
	}
	*cache = c;
	return 0;
}

/* Gives the references of all entries back; nobody else is here any more. */
static void drop_attachments(struct mdx *c)
{
	for (uint32_t i = 1; i < c->attachments.next_number; i++) {
		struct mdx_attachment *a = attach_by_number(c, i);

		if (a) {
			atomic_store(&a->refs, 1);
			mdx_detach(c, a);
		}
	}
}

void mdx_destroy(struct mdx *c)
{
	if (!c)
		return;
	drop_attachments(c);
	pool_drop_all(c);
	release_stop(c);
	destroy(c);
}

/* --- Limits and figures -------------------------------------------------- */

/* What was sized when the cache was made, and is not given back, with some room
 * for entries. */
static uint64_t least_bytes(const struct mdx *c)
{
	return c->fixed_charge + c->idents.charge + MAX_BYTES_LEAST / 2;
}

int mdx_set_limits(struct mdx *c, const struct mdx_limits *limits)
{
	if (!limits_sane(limits) ||
	    (limits->max_bytes < least_bytes(c) &&
	     limits->max_bytes < atomic_load(&c->budget.limit)))
		return -EINVAL;
	atomic_store(&c->budget.limit, limits->max_bytes);
	atomic_store(&c->max[TIER_FILE], limits->max_files);
	atomic_store(&c->max[TIER_STAT], limits->max_stats);
	release_kick(c);
	return budget_excess(&c->budget) ? -EINPROGRESS : 0;
}

void mdx_get_limits(const struct mdx *c, struct mdx_limits *limits)
{
	limits->max_bytes = atomic_load(&c->budget.limit);
	limits->max_files = atomic_load(&c->max[TIER_FILE]);
	limits->max_stats = atomic_load(&c->max[TIER_STAT]);
}

bool mdx_trim(struct mdx *c, unsigned int steps)
{
	return reclaim_background(c, steps);
}

void mdx_usage(struct mdx *c, struct mdx_usage *u)
{
	u->files = atomic_load(&c->entries[TIER_FILE]);
	u->stats = atomic_load(&c->entries[TIER_STAT]);
	u->pinned = atomic_load(&c->pinned);
	u->names = atomic_load(&c->names);
	u->bytes = atomic_load(&c->budget.held);
	u->used = atomic_load(&c->arena.used_bytes) + c->fixed_charge +
		  c->idents.charge;
	u->lock_ns = atomic_load(&c->lock_ns);
	pool_usage(&c->pool, u);
}
