/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The handle pool. */
#include "engine_test.h"

static int object[100];

static struct mdx *new_cache(uint32_t handles, uint32_t fds, uint64_t charge)
{
	struct mdx *c = test_cache(10, 10, 4 * MIB, 1);
	struct mdx_pool_limits l = { handles, fds, charge };

	mdx_pool_set_limits(c, &l);
	return c;
}

static void add(struct mdx *c, unsigned int n, uint64_t charge, uint32_t fds)
{
	struct mdx_handle *h;

	CU_ASSERT_EQUAL(
		mdx_pool_add(c, test_key(n), &object[n], charge, fds, &h), 0);
	mdx_pool_put(c, h);
}

static bool has(struct mdx *c, unsigned int n)
{
	struct mdx_handle *h;

	if (mdx_pool_get(c, test_key(n), &h))
		return false;
	CU_ASSERT_PTR_EQUAL(mdx_handle_object(h), &object[n]);
	mdx_pool_put(c, h);
	return true;
}

static void test_use(void)
{
	struct mdx *c = new_cache(3, 100, 1000);
	unsigned int before = atomic_load(&test_released);
	struct mdx_handle *h, *same;
	struct mdx_usage u;

	CU_ASSERT(!has(c, 1));
	add(c, 1, 10, 0);
	add(c, 2, 10, 0);
	add(c, 3, 10, 0);
	CU_ASSERT(has(c, 1)); /* so 2 is the oldest */
	add(c, 4, 10, 0);
	CU_ASSERT(has(c, 1) && !has(c, 2) && has(c, 3) && has(c, 4));
	mdx_quiesce(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 1);
	/* Given twice: the caller keeps its own. */
	CU_ASSERT_EQUAL(mdx_pool_add(c, test_key(1), &object[50], 10, 0, &h),
			-EEXIST);
	CU_ASSERT_PTR_EQUAL(mdx_handle_object(h), &object[1]);
	/* In use, it is not evicted, and the limit may be passed. */
	CU_ASSERT_EQUAL(mdx_pool_get(c, test_key(3), &same), 0);
	for (unsigned int i = 10; i < 20; i++)
		add(c, i, 10, 0);
	CU_ASSERT(has(c, 1) && has(c, 3) && has(c, 19));
	mdx_usage(c, &u);
	CU_ASSERT_EQUAL(u.handles, 3);
	CU_ASSERT_EQUAL(u.charge, 30);
	mdx_pool_put(c, h);
	mdx_pool_put(c, same);
	mdx_destroy(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 14);
}

static void test_limits(void)
{
	struct mdx *c = new_cache(100, 3, 100);
	struct mdx_pool_limits none = { 0, 0, 0 };
	struct mdx_handle *h;
	struct mdx_usage u;

	add(c, 1, 1, 0);
	add(c, 2, 1, 2);
	add(c, 3, 1, 1);
	add(c, 4, 1, 1); /* one too many descriptors: 2 goes, 1 has none */
	CU_ASSERT(has(c, 1) && !has(c, 2) && has(c, 3) && has(c, 4));
	CU_ASSERT_EQUAL(mdx_pool_get(c, test_key(3), &h), 0);
	mdx_pool_set_fds(c, h, 3);
	mdx_usage(c, &u);
	/* What is in use pushes nothing out, until it is no longer. */
	CU_ASSERT_EQUAL(u.fds, 4);
	CU_ASSERT(has(c, 4));
	mdx_pool_put(c, h);
	CU_ASSERT(!has(c, 4) && has(c, 3));
	add(c, 5, 99, 0);
	mdx_usage(c, &u);
	CU_ASSERT(u.charge <= 100);
	CU_ASSERT(has(c, 5) && !has(c, 1));
	mdx_pool_set_limits(c, &none);
	mdx_usage(c, &u);
	CU_ASSERT_EQUAL(u.handles + u.fds + u.charge, 0);
	mdx_destroy(c);
}

static int offer(struct mdx *c, unsigned int n, uint64_t charge, uint32_t fds)
{
	return mdx_pool_offer(c, test_key(n), &object[n], charge, fds);
}

static void test_offer(void)
{
	struct mdx *c = new_cache(4, 2, 100);
	unsigned int before = atomic_load(&test_released);
	struct mdx_handle *h;
	struct mdx_usage u;

	add(c, 1, 10, 0);
	CU_ASSERT_EQUAL(offer(c, 1, 10, 0), -EEXIST);
	CU_ASSERT_EQUAL(offer(c, 2, 10, 0), 0);
	CU_ASSERT_EQUAL(offer(c, 3, 10, 1), 0);
	CU_ASSERT_EQUAL(offer(c, 4, 71, 0), -ENOSPC);
	CU_ASSERT_EQUAL(offer(c, 4, 10, 2), -ENOSPC);
	CU_ASSERT_EQUAL(offer(c, 4, 10, 0), 0);
	CU_ASSERT_EQUAL(offer(c, 5, 0, 0), -ENOSPC);
	mdx_usage(c, &u);
	CU_ASSERT_EQUAL(u.handles, 4);
	CU_ASSERT_EQUAL(u.charge, 40);
	CU_ASSERT_EQUAL(u.fds, 1);
	/* What was never used goes before what was used long ago. */
	CU_ASSERT_EQUAL(mdx_pool_get(c, test_key(2), &h), 0);
	mdx_pool_put(c, h);
	add(c, 6, 10, 0);
	add(c, 7, 10, 0);
	CU_ASSERT(has(c, 1) && has(c, 2) && has(c, 6) && has(c, 7));
	mdx_quiesce(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 2);
	CU_ASSERT_EQUAL(mdx_pool_drop(c, test_key(2)), 0);
	CU_ASSERT_EQUAL(offer(c, 2, 10, 0), 0);
	CU_ASSERT(has(c, 2));
	mdx_destroy(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 7);
}

static void test_drop(void)
{
	struct mdx *c = new_cache(100, 100, 1000);
	unsigned int before = atomic_load(&test_released);
	struct mdx_key other = test_key(7);
	struct mdx_handle *h, *again;

	CU_ASSERT_EQUAL(mdx_pool_drop(c, test_key(1)), -ENOENT);
	add(c, 1, 1, 1);
	CU_ASSERT_EQUAL(mdx_pool_drop(c, test_key(1)), 0);
	CU_ASSERT(!has(c, 1));
	add(c, 2, 1, 1);
	mdx_pool_get(c, test_key(2), &h);
	CU_ASSERT_EQUAL(mdx_pool_drop(c, test_key(2)), -EBUSY);
	CU_ASSERT(!has(c, 2));
	mdx_quiesce(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 1);
	/* A new one may come while the old one is in use. */
	CU_ASSERT_EQUAL(mdx_pool_add(c, test_key(2), &object[9], 1, 0, &again),
			0);
	mdx_pool_put(c, h);
	mdx_quiesce(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 2);
	mdx_pool_put(c, again);
	other.backend = 4;
	CU_ASSERT_EQUAL(mdx_pool_add(c, other, &object[8], 1, 0, &h), 0);
	mdx_pool_put(c, h);
	mdx_pool_drop_backend(c, 4);
	CU_ASSERT_EQUAL(mdx_pool_get(c, other, &h), -ENOENT);
	CU_ASSERT_EQUAL(mdx_pool_get(c, test_key(2), &h), 0);
	mdx_pool_put(c, h);
	mdx_destroy(c);
}

static void test_many(void)
{
	struct mdx *c = new_cache(5000, 10000, 1 << 30);
	struct mdx_usage u;
	unsigned int found = 0;

	for (unsigned int i = 0; i < 10000; i++) {
		struct mdx_handle *h;

		mdx_pool_add(c, test_key(i), object, 1, 1, &h);
		mdx_pool_put(c, h);
	}
	mdx_usage(c, &u);
	CU_ASSERT_EQUAL(u.handles, 5000);
	for (unsigned int i = 0; i < 10000; i++) {
		struct mdx_handle *h;

		if (mdx_pool_get(c, test_key(i), &h) == 0) {
			found++;
			mdx_pool_put(c, h);
		}
	}
	CU_ASSERT_EQUAL(found, 5000);
	mdx_destroy(c);
}

int main(void)
{
	CU_TestInfo tests[] = { { "use and eviction", test_use },
				{ "each limit", test_limits },
				{ "offers", test_offer },
				{ "dropping", test_drop },
				{ "many", test_many },
				CU_TEST_INFO_NULL };

	return cunit_main("pool", NULL, tests);
}
