/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <time.h>

#include "nfsload.h"

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}
