// SPDX-License-Identifier: LGPL-3.0-or-later
#include "cpu.h"

#include <time.h>

static double seconds(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) < 0)
		return -1;
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double cpu_own(void)
{
	return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

/* Its CPU clock, which /proc/PID/stat rounds to ticks of 10 ms. */
double cpu_of(pid_t pid)
{
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0)
		return -1;
	return seconds(clock);
}
