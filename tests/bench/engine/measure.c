/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"

uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The sum of the lines with these names, of a file in kB. */
static uint64_t kilobytes(const char *path, const char *const names[])
{
	char line[256];
	uint64_t sum = 0;
	FILE *f = fopen(path, "r");

	if (!f)
		die("%s cannot be read: is /proc mounted?", path);
	while (fgets(line, sizeof(line), f)) {
		char *value = strchr(line, ':');

		if (!value)
			continue;
		*value++ = '\0';
		for (const char *const *n = names; *n; n++)
			if (!strcmp(line, *n))
				sum += strtoull(value, NULL, 10);
	}
	fclose(f);
	return sum * 1024;
}

/* Rss counts transparent huge pages; hugetlb pages it does not. */
uint64_t resident(void)
{
	static const char *const names[] = { "Rss", "Private_Hugetlb",
					     "Shared_Hugetlb", NULL };

	return kilobytes("/proc/self/smaps_rollup", names);
}

uint64_t available(void)
{
	static const char *const names[] = { "MemAvailable", NULL };

	return kilobytes("/proc/meminfo", names);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double median(double *samples, size_t count)
{
	qsort(samples, count, sizeof(*samples), compare);
	return count % 2 ? samples[count / 2] :
			   (samples[count / 2 - 1] + samples[count / 2]) / 2;
}
