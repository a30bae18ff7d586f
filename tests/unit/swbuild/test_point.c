// SPDX-License-Identifier: LGPL-3.0-or-later
/* Whether a point is valid, and what is added up in it. */
#include "cunit_main.h"

#include <stdint.h>
#include <string.h>

#include "point.h"

#define MS UINT64_C(1000000)

static const struct limits limits = { .response_ms = 10, .rate_share = 0.95 };

/* A point of one second with `count` operations of `response` ns each. */
static struct point measured(double asked, int count, uint64_t response,
			     int errors)
{
	static struct tally tally;
	struct point point = { .asked_rate = asked, .seconds = 1 };

	tally_clear(&tally);
	for (int i = 0; i < count; i++)
		tally_add(&tally, OP_STAT, response, response / 2);
	for (int i = 0; i < errors; i++)
		tally_error(&tally, OP_ACCESS, 5);
	point_fill(&point, &tally);
	point_judge(&point, &limits);
	return point;
}

static void valid(void)
{
	struct point point = measured(1000, 1000, 2 * MS, 0);

	CU_ASSERT_EQUAL(point.invalid, 0);
	CU_ASSERT_EQUAL(point.achieved_rate, 1000);
	CU_ASSERT_DOUBLE_EQUAL(point.all.response.mean, 2, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(point.all.service.mean, 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(point.all.response.p99, 2, 1e-9);
}

/* The limits themselves are still valid. */
static void borders(void)
{
	CU_ASSERT_EQUAL(measured(1000, 1000, 10 * MS, 0).invalid, 0);
	CU_ASSERT_EQUAL(measured(1000, 1000, 10 * MS + 1000, 0).invalid,
			INVALID_RESPONSE);
	CU_ASSERT_EQUAL(measured(1000, 950, MS, 0).invalid, 0);
	CU_ASSERT_EQUAL(measured(1000, 949, MS, 0).invalid, INVALID_RATE);
	CU_ASSERT_EQUAL(measured(1000, 1000, MS, 1).invalid, INVALID_ERRORS);
	CU_ASSERT_EQUAL(measured(1000, 900, 11 * MS, 1).invalid,
			INVALID_RESPONSE | INVALID_RATE | INVALID_ERRORS);
}

/* A server that answers nothing is no fast one. */
static void nothing_done(void)
{
	struct point point = measured(500, 0, 0, 0);

	CU_ASSERT_EQUAL(point.invalid, INVALID_RATE);
	CU_ASSERT_EQUAL(point_cpu_us(&point, 1), 0);
}

static void cpu(void)
{
	struct point point = measured(1000, 1000, MS, 0);

	CU_ASSERT_DOUBLE_EQUAL(point_cpu_us(&point, 0.02), 20, 1e-9);
}

static void processes(void)
{
	CU_ASSERT_EQUAL(point_processes(1), 5);
	CU_ASSERT_EQUAL(point_processes(2.5), 13);
	CU_ASSERT_EQUAL(point_processes(0.2), 1);
	CU_ASSERT_EQUAL(point_processes(0.01), 1);
}

static void added_up(void)
{
	static struct tally parts[2], sum;
	struct point point = { .seconds = 2 };

	for (unsigned i = 0; i < 2; i++) {
		tally_add(&parts[i], OP_STAT, MS, MS);
		tally_add(&parts[i], OP_READ_FILE, 3 * MS, 2 * MS);
		tally_error(&parts[i], OP_STAT, 70);
		tally_error(&parts[i], OP_STAT, 5 + i);
		parts[i].requests = 10;
		parts[i].upkeep = 2;
		parts[i].waits = 3;
		parts[i].overdue = 1;
		tally_merge(&sum, &parts[i]);
	}
	point_fill(&point, &sum);
	CU_ASSERT_EQUAL(point.all.response.count, 4);
	CU_ASSERT_EQUAL(point.achieved_rate, 2);
	CU_ASSERT_DOUBLE_EQUAL(point.all.response.mean, 2, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(point.all.response.max, 3, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(point.ops[OP_READ_FILE].service.mean, 2, 1e-9);
	CU_ASSERT_EQUAL(point.ops[OP_STAT].errors, 4);
	CU_ASSERT_EQUAL(point.all.errors, 4);
	CU_ASSERT_EQUAL(point.requests, 20);
	CU_ASSERT_EQUAL(point.upkeep, 4);
	CU_ASSERT_EQUAL(point.waits, 6);
	CU_ASSERT_EQUAL(point.overdue, 2);
	CU_ASSERT_EQUAL(point.statuses[0].status, 70);
	CU_ASSERT_EQUAL(point.statuses[0].count, 2);
	CU_ASSERT_EQUAL(point.statuses[1].status, 5);
	CU_ASSERT_EQUAL(point.statuses[2].status, 6);
	CU_ASSERT_EQUAL(point.statuses[3].count, 0);
}

/* More kinds of errors than there is room for: the count stays right. */
static void many_statuses(void)
{
	static struct tally tally;
	uint64_t count = 0;

	for (uint32_t status = 1; status <= 100; status++)
		tally_error(&tally, OP_STAT, status);
	for (int i = 0; i < TALLY_STATUSES; i++)
		count += tally.statuses[i].count;
	CU_ASSERT_EQUAL(count, 100);
	CU_ASSERT_EQUAL(tally.statuses[TALLY_STATUSES - 1].status, TALLY_OTHER);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "valid", valid },
		{ "borders", borders },
		{ "nothing done", nothing_done },
		{ "cpu", cpu },
		{ "processes", processes },
		{ "added up", added_up },
		{ "many statuses", many_statuses },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("point", NULL, tests);
}
