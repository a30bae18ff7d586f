// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Counters: sums over CPUs and exports, latencies read from the histogram, and
 * counting while others count and read.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "cunit_main.h"
#include "stats.h"

/* Too large for the stack of a thread. */
static struct scale_stats_values before;
static struct scale_stats_values values;

static uint64_t since(enum scale_op op, enum scale_outcome outcome)
{
	return values.requests[op][outcome] - before.requests[op][outcome];
}

static void test_sums(void)
{
	struct scale_stats *one = scale_stats_new(1, "/one", "VFS");
	struct scale_stats *two = scale_stats_new(2, "/two", "MEM");

	scale_stats_total(&before);
	scale_stats_request(one, SCALE_OP_GETATTRS, SCALE_OUTCOME_HIT);
	scale_stats_request(one, SCALE_OP_GETATTRS, SCALE_OUTCOME_HIT);
	scale_stats_request(one, SCALE_OP_OTHER, SCALE_OUTCOME_SHARED);
	scale_stats_request(two, SCALE_OP_GETATTRS, SCALE_OUTCOME_HIT);
	scale_stats_invalidation(two, SCALE_SOURCE_FOREIGN_SEEN);

	scale_stats_read(one, &values);
	CU_ASSERT_EQUAL(values.requests[SCALE_OP_GETATTRS][SCALE_OUTCOME_HIT],
			2);
	CU_ASSERT_EQUAL(values.requests[SCALE_OP_GETATTRS][SCALE_OUTCOME_MISS],
			0);
	CU_ASSERT_EQUAL(values.requests[SCALE_OP_OTHER][SCALE_OUTCOME_SHARED],
			1);
	CU_ASSERT_EQUAL(values.invalidations[SCALE_SOURCE_FOREIGN_SEEN], 0);
	scale_stats_read(two, &values);
	CU_ASSERT_EQUAL(values.requests[SCALE_OP_GETATTRS][SCALE_OUTCOME_HIT],
			1);
	CU_ASSERT_EQUAL(values.invalidations[SCALE_SOURCE_FOREIGN_SEEN], 1);

	/* The total does not lose what an export has counted, or will. */
	scale_stats_retire(one);
	scale_stats_retire(one);
	scale_stats_request(one, SCALE_OP_GETATTRS, SCALE_OUTCOME_HIT);
	scale_stats_total(&values);
	CU_ASSERT_EQUAL(since(SCALE_OP_GETATTRS, SCALE_OUTCOME_HIT), 4);
	CU_ASSERT_EQUAL(since(SCALE_OP_OTHER, SCALE_OUTCOME_SHARED), 1);
	scale_stats_retire(two);
}

static void test_no_export(void)
{
	scale_stats_total(&before);
	scale_stats_request(NULL, SCALE_OP_LOOKUP, SCALE_OUTCOME_HIT);
	scale_stats_backend(NULL, SCALE_OP_LOOKUP, scale_stats_begin(), true);
	scale_stats_invalidation(NULL, SCALE_SOURCE_UPCALL);
	scale_stats_retire(NULL);
	scale_stats_total(&values);
	CU_ASSERT_EQUAL(memcmp(&before, &values, sizeof(values)), 0);
}

static void test_list(void)
{
	char path[] = "/first";
	struct scale_stats *first = scale_stats_new(7, path, "VFS");
	struct scale_stats *gone = scale_stats_new(8, "/gone", "VFS");
	struct scale_stats *last = scale_stats_new(7, "/last", "CEPH");
	struct scale_stats_export about;

	memset(path, 'x', sizeof(path) - 1);
	about = scale_stats_about(first);
	CU_ASSERT_EQUAL(about.id, 7);
	CU_ASSERT_STRING_EQUAL(about.path, "/first");
	CU_ASSERT_STRING_EQUAL(about.backend, "VFS");

	scale_stats_retire(gone);
	CU_ASSERT_PTR_EQUAL(scale_stats_next(NULL), first);
	CU_ASSERT_PTR_EQUAL(scale_stats_next(first), last);
	CU_ASSERT_PTR_NULL(scale_stats_next(last));
	/* One that is retired while somebody looks at it. */
	scale_stats_retire(first);
	CU_ASSERT_PTR_EQUAL(scale_stats_next(first), last);
	scale_stats_retire(last);
	CU_ASSERT_PTR_NULL(scale_stats_next(NULL));
}

#define SEC UINT64_C(1000000000)

/* A call that took at least this long: the most that it may have taken. */
static uint64_t call(struct scale_stats *stats, enum scale_op op, uint64_t ns)
{
	uint64_t began = scale_stats_begin();

	scale_stats_backend(stats, op, began - ns, false);
	return ns + scale_stats_begin() - began;
}

static void test_buckets(void)
{
	struct scale_stats *stats = scale_stats_new(1, "/", "VFS");

	/* Every power of two, a little less, and three quarters of it. */
	for (unsigned int power = 0; power < 36; power++) {
		for (unsigned int part = 0; part < 3; part++) {
			struct scale_latency *got =
				&values.backend[SCALE_OP_READ];
			uint64_t ns = UINT64_C(1) << power;
			uint64_t most;
			uint64_t half;

			if (part == 1)
				ns -= 1;
			else if (part == 2)
				ns -= ns / 4;
			scale_stats_read(stats, &before);
			most = call(stats, SCALE_OP_READ, ns);
			/* So that the longest does not cut it off. */
			call(stats, SCALE_OP_READ, 200 * SEC);
			scale_stats_read(stats, &values);
			for (unsigned int i = 0; i < SCALE_LATENCY_BUCKETS; i++)
				got->buckets[i] -=
					before.backend[SCALE_OP_READ].buckets[i];
			CU_ASSERT_EQUAL(scale_latency_count(got), 2);
			half = scale_latency_percentile(got, 0.5);
			CU_ASSERT(half > ns);
			CU_ASSERT(half <= most + most / 4 + 256);
			CU_ASSERT(scale_latency_percentile(got, 1) >=
				  200 * SEC);
		}
	}
	scale_stats_retire(stats);
}

static void test_percentiles(void)
{
	struct scale_latency *got = &values.backend[SCALE_OP_LOOKUP];
	struct scale_stats *stats = scale_stats_new(1, "/", "VFS");
	uint64_t sum = 0;
	uint64_t most = 0;

	scale_stats_read(stats, &values);
	CU_ASSERT_EQUAL(scale_latency_count(got), 0);
	CU_ASSERT_EQUAL(scale_latency_percentile(got, 0.5), 0);
	CU_ASSERT_EQUAL(scale_latency_percentile(got, 1), 0);

	for (unsigned int i = 0; i < 99; i++) {
		uint64_t took = call(stats, SCALE_OP_LOOKUP, 1000000);

		most = took > most ? took : most;
		sum += took;
	}
	sum += call(stats, SCALE_OP_LOOKUP, 5 * SEC);
	scale_stats_read(stats, &values);
	CU_ASSERT_EQUAL(scale_latency_count(got), 100);
	CU_ASSERT(scale_latency_percentile(got, 0) > 1000000);
	CU_ASSERT(scale_latency_percentile(got, 0.5) <= most + most / 4);
	/* 99 of 100 were quick, the hundredth was not. */
	CU_ASSERT(scale_latency_percentile(got, 0.99) <= most + most / 4);
	CU_ASSERT(scale_latency_percentile(got, 0.991) >= 5 * SEC);
	CU_ASSERT_EQUAL(scale_latency_percentile(got, 1), got->max_ns);
	CU_ASSERT(got->max_ns >= 5 * SEC);
	CU_ASSERT(got->sum_ns >= UINT64_C(99000000) + 5 * SEC &&
		  got->sum_ns <= sum);
	CU_ASSERT_EQUAL(got->errors, 0);
	scale_stats_retire(stats);
}

static void test_errors(void)
{
	struct scale_latency *got = &values.backend[SCALE_OP_RENAME];
	struct scale_stats *stats = scale_stats_new(1, "/", "VFS");

	scale_stats_backend(stats, SCALE_OP_RENAME, scale_stats_begin(), true);
	scale_stats_backend(stats, SCALE_OP_RENAME, scale_stats_begin(), false);
	scale_stats_read(stats, &values);
	CU_ASSERT_EQUAL(got->errors, 1);
	CU_ASSERT_EQUAL(scale_latency_count(got), 2);
	CU_ASSERT_EQUAL(scale_latency_count(&values.backend[SCALE_OP_UNLINK]),
			0);
	scale_stats_retire(stats);
}

enum {
	THREADS = 8,
	ROUNDS = 50000
};

static struct scale_stats *busy;
static atomic_bool done;

static void *count(void *arg)
{
	(void)arg;
	for (unsigned int i = 0; i < ROUNDS; i++) {
		enum scale_op op = i % SCALE_OP_COUNT;

		scale_stats_request(busy, op, i % SCALE_OUTCOME_COUNT);
		scale_stats_invalidation(busy, i % SCALE_SOURCE_COUNT);
		scale_stats_backend(busy, op, scale_stats_begin() - 1000,
				    i % 2 == 0);
	}
	return NULL;
}

static uint64_t all_requests(const struct scale_stats_values *of)
{
	uint64_t sum = 0;

	for (unsigned int op = 0; op < SCALE_OP_COUNT; op++) {
		for (unsigned int i = 0; i < SCALE_OUTCOME_COUNT; i++)
			sum += of->requests[op][i];
	}
	return sum;
}

/* What is read never goes back, and a call is never seen without its time. */
static void *watch(void *arg)
{
	uint64_t last = 0;

	(void)arg;
	while (!atomic_load(&done)) {
		uint64_t sum;

		scale_stats_read(busy, &values);
		sum = all_requests(&values);
		CU_ASSERT(sum >= last);
		last = sum;
		for (unsigned int op = 0; op < SCALE_OP_COUNT; op++) {
			const struct scale_latency *got = &values.backend[op];

			if (scale_latency_count(got) != 0)
				CU_ASSERT(scale_latency_percentile(got, 1) > 0);
		}
	}
	return NULL;
}

static void test_threads(void)
{
	pthread_t threads[THREADS];
	pthread_t watcher;
	uint64_t invalidations = 0;
	uint64_t errors = 0;
	uint64_t calls = 0;

	busy = scale_stats_new(1, "/", "VFS");
	pthread_create(&watcher, NULL, watch, NULL);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, count, NULL);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&done, true);
	pthread_join(watcher, NULL);

	scale_stats_read(busy, &values);
	for (unsigned int op = 0; op < SCALE_OP_COUNT; op++) {
		calls += scale_latency_count(&values.backend[op]);
		errors += values.backend[op].errors;
	}
	for (unsigned int i = 0; i < SCALE_SOURCE_COUNT; i++)
		invalidations += values.invalidations[i];
	CU_ASSERT_EQUAL(all_requests(&values), (uint64_t)THREADS * ROUNDS);
	CU_ASSERT_EQUAL(calls, (uint64_t)THREADS * ROUNDS);
	CU_ASSERT_EQUAL(errors, (uint64_t)THREADS * ROUNDS / 2);
	CU_ASSERT_EQUAL(invalidations, (uint64_t)THREADS * ROUNDS);
	scale_stats_retire(busy);
}

static void test_names(void)
{
	CU_ASSERT_STRING_EQUAL(scale_op_name(SCALE_OP_GETATTRS), "getattrs");
	CU_ASSERT_STRING_EQUAL(scale_op_name(SCALE_OP_OTHER), "other");
	CU_ASSERT_STRING_EQUAL(scale_outcome_name(SCALE_OUTCOME_HIT), "hit");
	CU_ASSERT_STRING_EQUAL(scale_outcome_name(SCALE_OUTCOME_SHARED),
			       "shared");
	CU_ASSERT_STRING_EQUAL(scale_source_name(SCALE_SOURCE_UNEXPORT),
			       "unexport");
	for (unsigned int op = 0; op < SCALE_OP_COUNT; op++) {
		for (unsigned int other = 0; other < op; other++)
			CU_ASSERT_STRING_NOT_EQUAL(scale_op_name(op),
						   scale_op_name(other));
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "the list of exports", test_list },
		{ "sums", test_sums },
		{ "calls without an export", test_no_export },
		{ "buckets", test_buckets },
		{ "percentiles", test_percentiles },
		{ "errors", test_errors },
		{ "threads", test_threads },
		{ "names", test_names },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("stats", NULL, tests);
}
