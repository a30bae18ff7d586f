/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file random.h
 * @brief Random numbers that a seed repeats (splitmix64)
 */
#ifndef SWBUILD_RANDOM_H
#define SWBUILD_RANDOM_H

#include <stdint.h>

/** The next number of a sequence; *state is the seed at first. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/** A number less than `limit`, which must not be 0. */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
	return (uint32_t)(((random_next(state) >> 32) * limit) >> 32);
}

/** A number from 0 up to, but not including, 1. */
static inline double random_unit(uint64_t *state)
{
	return (double)(random_next(state) >> 11) * 0x1p-53;
}

#endif
