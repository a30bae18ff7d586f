/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Every policy on every stream at every size, and what comes out of it.
 */
#ifndef POLICY_MEASURE_H
#define POLICY_MEASURE_H

#include "policy.h"

#define POLICIES_MAX 16

/* No policy that is a choice may be more than this over LRU, in points (per
 * cent of the uses), on any stream at any size. */
#define TARGET_POINTS 1.0

/* Of the cells where LRU can be improved on, so many must be better. */
#define TARGET_BELOW_PERCENT 50.0

/* Less than this, in points, is no difference. */
#define SAME_POINTS 0.005

/* One stream at one size. */
struct cell {
	const struct stream *stream;
	unsigned percent; /* capacity, of the footprint */
	uint32_t capacity;
	int64_t misses[POLICIES_MAX]; /* of each policy, in order */
	/* With two tiers, a quarter of the capacity for files; -1: the stream
	 * does not tell uses for data. */
	int64_t tier_misses[POLICIES_MAX];
	int64_t tier_data_misses[POLICIES_MAX];
};

struct measurement {
	struct cell *cells;
	size_t count;
};

/* What a policy does, over all cells. */
struct summary {
	double worst; /* points over LRU; below zero: nowhere over it */
	const struct cell *worst_cell;
	double mean;
	size_t over;	 /* cells more than TARGET_POINTS over LRU */
	size_t below;	 /* cells below LRU */
	size_t gainable; /* cells where the optimum is below LRU */
	double below_percent;
};

enum question {
	ONE_TIER,
	TIER_MISSES,
	TIER_DATA_MISSES
};

/* Measure; sizes below `least` entries are left out.  Returns 0 or -ENOMEM;
 * free m->cells in any case. */
int measure(struct measurement *m, const struct stream_list *streams,
	    uint32_t least, bool tiers);

/* The policy's misses in points over LRU's; policy is an index. */
double points_over_lru(const struct cell *c, unsigned policy,
		       enum question question);

/* Per cent of the uses that miss. */
double miss_percent(const struct cell *c, unsigned policy,
		    enum question question);

/* Whether the question was asked of the cell. */
bool answered(const struct cell *c, enum question question);

struct summary summarize(const struct measurement *m, unsigned policy,
			 enum question question);

/* Whether a summary meets both targets. */
bool meets_targets(const struct summary *s);

#endif
