// SPDX-License-Identifier: LGPL-3.0-or-later
/* Latencies against distributions whose figures are known. */
#include "cunit_main.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "latency.h"
#include "random.h"

#define MANY	  100000
#define TOO_HIGH  (1.0 + 1.0 / 128) /* of a percentile, at most */
#define ROUNDINGS 1e-9

/* A percentile may be too high by a bucket's width, never too low. */
static void check_percentile(const struct latency *l, double share,
			     uint64_t exact)
{
	uint64_t got = latency_percentile(l, share);

	CU_ASSERT(got >= exact);
	CU_ASSERT((double)got <= (double)exact * TOO_HIGH);
}

static void nothing(void)
{
	struct latency l = { 0 };

	CU_ASSERT_EQUAL(latency_percentile(&l, 0.99), 0);
	CU_ASSERT_EQUAL(latency_mean(&l), 0);
}

/* Each value alone comes back as it was, over the whole range. */
static void one_value(void)
{
	static struct latency l;

	for (uint64_t v = 0; v < UINT64_C(1) << 45; v = v * 9 / 8 + 1) {
		latency_clear(&l);
		latency_add(&l, v);
		CU_ASSERT_EQUAL(latency_percentile(&l, 0.5), v);
		CU_ASSERT_EQUAL(l.max, v);
		CU_ASSERT_EQUAL((uint64_t)latency_mean(&l), v);
	}
}

/* The buckets' borders: a second value must not hide the first. */
static void buckets_hold_their_values(void)
{
	static struct latency l;

	for (uint64_t v = 1; v < UINT64_C(1) << LATENCY_TOP;
	     v = v * 5 / 4 + 1) {
		latency_clear(&l);
		latency_add(&l, v);
		latency_add(&l, UINT64_C(1) << 50);
		check_percentile(&l, 0.5, v);
	}
}

static void uniform(void)
{
	static struct latency l;

	latency_clear(&l);
	for (uint64_t v = 1; v <= MANY; v++)
		latency_add(&l, v * 1000);
	CU_ASSERT_DOUBLE_EQUAL(latency_mean(&l), (MANY + 1) * 500.0, 1e-3);
	check_percentile(&l, 0.01, UINT64_C(1000) * MANY / 100);
	check_percentile(&l, 0.5, UINT64_C(1000) * MANY / 2);
	check_percentile(&l, 0.99, UINT64_C(1000) * MANY / 100 * 99);
	CU_ASSERT_EQUAL(latency_percentile(&l, 1), MANY * UINT64_C(1000));
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Exponential, as waiting times are; against the sorted values. */
static void exponential(void)
{
	static const double shares[] = { 0.1, 0.5, 0.9, 0.99, 0.999 };
	static struct latency l;
	uint64_t *values = malloc(MANY * sizeof(*values));
	uint64_t state = 1;
	double sum = 0;

	if (!values)
		abort();
	latency_clear(&l);
	for (int i = 0; i < MANY; i++) {
		values[i] = (uint64_t)(-1e6 * log(1 - random_unit(&state)));
		sum += (double)values[i];
		latency_add(&l, values[i]);
	}
	qsort(values, MANY, sizeof(*values), compare);
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		check_percentile(&l, shares[i],
				 values[(int)ceil(shares[i] * MANY) - 1]);
	CU_ASSERT_DOUBLE_EQUAL(latency_mean(&l), sum / MANY, ROUNDINGS * sum);
	/* The distribution itself: the mean is 1 ms, the median ln 2 of it. */
	CU_ASSERT_DOUBLE_EQUAL(latency_mean(&l), 1e6, 2e4);
	CU_ASSERT_DOUBLE_EQUAL((double)latency_percentile(&l, 0.5), 1e6 * M_LN2,
			       2e4);
	free(values);
}

static void merged(void)
{
	static struct latency parts[3], whole, sum;
	uint64_t state = 7;

	for (int i = 0; i < MANY; i++) {
		uint64_t v = random_next(&state) >> 30;

		latency_add(&whole, v);
		latency_add(&parts[i % 2], v);
	}
	for (int i = 0; i < 3; i++)
		latency_merge(&sum, &parts[i]);
	CU_ASSERT_EQUAL(memcmp(&sum, &whole, sizeof(sum)), 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "nothing", nothing },
		{ "one value", one_value },
		{ "buckets hold their values", buckets_hold_their_values },
		{ "uniform", uniform },
		{ "exponential", exponential },
		{ "merged", merged },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("latency", NULL, tests);
}
