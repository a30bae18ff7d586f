// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The policies against sequences worked out by hand, and against what every
 * policy must do.
 */
#include "cunit_main.h"
#include "keys.h"

#include "policy.h"
#include "simulate.h"

#include <stdlib.h>

#define RANDOM_KEYS 300

/* The two sequences of the text books, with their published miss counts. */
static void text_book(void)
{
	struct stream_list anomaly =
		STREAM_OF(1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5);
	struct stream_list pages = STREAM_OF(7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3,
					     2, 1, 2, 0, 1, 7, 0, 1);
	const struct stream *a = anomaly.streams;
	const struct stream *p = pages.streams;

	CU_ASSERT_EQUAL(simulate(&policy_fifo, a, 3), 9);
	CU_ASSERT_EQUAL(simulate(&policy_lru, a, 3), 10);
	CU_ASSERT_EQUAL(simulate(&policy_belady, a, 3), 7);
	/* Belady's anomaly: FIFO gets worse with more room. */
	CU_ASSERT_EQUAL(simulate(&policy_fifo, a, 4), 10);
	CU_ASSERT_EQUAL(simulate(&policy_lru, a, 4), 8);
	CU_ASSERT_EQUAL(simulate(&policy_belady, a, 4), 6);

	CU_ASSERT_EQUAL(simulate(&policy_fifo, p, 3), 15);
	CU_ASSERT_EQUAL(simulate(&policy_lru, p, 3), 12);
	CU_ASSERT_EQUAL(simulate(&policy_belady, p, 3), 9);
	stream_list_free(&anomaly);
	stream_list_free(&pages);
}

struct step {
	uint32_t key;
	bool hit;
	uint32_t evicted;
};

static void follow(const struct policy *policy, const struct step *steps,
		   size_t count, uint32_t capacity)
{
	struct stream_list list = { 0 };
	struct stream *s = stream_add(&list, "steps");
	void *state;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL_FATAL(stream_use(s, steps[i].key), 0);
	state = policy->create(policy, s, capacity);
	CU_ASSERT_PTR_NOT_NULL_FATAL(state);
	for (size_t i = 0; i < count; i++) {
		uint32_t evicted;

		CU_ASSERT_EQUAL(policy->use(state, steps[i].key, i, &evicted),
				steps[i].hit);
		CU_ASSERT_EQUAL(evicted, steps[i].evicted);
	}
	policy->destroy(state);
	stream_list_free(&list);
}

/* The hand passes 0, which is marked, evicts 1 and goes on from there: 3 is
 * new and goes before 0, which stays the oldest. */
static void sieve_by_hand(void)
{
	static const struct step steps[] = {
		{ 0, false, NO_KEY }, { 1, false, NO_KEY },
		{ 2, false, NO_KEY }, { 0, true, NO_KEY },
		{ 3, false, 1 },      { 4, false, 2 },
		{ 5, false, 3 },      { 0, true, NO_KEY },
		{ 6, false, 4 },      { 7, false, 5 },
		{ 8, false, 6 },      { 9, false, 7 },
		{ 0, true, NO_KEY },
	};

	follow(&policy_sieve, steps, sizeof(steps) / sizeof(steps[0]), 3);
}

/* 0 has two marks and so three turns; FIFO would evict it first. */
static void clock_by_hand(void)
{
	static const struct step steps[] = {
		{ 0, false, NO_KEY }, { 1, false, NO_KEY }, { 0, true, NO_KEY },
		{ 0, true, NO_KEY },  { 2, false, 1 },	    { 3, false, 2 },
		{ 4, false, 0 },      { 0, false, 3 },
	};

	follow(&policy_clock, steps, sizeof(steps) / sizeof(steps[0]), 2);
}

static void optimum_by_hand(void)
{
	static const struct step steps[] = {
		{ 0, false, NO_KEY }, { 1, false, NO_KEY }, { 2, false, 1 },
		{ 0, true, NO_KEY },  { 2, true, NO_KEY },  { 1, false, 0 },
		{ 2, true, NO_KEY },
	};

	follow(&policy_belady, steps, sizeof(steps) / sizeof(steps[0]), 2);
}

/* Uses of a few keys often and of many seldom, and a removal now and then. */
static struct stream_list random_stream(uint64_t seed)
{
	struct stream_list list = { 0 };
	struct stream *s = stream_add(&list, "random");

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t key =
			test_random(&seed, 1 + test_random(&seed, RANDOM_KEYS));

		int rc = test_random(&seed, 50) == 0 ? stream_remove(s, key) :
						       stream_use(s, key);

		CU_ASSERT_EQUAL_FATAL(rc, 0);
	}
	return list;
}

/* A hit is what was used and neither evicted nor removed since, an eviction
 * is of what was held, and only when there is no room. */
static void check_contract(const struct policy *policy, const struct stream *s,
			   uint32_t capacity)
{
	bool held[RANDOM_KEYS] = { false };
	uint32_t count = 0;
	unsigned wrong = 0;
	void *state = policy->create(policy, s, capacity);

	CU_ASSERT_PTR_NOT_NULL_FATAL(state);
	for (size_t i = 0; i < s->nrequests; i++) {
		uint32_t key = STREAM_KEY(s->requests[i]);
		uint32_t evicted;

		if (s->requests[i] & STREAM_REMOVE) {
			policy->remove(state, key);
			count -= held[key];
			held[key] = false;
			continue;
		}
		wrong += policy->use(state, key, i, &evicted) != held[key];
		wrong += evicted != NO_KEY &&
			 (held[key] || count < capacity || !held[evicted]);
		if (evicted != NO_KEY) {
			held[evicted] = false;
			count--;
		}
		count += !held[key];
		held[key] = true;
		wrong += count > capacity;
	}
	policy->destroy(state);
	CU_ASSERT_EQUAL(wrong, 0);
}

static void contract(void)
{
	static const uint32_t capacities[] = { 1, 2, 7, 30, 299, 300, 1000 };
	struct stream_list list = random_stream(7);

	for (unsigned i = 0; policies[i] != NULL; i++) {
		/* The engine does not tell what it evicts. */
		if (policies[i]->tiers != NULL)
			continue;
		for (unsigned k = 0; k < 7; k++)
			check_contract(policies[i], list.streams,
				       capacities[k]);
	}
	stream_list_free(&list);
}

static void optimum_never_worse(void)
{
	static const uint32_t capacities[] = { 1, 2, 5, 20, 50, 100, 250 };

	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct stream_list list = random_stream(seed);

		for (unsigned k = 0; k < 7; k++) {
			int64_t best = simulate(&policy_belady, list.streams,
						capacities[k]);

			CU_ASSERT(best > 0);
			for (unsigned i = 0; policies[i] != NULL; i++)
				CU_ASSERT(simulate(policies[i], list.streams,
						   capacities[k]) >= best);
		}
		stream_list_free(&list);
	}
}

/* With room for all, each key is missed once, whatever the policy. */
static void room_for_all(void)
{
	struct stream_list list = { 0 };
	struct stream *s = stream_add(&list, "fits");
	uint64_t seed = 3;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t i = 0; i < 5000; i++)
		CU_ASSERT_EQUAL_FATAL(
			stream_use(s, i < 100 ? i : test_random(&seed, 100)),
			0);
	for (unsigned i = 0; policies[i] != NULL; i++)
		CU_ASSERT_EQUAL(simulate(policies[i], s, 100), 100);
	stream_list_free(&list);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "text book sequences", text_book },
		{ "SIEVE by hand", sieve_by_hand },
		{ "CLOCK by hand", clock_by_hand },
		{ "the optimum by hand", optimum_by_hand },
		{ "hits and evictions add up", contract },
		{ "nothing beats the optimum", optimum_never_worse },
		{ "room for all", room_for_all },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("policies", NULL, tests);
}
