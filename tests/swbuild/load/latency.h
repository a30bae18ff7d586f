/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file latency.h
 * @brief Latencies, counted in buckets as HdrHistogram does
 *
 * Debian has no C library for this.  A power of two is divided into 128
 * buckets, so a percentile is too high by less than 1/128 of itself; count,
 * mean and maximum are exact.  All times are nanoseconds.
 */
#ifndef SWBUILD_LATENCY_H
#define SWBUILD_LATENCY_H

#include <stdint.h>

#define LATENCY_BITS	7
#define LATENCY_TOP	41 /* from 2^41 ns (36 minutes) on, one bucket */
#define LATENCY_BUCKETS ((LATENCY_TOP - LATENCY_BITS + 1) << LATENCY_BITS)

struct latency {
	uint64_t count;
	uint64_t sum;
	uint64_t max;
	uint64_t buckets[LATENCY_BUCKETS];
};

/** Forgets everything; a zeroed structure needs no call. */
void latency_clear(struct latency *l);

void latency_add(struct latency *l, uint64_t ns);

/** Adds all of `from` to `into`. */
void latency_merge(struct latency *into, const struct latency *from);

/** The mean in nanoseconds; 0 if nothing was added. */
double latency_mean(const struct latency *l);

/**
 * @brief The least value that a share of all values does not exceed
 *
 * @param[in] share  From 0 to 1: 0.5 is the median
 *
 * @return Nanoseconds; 0 if nothing was added.
 */
uint64_t latency_percentile(const struct latency *l, double share);

#endif
