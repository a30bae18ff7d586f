/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The two tiers: entries come, are promoted, demoted and evicted.
 *
 * Limits are on counts: an entry comes only after its place has been taken
 * from the tier's limit, by eviction if need be. All under the shard's lock;
 * what needs room that this shard cannot give returns
 *   -EAGAIN	for want of memory of class shard->need,
 *   -EBUSY	for want of a place in tier shard->need,
 * and is done again by reclaim_run after room has been made.
 */
#ifndef MDX_TIER_H
#define MDX_TIER_H

#include "cache.h"

enum obtain {
	OBTAIN_ANY,   /* in whichever tier it is, new ones in the stat tier */
	OBTAIN_FILE,  /* in the file tier */
	OBTAIN_FORCED /* the same, above the limit: only for pins */
};

/* Finds an entry, or makes it without attributes, and promotes it if need be.
 * An entry of an earlier epoch loses all it knows. */
int tier_obtain(struct mdx *c, struct shard *sh, struct mdx_key key,
		uint64_t hash, enum obtain how, uint32_t *ref);
/* Moves a stat tier entry to the file tier. */
int tier_promote(struct mdx *c, struct shard *sh, uint32_t ref, uint64_t hash,
		 bool force);
/* Takes an entry that is not pinned out of everything and frees it. */
void tier_remove(struct mdx *c, struct shard *sh, uint32_t ref, uint64_t hash);
/* Moves an entry, in no queue, down to the stat tier, or out. */
void tier_demote(struct mdx *c, struct shard *sh, uint32_t ref, uint64_t hash);
/* One replacement; with `memory` a large directory only loses some leaves of
 * names. False: there is nothing to replace here. */
bool tier_evict(struct mdx *c, struct shard *sh, enum tier tier, bool memory);
/* The entry forgets everything but its key and its pins. */
void tier_reset(struct mdx *c, struct shard *sh, uint32_t ref);

#endif
