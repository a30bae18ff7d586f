/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file point.h
 * @brief One measured load, and whether it is valid
 */
#ifndef SWBUILD_POINT_H
#define SWBUILD_POINT_H

#include <stdbool.h>
#include <stdint.h>

#include "tally.h"

struct limits {
	double response_ms; /* the average must not exceed it */
	double rate_share;  /* of the asked rate that must be achieved */
};

/** Why a point is invalid: any of these; 0 is valid. */
#define INVALID_RESPONSE 0x1u
#define INVALID_RATE	 0x2u
#define INVALID_ERRORS	 0x4u
#define INVALID_REASONS	 3

struct op_point {
	struct summary response;
	struct summary service;
	uint64_t errors;
};

struct point {
	double builds;
	unsigned processes;
	double asked_rate;    /* operations a second */
	double achieved_rate; /* those that did what they should */
	double seconds;	      /* measured */
	double client_cpu;    /* seconds, of all threads */
	double server_cpu;    /* seconds; negative: not known */
	struct op_point ops[OP_COUNT];
	struct op_point all;
	struct summary late; /* how late the client itself was */
	uint64_t requests;
	uint64_t waits;
	uint64_t upkeep;
	uint64_t overdue;
	struct status_count statuses[TALLY_STATUSES]; /* count 0 is the end */
	unsigned invalid;
};

/** Processes that make a number of BUILDs: the nearest, at least one. */
unsigned point_processes(double builds);

/** Takes over what was counted, from achieved_rate on. */
void point_fill(struct point *point, const struct tally *tally);

/** Says by the limits whether a filled point is valid. */
void point_judge(struct point *point, const struct limits *limits);

/** "response time", "rate", "errors" for bit number `reason`. */
const char *point_reason(unsigned reason);

/** CPU for each operation in microseconds, of so many seconds. */
double point_cpu_us(const struct point *point, double cpu);

#endif
