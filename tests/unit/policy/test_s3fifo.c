// SPDX-License-Identifier: LGPL-3.0-or-later
#include "cunit_main.h"
#include "keys.h"

#include "ghost.h"
#include "policy.h"
#include "simulate.h"

/* A ghost is found once, with its queue. */
static void ghosts_found_once(void)
{
	struct ghost_table g;

	CU_ASSERT_EQUAL_FATAL(ghost_table_init(&g, 64), 0);
	ghost_table_add(&g, 0x1234000000000001, GHOST_SMALL);
	ghost_table_add(&g, 0x5678000000000001, GHOST_MAIN);
	CU_ASSERT_EQUAL(g.count[GHOST_SMALL], 1);
	CU_ASSERT_EQUAL(g.count[GHOST_MAIN], 1);
	CU_ASSERT_EQUAL(ghost_table_take(&g, 0x9abc000000000001), GHOST_NONE);
	CU_ASSERT_EQUAL(ghost_table_take(&g, 0x1234000000000001), GHOST_SMALL);
	CU_ASSERT_EQUAL(ghost_table_take(&g, 0x1234000000000001), GHOST_NONE);
	CU_ASSERT_EQUAL(ghost_table_take(&g, 0x5678000000000001), GHOST_MAIN);
	CU_ASSERT_EQUAL(g.count[GHOST_SMALL], 0);
	CU_ASSERT_EQUAL(g.count[GHOST_MAIN], 0);
	ghost_table_free(&g);
}

/* A bucket keeps the latest, and the counts follow. */
static void ghosts_forget_the_oldest(void)
{
	struct ghost_table g;

	CU_ASSERT_EQUAL_FATAL(ghost_table_init(&g, GHOST_WAYS), 0);
	for (uint64_t i = 1; i <= GHOST_WAYS + 1; i++)
		ghost_table_add(&g, i << 52, i == 1 ? GHOST_MAIN : GHOST_SMALL);
	CU_ASSERT_EQUAL(g.count[GHOST_MAIN], 0);
	CU_ASSERT_EQUAL(g.count[GHOST_SMALL], GHOST_WAYS);
	CU_ASSERT_EQUAL(ghost_table_take(&g, (uint64_t)1 << 52), GHOST_NONE);
	for (uint64_t i = 2; i <= GHOST_WAYS + 1; i++)
		CU_ASSERT_EQUAL(ghost_table_take(&g, i << 52), GHOST_SMALL);
	ghost_table_free(&g);
}

/* A hash whose fingerprint is 0 is not the same as no ghost. */
static void ghost_of_hash_zero(void)
{
	struct ghost_table g;

	CU_ASSERT_EQUAL_FATAL(ghost_table_init(&g, 1), 0);
	CU_ASSERT_EQUAL(ghost_table_take(&g, 0), GHOST_NONE);
	ghost_table_add(&g, 0, GHOST_SMALL);
	CU_ASSERT_EQUAL(ghost_table_take(&g, 0), GHOST_SMALL);
	ghost_table_free(&g);
}

/* Capacity 10, a small queue of 1: 0 is used twice and moves to the main
 * queue, 1 comes back as a ghost and enters it; a scan does not touch them. */
static void by_hand(void)
{
	struct stream_list list = { 0 };
	struct stream *s = stream_add(&list, "by hand");
	const struct policy *p = &policy_s3fifo;
	uint32_t evicted;
	void *state;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	CU_ASSERT_EQUAL_FATAL(stream_use(s, 199), 0);
	state = p->create(p, s, 10);
	CU_ASSERT_PTR_NOT_NULL_FATAL(state);
	for (uint32_t key = 0; key < 10; key++)
		CU_ASSERT_FALSE(p->use(state, key, 0, &evicted));
	CU_ASSERT_TRUE(p->use(state, 0, 0, &evicted));
	CU_ASSERT_TRUE(p->use(state, 0, 0, &evicted));
	CU_ASSERT_FALSE(p->use(state, 10, 0, &evicted));
	CU_ASSERT_EQUAL(evicted, 1);
	CU_ASSERT_FALSE(p->use(state, 1, 0, &evicted));
	CU_ASSERT_EQUAL(evicted, 2);
	for (uint32_t key = 100; key < 200; key++) {
		CU_ASSERT_FALSE(p->use(state, key, 0, &evicted));
		CU_ASSERT(evicted > 2 && evicted != NO_KEY);
	}
	CU_ASSERT_TRUE(p->use(state, 0, 0, &evicted));
	CU_ASSERT_TRUE(p->use(state, 1, 0, &evicted));
	p->destroy(state);
	stream_list_free(&list);
}

/* First a set in use, which fills the main queue.  Then every key is used
 * twice, with as much in between as fits in the cache but not in a small
 * queue: LRU's best case and that of a fixed small queue the worst.  The
 * adaptive one must learn it. */
static void learns_recency(void)
{
	struct stream_list list = { 0 };
	struct stream *s = stream_add(&list, "twice");
	uint64_t seed = 9;
	int64_t lru;
	int64_t fixed;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t i = 0; i < 20000; i++)
		CU_ASSERT_EQUAL_FATAL(stream_use(s, test_random(&seed, 1200)),
				      0);
	for (uint32_t i = 0; i < 100000; i++) {
		CU_ASSERT_EQUAL_FATAL(stream_use(s, 1200 + i), 0);
		if (i >= 400)
			CU_ASSERT_EQUAL_FATAL(stream_use(s, 1200 + i - 400), 0);
	}
	lru = simulate(&policy_lru, s, 1000);
	fixed = simulate(&policy_s3fifo, s, 1000);
	CU_ASSERT(lru < 100000 + 6000);
	CU_ASSERT(fixed > lru + 50000);
	CU_ASSERT(simulate(&policy_s3fifo_adaptive, s, 1000) < lru + 2000);
	CU_ASSERT(simulate(&policy_s3fifo_sharded, s, 1000) < lru + 2000);
	stream_list_free(&list);
}

/* A set in use, and a scan that never comes back: LRU loses the set. */
static void resists_scans(void)
{
	struct stream_list list = { 0 };
	struct stream *s = stream_add(&list, "scan");
	uint64_t seed = 5;
	int64_t compulsory;
	int64_t adaptive;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (uint32_t i = 0; i < 200000; i++) {
		CU_ASSERT_EQUAL_FATAL(stream_use(s, test_random(&seed, 600)),
				      0);
		CU_ASSERT_EQUAL_FATAL(stream_use(s, 600 + i), 0);
	}
	compulsory = 600 + 200000;
	adaptive = simulate(&policy_s3fifo_adaptive, s, 1000);
	CU_ASSERT(simulate(&policy_lru, s, 1000) > compulsory + 60000);
	CU_ASSERT(adaptive < compulsory + 10000);
	stream_list_free(&list);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "a ghost is found once", ghosts_found_once },
		{ "the oldest ghost is forgotten", ghosts_forget_the_oldest },
		{ "a fingerprint of 0", ghost_of_hash_zero },
		{ "plain, by hand", by_hand },
		{ "adaptive learns recency", learns_recency },
		{ "adaptive resists scans", resists_scans },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("s3fifo", NULL, tests);
}
