/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The packed form of names. */
#include "engine_test.h"
#include "leaf.h"

static struct record named(const char *name, uint8_t flags)
{
	size_t len = strlen(name);
	struct record r = { .name = name,
			    .len = (uint8_t)len,
			    .flags = flags,
			    .cookie = cookie_of(name, len),
			    .child = 17,
			    .child_gen = 4711,
			    .until = UINT32_MAX };

	return r;
}

static void test_order(void)
{
	struct leaf l = { 0 };
	struct record r;
	uint64_t last = 0;
	unsigned int n = 0;

	for (unsigned int i = 0; i < 15; i++) {
		char name[16];

		sprintf(name, "file%u", i);
		r = named(name, i % 2 ? RECORD_CHILD : RECORD_NEGATIVE);
		leaf_insert(&l, &r, 1);
	}
	for (unsigned int at = 0; leaf_next(&l, &at, &r); n++) {
		CU_ASSERT(r.cookie > last);
		CU_ASSERT(r.cookie >= MDX_COOKIE_FIRST);
		CU_ASSERT(r.cookie <= MDX_COOKIE_LAST);
		CU_ASSERT(!(r.flags & RECORD_CHILD) || r.child_gen == 4711);
		last = r.cookie;
	}
	CU_ASSERT_EQUAL(n, 15);
	CU_ASSERT_EQUAL(l.count, 15);
	for (unsigned int i = 0; i < 15; i++) {
		char name[16];

		sprintf(name, "file%u", i);
		CU_ASSERT(leaf_find(&l, cookie_of(name, strlen(name)), name,
				    strlen(name), &r));
		CU_ASSERT(!leaf_find(&l, cookie_of(name, strlen(name)) + 1,
				     name, strlen(name), &r));
		leaf_find(&l, cookie_of(name, strlen(name)), NULL, 0, &r);
		leaf_remove(&l, &r);
		CU_ASSERT(!leaf_find(&l, cookie_of(name, strlen(name)), name,
				     strlen(name), &r));
	}
	CU_ASSERT_EQUAL(l.used, 0);
}

static void test_split(void)
{
	struct leaf l = { 0 }, low, high;
	struct record r;

	for (unsigned int i = 0; i < 20; i++) {
		char name[16];

		sprintf(name, "n%u", i);
		r = named(name, RECORD_CHILD);
		leaf_insert(&l, &r, 1);
	}
	leaf_split(&l, &low, &high, 1);
	CU_ASSERT_EQUAL(low.count + high.count, 20);
	CU_ASSERT_EQUAL(low.used + high.used, l.used);
	CU_ASSERT_EQUAL(leaf_last(&low) + 1, high.low);
	CU_ASSERT_EQUAL(leaf_last(&high), MDX_COOKIE_LAST);
	for (unsigned int at = 0; leaf_next(&low, &at, &r);)
		CU_ASSERT(leaf_covers(&low, r.cookie) &&
			  !leaf_covers(&high, r.cookie));
	for (unsigned int at = 0; leaf_next(&high, &at, &r);)
		CU_ASSERT(leaf_covers(&high, r.cookie) &&
			  !leaf_covers(&low, r.cookie));
}

static uint32_t until_of(const struct leaf *l, const char *name)
{
	struct record r = { 0 };

	leaf_find(l, cookie_of(name, strlen(name)), name, strlen(name), &r);
	return r.until;
}

static void test_lives(void)
{
	struct leaf l = { 0 };
	struct record r = named("a", 0);

	r.until = 1000;
	leaf_insert(&l, &r, 900);
	CU_ASSERT_EQUAL(until_of(&l, "a"), 1000);
	r = named("b", 0);
	r.until = 100; /* over already */
	leaf_insert(&l, &r, 950);
	CU_ASSERT(until_of(&l, "b") <= 950);
	r = named("c", 0);
	leaf_insert(&l, &r, 950);
	CU_ASSERT_EQUAL(until_of(&l, "c"), UINT32_MAX);
	/* A life that does not fit moves the base; no life gets longer. */
	r = named("d", 0);
	r.until = 900 + 70000;
	leaf_insert(&l, &r, 10000);
	CU_ASSERT_EQUAL(until_of(&l, "d"), 900 + 70000);
	CU_ASSERT(until_of(&l, "a") <= 10000);
	r = named("e", 0);
	r.until = 10000 + 100000;
	leaf_insert(&l, &r, 10000);
	CU_ASSERT_EQUAL(until_of(&l, "e"), 10000 + EXPIRY_LONGEST);
}

static void test_nonsense(void)
{
	uint64_t x = 1234567;
	unsigned int records = 0;

	for (unsigned int i = 0; i < 20000; i++) {
		struct leaf l;
		struct record r;
		unsigned int n = 0;

		for (size_t j = 0; j < sizeof(l); j++) {
			x = x * 6364136223846793005u + 1442695040888963407u;
			((uint8_t *)&l)[j] = (uint8_t)(x >> 56);
		}
		l.depth %= COOKIE_BITS + 1;
		for (unsigned int at = 0; leaf_next(&l, &at, &r); n++)
			CU_ASSERT_FATAL((const uint8_t *)r.name + r.len <=
					l.bytes + LEAF_BYTES_MAX);
		leaf_find(&l, x & MDX_COOKIE_LAST, "x", 1, &r);
		records += n;
		CU_ASSERT_FATAL(n <= LEAF_BYTES_MAX / (RECORD_FIXED + 1));
	}
	CU_ASSERT(records > 1000); /* there was something to decode */
}

int main(void)
{
	CU_TestInfo tests[] = { { "order, search, removal", test_order },
				{ "split", test_split },
				{ "lives", test_lives },
				{ "nonsense is read safely", test_nonsense },
				CU_TEST_INFO_NULL };

	return cunit_main("leaf", NULL, tests);
}
