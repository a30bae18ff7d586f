/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file pace.h
 * @brief When a process's operations are due (open loop)
 *
 * They are due at even distances, whatever became of those before.  Who is
 * late starts at once and counts the time since the operation was due.  All
 * times are nanoseconds of one clock.
 */
#ifndef SWBUILD_PACE_H
#define SWBUILD_PACE_H

#include <stdint.h>

struct pace {
	uint64_t first;	 /* when operation 0 is due */
	double interval; /* ns */
	uint64_t taken;	 /* operations so far */
};

/**
 * @param[in] start  When the load begins
 * @param[in] rate   Operations a second, over 0
 * @param[in] phase  Part of an interval, from 0 to 1, that the first
 *                   operation comes later: processes do not march in step
 */
void pace_init(struct pace *pace, uint64_t start, double rate, double phase);

/** When the next operation is due. */
uint64_t pace_due(const struct pace *pace);

/** Takes the next operation, due or not; returns when it is due. */
uint64_t pace_take(struct pace *pace);

/** How many operations were due before `now` and are not taken. */
uint64_t pace_overdue(const struct pace *pace, uint64_t now);

#endif
