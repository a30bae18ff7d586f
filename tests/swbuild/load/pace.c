// SPDX-License-Identifier: LGPL-3.0-or-later
#include "pace.h"

#include <math.h>

void pace_init(struct pace *pace, uint64_t start, double rate, double phase)
{
	pace->interval = 1e9 / rate;
	pace->first = start + (uint64_t)(pace->interval * phase);
	pace->taken = 0;
}

/* From the count, not from the operation before: errors do not add up. */
uint64_t pace_due(const struct pace *pace)
{
	return pace->first +
	       (uint64_t)llround(pace->interval * (double)pace->taken);
}

uint64_t pace_take(struct pace *pace)
{
	uint64_t due = pace_due(pace);

	pace->taken++;
	return due;
}

uint64_t pace_overdue(const struct pace *pace, uint64_t now)
{
	uint64_t due;

	if (now <= pace->first)
		return 0;
	due = (uint64_t)ceil((double)(now - pace->first) / pace->interval);
	return due > pace->taken ? due - pace->taken : 0;
}
