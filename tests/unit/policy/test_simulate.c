// SPDX-License-Identifier: LGPL-3.0-or-later
#include "cunit_main.h"
#include "keys.h"

#include "budget.h"
#include "measure.h"
#include "simulate.h"

#include <stdlib.h>

/* Uses of random keys; of data, if asked for. */
static struct stream_list random_uses(bool data)
{
	struct stream_list list = { 0 };
	struct stream *s = stream_add(&list, "uses");
	uint64_t seed = 11;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (unsigned i = 0; i < 20000; i++) {
		uint32_t key = test_random(&seed, 1 + test_random(&seed, 400));

		CU_ASSERT_EQUAL_FATAL(
			data ? stream_use_data(s, key) : stream_use(s, key), 0);
	}
	return list;
}

/* What LRU's file tier evicts becomes the newest of the stat tier: together
 * they are one LRU. */
static void lru_of_two_tiers(void)
{
	struct stream_list list = random_uses(true);
	struct tier_result r;

	CU_ASSERT_EQUAL(simulate_tiers(&policy_lru, list.streams, 30, 70, &r),
			0);
	CU_ASSERT_EQUAL(r.misses, simulate(&policy_lru, list.streams, 100));
	CU_ASSERT_EQUAL(r.data_misses, simulate(&policy_lru, list.streams, 30));
	stream_list_free(&list);
}

/* Without uses for data the file tier stays empty. */
static void attributes_only(void)
{
	struct stream_list list = random_uses(false);

	for (unsigned i = 0; policies[i] != NULL; i++) {
		struct tier_result r;

		if (policies[i]->tiers != NULL)
			continue;
		CU_ASSERT_EQUAL(simulate_tiers(policies[i], list.streams, 30,
					       70, &r),
				0);
		CU_ASSERT_EQUAL(r.misses,
				simulate(policies[i], list.streams, 70));
		CU_ASSERT_EQUAL(r.data_misses, 0);
	}
	stream_list_free(&list);
}

/* One file, one stat entry: 0 is opened, pushed out by 1 into the stat tier,
 * found there, opened again, removed, and missed. */
static void tiers_by_hand(void)
{
	struct stream_list list = { 0 };
	struct stream *s = stream_add(&list, "tiers");
	struct tier_result r;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL(stream_use_data(s, 0), 0); /* miss, data miss */
	CU_ASSERT_EQUAL(stream_use_data(s, 1), 0); /* miss, data miss */
	CU_ASSERT_EQUAL(stream_use(s, 0), 0);
	CU_ASSERT_EQUAL(stream_use(s, 1), 0);
	CU_ASSERT_EQUAL(stream_use_data(s, 0), 0); /* data miss */
	CU_ASSERT_EQUAL(stream_use(s, 1), 0);
	CU_ASSERT_EQUAL(stream_remove(s, 0), 0);
	CU_ASSERT_EQUAL(stream_use(s, 1), 0);
	CU_ASSERT_EQUAL(stream_use(s, 0), 0); /* miss */
	CU_ASSERT_EQUAL(stream_use(s, 1), 0); /* miss: one stat entry only */
	for (unsigned i = 0; policies[i] != NULL; i++) {
		if (i == POLICY_OPTIMUM || policies[i]->tiers != NULL)
			continue;
		CU_ASSERT_EQUAL(simulate_tiers(policies[i], s, 1, 1, &r), 0);
		CU_ASSERT_EQUAL(r.misses, 4);
		CU_ASSERT_EQUAL(r.data_misses, 3);
	}
	stream_list_free(&list);
}

/* A loop of 100: below that, LRU and FIFO miss all, and the optimum is what
 * there is to gain. */
static void summary_of_a_loop(void)
{
	struct stream_list list = { 0 };
	struct stream *s = stream_add(&list, "loop");
	struct measurement m;
	struct summary fifo;
	struct summary optimum;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t i = 0; i < 1000; i++)
		CU_ASSERT_EQUAL_FATAL(stream_use(s, i % 100), 0);
	CU_ASSERT_EQUAL_FATAL(measure(&m, &list, 10, false), 0);
	CU_ASSERT_EQUAL(m.count, 3); /* 10, 20 and 40 entries */
	fifo = summarize(&m, 2, ONE_TIER);
	optimum = summarize(&m, POLICY_OPTIMUM, ONE_TIER);
	CU_ASSERT_DOUBLE_EQUAL(miss_percent(&m.cells[0], 0, ONE_TIER), 100.0,
			       1e-9);
	CU_ASSERT_DOUBLE_EQUAL(fifo.worst, 0.0, 1e-9);
	CU_ASSERT_EQUAL(fifo.over, 0);
	CU_ASSERT_EQUAL(fifo.below, 0);
	CU_ASSERT_EQUAL(fifo.gainable, 3);
	CU_ASSERT_FALSE(meets_targets(&fifo));
	CU_ASSERT_EQUAL(optimum.below, 3);
	CU_ASSERT(optimum.mean < -5.0);
	CU_ASSERT_TRUE(meets_targets(&optimum));
	free(m.cells);
	stream_list_free(&list);
}

static void budget_in_points(void)
{
	const struct stream s = { .nuses = 200 };
	struct budget_cell cells[] = {
		{ .stream = &s, .lru = 100, .engine = 90 },
		{ .stream = &s, .lru = 100, .engine = 104 },
	};
	const struct budget_measurement m = { .cells = cells, .count = 2 };
	const struct budget_measurement none = { 0 };

	CU_ASSERT_DOUBLE_EQUAL(budget_points(&cells[0], 90), -5.0, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(budget_worst(&m), 2.0, 1e-9);
	CU_ASSERT(budget_worst(&none) <= TARGET_POINTS);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "two tiers of LRU are one", lru_of_two_tiers },
		{ "attributes do not need the file tier", attributes_only },
		{ "two tiers by hand", tiers_by_hand },
		{ "summary of a loop", summary_of_a_loop },
		{ "a budget in points", budget_in_points },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("simulate", NULL, tests);
}
