/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file run.h
 * @brief What one run of the load was and gave, for the reports
 */
#ifndef SWBUILD_RUN_H
#define SWBUILD_RUN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "client.h"
#include "options.h"
#include "point.h"
#include "shape.h"

struct run {
	const struct options *options;
	time_t started;
	struct shape shape;
	uint32_t processes; /* whose files are there */
	bool reused;	    /* the set was there */
	double set_seconds; /* that making or checking it took */
	uint32_t depth;	    /* requests in flight of a thread, at most */
	struct point *points;
	size_t count;
	int last_valid; /* index, or -1 */
	struct sw_counters counters;
};

/** True if a point had errors. */
bool run_had_errors(const struct run *run);

/** The set in words: "scale 0.1: ..."; valid until the next call. */
const char *run_set_text(const struct run *run);

/** What the client does not do for the server, in words. */
extern const char run_client_text[];

/** The name of a status in reports. */
const char *run_status_name(const struct run *run, uint32_t status);

/** All of it as JSON, see swbuild(1). */
json_t *report_json(const struct run *run);

/** One line a point and operation. 0, or -1 with errno. */
int report_csv(const struct run *run, const char *path);

/** The lines that come before the points, a point's, and the summary. */
void report_head(const struct run *run);
void report_point(const struct run *run, const struct point *point);
void report_summary(const struct run *run);

/** Mean, p50, p99 and max, in seven columns each. */
void report_latencies(const struct summary *s);

#endif
