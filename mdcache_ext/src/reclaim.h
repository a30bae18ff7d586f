/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Making room: for an entry or for names, for another class of block, or for
 * the system after a limit was lowered.
 *
 * Blocks of one class are replaced by the policy, and their memory serves that
 * class at once. But the classes compete, too: names against entries. So now
 * and then, and whenever a class has nothing of its own to give, a whole slab
 * is taken from another: the slabs are visited in turn, and one in which few
 * blocks were used since the last visit is emptied. A hot class thereby keeps
 * its slabs and a cold one loses them, by use. (Memory that changes its class
 * waits for a grace period; all of this is done without a lock held.)
 *
 * Each call does a bounded amount of work; who gets no room in a bounded number
 * of attempts does without: the cache caches less.
 */
#ifndef MDX_RECLAIM_H
#define MDX_RECLAIM_H

#include "cache.h"

typedef int (*locked_op)(struct mdx *c, struct shard *sh, void *arg);

/* Does `op` under the shard's lock, again after making room as long as it
 * returns -EAGAIN or -EBUSY (see tier.h). -ENOSPC: no room could be made. */
int reclaim_run(struct mdx *c, struct shard *sh, locked_op op, void *arg);

/* Some steps of what there is to do in the background; true: nothing. */
bool reclaim_background(struct mdx *c, unsigned int steps);

/* Is more memory held than the limit allows because of pins, and have most of
 * them gone since that was found? Not at each one: to look for what can be
 * given back now is to evict whatever is not pinned. */
static inline bool reclaim_unpinned(struct mdx *c)
{
	return budget_excess(&c->budget) &&
	       atomic_load(&c->pinned) * 2 < atomic_load(&c->trim_pins);
}

#endif
