/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The engine limited by bytes instead of by the count of its entries.
 *
 * Then it is not the policy alone that decides, but also how the engine gets
 * memory for what is new.  It is compared with policies that hold as many
 * entries as it held on the average, once it was full.
 */
#ifndef POLICY_BUDGET_H
#define POLICY_BUDGET_H

#include "policy.h"

struct budget_cell {
	const struct stream *stream;
	uint64_t bytes;	  /* the budget */
	uint32_t entries; /* held on the average */
	int64_t lru;	  /* misses of LRU with as many */
	int64_t policy;	  /* of the chosen policy, simulated */
	int64_t engine;
};

struct budget_measurement {
	struct budget_cell *cells;
	size_t count;
};

/* On each stream that a budget is too small for.  Returns 0 or -ENOMEM; free
 * m->cells in any case. */
int budget_measure(struct budget_measurement *m,
		   const struct stream_list *streams);

/* Misses in points over LRU's. */
double budget_points(const struct budget_cell *c, int64_t misses);

/* The engine's worst cell, in points; -INFINITY: there is none. */
double budget_worst(const struct budget_measurement *m);

/* In engine.c: run the stream through an engine of so many bytes.  Returns
 * the misses or -ENOMEM; *entries is what it held on the average, the first
 * quarter of the stream left out. */
int64_t engine_within_bytes(const struct stream *s, uint64_t bytes,
			    uint32_t *entries);

#endif
