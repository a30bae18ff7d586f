// SPDX-License-Identifier: LGPL-3.0-or-later
#include "latency.h"

#include <math.h>
#include <string.h>

#define SUB (1u << LATENCY_BITS)

static unsigned bucket_of(uint64_t ns)
{
	unsigned shift;

	if (ns < SUB)
		return (unsigned)ns;
	if (ns >= UINT64_C(1) << LATENCY_TOP)
		return LATENCY_BUCKETS - 1;
	shift = 63 - (unsigned)__builtin_clzll(ns) - LATENCY_BITS;
	return shift * SUB + (unsigned)(ns >> shift);
}

/* The highest value that belongs to a bucket. */
static uint64_t top_of(unsigned bucket)
{
	unsigned shift;

	if (bucket < SUB)
		return bucket;
	shift = bucket / SUB - 1;
	return ((uint64_t)(bucket - shift * SUB + 1) << shift) - 1;
}

void latency_clear(struct latency *l)
{
	memset(l, 0, sizeof(*l));
}

void latency_add(struct latency *l, uint64_t ns)
{
	l->count++;
	l->sum += ns;
	if (ns > l->max)
		l->max = ns;
	l->buckets[bucket_of(ns)]++;
}

void latency_merge(struct latency *into, const struct latency *from)
{
	if (from->count == 0)
		return;
	into->count += from->count;
	into->sum += from->sum;
	if (from->max > into->max)
		into->max = from->max;
	for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
}

double latency_mean(const struct latency *l)
{
	return l->count ? (double)l->sum / (double)l->count : 0;
}

uint64_t latency_percentile(const struct latency *l, double share)
{
	uint64_t wanted = (uint64_t)ceil(share * (double)l->count);
	uint64_t seen = 0;

	if (l->count == 0)
		return 0;
	for (unsigned i = 0; i < LATENCY_BUCKETS - 1; i++) {
		seen += l->buckets[i];
		if (seen >= wanted && seen > 0)
			return top_of(i) < l->max ? top_of(i) : l->max;
	}
	return l->max;
}
