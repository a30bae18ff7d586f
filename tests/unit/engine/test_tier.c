/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Tiers, limits, replacement, pins. */
#include "engine_test.h"

static struct mdx_usage usage(struct mdx *c)
{
	struct mdx_usage u;

	mdx_usage(c, &u);
	return u;
}

static bool has(struct mdx *c, uint64_t n)
{
	return mdx_get(c, test_key(n), 0, NULL) == 0;
}

static void test_limits(void)
{
	struct mdx *c = test_cache(10, 50, 8 * MIB, 1);

	for (unsigned int i = 0; i < 1000; i++) {
		CU_ASSERT_EQUAL(test_put(c, i, MDX_FOREVER), 0);
		CU_ASSERT(usage(c).stats <= 50);
	}
	CU_ASSERT_EQUAL(usage(c).stats, 50);
	CU_ASSERT_EQUAL(test_counter(c, MDX_C_EVICT), 950);
	for (unsigned int i = 0; i < 1000; i++) {
		test_put(c, i, MDX_FOREVER);
		CU_ASSERT_EQUAL(mdx_promote(c, test_key(i)), 0);
		CU_ASSERT(usage(c).files <= 10 && usage(c).stats <= 50);
	}
	CU_ASSERT_EQUAL(usage(c).files, 10);
	CU_ASSERT_EQUAL(usage(c).stats, 49); /* the last one was promoted */
	CU_ASSERT(test_counter(c, MDX_C_DEMOTE) > 900);
	CU_ASSERT_EQUAL(mdx_promote(c, test_key(5000)), -ENOENT);
	mdx_destroy(c);
}

static void test_no_stat_tier(void)
{
	struct mdx *c = test_cache(10, 0, 8 * MIB, 1);
	struct mdx_answer a;

	for (unsigned int i = 0; i < 100; i++)
		CU_ASSERT_EQUAL(test_put(c, i, MDX_FOREVER), 0);
	CU_ASSERT_EQUAL(usage(c).files, 10);
	CU_ASSERT_EQUAL(usage(c).stats, 0);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(99), 0, &a), 0);
	CU_ASSERT(a.file_tier);
	CU_ASSERT(test_counter(c, MDX_C_EVICT_FILE) >= 90);
	mdx_destroy(c);
}

static void test_demotion(void)
{
	struct mdx *c = test_cache(1, 50, 8 * MIB, 1);
	struct mdx_key child = test_key(1);
	unsigned int before = atomic_load(&test_released);
	struct mdx_attachment *pages;
	struct mdx_answer a;
	int object;

	test_put(c, 1, MDX_FOREVER);
	test_put(c, 2, MDX_FOREVER);
	pages = mdx_attach(c, &object, 1);
	CU_ASSERT_EQUAL(mdx_pages_set(c, test_key(2), pages), 0);
	mdx_detach(c, pages);
	mdx_name_put(c, mdx_ticket(c), test_key(2), "n", 1, &child,
		     MDX_FOREVER);
	pages = mdx_pages_get(c, test_key(2));
	CU_ASSERT_PTR_EQUAL(mdx_attachment_object(pages), &object);
	mdx_detach(c, pages);
	CU_ASSERT_EQUAL(mdx_lookup(c, test_key(2), "n", 1, &a), 0);
	/* Another one comes: names and pages go, attributes stay. */
	CU_ASSERT_EQUAL(mdx_promote(c, test_key(1)), 0);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(2), MDX_NUMBERS, &a), 0);
	CU_ASSERT(!a.file_tier);
	CU_ASSERT_EQUAL(mdx_lookup(c, test_key(2), "n", 1, &a), -ENODATA);
	CU_ASSERT_PTR_NULL(mdx_pages_get(c, test_key(2)));
	mdx_quiesce(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 1);
	CU_ASSERT_EQUAL(mdx_pages_set(c, test_key(77), NULL), -ENOENT);
	CU_ASSERT_EQUAL(usage(c).names, 0);
	mdx_destroy(c);
}

static void test_pins(void)
{
	struct mdx *c = test_cache(5, 5, 8 * MIB, 1);
	struct mdx_answer a;

	for (unsigned int i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(mdx_pin(c, test_key(i)), 0);
	CU_ASSERT_EQUAL(mdx_pin(c, test_key(3)), 0);
	CU_ASSERT_EQUAL(usage(c).pinned, 20);
	CU_ASSERT_EQUAL(usage(c).files, 20);
	for (unsigned int i = 100; i < 200; i++)
		test_put(c, i, MDX_FOREVER);
	for (unsigned int i = 0; i < 20; i++) {
		CU_ASSERT_EQUAL(mdx_get(c, test_key(i), 0, &a), 0);
		CU_ASSERT(a.pinned && a.file_tier);
	}
	/* What is pinned cannot make room for what is not. */
	test_put(c, 300, MDX_FOREVER);
	CU_ASSERT_EQUAL(mdx_promote(c, test_key(300)), -ENOSPC);
	/* Forgotten, it stays, empty. */
	test_put(c, 3, MDX_FOREVER);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(3), MDX_SIZE, NULL), 0);
	mdx_forget(c, test_key(3));
	CU_ASSERT_EQUAL(mdx_get(c, test_key(3), MDX_SIZE, &a), -ESTALE);
	CU_ASSERT(a.pinned);
	test_put(c, 3, MDX_FOREVER);
	mdx_invalidate_all(c);
	for (unsigned int i = 0; i < 20; i++) {
		CU_ASSERT_EQUAL(mdx_get(c, test_key(i), 0, &a), 0);
		CU_ASSERT(a.pinned && a.file_tier && !a.attrs.valid);
	}
	CU_ASSERT_EQUAL(mdx_get(c, test_key(3), MDX_SIZE, &a), -ESTALE);
	CU_ASSERT_EQUAL(mdx_blob_get(c, test_key(3), MDX_LINK, NULL, 0),
			-ENOENT);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(300), 0, &a), -ENOENT);
	CU_ASSERT_EQUAL(mdx_unpin(c, test_key(3)), 0);
	CU_ASSERT_EQUAL(usage(c).pinned, 20); /* it was pinned twice */
	for (unsigned int i = 0; i < 20; i++)
		CU_ASSERT_EQUAL(mdx_unpin(c, test_key(i)), 0);
	CU_ASSERT_EQUAL(usage(c).pinned, 0);
	CU_ASSERT(usage(c).files <= 5);
	CU_ASSERT_EQUAL(mdx_unpin(c, test_key(0)), -EINVAL);
	CU_ASSERT_EQUAL(mdx_unpin(c, test_key(9999)), -EINVAL);
	mdx_destroy(c);
}

static void test_pins_without_stat_tier(void)
{
	struct mdx *c = test_cache(2, 0, 8 * MIB, 1);

	for (unsigned int i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(mdx_pin(c, test_key(i)), 0);
	CU_ASSERT_EQUAL(usage(c).files, 10);
	CU_ASSERT_EQUAL(test_put(c, 50, MDX_FOREVER), -ENOSPC);
	for (unsigned int i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(mdx_unpin(c, test_key(i)), 0);
	CU_ASSERT(usage(c).files <= 2);
	mdx_destroy(c);
}

/* What is in use survives a walk over ten times as much as there is room. */
static void test_scan(void)
{
	struct mdx *c = test_cache(10, 1000, 8 * MIB, 1);
	unsigned int left = 0;

	for (unsigned int round = 0; round < 5; round++)
		for (unsigned int i = 0; i < 300; i++)
			if (!has(c, i))
				test_put(c, i, MDX_FOREVER);
	for (unsigned int i = 10000; i < 20000; i++) {
		test_put(c, i, MDX_FOREVER);
		/* some use goes on */
		if (i % 10 == 0 && !has(c, i % 300))
			test_put(c, i % 300, MDX_FOREVER);
	}
	for (unsigned int i = 0; i < 300; i++)
		left += has(c, i);
	CU_ASSERT(left > 280);
	mdx_destroy(c);
}

static void test_new_limits(void)
{
	struct mdx *c = test_cache(100, 10000, 8 * MIB, 1);
	struct mdx_limits l;

	for (unsigned int i = 0; i < 10000; i++)
		test_put(c, i, MDX_FOREVER);
	CU_ASSERT_EQUAL(usage(c).stats, 10000);
	mdx_get_limits(c, &l);
	CU_ASSERT(l.max_files == 100 && l.max_stats == 10000 &&
		  l.max_bytes == 8 * MIB);
	l.max_stats = 100;
	CU_ASSERT_EQUAL(mdx_set_limits(c, &l), 0);
	while (!mdx_trim(c, 10))
		;
	CU_ASSERT_EQUAL(usage(c).stats, 100);
	l.max_stats = 5000;
	CU_ASSERT_EQUAL(mdx_set_limits(c, &l), 0);
	for (unsigned int i = 0; i < 10000; i++)
		test_put(c, i, MDX_FOREVER);
	CU_ASSERT_EQUAL(usage(c).stats, 5000);
	l.max_bytes = 1000;
	CU_ASSERT_EQUAL(mdx_set_limits(c, &l), -EINVAL);
	l.max_bytes = 8 * MIB;
	l.max_files = 0;
	CU_ASSERT_EQUAL(mdx_set_limits(c, &l), -EINVAL);
	mdx_destroy(c);
}

/* The tables of a large cache do not shrink. */
static void test_least_bytes(void)
{
	struct mdx *c = test_cache(10, 10, 64 * MIB, 1);
	struct mdx_limits l;

	mdx_get_limits(c, &l);
	l.max_bytes = MIB;
	CU_ASSERT_EQUAL(mdx_set_limits(c, &l), -EINVAL);
	mdx_get_limits(c, &l);
	CU_ASSERT_EQUAL(l.max_bytes, 64 * MIB);
	l.max_bytes = 3 * MIB;
	CU_ASSERT(mdx_set_limits(c, &l) != -EINVAL);
	while (!mdx_trim(c, 10))
		;
	CU_ASSERT(usage(c).bytes <= 3 * MIB);
	mdx_destroy(c);
}

static void test_params(void)
{
	struct mdx_params p;
	struct mdx *c;

	mdx_params_init(&p);
	p.shards = 3;
	CU_ASSERT_EQUAL(mdx_create(&p, &c), -EINVAL);
	p.shards = 512;
	CU_ASSERT_EQUAL(mdx_create(&p, &c), -EINVAL);
	p.shards = 256;
	CU_ASSERT_EQUAL(mdx_create(&p, &c), 0);
	mdx_destroy(c);
	mdx_params_init(&p);
	p.limits.max_bytes = MIB - 1;
	CU_ASSERT_EQUAL(mdx_create(&p, &c), -EINVAL);
	p.limits.max_bytes = MIB;
	CU_ASSERT_EQUAL(mdx_create(&p, &c), 0);
	mdx_destroy(c);
	p.limits.max_files = 0;
	CU_ASSERT_EQUAL(mdx_create(&p, &c), -EINVAL);
	mdx_destroy(NULL);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "counts stay within limits", test_limits },
		{ "no stat tier", test_no_stat_tier },
		{ "demotion", test_demotion },
		{ "pins", test_pins },
		{ "pins, no stat tier", test_pins_without_stat_tier },
		{ "a walk does not wipe out what is in use", test_scan },
		{ "limits change", test_new_limits },
		{ "limits that cannot be reached", test_least_bytes },
		{ "parameters", test_params },
		CU_TEST_INFO_NULL
	};

	return cunit_main("tier", NULL, tests);
}
