// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The computed tree's arithmetic: every number has one place and one name, and
 * every name leads back to its number.
 */
#include <stdio.h>
#include <string.h>

#include "changes.h"
#include "cunit_main.h"
#include "tree_number.h"

static const struct tree_shape shapes[] = {
	{ .directories = 3, .files = 5, .links = 2 },
	{ .directories = 1, .files = 0, .links = 4 },
	{ .directories = 7, .files = 12000, .links = 0 },
	{ .directories = 200, .files = 0, .links = 0 },
	{ .directories = 0, .files = 9, .links = 9 },
	{ .directories = 120000, .files = 1, .links = 0 },
};

#define NUM_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* Walks one directory; the numbers that are met follow each other. */
static void walk(const struct tree_shape *shape, uint64_t directory,
		 uint64_t *expected)
{
	uint64_t entries = tree_entries(shape, directory);
	char name[TREE_NAME_SIZE];
	bool right = true;

	for (uint64_t i = 0; i < entries; i++) {
		uint64_t number = tree_child(shape, directory, i);

		tree_name(shape, number, name);
		right = right && number == (*expected)++ &&
			tree_parent(shape, number) == directory &&
			tree_lookup(shape, directory, name) == number &&
			(tree_type(shape, number) == TREE_DIRECTORY) ==
				(directory == TREE_ROOT) &&
			(tree_type(shape, number) == TREE_LINK) ==
				(name[0] == 'l');
	}
	CU_ASSERT(right);
	CU_ASSERT_EQUAL(tree_lookup(shape, directory, ""), 0);
	CU_ASSERT_EQUAL(tree_lookup(shape, directory, "x0001"), 0);
	CU_ASSERT_EQUAL(tree_lookup(shape, directory, "f99999999999999"), 0);
	CU_ASSERT_EQUAL(tree_lookup(shape, directory, "f18446744073709551617"),
			0);
}

static void test_places(void)
{
	for (size_t s = 0; s < NUM_SHAPES; s++) {
		const struct tree_shape *shape = &shapes[s];
		uint64_t expected = TREE_ROOT + 1;

		walk(shape, TREE_ROOT, &expected);
		for (uint64_t d = 0; d < shape->directories; d++)
			walk(shape, tree_child(shape, TREE_ROOT, d), &expected);
		CU_ASSERT_EQUAL(expected, tree_last(shape) + 1);
		CU_ASSERT_EQUAL(tree_parent(shape, TREE_ROOT), TREE_ROOT);
	}
}

static void test_targets(void)
{
	const struct tree_shape *shape = &shapes[0];
	uint64_t dir = tree_child(shape, TREE_ROOT, 2);
	char target[TREE_NAME_SIZE];

	tree_target(shape, tree_child(shape, dir, 6), target);
	CU_ASSERT_STRING_EQUAL(target, "f0002");
}

static void test_handles(void)
{
	uint64_t tree = tree_id(&shapes[0], 1);
	struct tree_handle handle;
	uint64_t number;

	tree_make_handle(tree, 17, &handle);
	CU_ASSERT(tree_read_handle(&handle, sizeof(handle), tree, &number));
	CU_ASSERT_EQUAL(number, 17);
	CU_ASSERT_FALSE(
		tree_read_handle(&handle, sizeof(handle) - 1, tree, &number));
	CU_ASSERT_FALSE(tree_read_handle(&handle, sizeof(handle),
					 tree_id(&shapes[0], 2), &number));
	CU_ASSERT_FALSE(tree_read_handle(&handle, sizeof(handle),
					 tree_id(&shapes[1], 1), &number));
	for (size_t bit = 0; bit < sizeof(handle) * 8; bit++) {
		struct tree_handle forged = handle;

		((uint8_t *)&forged)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		CU_ASSERT_FALSE(tree_read_handle(&forged, sizeof(forged), tree,
						 &number));
	}
}

/* Read in any pieces, content is the same. */
static void test_content(void)
{
	char whole[1000];
	char pieces[sizeof(whole)];
	char other[sizeof(whole)];

	tree_content(17, 0, 3, whole, sizeof(whole));
	for (size_t step = 1; step < 20; step++) {
		for (size_t at = 0; at < sizeof(whole); at += step) {
			size_t left = sizeof(whole) - at;

			tree_content(17, 0, 3 + at, pieces + at,
				     left < step ? left : step);
		}
		CU_ASSERT_EQUAL(memcmp(whole, pieces, sizeof(whole)), 0);
	}
	tree_content(18, 0, 3, other, sizeof(other));
	CU_ASSERT_NOT_EQUAL(memcmp(whole, other, sizeof(whole)), 0);
	tree_content(17, 1, 3, other, sizeof(other));
	CU_ASSERT_NOT_EQUAL(memcmp(whole, other, sizeof(whole)), 0);
}

/* The table of changes is bounded, and refuses rather than grow. */
static void test_changes(void)
{
	struct changes changes;
	bool right = true;

	changes_init(&changes);
	CU_ASSERT_EQUAL(changes_get(&changes, 5).version, 0);
	for (uint64_t n = 1; n <= CHANGES_MAX; n++)
		right = right && changes_bump(&changes, n);
	CU_ASSERT(right);
	CU_ASSERT_FALSE(changes_bump(&changes, CHANGES_MAX + 1));
	CU_ASSERT_FALSE(changes_hide(&changes, CHANGES_MAX + 1, true));
	CU_ASSERT(changes_bump(&changes, 5));
	CU_ASSERT(changes_hide(&changes, 5, true));
	CU_ASSERT(changes_get(&changes, 5).hidden);
	CU_ASSERT_EQUAL(changes_get(&changes, 5).version, 2);
	CU_ASSERT_EQUAL(changes_get(&changes, CHANGES_MAX).version, 1);
	CU_ASSERT_EQUAL(changes_get(&changes, CHANGES_MAX + 1).version, 0);
	changes_fini(&changes);
}

int main(void)
{
	static CU_TestInfo tests[] = {
		{ "places", test_places },   { "targets", test_targets },
		{ "handles", test_handles }, { "content", test_content },
		{ "changes", test_changes }, CU_TEST_INFO_NULL
	};

	return cunit_main("the computed tree", NULL, tests);
}
