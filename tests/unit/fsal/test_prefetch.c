// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Reading a directory where its names are looked up one by one: where it was
 * measured to cost less, and only there.
 */
#include "cached.h"

#include "prefetch.h"

#define FILES 200

/** Of a call: so long that what a busy machine adds does not matter. */
#define CALL_NS UINT64_C(1000000000)

static struct fsal_obj_handle *dir;

/* Places of misses outlive exports: each test has a directory of its own. */
static void begin_files(void)
{
	static unsigned int times;
	struct tree_node *d;
	char file[16];

	tree.last_id += 1000 * ++times;
	d = tree_make(tree.root, "d", DIRECTORY);
	for (unsigned int i = 0; i < FILES; i++) {
		snprintf(file, sizeof(file), "f%u", i);
		tree_make(d, file, REGULAR_FILE);
	}
	begin("Attr_TTL = -1; Name_TTL = -1; Negative_TTL = -1;");
	dir = find(root, "d");
	CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
	scale_export(scale)->scan_ns = 0;
}

static void look_all(void)
{
	char file[16];

	for (unsigned int i = 0; i < FILES; i++) {
		snprintf(file, sizeof(file), "f%u", i);
		OK(look(dir, file));
	}
}

static void end_files(void)
{
	drop(dir);
	end();
}

static void test_cheap(void)
{
	begin_files();
	tree.delay_ns[TREE_LOOKUP] = CALL_NS;
	tree.calls[TREE_LOOKUP] = 0;
	look_all();
	CU_ASSERT_EQUAL(tree.calls[TREE_READDIR], 1);
	CU_ASSERT(tree.calls[TREE_LOOKUP] < 16);
	CU_ASSERT_EQUAL(look(dir, "none"), ERR_FSAL_NOENT);
	CU_ASSERT(tree.calls[TREE_LOOKUP] < 16);
	end_files();
}

/* Each name of a listing costs as much as looking it up: it is tried once, for
 * no longer than twice the time of the lookups so far, and not again.
 */
static void test_expensive(void)
{
	begin_files();
	tree.delay_ns[TREE_LOOKUP] = CALL_NS;
	tree.name_delay_ns = CALL_NS;
	tree.calls[TREE_LOOKUP] = 0;
	look_all();
	/* What was read until then is not lost. */
	CU_ASSERT(tree.calls[TREE_LOOKUP] <= FILES);
	CU_ASSERT(tree.calls[TREE_LOOKUP] >= FILES - 64);
	CU_ASSERT(tree.calls[TREE_READDIR] <= 1);
	end_files();
}

/* Where listings are known to cost too much, it is not tried. */
static void test_measured(void)
{
	begin_files();
	tree.delay_ns[TREE_LOOKUP] = CALL_NS / 10;
	scale_export(scale)->scan_ns = CALL_NS;
	look_all();
	CU_ASSERT_EQUAL(tree.calls[TREE_READDIR], 0);
	end_files();
}

/* A backend in memory answers before a try would pay. */
static void test_fast(void)
{
	begin_files();
	scale_export(scale)->lookup_ns = 1;
	for (unsigned int i = 0; i < 8; i++) {
		char file[16];

		snprintf(file, sizeof(file), "f%u", i);
		scale_export(scale)->lookup_ns = 1;
		OK(look(dir, file));
	}
	CU_ASSERT_EQUAL(tree.calls[TREE_READDIR], 0);
	end_files();
}

/* An error of a listing that nobody asked for is nobody's error. */
static void test_error(void)
{
	begin_files();
	tree.delay_ns[TREE_LOOKUP] = CALL_NS;
	tree_fail(TREE_READDIR, ERR_FSAL_ACCESS, false, 1000);
	look_all();
	CU_ASSERT(tree.calls[TREE_READDIR] >= 1);
	CU_ASSERT(tree.calls[TREE_READDIR] <= 4);
	end_files();
}

static void test_measure(void)
{
	_Atomic uint64_t average = 0;

	scale_prefetch_measure(&average, scale_stats_begin() - 8000000, 8);
	CU_ASSERT(average >= 1000000 && average < 20000000);
	average = 1000000;
	scale_prefetch_measure(&average, scale_stats_begin() - 9000000, 1);
	CU_ASSERT(average >= 2000000);
	average = 5;
	scale_prefetch_measure(&average, scale_stats_begin() - 1000, 0);
	CU_ASSERT_EQUAL(average, 5);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "cheap listings", test_cheap },
		{ "expensive listings", test_expensive },
		{ "measured before", test_measured },
		{ "a fast backend", test_fast },
		{ "errors", test_error },
		{ "measuring", test_measure },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("prefetch", cached_setup, tests);
}
