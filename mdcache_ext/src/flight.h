/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Single flight: of several callers who miss on one thing, one fetches.
 *
 * What is fetched is known by 128 bits of a seeded hash. If two things should
 * ever share them, one caller waits for the wrong fetch and then looks again.
 */
#ifndef MDX_FLIGHT_H
#define MDX_FLIGHT_H

#include <pthread.h>
#include <stdint.h>

#define FLIGHT_STRIPES 64u

struct mdx_flight {
	struct mdx_flight *next;
	uint64_t what[2];
	unsigned int users; /* who leads, and who waits */
	int result;
	int landed;
};

struct flights {
	struct flight_stripe {
		_Alignas(64) pthread_mutex_t lock;
		pthread_cond_t landed;
		struct mdx_flight *first;
	} stripe[FLIGHT_STRIPES];
};

void flight_init(struct flights *f);
void flight_destroy(struct flights *f);

#endif
