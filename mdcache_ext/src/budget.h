/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A byte budget: memory is taken from it before it is obtained, and given back
 * after it has been returned to the system, so that what is held can at no
 * moment be more than the limit. Only a limit that is lowered can be passed,
 * until memory has been given back.
 */
#ifndef MDX_BUDGET_H
#define MDX_BUDGET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct budget {
	_Atomic uint64_t held;
	_Atomic uint64_t limit;
};

static inline bool budget_take(struct budget *b, uint64_t bytes)
{
	uint64_t limit = atomic_load_explicit(&b->limit, memory_order_relaxed);
	uint64_t held = atomic_load_explicit(&b->held, memory_order_relaxed);

	do {
		if (held > limit || bytes > limit - held)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(
		&b->held, &held, held + bytes, memory_order_relaxed,
		memory_order_relaxed));
	return true;
}

static inline void budget_give(struct budget *b, uint64_t bytes)
{
	atomic_fetch_sub_explicit(&b->held, bytes, memory_order_relaxed);
}

/* How much has to be given back before the limit holds again. */
static inline uint64_t budget_excess(struct budget *b)
{
	uint64_t limit = atomic_load_explicit(&b->limit, memory_order_relaxed);
	uint64_t held = atomic_load_explicit(&b->held, memory_order_relaxed);

	return held > limit ? held - limit : 0;
}

#endif
