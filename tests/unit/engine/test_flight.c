/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Of several who miss, one fetches. */
#include <pthread.h>
#include <unistd.h>

#include "engine_test.h"

#define WAITERS 8

static struct mdx *cache;
static atomic_int results[WAITERS];

static void *waiter(void *arg)
{
	struct mdx_flight *f;

	atomic_store(&results[(uintptr_t)arg],
		     mdx_flight_join(cache, test_key(1), "n", 1, 3600000, &f));
	return NULL;
}

static void fly(int result)
{
	struct mdx_flight *f;
	pthread_t t[WAITERS];

	cache = test_cache(10, 10, 4 * MIB, 1);
	CU_ASSERT_EQUAL(mdx_flight_join(cache, test_key(1), "n", 1, 0, &f), 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	for (uintptr_t i = 0; i < WAITERS; i++)
		pthread_create(&t[i], NULL, waiter, (void *)i);
	while (test_counter(cache, MDX_C_FLIGHT_WAIT) < WAITERS)
		usleep(1000);
	mdx_flight_done(cache, f, result);
	for (unsigned int i = 0; i < WAITERS; i++) {
		pthread_join(t[i], NULL);
		CU_ASSERT_EQUAL(atomic_load(&results[i]), result);
	}
	CU_ASSERT_EQUAL(test_counter(cache, MDX_C_FLIGHT_LEAD), 1);
	/* The next one leads again. */
	CU_ASSERT_EQUAL(mdx_flight_join(cache, test_key(1), "n", 1, 0, &f), 1);
	mdx_flight_done(cache, f, 0);
	mdx_destroy(cache);
}

static void test_success(void)
{
	fly(0);
}

static void test_failure(void)
{
	fly(-EIO);
}

static void test_timeout(void)
{
	struct mdx_flight *f, *g, *h, *i, *j;

	cache = test_cache(10, 10, 4 * MIB, 1);
	CU_ASSERT_EQUAL(mdx_flight_join(cache, test_key(1), NULL, 0, 0, &f), 1);
	CU_ASSERT_EQUAL(mdx_flight_join(cache, test_key(1), NULL, 0, 20, &g),
			-ETIMEDOUT);
	CU_ASSERT_PTR_NULL(g);
	/* These are four different things. */
	CU_ASSERT_EQUAL(mdx_flight_join(cache, test_key(1), "", 0, 0, &g), 1);
	CU_ASSERT_EQUAL(mdx_flight_join(cache, test_key(1), "a", 1, 0, &h), 1);
	CU_ASSERT_EQUAL(mdx_flight_join(cache, test_key(2), "a", 1, 0, &i), 1);
	CU_ASSERT_EQUAL(mdx_flight_join(cache, test_key(2), "a", 256, 0, &j),
			-EINVAL);
	mdx_flight_done(cache, f, 0);
	mdx_flight_done(cache, i, 0);
	mdx_flight_done(cache, h, 0);
	mdx_flight_done(cache, g, 0);
	CU_ASSERT_EQUAL(test_counter(cache, MDX_C_FLIGHT_TIMEOUT), 1);
	mdx_destroy(cache);
}

int main(void)
{
	CU_TestInfo tests[] = { { "all have the result", test_success },
				{ "all have the error", test_failure },
				{ "a timeout; what is different",
				  test_timeout },
				CU_TEST_INFO_NULL };

	return cunit_main("flight", NULL, tests);
}
