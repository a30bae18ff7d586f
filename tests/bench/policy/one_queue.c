// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Policies of one queue.
 *
 * LRU moves what is used to the newest end.  The others leave it where it is
 * and mark it: FIFO does not look at the mark; CLOCK gives what is marked
 * another turn, from the newest end, and takes one mark off; SIEVE has a hand
 * that goes from the oldest to the newest, takes the marks off as it passes
 * and evicts the first that has none, so that what was used stays among the
 * old ones and what is new stays together at the newest end (Y. Zhang and
 * others, "SIEVE is Simpler than LRU", NSDI 2024).
 */
#include "queue.h"

#include <stdlib.h>

struct parameters {
	bool lru;
	bool sieve;
	uint8_t marks; /* the most that an entry can have */
};

struct state {
	const struct parameters *parameters;
	struct link *links;
	uint8_t *held; /* 0: not held; else its marks + 1 */
	struct queue queue;
	uint32_t hand;
	uint32_t capacity;
};

static void destroy(void *state)
{
	struct state *st = state;

	free(st->links);
	free(st->held);
	free(st);
}

static void *create(const struct policy *policy, const struct stream *s,
		    uint32_t capacity)
{
	struct state *st = calloc(1, sizeof(*st));

	if (st == NULL)
		return NULL;
	st->parameters = policy->parameters;
	st->links = calloc((size_t)s->nkeys + 1, sizeof(*st->links));
	st->held = calloc((size_t)s->nkeys + 1, sizeof(*st->held));
	st->queue = QUEUE_EMPTY;
	st->hand = NO_KEY;
	st->capacity = capacity;
	if (st->links == NULL || st->held == NULL) {
		destroy(st);
		return NULL;
	}
	return st;
}

static void drop(void *state, uint32_t key)
{
	struct state *st = state;

	if (st->held[key] == 0)
		return;
	if (st->hand == key)
		st->hand = st->links[key].newer;
	queue_take(&st->queue, st->links, key);
	st->held[key] = 0;
}

/* The next one to go. */
static uint32_t victim(struct state *st)
{
	bool sieve = st->parameters->sieve;

	for (;;) {
		uint32_t key = sieve ? st->hand : st->queue.oldest;

		if (key == NO_KEY) {
			st->hand = st->queue.oldest;
			continue;
		}
		if (st->held[key] == 1)
			return key;
		st->held[key]--;
		if (sieve) {
			st->hand = st->links[key].newer;
		} else {
			queue_take(&st->queue, st->links, key);
			queue_push(&st->queue, st->links, key);
		}
	}
}

static bool use(void *state, uint32_t key, size_t position, uint32_t *evicted)
{
	struct state *st = state;

	(void)position;
	*evicted = NO_KEY;
	if (st->held[key] != 0) {
		if (st->parameters->lru) {
			queue_take(&st->queue, st->links, key);
			queue_push(&st->queue, st->links, key);
		} else if (st->held[key] <= st->parameters->marks) {
			st->held[key]++;
		}
		return true;
	}
	if (st->queue.length == st->capacity) {
		*evicted = victim(st);
		drop(st, *evicted);
	}
	queue_push(&st->queue, st->links, key);
	st->held[key] = 1;
	return false;
}

const struct policy policy_lru = {
	.name = "lru",
	.text = "least recently used",
	.parameters = &(const struct parameters){ .lru = true },
	.role = YARDSTICK,
	.create = create,
	.destroy = destroy,
	.use = use,
	.remove = drop,
};

const struct policy policy_fifo = {
	.name = "fifo",
	.text = "first in, first out",
	.parameters = &(const struct parameters){ .marks = 0 },
	.role = YARDSTICK,
	.create = create,
	.destroy = destroy,
	.use = use,
	.remove = drop,
};

const struct policy policy_clock = {
	.name = "clock",
	.role = CANDIDATE,
	.text = "FIFO with another turn for what was used, two bits",
	.parameters = &(const struct parameters){ .marks = 3 },
	.create = create,
	.destroy = destroy,
	.use = use,
	.remove = drop,
};

const struct policy policy_sieve = {
	.name = "sieve",
	.role = CANDIDATE,
	.text = "SIEVE",
	.parameters = &(const struct parameters){ .sieve = true, .marks = 1 },
	.create = create,
	.destroy = destroy,
	.use = use,
	.remove = drop,
};
