/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "tier.h"

#include <errno.h>

#include "names.h"

#define AGE_LEAVES  4 /* of a large directory, in place of its eviction */
#define VICTIMS_MAX 4 /* of one newcomer */

static enum tier tier_of(const struct entry *e)
{
	return entry_in_file_tier(e) ? TIER_FILE : TIER_STAT;
}

static void leave(struct mdx *c, enum tier tier)
{
	atomic_fetch_sub_explicit(&c->entries[tier], 1, memory_order_relaxed);
}

/* Frees an entry that is in no queue. */
static void drop(struct mdx *c, struct shard *sh, uint32_t ref, uint64_t hash)
{
	struct entry *e = arena_ptr(&c->arena, ref);

	leave(c, tier_of(e));
	hash_remove(c, sh, hash, ref);
	entry_delete(c, ref);
}

void tier_remove(struct mdx *c, struct shard *sh, uint32_t ref, uint64_t hash)
{
	struct entry *e = arena_ptr(&c->arena, ref);

	policy_remove(c, &sh->queue[tier_of(e)], ref);
	drop(c, sh, ref, hash);
}

/* A place in the tier, taken from somebody else if it is full. The limit is not
 * passed even for a moment, but by force; a lowered limit, or others who are
 * quicker, may need more than one victim. */
static int take(struct mdx *c, struct shard *sh, enum tier tier, bool force)
{
	uint64_t max =
		atomic_load_explicit(&c->max[tier], memory_order_relaxed);
	uint64_t n;

	for (unsigned int victims = 0; max && victims <= VICTIMS_MAX;
	     victims++) {
		n = atomic_load_explicit(&c->entries[tier],
					 memory_order_relaxed);
		while (n < max)
			if (atomic_compare_exchange_weak_explicit(
				    &c->entries[tier], &n, n + 1,
				    memory_order_relaxed, memory_order_relaxed))
				return 0;
		if (!tier_evict(c, sh, tier, false))
			break;
	}
	if (force) {
		atomic_fetch_add_explicit(&c->entries[tier], 1,
					  memory_order_relaxed);
		return 0;
	}
	sh->need = (uint8_t)tier;
	return -EBUSY;
}

void tier_demote(struct mdx *c, struct shard *sh, uint32_t ref, uint64_t hash)
{
	if (take(c, sh, TIER_STAT, false)) {
		count(&c->counters, MDX_C_EVICT_FILE);
		drop(c, sh, ref, hash);
		return;
	}
	count(&c->counters, MDX_C_DEMOTE);
	entry_drop_ext(c, ref);
	leave(c, TIER_FILE);
	policy_insert(c, &sh->queue[TIER_STAT], ref, hash);
}

bool tier_evict(struct mdx *c, struct shard *sh, enum tier tier, bool memory)
{
	uint32_t ref = policy_victim(c, &sh->queue[tier]);
	uint64_t hash;

	if (!ref)
		return false;
	hash = entry_hash(c, ref);
	if (tier == TIER_STAT) {
		count(&c->counters, MDX_C_EVICT);
		drop(c, sh, ref, hash);
	} else if (memory && names_large(entry_ext(c, ref))) {
		names_age(c, ref, AGE_LEAVES);
		policy_spare(c, &sh->queue[tier], ref);
	} else {
		tier_demote(c, sh, ref, hash);
	}
	return true;
}

int tier_promote(struct mdx *c, struct shard *sh, uint32_t ref, uint64_t hash,
		 bool force)
{
	int rc;

	/* Out of the queue first: making room may evict from it. */
	policy_remove(c, &sh->queue[TIER_STAT], ref);
	rc = take(c, sh, TIER_FILE, force);
	if (!rc) {
		rc = entry_add_ext(c, sh, ref);
		if (rc)
			leave(c, TIER_FILE);
	}
	if (rc) {
		policy_spare(c, &sh->queue[TIER_STAT], ref);
		return rc;
	}
	leave(c, TIER_STAT);
	policy_insert(c, &sh->queue[TIER_FILE], ref, hash);
	count(&c->counters, MDX_C_PROMOTE);
	return 0;
}

static int make(struct mdx *c, struct shard *sh, struct mdx_key key,
		uint64_t hash, enum tier tier, bool force, uint32_t *ref)
{
	enum ghost ghost;
	int rc;

	*ref = entry_new(c, sh, &key, backend_epoch(c, key.backend));
	if (!*ref)
		return -EAGAIN;
	ghost = policy_coming(&sh->queue[tier], hash);
	rc = take(c, sh, tier, force);
	if (rc) {
		entry_delete(c, *ref);
		return rc;
	}
	if (tier == TIER_FILE)
		rc = entry_add_ext(c, sh, *ref);
	if (!rc)
		rc = hash_insert(c, sh, hash, *ref);
	if (rc) {
		entry_delete(c, *ref);
		leave(c, tier);
		return rc;
	}
	policy_enter(c, &sh->queue[tier], *ref, ghost);
	count(&c->counters, MDX_C_INSERT);
	return 0;
}

void tier_reset(struct mdx *c, struct shard *sh, uint32_t ref)
{
	struct entry *e = arena_ptr(&c->arena, ref);
	const struct mdx_attrs nothing = { 0 };
	struct snap s;

	if (entry_in_file_tier(e)) {
		names_drop(c, ref);
		entry_set_pages(c, ref, NULL);
	}
	entry_drop_blobs(c, ref, MDX_LINK | MDX_PARENT);
	entry_copy(c, ref, &s);
	/* Needs no memory: there is nothing to be put aside. */
	entry_store(c, sh, ref, &s, &nothing, 0, 0, 0, TICK_FOREVER,
		    backend_epoch(c, s.backend));
}

int tier_obtain(struct mdx *c, struct shard *sh, struct mdx_key key,
		uint64_t hash, enum obtain how, uint32_t *ref)
{
	bool file = how != OBTAIN_ANY || !atomic_load(&c->max[TIER_STAT]);
	struct entry *e;

	*ref = hash_find(c, &sh->hash, key, hash);
	if (!*ref)
		return make(c, sh, key, hash, file ? TIER_FILE : TIER_STAT,
			    how == OBTAIN_FORCED, ref);
	e = arena_ptr(&c->arena, *ref);
	if (atomic_load(&e->epoch) != backend_epoch(c, key.backend))
		tier_reset(c, sh, *ref);
	if (how != OBTAIN_ANY && !entry_in_file_tier(e))
		return tier_promote(c, sh, *ref, hash, how == OBTAIN_FORCED);
	return 0;
}
