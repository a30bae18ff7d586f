/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The cache as a whole: what the files of the engine share.
 *
 * Locks, in the order in which they may be taken:
 *   trim lock		one at a time gives memory back
 *   shard lock		its hash, queues, stamps, and all its entries with
 *			their names. Never two at once.
 *   attachment table, garbage list, release queue
 *   arena lock
 * Pool and flights have locks of their own, with none of these.
 */
#ifndef MDX_CACHE_H
#define MDX_CACHE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "attach.h"
#include "budget.h"
#include "counters.h"
#include "entry.h"
#include "flight.h"
#include "hash.h"
#include "ident.h"
#include "mdcache_ext.h"
#include "policy.h"
#include "pool.h"
#include "rcu.h"
#include "release.h"
#include "ticket.h"

#define SHARDS_MAX 256u

enum tier {
	TIER_STAT,
	TIER_FILE,
	TIERS
};

struct shard {
	_Alignas(64) pthread_mutex_t lock;
	struct hash hash;
	struct queue queue[TIERS];
	struct stamps stamps;
	uint8_t need; /* class that was lacking when -EAGAIN was returned */
#ifdef MDX_LOCK_TIMING
	uint64_t locked_at;
#endif
};

struct backend {
	_Atomic uint64_t stamp; /* tickets before it are void */
	_Atomic uint32_t epoch; /* entries of another one are not known */
};

struct mdx {
	struct mdx_params params;
	struct arena arena;
	struct budget budget;
	struct idents idents;
	uint64_t seed;
	uint64_t start_ms;
	unsigned int shard_count;
	unsigned int shard_bits;
	uint64_t fixed_charge;

	_Atomic uint64_t clock; /* of tickets and stamps */
	_Atomic uint64_t max[TIERS];
	_Atomic uint64_t entries[TIERS];
	_Atomic uint64_t pinned;
	_Atomic uint64_t names;
	_Atomic uint64_t lock_ns;
	_Atomic unsigned int reclaim_turn; /* shard that is next to evict */
	_Atomic unsigned int steal_turn;

	pthread_mutex_t trim_lock;
	uint64_t trim_vain; /* slabs tried since one could be given back */
	_Atomic uint64_t trim_pins; /* pinned when that began */

	struct attachments attachments;
	struct release_queue releases;
	struct pool pool;
	struct flights flights;

	pthread_mutex_t garbage_lock;
	uint32_t garbage; /* detached trees of names, linked */

	struct shard *shards;
	struct backend backends[MDX_BACKENDS];
	struct counters counters;
};

static inline bool key_sane(struct mdx_key key)
{
	return key.bytes && key.len >= 1 && key.len <= MDX_KEY_MAX;
}

static inline struct shard *shard_of(const struct mdx *c, uint64_t hash)
{
	return &c->shards[hash & (c->shard_count - 1)];
}

/* Quarter seconds since the cache was made, at least 1. */
uint32_t cache_tick(const struct mdx *c);
/* The tick until which something that now gets `ttl_ms` is fresh. */
uint32_t cache_until(const struct mdx *c, uint32_t ttl_ms);

/* What is left until that tick, in milliseconds; or MDX_FOREVER. */
uint32_t cache_left_ms(const struct mdx *c, uint32_t until);

#define TICK_FOREVER UINT32_MAX
#define TICK_MS	     250u

static inline bool cache_fresh(const struct mdx *c, uint32_t until)
{
	return until == TICK_FOREVER || cache_tick(c) < until;
}

static inline uint32_t backend_epoch(const struct mdx *c, uint8_t backend)
{
	return atomic_load_explicit(&c->backends[backend].epoch,
				    memory_order_acquire);
}

void shard_lock(struct mdx *c, struct shard *sh);
void shard_unlock(struct mdx *c, struct shard *sh);

#endif
