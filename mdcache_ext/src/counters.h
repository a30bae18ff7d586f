/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Counters, striped by CPU: counting touches a cache line that other CPUs do
 * not use (a thread that migrates in between merely adds atomically to the
 * stripe of its old CPU), and reading sums up without stopping anyone. The sum
 * is exact once those who count have stopped.
 */
#ifndef MDX_COUNTERS_H
#define MDX_COUNTERS_H

#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>

#include "mdcache_ext_counters.h"

#define COUNTER_STRIPES 32 /* CPUs above share */

struct counters {
	struct counter_stripe {
		_Alignas(64) _Atomic uint64_t value[MDX_COUNTER_COUNT];
	} stripe[COUNTER_STRIPES];
};

static inline void count(struct counters *c, enum mdx_counter which)
{
	unsigned int cpu = (unsigned int)sched_getcpu() % COUNTER_STRIPES;

	atomic_fetch_add_explicit(&c->stripe[cpu].value[which], 1,
				  memory_order_relaxed);
}

#endif
