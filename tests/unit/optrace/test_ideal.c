// SPDX-License-Identifier: LGPL-3.0-or-later
#include "cunit_main.h"
#include "written.h"

static void check(const char *text, size_t lookups, size_t positive,
		  size_t missing, size_t changes)
{
	struct optrace_ideal ideal;
	struct optrace t;

	CU_ASSERT_EQUAL_FATAL(read_written(&t, text), 0);
	CU_ASSERT_EQUAL_FATAL(optrace_ideal(&t, &ideal), 0);
	CU_ASSERT_EQUAL(ideal.lookups, lookups);
	CU_ASSERT_EQUAL(ideal.positive, positive);
	CU_ASSERT_EQUAL(ideal.missing, missing);
	CU_ASSERT_EQUAL(ideal.changes, changes);
	CU_ASSERT_EQUAL(ideal.floor, positive + missing + changes);
	optrace_free(&t);
}

/* Each existing path once, however it is asked for. */
static void existing(void)
{
	check("S\ta\t+\nS\t=0\t+\nO\t=0\t+\t5\nF\t=0\t+\nL\t=0\tn\n"
	      "M\tb\tx\nA\tc\t!\nW\td\tr\n",
	      7, 4, 0, 0);
}

/* What is behind a missing component is no question of its own. */
static void missing(void)
{
	check("S\td/a\t+\n"
	      "O\td/none\t-\n"	   /* missing in a directory that is there */
	      "O\tno/x/y\t-\n"	   /* no */
	      "O\tno/x/z\t-\n"	   /* no, again */
	      "O\td/none/x\t-\n"   /* d/none, again */
	      "O\td/a/below\td\n"  /* a file is no directory */
	      "O\tmade/later\t-\n" /* itself: its directory was made later */
	      "M\tmade\t+\n"
	      "C\tmade/later\t+\t1\n",
	      9, 3, 4, 2);
}

static void changes(void)
{
	check("C\ta\t+\t1\nW\ta\t+\t1\nT\ta\t+\nM\tm\t+\nK\ta\t+\t\t\tk\n"
	      "R\ta\t+\t\t\tb\nU\tb\t+\nV\tm\t+\nU\tb\t-\nT\tb\t-\n",
	      10, 3, 1, 8);
}

static void made(void)
{
	struct optrace t;

	CU_ASSERT_EQUAL_FATAL(read_written(&t, "C\ta\t+\nK\tb\t+\n"
					       "K\ta\t+\t\t\tc\n"
					       "R\tb\t+\t\t\td\n"
					       "M\te\tx\nS\ta\t+\n"),
			      0);
	CU_ASSERT_EQUAL(optrace_made(&t.ops[0]), t.ops[0].path);
	CU_ASSERT_EQUAL(optrace_made(&t.ops[1]), t.ops[1].path);
	CU_ASSERT_EQUAL(optrace_made(&t.ops[2]), t.ops[2].path2);
	CU_ASSERT_EQUAL(optrace_made(&t.ops[3]), t.ops[3].path2);
	CU_ASSERT_EQUAL(optrace_made(&t.ops[4]), OPTRACE_NONE);
	CU_ASSERT_EQUAL(optrace_made(&t.ops[5]), OPTRACE_NONE);
	optrace_free(&t);
}

static void nothing(void)
{
	check("", 0, 0, 0, 0);
	check("F\ta\t+\nY\ta\t+\n", 0, 0, 0, 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "paths that exist", existing },
		{ "paths that do not", missing },
		{ "changes", changes },
		{ "what an operation made", made },
		{ "a trace without lookups", nothing },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("ideal of a trace", NULL, tests);
}
