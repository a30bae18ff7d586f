// SPDX-License-Identifier: LGPL-3.0-or-later
#include "ghost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int ghost_table_init(struct ghost_table *g, uint32_t n)
{
	memset(g, 0, sizeof(*g));
	g->nbuckets = n / GHOST_WAYS ? n / GHOST_WAYS : 1;
	g->slots = calloc((size_t)g->nbuckets * GHOST_WAYS, sizeof(*g->slots));
	return g->slots != NULL ? 0 : -ENOMEM;
}

void ghost_table_free(struct ghost_table *g)
{
	free(g->slots);
	g->slots = NULL;
}

/* The bucket, and the slot's value but for the queue; 0 is an empty slot. */
static uint16_t *find_bucket(const struct ghost_table *g, uint64_t hash,
			     uint16_t *fingerprint)
{
	uint64_t bucket = ((hash & UINT32_MAX) * g->nbuckets) >> 32;

	*fingerprint = (uint16_t)(hash >> 48) & 0xfffe;
	if (*fingerprint == 0)
		*fingerprint = 2;
	return g->slots + bucket * GHOST_WAYS;
}

void ghost_table_add(struct ghost_table *g, uint64_t hash, enum ghost from)
{
	uint16_t fingerprint;
	uint16_t *slots = find_bucket(g, hash, &fingerprint);
	uint16_t oldest = slots[GHOST_WAYS - 1];

	if (oldest != 0)
		g->count[oldest & 1]--;
	memmove(slots + 1, slots, (GHOST_WAYS - 1) * sizeof(*slots));
	slots[0] = fingerprint | (uint16_t)from;
	g->count[from]++;
}

enum ghost ghost_table_take(struct ghost_table *g, uint64_t hash)
{
	uint16_t fingerprint;
	uint16_t *slots = find_bucket(g, hash, &fingerprint);

	for (unsigned i = 0; i < GHOST_WAYS; i++) {
		enum ghost from = slots[i] & 1;

		if ((slots[i] & 0xfffe) != fingerprint)
			continue;
		memmove(slots + i, slots + i + 1,
			(GHOST_WAYS - 1 - i) * sizeof(*slots));
		slots[GHOST_WAYS - 1] = 0;
		g->count[from]--;
		return from;
	}
	return GHOST_NONE;
}
