/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file inject.h
 * @brief What is set: latencies, capacity, failures, holds
 *
 * Settings hold for the whole module, and may change at any time.
 */
#ifndef FAULT_INJECT_H
#define FAULT_INJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "fault.h"

enum fault_delay_kind {
	DELAY_NONE,
	DELAY_FIXED,
	DELAY_UNIFORM,
	DELAY_EXPONENTIAL
};

/** A distribution of times; microseconds. */
struct fault_delay {
	enum fault_delay_kind kind;
	/** fixed: the time; uniform: the least; exponential: the mean */
	double a;
	/** uniform: the most */
	double b;
};

/** A failure; `error` is ERR_FSAL_NO_ERROR for none. */
struct fault_failure {
	fsal_errors_t error;
	/** probability, 0 to 1 */
	double rate;
	/** calls still to fail; UINT64_MAX for no end */
	uint64_t next;
	/** the backend does it, and its answer is lost */
	bool after;
};

enum fault_hold {
	HOLD_NONE,
	HOLD_BEFORE,
	HOLD_AFTER
};

/** What is set for one operation. */
struct fault_rule {
	struct fault_delay latency;
	/** read2 and write2: from the answer to its delivery */
	struct fault_delay async;
	struct fault_failure failure;
	enum fault_hold hold;
};

/** The most servers of a capacity. */
#define FAULT_MAX_SERVERS 256

/** @brief A copy of an operation's rule. */
struct fault_rule fault_get_rule(enum fault_op op);

/** @brief Set an operation's rule. Calls that wait go on as they were told. */
void fault_set_rule(enum fault_op op, const struct fault_rule *rule);

/**
 * @brief Limit all calls together
 *
 * @param[in] rate     calls per second, 0 for no limit
 * @param[in] servers  1 to FAULT_MAX_SERVERS; each call takes one of them for
 *                     servers/rate seconds
 */
void fault_set_capacity(double rate, unsigned int servers);
void fault_get_capacity(double *rate, unsigned int *servers);

/** @brief End all holds. */
void fault_go(void);

/** @brief The number of calls that are being held. */
unsigned int fault_held(void);

/** @brief Draw a time, in nanoseconds. */
uint64_t fault_draw(const struct fault_delay *delay);

/** @brief CLOCK_MONOTONIC, in nanoseconds. */
uint64_t fault_now(void);

static inline struct timespec fault_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NS_PER_SEC),
		.tv_nsec = (long)(ns % NS_PER_SEC),
	};
}

#endif /* FAULT_INJECT_H */
