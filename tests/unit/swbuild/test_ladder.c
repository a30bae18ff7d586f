// SPDX-License-Identifier: LGPL-3.0-or-later
/* Which loads are measured when a server can do so much and no more. */
#include "cunit_main.h"

#include <math.h>

#include "ladder.h"

/* Climbs for a server that is valid up to `capacity` BUILDs. */
static void climb(struct ladder *ladder, double capacity)
{
	double builds;

	while (ladder_next(ladder, &builds))
		ladder_note(ladder, builds, builds <= capacity);
}

static struct ladder parsed(const char *text)
{
	struct ladder ladder = { .past = 2 };

	CU_ASSERT_PTR_NULL(ladder_parse(&ladder, text));
	return ladder;
}

static void check(const struct ladder *ladder, size_t count,
		  const double *builds)
{
	CU_ASSERT_EQUAL_FATAL(ladder->count, count);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_DOUBLE_EQUAL(ladder->builds[i], builds[i], 1e-9);
}

static double last_valid(const struct ladder *ladder)
{
	int last = ladder_last_valid(ladder);

	return last < 0 ? -1 : ladder->builds[last];
}

static void texts(void)
{
	struct ladder ladder = parsed("2-8:0.5");

	CU_ASSERT_EQUAL(ladder.from, 2);
	CU_ASSERT_EQUAL(ladder.to, 8);
	CU_ASSERT_EQUAL(ladder.step, 0.5);
	CU_ASSERT_FALSE(ladder.factor);
	CU_ASSERT(parsed("1-64:x2").factor);
	CU_ASSERT_EQUAL(parsed(".5").to, 0.5);
	CU_ASSERT(isinf(parsed("1-").to));
	CU_ASSERT_EQUAL(parsed("1-:4").step, 4);
}

static void bad_texts(void)
{
	static const char *const bad[] = { "",	  "x",	    "0",     "2-1",
					   "1:0", "1-4:x1", "1-4:x", "1-4:1z",
					   "-1",  "1--2",   "99999", "1-4:-1",
					   "nan", "inf",    "1-1e9" };
	struct ladder ladder = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CU_ASSERT_PTR_NOT_NULL(ladder_parse(&ladder, bad[i]));
}

static void one_point(void)
{
	struct ladder ladder = parsed("3");

	climb(&ladder, 10);
	check(&ladder, 1, (double[]){ 3 });
	CU_ASSERT_EQUAL(last_valid(&ladder), 3);
}

/* Two points past the last valid one show the bend. */
static void past_the_bend(void)
{
	struct ladder ladder = parsed("1-20");

	climb(&ladder, 3.5);
	check(&ladder, 5, (double[]){ 1, 2, 3, 4, 5 });
	CU_ASSERT_EQUAL(last_valid(&ladder), 3);
}

static void to_the_end(void)
{
	struct ladder ladder = parsed("1-2:0.25");

	climb(&ladder, 10);
	check(&ladder, 5, (double[]){ 1, 1.25, 1.5, 1.75, 2 });
	CU_ASSERT_EQUAL(last_valid(&ladder), 2);

	ladder = parsed("1-3:0.1");
	climb(&ladder, 10);
	CU_ASSERT_EQUAL(ladder.count, 21);
	CU_ASSERT_EQUAL(last_valid(&ladder), 3);
}

/* 0: the whole range is measured, valid or not. */
static void never_enough(void)
{
	struct ladder ladder = parsed("1-4");

	ladder.past = 0;
	climb(&ladder, 0);
	CU_ASSERT_EQUAL(ladder.count, 4);
	CU_ASSERT_EQUAL(ladder_last_valid(&ladder), -1);
}

static void factors(void)
{
	struct ladder ladder = parsed("1-:x2");

	ladder.past = 1;
	climb(&ladder, 10);
	check(&ladder, 5, (double[]){ 1, 2, 4, 8, 16 });
}

static void halving(void)
{
	struct ladder ladder = parsed("1-:x2");

	ladder.past = 2;
	ladder.bisect = 3;
	climb(&ladder, 10.5);
	check(&ladder, 9, (double[]){ 1, 2, 4, 8, 16, 32, 12, 10, 11 });
	CU_ASSERT_EQUAL(last_valid(&ladder), 10);
}

static void halving_without_a_bend(void)
{
	struct ladder ladder = parsed("1-3");

	ladder.bisect = 3;
	climb(&ladder, 10);
	check(&ladder, 3, (double[]){ 1, 2, 3 });
}

/* Nothing valid: halving goes down. */
static void halving_down(void)
{
	struct ladder ladder = parsed("4-8:2");

	ladder.bisect = 3;
	climb(&ladder, 1.2);
	check(&ladder, 5, (double[]){ 4, 6, 2, 1, 1.5 });
	CU_ASSERT_EQUAL(last_valid(&ladder), 1);
}

/* One bad point between good ones ends nothing. */
static void a_hiccup(void)
{
	struct ladder ladder = parsed("1-5");
	double builds;

	while (ladder_next(&ladder, &builds))
		ladder_note(&ladder, builds, builds != 3);
	CU_ASSERT_EQUAL(ladder.count, 5);
	CU_ASSERT_EQUAL(last_valid(&ladder), 5);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "texts", texts },
		{ "bad texts", bad_texts },
		{ "one point", one_point },
		{ "past the bend", past_the_bend },
		{ "to the end", to_the_end },
		{ "never enough", never_enough },
		{ "factors", factors },
		{ "halving", halving },
		{ "halving without a bend", halving_without_a_bend },
		{ "halving down", halving_down },
		{ "a hiccup", a_hiccup },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("ladder", NULL, tests);
}
