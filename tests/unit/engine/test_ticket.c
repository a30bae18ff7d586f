/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* An old answer is never stored over a newer truth. */
#include "engine_test.h"

#define DIR test_key(1000)

static int put_name(struct mdx *c, uint64_t t, const char *name)
{
	struct mdx_key child = test_key(1);

	return mdx_name_put(c, t, DIR, name, strlen(name), &child, MDX_FOREVER);
}

static int look(struct mdx *c, const char *name)
{
	struct mdx_answer a;

	return mdx_lookup(c, DIR, name, strlen(name), &a);
}

static void test_void(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	struct mdx_attrs attrs = test_attrs(1);
	uint64_t t;

	t = mdx_ticket(c);
	CU_ASSERT_EQUAL(mdx_put(c, 0, test_key(1), &attrs, 9999), -ESTALE);
	mdx_invalidate(c, test_key(1), MDX_MTIME); /* though it is not there */
	CU_ASSERT_EQUAL(mdx_put(c, t, test_key(1), &attrs, 9999), -ESTALE);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), 0, NULL), -ENOENT);
	t = mdx_ticket(c);
	CU_ASSERT_EQUAL(mdx_put(c, t, test_key(1), &attrs, 9999), 0);
	CU_ASSERT_EQUAL(mdx_put(c, t, test_key(1), &attrs, 9999), 0);
	mdx_forget(c, test_key(1));
	CU_ASSERT_EQUAL(mdx_put(c, t, test_key(1), &attrs, 9999), -ESTALE);
	t = mdx_ticket(c);
	mdx_invalidate_backend(c, 1);
	CU_ASSERT_EQUAL(mdx_put(c, t, test_key(1), &attrs, 9999), 0);
	mdx_invalidate_backend(c, 0);
	CU_ASSERT_EQUAL(mdx_put(c, t, test_key(1), &attrs, 9999), -ESTALE);
	t = mdx_ticket(c);
	mdx_invalidate_all(c);
	CU_ASSERT_EQUAL(mdx_put(c, t, test_key(1), &attrs, 9999), -ESTALE);
	CU_ASSERT_EQUAL(mdx_blob_put(c, t, test_key(1), MDX_LINK, "x", 1),
			-ESTALE);
	CU_ASSERT_EQUAL(test_counter(c, MDX_C_PUT_VOID), 6);
	mdx_destroy(c);
}

static void test_names(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	uint64_t t;

	test_put(c, 1, MDX_FOREVER);
	t = mdx_ticket(c);
	mdx_invalidate_name(c, DIR, "a", 1);
	CU_ASSERT_EQUAL(put_name(c, t, "a"), -ESTALE);
	CU_ASSERT_EQUAL(put_name(c, t, "b"), 0);
	mdx_invalidate_names(c, DIR);
	CU_ASSERT_EQUAL(look(c, "b"), -ENODATA);
	CU_ASSERT_EQUAL(put_name(c, t, "b"), -ESTALE);
	t = mdx_ticket(c);
	mdx_forget(c, DIR);
	CU_ASSERT_EQUAL(put_name(c, t, "b"), -ESTALE);
	t = mdx_ticket(c);
	mdx_invalidate_backend(c, 0);
	CU_ASSERT_EQUAL(put_name(c, t, "b"), -ESTALE);
	mdx_destroy(c);
}

static void test_change_of_entry(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	struct mdx_attrs old = test_attrs(1), new = test_attrs(2);
	struct mdx_change ch, other;
	struct mdx_answer a;
	uint64_t before, during;

	test_put(c, 1, MDX_FOREVER);
	before = mdx_ticket(c);
	mdx_change_init(&ch);
	CU_ASSERT_EQUAL(mdx_change_entry(c, &ch, test_key(1)), 0);
	CU_ASSERT_EQUAL(mdx_put(c, before, test_key(1), &old, 9999), -ESTALE);
	/* A fetch in between may store, for the change replaces it. */
	during = mdx_ticket(c);
	CU_ASSERT_EQUAL(mdx_put(c, during, test_key(1), &old, 9999), 0);
	new.valid &= ~(uint32_t)MDX_ATIME;
	CU_ASSERT_EQUAL(mdx_changed_entry(c, &ch, test_key(1), &new, 9999, 0),
			0);
	CU_ASSERT_EQUAL(mdx_put(c, during, test_key(1), &old, 9999), -ESTALE);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, &a), 0);
	CU_ASSERT_EQUAL(a.attrs.size, 2);
	CU_ASSERT_EQUAL(a.attrs.valid, new.valid);

	/* Two that overlap: unknown, whichever is first. */
	mdx_change_init(&ch);
	mdx_change_init(&other);
	mdx_change_entry(c, &ch, test_key(1));
	mdx_change_entry(c, &other, test_key(1));
	CU_ASSERT_EQUAL(mdx_changed_entry(c, &ch, test_key(1), &new, 9999, 0),
			-ESTALE);
	CU_ASSERT_EQUAL(mdx_changed_entry(c, &other, test_key(1), &old, 9999,
					  0),
			-ESTALE);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, &a), -ESTALE);

	/* An invalidation in between. */
	mdx_change_init(&ch);
	mdx_change_entry(c, &ch, test_key(1));
	mdx_invalidate(c, test_key(1), MDX_ALL);
	CU_ASSERT_EQUAL(mdx_changed_entry(c, &ch, test_key(1), &new, 9999, 0),
			-ESTALE);
	mdx_change_init(&ch);
	mdx_change_entry(c, &ch, test_key(1));
	mdx_invalidate_all(c);
	CU_ASSERT_EQUAL(mdx_changed_entry(c, &ch, test_key(1), &new, 9999, 0),
			-ESTALE);

	/* It failed and did nothing; it failed and nobody knows. */
	test_put(c, 1, MDX_FOREVER);
	mdx_change_init(&ch);
	mdx_change_entry(c, &ch, test_key(1));
	during = mdx_ticket(c);
	CU_ASSERT_EQUAL(
		mdx_changed_entry(c, &ch, test_key(1), NULL, 0, MDX_KEEP), 0);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, &a), 0);
	CU_ASSERT_EQUAL(mdx_put(c, during, test_key(1), &old, 9999), -ESTALE);
	mdx_change_init(&ch);
	mdx_change_entry(c, &ch, test_key(1));
	CU_ASSERT_EQUAL(mdx_changed_entry(c, &ch, test_key(1), NULL, 0, 0), 0);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, &a), -ESTALE);
	mdx_destroy(c);
}

static void test_change_of_name(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	struct mdx_key child = test_key(1);
	struct mdx_change ch, other;
	uint64_t before, during;

	test_put(c, 1, MDX_FOREVER);
	before = mdx_ticket(c);
	mdx_change_init(&ch);
	mdx_change_name(c, &ch, DIR, "a", 1);
	CU_ASSERT_EQUAL(put_name(c, before, "a"), -ESTALE);
	during = mdx_ticket(c);
	CU_ASSERT_EQUAL(put_name(c, during, "a"), 0);
	CU_ASSERT_EQUAL(mdx_changed_name(c, &ch, DIR, "a", 1, MDX_NAME_ABSENT,
					 NULL, MDX_FOREVER),
			0);
	CU_ASSERT_EQUAL(look(c, "a"), -ENOENT);
	CU_ASSERT_EQUAL(put_name(c, during, "a"), -ESTALE);

	mdx_change_init(&ch);
	mdx_change_name(c, &ch, DIR, "a", 1);
	CU_ASSERT_EQUAL(mdx_changed_name(c, &ch, DIR, "a", 1, MDX_NAME_PRESENT,
					 &child, MDX_FOREVER),
			0);
	CU_ASSERT_EQUAL(look(c, "a"), 0);

	mdx_change_init(&ch);
	mdx_change_init(&other);
	mdx_change_name(c, &ch, DIR, "a", 1);
	mdx_change_name(c, &other, DIR, "a", 1);
	CU_ASSERT_EQUAL(mdx_changed_name(c, &other, DIR, "a", 1,
					 MDX_NAME_ABSENT, NULL, MDX_FOREVER),
			0); /* it began later, and met none since */
	CU_ASSERT_EQUAL(mdx_changed_name(c, &ch, DIR, "a", 1, MDX_NAME_PRESENT,
					 &child, MDX_FOREVER),
			-ESTALE);
	CU_ASSERT_EQUAL(look(c, "a"), -ENODATA);

	/* One that did nothing leaves what another one found out. */
	mdx_change_init(&ch);
	mdx_change_init(&other);
	mdx_change_name(c, &ch, DIR, "a", 1);
	mdx_change_name(c, &other, DIR, "a", 1);
	mdx_changed_name(c, &other, DIR, "a", 1, MDX_NAME_ABSENT, NULL,
			 MDX_FOREVER);
	CU_ASSERT_EQUAL(mdx_changed_name(c, &ch, DIR, "a", 1, MDX_NAME_KEEP,
					 NULL, 0),
			0);
	CU_ASSERT_EQUAL(look(c, "a"), -ENOENT);

	mdx_change_init(&ch);
	mdx_change_name(c, &ch, DIR, "a", 1);
	mdx_invalidate_names(c, DIR);
	CU_ASSERT_EQUAL(mdx_changed_name(c, &ch, DIR, "a", 1, MDX_NAME_ABSENT,
					 NULL, MDX_FOREVER),
			-ESTALE);
	mdx_destroy(c);
}

static void test_many_targets(void)
{
	struct mdx *c = test_cache(1000, 1000, 8 * MIB, 1);
	unsigned int lost = 0;

	/* Targets of one change do not disturb each other, even where they
	 * share a stamp: with so many changes, some do. */
	for (unsigned int i = 0; i < 2000; i++) {
		struct mdx_attrs attrs = test_attrs(i);
		struct mdx_change ch;

		mdx_change_init(&ch);
		for (unsigned int j = 0; j < MDX_CHANGE_MAX; j++)
			CU_ASSERT_EQUAL(mdx_change_entry(c, &ch,
							 test_key(8 * i + j)),
					0);
		CU_ASSERT_EQUAL(mdx_change_entry(c, &ch, test_key(0)), -E2BIG);
		for (unsigned int j = 0; j < MDX_CHANGE_MAX; j++)
			lost += mdx_changed_entry(c, &ch, test_key(8 * i + j),
						  &attrs, 1000, 0) != 0;
	}
	CU_ASSERT_EQUAL(lost, 0);
	mdx_destroy(c);
}

/* A key that shares its stamp with key 0: an event of the one voids tickets on
 * the other. */
static uint64_t sharer(struct mdx *c)
{
	struct mdx_attrs attrs = test_attrs(0);
	uint64_t ticket, n = 0;

	do {
		ticket = mdx_ticket(c);
		mdx_invalidate(c, test_key(++n), MDX_SIZE);
	} while (!mdx_put(c, ticket, test_key(0), &attrs, 1000));
	return n;
}

/* What one target of a change met is not hidden by another one. */
static void test_shared_stamp(void)
{
	struct mdx *c = test_cache(10, 10, 8 * MIB, 1);
	struct mdx_attrs attrs = test_attrs(0);
	uint64_t n = sharer(c);
	struct mdx_change ch;

	mdx_change_init(&ch);
	mdx_change_entry(c, &ch, test_key(0));
	mdx_invalidate(c, test_key(0), MDX_ALL);
	mdx_change_entry(c, &ch, test_key(n)); /* here by its begin */
	CU_ASSERT_EQUAL(mdx_changed_entry(c, &ch, test_key(0), &attrs, 1000, 0),
			-ESTALE);
	mdx_changed_entry(c, &ch, test_key(n), &attrs, 1000, 0);

	mdx_change_init(&ch);
	mdx_change_entry(c, &ch, test_key(0));
	mdx_change_entry(c, &ch, test_key(n));
	mdx_invalidate(c, test_key(0), MDX_ALL);
	/* here by its finish */
	mdx_changed_entry(c, &ch, test_key(n), &attrs, 1000, 0);
	CU_ASSERT_EQUAL(mdx_changed_entry(c, &ch, test_key(0), &attrs, 1000, 0),
			-ESTALE);

	mdx_change_init(&ch);
	mdx_change_entry(c, &ch, test_key(0));
	mdx_change_entry(c, &ch, test_key(n));
	CU_ASSERT_EQUAL(mdx_changed_entry(c, &ch, test_key(n), &attrs, 1000, 0),
			0);
	CU_ASSERT_EQUAL(mdx_changed_entry(c, &ch, test_key(0), &attrs, 1000, 0),
			0);
	mdx_destroy(c);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "void tickets on entries", test_void },
		{ "void tickets on names", test_names },
		{ "changes of an entry", test_change_of_entry },
		{ "changes of a name", test_change_of_name },
		{ "a change with many targets", test_many_targets },
		{ "targets that share a stamp", test_shared_stamp },
		CU_TEST_INFO_NULL
	};

	return cunit_main("ticket", NULL, tests);
}
