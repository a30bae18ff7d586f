/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file ladder.h
 * @brief Which loads are measured, and which is the last valid one
 *
 * The load rises step by step until some points in a row are invalid, or to
 * the end that was asked for; then the distance between the last valid point
 * and the first invalid one above it may be halved some times.
 */
#ifndef SWBUILD_LADDER_H
#define SWBUILD_LADDER_H

#include <stdbool.h>
#include <stddef.h>

#define LADDER_POINTS 512
#define LEAST_BUILDS  0.01

struct ladder {
	double from;	 /* BUILDs */
	double to;	 /* HUGE_VAL: until it is too much */
	double step;	 /* added, or ... */
	bool factor;	 /* ... multiplied by */
	unsigned past;	 /* invalid points in a row that end the climb */
	unsigned bisect; /* halvings */
	/* What was measured, in this order. */
	size_t count;
	double builds[LADDER_POINTS];
	bool valid[LADDER_POINTS];
	/* Where it stands. */
	size_t climbed;	  /* points of the climb */
	unsigned invalid; /* points in a row */
};

/**
 * @brief Read FROM[-[TO]][:[x]STEP]
 *
 * "4" is one point, "1-8" are 1, 2, ... 8, "1-8:0.5" has a step, "1-64:x2"
 * doubles, and "1-" rises until the load is too much.
 *
 * @return NULL, or what is wrong with the text.
 */
const char *ladder_parse(struct ladder *ladder, const char *text);

/** The next load to measure; false when that was all. */
bool ladder_next(const struct ladder *ladder, double *builds);

/** Takes note of what a load was. */
void ladder_note(struct ladder *ladder, double builds, bool valid);

/** The index of the highest valid point, or -1. */
int ladder_last_valid(const struct ladder *ladder);

#endif
