/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "ghost.h"

#include <string.h>

#include "mem.h"

#define WAYS 8u

static uint64_t bytes(uint32_t buckets)
{
	return (uint64_t)buckets * WAYS * sizeof(uint16_t);
}

void ghosts_free(struct ghosts *g, struct budget *budget)
{
	if (g->slots) {
		mem_free(g->slots);
		budget_give(budget, bytes(g->buckets));
	}
	memset(g, 0, sizeof(*g));
}

void ghosts_fit(struct ghosts *g, struct budget *budget, uint32_t entries)
{
	uint32_t slots = g->buckets * WAYS;
	struct ghosts fresh = { .buckets = entries / WAYS * 3 / 2 + 1 };

	if (entries <= slots && entries >= slots / 4)
		return;
	if (!budget_take(budget, bytes(fresh.buckets)))
		return;
	fresh.slots = mem_alloc(bytes(fresh.buckets));
	if (!fresh.slots) {
		budget_give(budget, bytes(fresh.buckets));
		return;
	}
	ghosts_free(g, budget);
	*g = fresh;
}

/* The bucket, and the slot's value but for the queue; 0 is an empty slot. */
static uint16_t *find(const struct ghosts *g, uint64_t hash, uint16_t *print)
{
	uint64_t bucket = (hash >> 24 & UINT32_MAX) * g->buckets >> 32;

	*print = (uint16_t)(hash >> 7) & 0xfffe;
	if (!*print)
		*print = 2;
	return g->slots + bucket * WAYS;
}

void ghosts_add(struct ghosts *g, uint64_t hash, enum ghost from)
{
	uint16_t print, *slots, oldest;

	if (!g->slots)
		return;
	slots = find(g, hash, &print);
	oldest = slots[WAYS - 1];
	if (oldest)
		g->count[oldest & 1]--;
	memmove(slots + 1, slots, (WAYS - 1) * sizeof(*slots));
	slots[0] = print | (uint16_t)from;
	g->count[from]++;
}

enum ghost ghosts_take(struct ghosts *g, uint64_t hash)
{
	uint16_t print, *slots;

	if (!g->slots)
		return GHOST_NONE;
	slots = find(g, hash, &print);
	for (unsigned int i = 0; i < WAYS; i++) {
		enum ghost from = (enum ghost)(slots[i] & 1);

		if ((slots[i] & 0xfffe) != print)
			continue;
		memmove(slots + i, slots + i + 1,
			(WAYS - 1 - i) * sizeof(*slots));
		slots[WAYS - 1] = 0;
		g->count[from]--;
		return from;
	}
	return GHOST_NONE;
}
