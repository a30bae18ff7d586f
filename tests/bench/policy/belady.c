// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Belady's optimum (MIN): evicts the key whose next use is farthest away.
 * L. A. Belady, "A study of replacement algorithms for a virtual-storage
 * computer", IBM Systems Journal 5 (2), 1966.
 */
#include "policy.h"

#include <stdlib.h>

#define NEVER  UINT32_MAX
#define ABSENT UINT32_MAX

struct state {
	uint32_t *next;	 /* of each request: position of the key's next use */
	uint32_t *due;	 /* of each key held: when it is used next */
	uint32_t *heap;	 /* keys held, the one due last at the top */
	uint32_t *place; /* of each key: its index in the heap, or ABSENT */
	uint32_t length;
	uint32_t capacity;
};

static void put(struct state *st, uint32_t index, uint32_t key)
{
	st->heap[index] = key;
	st->place[key] = index;
}

/* Bring the key at index where it belongs, up or down. */
static void sift(struct state *st, uint32_t index)
{
	uint32_t key = st->heap[index];

	while (index > 0) {
		uint32_t above = (index - 1) / 2;

		if (st->due[st->heap[above]] >= st->due[key])
			break;
		put(st, index, st->heap[above]);
		index = above;
	}
	for (;;) {
		uint32_t below = 2 * index + 1;

		if (below >= st->length)
			break;
		if (below + 1 < st->length &&
		    st->due[st->heap[below + 1]] > st->due[st->heap[below]])
			below++;
		if (st->due[st->heap[below]] <= st->due[key])
			break;
		put(st, index, st->heap[below]);
		index = below;
	}
	put(st, index, key);
}

static void drop(void *state, uint32_t key)
{
	struct state *st = state;
	uint32_t index = st->place[key];
	uint32_t last;

	if (index == ABSENT)
		return;
	st->place[key] = ABSENT;
	last = st->heap[--st->length];
	if (last != key) {
		put(st, index, last);
		sift(st, index);
	}
}

static bool use(void *state, uint32_t key, size_t position, uint32_t *evicted)
{
	struct state *st = state;
	bool hit = st->place[key] != ABSENT;

	*evicted = NO_KEY;
	if (!hit && st->length == st->capacity) {
		*evicted = st->heap[0];
		drop(st, *evicted);
	}
	if (!hit)
		put(st, st->length++, key);
	st->due[key] = st->next[position];
	sift(st, st->place[key]);
	return hit;
}

static void destroy(void *state)
{
	struct state *st = state;

	free(st->next);
	free(st->due);
	free(st->heap);
	free(st->place);
	free(st);
}

static void *create(const struct policy *policy, const struct stream *s,
		    uint32_t capacity)
{
	struct state *st = calloc(1, sizeof(*st));

	(void)policy;
	if (st == NULL)
		return NULL;
	st->capacity = capacity;
	st->next = malloc((s->nrequests + 1) * sizeof(*st->next));
	st->due = malloc((s->nkeys + 1) * sizeof(*st->due));
	st->heap = malloc((s->nkeys + 1) * sizeof(*st->heap));
	st->place = malloc((s->nkeys + 1) * sizeof(*st->place));
	if (st->next == NULL || st->due == NULL || st->heap == NULL ||
	    st->place == NULL) {
		destroy(st);
		return NULL;
	}
	for (uint32_t key = 0; key < s->nkeys; key++) {
		st->place[key] = ABSENT;
		st->due[key] = NEVER;
	}
	for (size_t i = s->nrequests; i-- > 0;) {
		uint32_t key = STREAM_KEY(s->requests[i]);

		st->next[i] = st->due[key];
		st->due[key] = s->requests[i] & STREAM_REMOVE ? NEVER :
								(uint32_t)i;
	}
	return st;
}

const struct policy policy_belady = {
	.name = "belady",
	.text = "the optimum: evicts what is used again last",
	.role = YARDSTICK,
	.create = create,
	.destroy = destroy,
	.use = use,
	.remove = drop,
};
