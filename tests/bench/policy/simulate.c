// SPDX-License-Identifier: LGPL-3.0-or-later
#include "simulate.h"

#include <errno.h>
#include <stdlib.h>

int64_t simulate(const struct policy *policy, const struct stream *s,
		 uint32_t capacity)
{
	void *state = policy->create(policy, s, capacity);
	int64_t misses = 0;
	uint32_t evicted;

	if (state == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < s->nrequests; i++) {
		uint32_t key = STREAM_KEY(s->requests[i]);

		if (s->requests[i] & STREAM_REMOVE)
			policy->remove(state, key);
		else if (!policy->use(state, key, i, &evicted))
			misses++;
	}
	policy->destroy(state);
	return misses;
}

enum tier {
	NEITHER,
	FILES,
	STATS
};

struct tiers {
	const struct policy *policy;
	void *files;
	void *stats;
	uint8_t *tier; /* of each key */
};

static void use_attributes(struct tiers *t, uint32_t key, size_t i)
{
	uint32_t evicted;

	if (t->tier[key] == FILES) {
		t->policy->use(t->files, key, i, &evicted);
		return;
	}
	t->policy->use(t->stats, key, i, &evicted);
	t->tier[key] = STATS;
	if (evicted != NO_KEY)
		t->tier[evicted] = NEITHER;
}

static void use_data(struct tiers *t, uint32_t key, size_t i)
{
	uint32_t demoted;
	uint32_t evicted;

	if (t->tier[key] == STATS)
		t->policy->remove(t->stats, key);
	t->policy->use(t->files, key, i, &demoted);
	t->tier[key] = FILES;
	if (demoted == NO_KEY)
		return;
	t->policy->use(t->stats, demoted, i, &evicted);
	t->tier[demoted] = STATS;
	if (evicted != NO_KEY)
		t->tier[evicted] = NEITHER;
}

static void remove_key(struct tiers *t, uint32_t key)
{
	if (t->tier[key] == FILES)
		t->policy->remove(t->files, key);
	else if (t->tier[key] == STATS)
		t->policy->remove(t->stats, key);
	t->tier[key] = NEITHER;
}

static int run_tiers(struct tiers *t, const struct stream *s,
		     struct tier_result *result)
{
	if (t->files == NULL || t->stats == NULL || t->tier == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < s->nrequests; i++) {
		uint32_t key = STREAM_KEY(s->requests[i]);

		if (s->requests[i] & STREAM_REMOVE) {
			remove_key(t, key);
			continue;
		}
		result->misses += t->tier[key] == NEITHER;
		if (s->requests[i] & STREAM_DATA) {
			result->data_misses += t->tier[key] != FILES;
			use_data(t, key, i);
		} else {
			use_attributes(t, key, i);
		}
	}
	return 0;
}

int simulate_tiers(const struct policy *policy, const struct stream *s,
		   uint32_t files, uint32_t stats, struct tier_result *result)
{
	struct tiers t = { .policy = policy };
	int rc;

	*result = (struct tier_result){ 0 };
	if (policy->tiers != NULL)
		return policy->tiers(s, files, stats, result);
	t.files = policy->create(policy, s, files);
	t.stats = policy->create(policy, s, stats);
	t.tier = calloc((size_t)s->nkeys + 1, sizeof(*t.tier));
	rc = run_tiers(&t, s, result);
	if (t.files != NULL)
		policy->destroy(t.files);
	if (t.stats != NULL)
		policy->destroy(t.stats);
	free(t.tier);
	return rc;
}
