/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file passing.h
 * @brief Time that passes as tests say
 *
 * The clock that never goes back is put forward, for all of the program but
 * Ganesha's own library.
 */
#ifndef PASSING_H
#define PASSING_H

#include <stdint.h>

void pass_ns(uint64_t ns);

/** @brief The same in milliseconds. */
static inline void pass_time(unsigned int ms)
{
	pass_ns((uint64_t)ms * 1000000);
}

#endif /* PASSING_H */
