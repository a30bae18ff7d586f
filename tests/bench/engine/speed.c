/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* How long hits take, and how they scale. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "bench.h"

#define PASSES_MAX 7
#define BATCH	   4096
#define ROOM	   ((uint64_t)16 << 30)

static int compare32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* What two readings of the clock with nothing in between say. */
static uint32_t timer_overhead(void)
{
	static uint32_t samples[10001];
	const size_t n = sizeof(samples) / sizeof(samples[0]);

	for (size_t i = 0; i < n; i++) {
		uint64_t t = now_ns();

		samples[i] = (uint32_t)(now_ns() - t);
	}
	qsort(samples, n, sizeof(samples[0]), compare32);
	return samples[n / 2];
}

/* Times single hits of random keys; the keys are made before. */
static void time_hits(struct mdx *c, uint64_t entries, uint32_t *samples,
		      size_t count, uint64_t *rng)
{
	static struct load_key keys[BATCH];
	struct mdx_answer answer;

	for (size_t done = 0; done < count;) {
		size_t n = count - done < BATCH ? count - done : BATCH;

		for (size_t i = 0; i < n; i++)
			load_key(load_random(rng) % entries, &keys[i]);
		for (size_t i = 0; i < n; i++) {
			uint64_t t = now_ns();
			int r = mdx_get(c, load_mdx_key(&keys[i]), MDX_NUMBERS,
					&answer);

			samples[done++] = (uint32_t)(now_ns() - t);
			if (r)
				die("a key that was put is not found: %s",
				    strerror(-r));
		}
	}
}

static const char *size_name(uint64_t n)
{
	static char text[24];

	if (n >= MILLION)
		snprintf(text, sizeof(text), "%lluM",
			 (unsigned long long)(n / MILLION));
	else
		snprintf(text, sizeof(text), "%lluk",
			 (unsigned long long)(n / 1000));
	return text;
}

void part_latency(const struct options *o, json_t *results)
{
	size_t count = o->quick ? 100000 : 1000000;
	size_t passes = o->quick ? 5 : PASSES_MAX;
	double p50[PASSES_MAX], p99[PASSES_MAX], timer[PASSES_MAX];
	uint32_t *samples = malloc(count * sizeof(*samples));
	uint64_t rng = 1;
	size_t middle, high;
	char name[80];
	struct result r = { .name = name, .unit = "ns", .better = LOWER };
	struct mdx *c;

	if (!samples)
		die("no memory");
	if (o->control && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		die("huge pages cannot be switched off");
	c = load_cache(1000, o->entries, ROOM);
	load_entries(c, 0, o->entries, false);
	time_hits(c, o->entries, samples, count, &rng); /* to warm up */
	for (size_t i = 0; i < passes; i++) {
		timer[i] = timer_overhead();
		time_hits(c, o->entries, samples, count, &rng);
		qsort(samples, count, sizeof(*samples), compare32);
		middle = count / 2;
		high = count / 100 * 99;
		p50[i] = samples[middle] - timer[i];
		p99[i] = samples[high] - timer[i];
	}
	r.control = o->control;
	r.has_target = o->entries >= MILLION;
	r.target = o->entries == MILLION ? 250 : 500;
	snprintf(name, sizeof(name), "%shit, p50, %s",
		 o->control ? "control: no huge pages: " : "",
		 size_name(o->entries));
	report(results, &r, p50, passes);
	r.has_target = false;
	if (!o->control) {
		snprintf(name, sizeof(name), "hit, p99, %s",
			 size_name(o->entries));
		report(results, &r, p99, passes);
		snprintf(name, sizeof(name), "the clock, subtracted");
		report(results, &r, timer, passes);
	}
	mdx_destroy(c);
	free(samples);
}

/* --- Threads ------------------------------------------------------------- */

struct worker {
	pthread_t thread;
	struct mdx *c;
	uint64_t entries;
	uint64_t seed;
	uint64_t hits;
	pthread_mutex_t *lock; /* of the control */
	atomic_bool *stop;
};

static void *hit(void *arg)
{
	struct worker *w = arg;
	uint64_t rng = w->seed, hits = 0;
	struct mdx_answer answer;
	struct load_key key;

	while (!atomic_load_explicit(w->stop, memory_order_relaxed)) {
		for (int i = 0; i < 64; i++) {
			load_key(load_random(&rng) % w->entries, &key);
			if (w->lock)
				pthread_mutex_lock(w->lock);
			mdx_get(w->c, load_mdx_key(&key), MDX_NUMBERS, &answer);
			if (w->lock)
				pthread_mutex_unlock(w->lock);
		}
		hits += 64;
	}
	w->hits = hits;
	return NULL;
}

static double rate(const struct worker *like, unsigned int threads, uint64_t ms)
{
	struct worker workers[2];
	struct timespec t = { .tv_sec = (time_t)(ms / 1000),
			      .tv_nsec = (long)(ms % 1000) * 1000000 };
	atomic_bool stop = false;
	uint64_t start = now_ns(), hits = 0;

	for (unsigned int i = 0; i < threads; i++) {
		workers[i] = *like;
		workers[i].seed = i + start;
		workers[i].stop = &stop;
		if (pthread_create(&workers[i].thread, NULL, hit, &workers[i]))
			die("no thread");
	}
	nanosleep(&t, NULL);
	atomic_store(&stop, true);
	for (unsigned int i = 0; i < threads; i++) {
		pthread_join(workers[i].thread, NULL);
		hits += workers[i].hits;
	}
	return (double)hits * 1e9 / (double)(now_ns() - start);
}

void part_threads(const struct options *o, json_t *results)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	uint64_t ms = o->quick ? 300 : 2000;
	double one[PASSES_MAX], ratio[PASSES_MAX];
	struct worker like = { .entries = o->entries,
			       .lock = o->control ? &lock : NULL };
	struct result r = {
		.name = o->control ? "control: a lock: two threads / one" :
				     "hit rate, two threads / one",
		.unit = "x",
		.has_target = true,
		.target = 1.9,
		.better = HIGHER,
		.control = o->control,
	};

	like.c = load_cache(1000, o->entries, ROOM);
	load_entries(like.c, 0, o->entries, false);
	rate(&like, 1, ms);
	for (int i = 0; i < PASSES_MAX; i++) {
		one[i] = rate(&like, 1, ms);
		ratio[i] = rate(&like, 2, ms) / one[i];
		one[i] /= 1e6;
	}
	report(results, &r, ratio, PASSES_MAX);
	r = (struct result){ .name = "one thread",
			     .unit = "M/s",
			     .better = HIGHER };
	report(results, &r, one, PASSES_MAX);
	mdx_destroy(like.c);
}
