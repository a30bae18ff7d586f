/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * What a replacement policy is to the simulator.
 *
 * A policy holds at most `capacity` keys.  It knows the number of keys
 * beforehand, so that its state is an array and not a hash table; none but
 * the optimum looks at the requests.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include "stream.h"

#define NO_KEY UINT32_MAX

struct tier_result {
	int64_t misses;	     /* in neither tier */
	int64_t data_misses; /* uses for data not found in the file tier */
};

enum role {
	YARDSTICK, /* measured against */
	CANDIDATE,
	CHOSEN, /* what the cache engine does */
};

struct policy {
	const char *name;
	const char *text;	/* one line for people */
	const void *parameters; /* of the policy's own kind */
	enum role role;

	/* capacity >= 1.  NULL: no memory. */
	void *(*create)(const struct policy *policy, const struct stream *s,
			uint32_t capacity);
	void (*destroy)(void *state);

	/* The request at `position` of the stream uses `key`.  Returns
	 * whether it was held; it is held afterwards in any case.  *evicted
	 * is the key that had to go, or NO_KEY. */
	bool (*use)(void *state, uint32_t key, size_t position,
		    uint32_t *evicted);

	/* The key is gone, without an eviction. */
	void (*remove)(void *state, uint32_t key);

	/* If not NULL, it has tiers of its own, for simulate_tiers, and does
	 * not tell what it evicts. */
	int (*tiers)(const struct stream *s, uint32_t files, uint32_t stats,
		     struct tier_result *result);
};

extern const struct policy policy_lru;
extern const struct policy policy_belady;
extern const struct policy policy_fifo;
extern const struct policy policy_clock;
extern const struct policy policy_sieve;
extern const struct policy policy_s3fifo;
extern const struct policy policy_s3fifo_adaptive;
extern const struct policy policy_s3fifo_sharded;
extern const struct policy policy_engine;

/* All of them; ends with a NULL. */
#define POLICY_LRU     0
#define POLICY_OPTIMUM 1
extern const struct policy *const policies[];

#endif
