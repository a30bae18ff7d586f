/* SPDX-License-Identifier: LGPL-3.0-or-later */
#ifndef POLICY_SIMULATE_H
#define POLICY_SIMULATE_H

#include "policy.h"

/* Run the stream through a cache of this capacity.  Returns the misses, or
 * -ENOMEM. */
int64_t simulate(const struct policy *policy, const struct stream *s,
		 uint32_t capacity);

/*
 * Two tiers, each with the policy: a use for data takes the key to the file
 * tier, from the stat tier if it is there; what the file tier evicts enters
 * the stat tier; other uses find a key where it is, and bring a new one into
 * the stat tier.  Returns 0 or -ENOMEM.
 */
int simulate_tiers(const struct policy *policy, const struct stream *s,
		   uint32_t files, uint32_t stats, struct tier_result *result);

#endif
