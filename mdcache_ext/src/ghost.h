/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Ghosts: a memory of what was evicted lately, and from which queue, in two
 * bytes each.
 *
 * The table is set-associative: a key's hash names a bucket of eight slots and
 * a fingerprint of 15 bits; the last bit is the queue. A bucket is kept newest
 * first and forgets its oldest, so the table as a whole remembers about as many
 * evictions as it has slots. A key is taken for the ghost of another once in
 * 4000 times, which is an admission too early and no wrong answer.
 */
#ifndef MDX_GHOST_H
#define MDX_GHOST_H

#include <stdbool.h>
#include <stdint.h>

#include "budget.h"

enum ghost {
	GHOST_NONE = -1,
	GHOST_SMALL = 0,
	GHOST_MAIN = 1
};

struct ghosts {
	uint16_t *slots; /* NULL: none are remembered */
	uint32_t buckets;
	uint32_t count[2]; /* of each queue's ghosts */
};

/* Makes the table anew, empty, if it is too small or much too large for as many
 * ghosts as there are entries. This is done while the cache fills, when there
 * are no ghosts yet: when there are, there may be no memory. Without memory it
 * stays as it is. */
void ghosts_fit(struct ghosts *g, struct budget *budget, uint32_t entries);
void ghosts_free(struct ghosts *g, struct budget *budget);

void ghosts_add(struct ghosts *g, uint64_t hash, enum ghost from);
/* Which queue the key was evicted from; it is a ghost no longer. */
enum ghost ghosts_take(struct ghosts *g, uint64_t hash);

#endif
