/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Replacement: which entry goes next. This interface is all that the engine
 * knows of it; policy.c holds the algorithm. All under the shard's lock, but
 * for policy_used, which readers call.
 */
#ifndef MDX_POLICY_H
#define MDX_POLICY_H

#include <stdatomic.h>
#include <stdint.h>

#include "ghost.h"

struct fifo {
	uint32_t newest;
	uint32_t oldest;
	uint32_t length;
};

/* The entries of one tier in one shard. */
struct queue {
	struct fifo small;
	struct fifo main;
	struct ghosts ghosts;
	uint32_t target; /* of the small queue's length */
};

#define USES_MAX 3

/* The entry was used. One entry's line is written, and only until it has been
 * used often enough. */
static inline void policy_used(_Atomic uint8_t *uses)
{
	uint8_t n = atomic_load_explicit(uses, memory_order_relaxed);

	if (n < USES_MAX)
		atomic_store_explicit(uses, n + 1, memory_order_relaxed);
}

struct mdx;

/* An entry will come: its ghost is looked at and the queues' lengths adapt,
 * before room is made for it; the ghost is gone then, so that this is to be
 * done when nothing but room is lacking. And it comes. */
enum ghost policy_coming(struct queue *q, uint64_t hash);
void policy_enter(struct mdx *c, struct queue *q, uint32_t ref,
		  enum ghost ghost);
/* Both at once; `hash` is its key's. */
void policy_insert(struct mdx *c, struct queue *q, uint32_t ref, uint64_t hash);
/* An entry leaves, not for want of room. */
void policy_remove(struct mdx *c, struct queue *q, uint32_t ref);
/* Takes out the entry that has to go; 0: there is none. A bounded number of
 * steps. */
uint32_t policy_victim(struct mdx *c, struct queue *q);
/* Puts a victim back that may stay after all. */
void policy_spare(struct mdx *c, struct queue *q, uint32_t ref);

#endif
