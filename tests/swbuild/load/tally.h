/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file tally.h
 * @brief What a thread counts while a point is measured
 *
 * Each thread has a tally of its own, so nothing is locked; they are added up
 * when the point is over.
 */
#ifndef SWBUILD_TALLY_H
#define SWBUILD_TALLY_H

#include <stdint.h>

#include "latency.h"
#include "ops.h"

#define TALLY_STATUSES 32	  /* kinds of errors that are told apart */
#define TALLY_OTHER    UINT32_MAX /* the status of all further kinds */

struct status_count {
	uint32_t status;
	uint64_t count;
};

struct op_tally {
	struct latency response; /* from when it was due */
	struct latency service;	 /* from when it was begun */
	uint64_t errors;
};

struct tally {
	struct op_tally ops[OP_COUNT];
	struct latency late; /* that idle processes began after the due time */
	uint64_t requests;   /* RPCs of the operations */
	uint64_t waits;	     /* requests that could not be sent at once */
	uint64_t upkeep;     /* operations that keep the set as it is */
	uint64_t overdue;    /* due, and not begun when the point ended */
	uint64_t errors;
	struct status_count statuses[TALLY_STATUSES]; /* count 0 is the end */
};

void tally_clear(struct tally *tally);

/** Counts an operation that did what it should. */
void tally_add(struct tally *tally, enum op op, uint64_t response,
	       uint64_t service);

/** Counts an error by its status; also those of upkeep. */
void tally_error(struct tally *tally, enum op op, uint32_t status);

void tally_merge(struct tally *into, const struct tally *from);

/** What is kept of latencies; milliseconds. */
struct summary {
	uint64_t count;
	double mean;
	double p50;
	double p99;
	double max;
};

struct summary summary_of(const struct latency *latency);

#endif
