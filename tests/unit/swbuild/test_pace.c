// SPDX-License-Identifier: LGPL-3.0-or-later
/* Pacing by a clock that the test moves. */
#include "cunit_main.h"

#include <stdint.h>

#include "pace.h"

#define MS    UINT64_C(1000000)
#define START (UINT64_C(5000) * MS)

/*
 * A process that does one operation at a time, each taking `service`; the
 * response time of operation number `count` - 1.
 */
static uint64_t response_of_last(double rate, uint64_t service, int count)
{
	struct pace pace;
	uint64_t clock = START, response = 0;

	pace_init(&pace, START, rate, 0);
	for (int i = 0; i < count; i++) {
		uint64_t due = pace_take(&pace);

		if (clock < due)
			clock = due;
		clock += service;
		response = clock - due;
	}
	return response;
}

static void even_distances(void)
{
	struct pace pace;

	pace_init(&pace, START, 100, 0.25);
	for (uint64_t i = 0; i < 1000; i++) {
		CU_ASSERT_EQUAL(pace_due(&pace),
				START + 10 * MS * i + 10 * MS / 4);
		CU_ASSERT_EQUAL(pace_take(&pace),
				START + 10 * MS * i + 10 * MS / 4);
	}
}

/* A distance that is no whole number of ns: the rate is right for hours. */
static void no_drift(void)
{
	struct pace pace;

	pace_init(&pace, START, 300, 0);
	for (int i = 0; i < 300 * 3600; i++)
		pace_take(&pace);
	CU_ASSERT_EQUAL(pace_due(&pace), START + 3600 * (1000 * MS));
}

/* Who is fast enough counts the service alone. */
static void in_time(void)
{
	CU_ASSERT_EQUAL(response_of_last(100, 3 * MS, 1), 3 * MS);
	CU_ASSERT_EQUAL(response_of_last(100, 3 * MS, 500), 3 * MS);
	CU_ASSERT_EQUAL(response_of_last(100, 10 * MS, 500), 10 * MS);
}

/* Who is not falls behind, and the waiting counts: 5 ms more each time. */
static void too_late(void)
{
	CU_ASSERT_EQUAL(response_of_last(100, 15 * MS, 1), 15 * MS);
	CU_ASSERT_EQUAL(response_of_last(100, 15 * MS, 2), 20 * MS);
	CU_ASSERT_EQUAL(response_of_last(100, 15 * MS, 101), 515 * MS);
}

/* After a stall what was due meanwhile comes at once, and late. */
static void a_stall(void)
{
	struct pace pace;
	uint64_t clock = START + 95 * MS;

	pace_init(&pace, START, 100, 0);
	for (uint64_t i = 0; i < 10; i++)
		CU_ASSERT_EQUAL(clock - pace_take(&pace), (95 - 10 * i) * MS);
	CU_ASSERT(pace_due(&pace) > clock);
}

static void overdue(void)
{
	struct pace pace;

	pace_init(&pace, START, 100, 0.5);
	CU_ASSERT_EQUAL(pace_overdue(&pace, START - MS), 0);
	CU_ASSERT_EQUAL(pace_overdue(&pace, START + 5 * MS), 0);
	CU_ASSERT_EQUAL(pace_overdue(&pace, START + 6 * MS), 1);
	CU_ASSERT_EQUAL(pace_overdue(&pace, START + 100 * MS), 10);
	for (int i = 0; i < 4; i++)
		pace_take(&pace);
	CU_ASSERT_EQUAL(pace_overdue(&pace, START + 100 * MS), 6);
	CU_ASSERT_EQUAL(pace_overdue(&pace, START + 45 * MS), 0);
	CU_ASSERT_EQUAL(pace_overdue(&pace, START + 10 * MS), 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "even distances", even_distances },
		{ "no drift", no_drift },
		{ "in time", in_time },
		{ "too late", too_late },
		{ "a stall", a_stall },
		{ "overdue", overdue },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("pace", NULL, tests);
}
