/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Ghosts: a memory of what was evicted lately, and from which queue, in two
 * bytes each.
 *
 * The table is set-associative: a key's hash names a bucket of 8 slots and a
 * fingerprint of 15 bits; the last bit is the queue.  A bucket is kept newest
 * first and forgets its oldest, so the table as a whole remembers about as
 * many evictions as it has slots.  Another key is taken for a ghost once in
 * 4000 times (8 / 2^15), which is an admission too early and no wrong answer.
 */
#ifndef POLICY_GHOST_H
#define POLICY_GHOST_H

#include <stdbool.h>
#include <stdint.h>

#define GHOST_WAYS 8

enum ghost {
	GHOST_NONE = -1,
	GHOST_SMALL = 0,
	GHOST_MAIN = 1
};

struct ghost_table {
	uint16_t *slots;
	uint32_t nbuckets;
	uint32_t count[2]; /* of each queue's ghosts */
};

/* Room for about n ghosts.  Returns 0 or -ENOMEM. */
int ghost_table_init(struct ghost_table *g, uint32_t n);
void ghost_table_free(struct ghost_table *g);

void ghost_table_add(struct ghost_table *g, uint64_t hash, enum ghost from);

/* Which queue the key was evicted from; it is a ghost no longer. */
enum ghost ghost_table_take(struct ghost_table *g, uint64_t hash);

#endif
