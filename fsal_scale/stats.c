// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Counters of requests, of calls to backends and of invalidations.
 *
 * Requests and invalidations are striped by CPU: counting touches a cache line
 * that other CPUs do not use, and a thread that migrates in between merely adds
 * atomically to the stripe of its old CPU. Calls to a backend are slow
 * themselves, so that each export has one set of counters for them.
 */
#include "stats.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CACHE_LINE 64

struct stripe {
	_Alignas(CACHE_LINE) _Atomic uint64_t
		requests[SCALE_OP_COUNT][SCALE_OUTCOME_COUNT];
	_Atomic uint64_t invalidations[SCALE_SOURCE_COUNT];
};

struct calls {
	_Atomic uint64_t errors;
	_Atomic uint64_t sum_ns;
	_Atomic uint64_t max_ns;
	_Atomic uint64_t buckets[SCALE_LATENCY_BUCKETS];
};

struct scale_stats {
	_Atomic(struct scale_stats *) next;
	atomic_bool retired;
	uint16_t id;
	unsigned int num_stripes;
	const char *path;
	const char *backend;
	_Alignas(CACHE_LINE) struct calls calls[SCALE_OP_COUNT];
	struct stripe stripes[]; /* then the two strings */
};

/* Never taken apart, so that readers need no lock. */
static _Atomic(struct scale_stats *) first;
static struct scale_stats *last;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;

struct scale_stats *scale_stats_new(uint16_t export_id, const char *path,
				    const char *backend)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	unsigned int num_stripes = cpus > 0 ? (unsigned int)cpus : 1;
	size_t size = sizeof(struct scale_stats) +
		      num_stripes * sizeof(struct stripe);
	size_t path_size = strlen(path) + 1;
	size_t backend_size = strlen(backend) + 1;
	struct scale_stats *stats;
	char *strings;

	/* Pages that are never counted in, of CPUs that serve nothing and of
	 * operations that do not occur, then take no memory.
	 */
	stats = mmap(NULL, size + path_size + backend_size,
		     PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		     0);
	if (stats == MAP_FAILED)
		return NULL;
	stats->id = export_id;
	stats->num_stripes = num_stripes;
	strings = (char *)stats + size;
	stats->path = memcpy(strings, path, path_size);
	stats->backend = memcpy(strings + path_size, backend, backend_size);

	pthread_mutex_lock(&list_lock);
	atomic_store_explicit(last != NULL ? &last->next : &first, stats,
			      memory_order_release);
	last = stats;
	pthread_mutex_unlock(&list_lock);
	return stats;
}

void scale_stats_retire(struct scale_stats *stats)
{
	if (stats != NULL)
		atomic_store(&stats->retired, true);
}

static inline void count(_Atomic uint64_t *counter, uint64_t more)
{
	atomic_fetch_add_explicit(counter, more, memory_order_relaxed);
}

static inline struct stripe *own_stripe(struct scale_stats *stats)
{
	/* CPUs may be numbered with gaps, or the number be unknown (-1). */
	return &stats->stripes[(unsigned int)sched_getcpu() %
			       stats->num_stripes];
}

void scale_stats_request(struct scale_stats *stats, enum scale_op op,
			 enum scale_outcome outcome)
{
	if (stats != NULL)
		count(&own_stripe(stats)->requests[op][outcome], 1);
}

void scale_stats_invalidation(struct scale_stats *stats,
			      enum scale_source source)
{
	if (stats != NULL)
		count(&own_stripe(stats)->invalidations[source], 1);
}

uint64_t scale_stats_begin(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) +
	       (uint64_t)ts.tv_nsec;
}

/* The bucket that has this time. */
static unsigned int bucket_of(uint64_t ns)
{
	unsigned int power;
	unsigned int bucket;

	if (ns < UINT64_C(1) << SCALE_LATENCY_LOW)
		return (unsigned int)(ns * SCALE_LATENCY_SUB >>
				      SCALE_LATENCY_LOW);
	power = 63U - (unsigned int)__builtin_clzll(ns);
	if (power >= SCALE_LATENCY_HIGH)
		return SCALE_LATENCY_BUCKETS - 1;
	bucket = (unsigned int)((ns - (UINT64_C(1) << power)) *
					SCALE_LATENCY_SUB >>
				power);
	return SCALE_LATENCY_SUB * (power - SCALE_LATENCY_LOW + 1) + bucket;
}

/* The first time that is too long for a bucket. */
static uint64_t bucket_end(unsigned int bucket)
{
	unsigned int row = bucket / SCALE_LATENCY_SUB;
	uint64_t base = UINT64_C(1) << SCALE_LATENCY_LOW;
	uint64_t part = bucket % SCALE_LATENCY_SUB + 1;

	if (row == 0)
		return base * part / SCALE_LATENCY_SUB;
	base <<= row - 1;
	return base + base * part / SCALE_LATENCY_SUB;
}

void scale_stats_backend(struct scale_stats *stats, enum scale_op op,
			 uint64_t began, bool failed)
{
	uint64_t ns = scale_stats_begin() - began;
	struct calls *calls;
	uint64_t max;

	if (stats == NULL)
		return;
	calls = &stats->calls[op];
	if (failed)
		count(&calls->errors, 1);
	count(&calls->sum_ns, ns);
	max = atomic_load_explicit(&calls->max_ns, memory_order_relaxed);
	while (ns > max && !atomic_compare_exchange_weak_explicit(
				   &calls->max_ns, &max, ns,
				   memory_order_relaxed, memory_order_relaxed))
		;
	/* Whoever sees the call also sees what it adds to the others. */
	atomic_fetch_add_explicit(&calls->buckets[bucket_of(ns)], 1,
				  memory_order_release);
}

static void add_calls(const struct calls *calls, struct scale_latency *latency)
{
	uint64_t max;

	for (unsigned int i = 0; i < SCALE_LATENCY_BUCKETS; i++)
		latency->buckets[i] += atomic_load_explicit(
			&calls->buckets[i], memory_order_acquire);
	latency->errors +=
		atomic_load_explicit(&calls->errors, memory_order_relaxed);
	latency->sum_ns +=
		atomic_load_explicit(&calls->sum_ns, memory_order_relaxed);
	max = atomic_load_explicit(&calls->max_ns, memory_order_relaxed);
	if (max > latency->max_ns)
		latency->max_ns = max;
}

static void add_stripe(const struct stripe *stripe,
		       struct scale_stats_values *values)
{
	for (unsigned int op = 0; op < SCALE_OP_COUNT; op++) {
		for (unsigned int i = 0; i < SCALE_OUTCOME_COUNT; i++)
			values->requests[op][i] += atomic_load_explicit(
				&stripe->requests[op][i], memory_order_relaxed);
	}
	for (unsigned int i = 0; i < SCALE_SOURCE_COUNT; i++)
		values->invalidations[i] += atomic_load_explicit(
			&stripe->invalidations[i], memory_order_relaxed);
}

static void add(const struct scale_stats *stats,
		struct scale_stats_values *values)
{
	for (unsigned int i = 0; i < stats->num_stripes; i++)
		add_stripe(&stats->stripes[i], values);
	for (unsigned int op = 0; op < SCALE_OP_COUNT; op++)
		add_calls(&stats->calls[op], &values->backend[op]);
}

void scale_stats_read(const struct scale_stats *stats,
		      struct scale_stats_values *values)
{
	memset(values, 0, sizeof(*values));
	add(stats, values);
}

static struct scale_stats *next_of(const struct scale_stats *stats)
{
	return atomic_load_explicit(stats != NULL ? &stats->next : &first,
				    memory_order_acquire);
}

void scale_stats_total(struct scale_stats_values *values)
{
	struct scale_stats *stats = NULL;

	memset(values, 0, sizeof(*values));
	while ((stats = next_of(stats)) != NULL)
		add(stats, values);
}

struct scale_stats *scale_stats_next(const struct scale_stats *previous)
{
	struct scale_stats *stats = next_of(previous);

	while (stats != NULL && atomic_load(&stats->retired))
		stats = next_of(stats);
	return stats;
}

struct scale_stats_export scale_stats_about(const struct scale_stats *stats)
{
	return (struct scale_stats_export){ .id = stats->id,
					    .path = stats->path,
					    .backend = stats->backend };
}

uint64_t scale_latency_count(const struct scale_latency *latency)
{
	uint64_t calls = 0;

	for (unsigned int i = 0; i < SCALE_LATENCY_BUCKETS; i++)
		calls += latency->buckets[i];
	return calls;
}

uint64_t scale_latency_percentile(const struct scale_latency *latency,
				  double share)
{
	double wanted = share * (double)scale_latency_count(latency);
	uint64_t calls = 0;
	unsigned int bucket;
	uint64_t end;

	/* The last bucket has no end but the longest time. */
	for (bucket = 0; bucket < SCALE_LATENCY_BUCKETS - 1; bucket++) {
		calls += latency->buckets[bucket];
		if (calls > 0 && (double)calls >= wanted)
			break;
	}
	if (bucket == SCALE_LATENCY_BUCKETS - 1)
		return latency->max_ns;
	end = bucket_end(bucket);
	return end < latency->max_ns ? end : latency->max_ns;
}

const char *scale_op_name(enum scale_op op)
{
	static const char *const names[] = {
#define OP_NAME(symbol, name) name,
		SCALE_OPS(OP_NAME)
#undef OP_NAME
	};

	return names[op];
}

const char *scale_outcome_name(enum scale_outcome outcome)
{
	static const char *const names[] = {
#define OUTCOME_NAME(symbol, name, meaning) name,
		SCALE_OUTCOMES(OUTCOME_NAME)
#undef OUTCOME_NAME
	};

	return names[outcome];
}

const char *scale_source_name(enum scale_source source)
{
	static const char *const names[] = {
#define SOURCE_NAME(symbol, name, meaning) name,
		SCALE_SOURCES(SOURCE_NAME)
#undef SOURCE_NAME
	};

	return names[source];
}
