// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Synthetic request streams: the shapes a metadata cache meets.
 *
 * Keys are numbered densely in the order of their first use, so that the
 * footprint is what was really asked for and not the size of the population.
 */
#include "stream.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct random {
	uint64_t state;
};

/* splitmix64: small, good enough, the same on every machine. */
static uint64_t next_random(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static double next_unit(struct random *r)
{
	return (double)(next_random(r) >> 11) * 0x1.0p-53;
}

/* One generator: a population of objects, some of them seen already. */
struct source {
	struct stream *out;
	struct random random;
	uint32_t *key_of; /* object to key + 1; 0: not seen */
	uint32_t population;
	uint32_t seen;
	double *cdf;
	uint32_t ncdf;
	int error;
};

static void emit(struct source *src, uint32_t object)
{
	if (src->error != 0)
		return;
	if (src->key_of[object] == 0)
		src->key_of[object] = ++src->seen;
	src->error = stream_use(src->out, src->key_of[object] - 1);
}

static int source_open(struct source *src, struct stream_list *list,
		       const char *name, uint32_t population, uint64_t seed)
{
	*src = (struct source){ .random = { seed }, .population = population };
	src->key_of = calloc(population, sizeof(*src->key_of));
	src->cdf = calloc(population, sizeof(*src->cdf));
	src->out = stream_add(list, name);
	if (src->key_of == NULL || src->cdf == NULL || src->out == NULL)
		src->error = -ENOMEM;
	return src->error;
}

static int source_close(struct source *src)
{
	free(src->key_of);
	free(src->cdf);
	return src->error;
}

/* Prepare zipf(): rank k of n has the weight 1 / k^alpha. */
static void zipf_prepare(struct source *src, uint32_t n, double alpha)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum += pow(i + 1, -alpha);
		src->cdf[i] = sum;
	}
	for (uint32_t i = 0; i < n; i++)
		src->cdf[i] /= sum;
	src->ncdf = n;
}

static uint32_t zipf(struct source *src)
{
	double u = next_unit(&src->random);
	uint32_t low = 0;
	uint32_t high = src->ncdf - 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (src->cdf[middle] < u)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int make_zipf(struct stream_list *list, const char *name, double alpha,
		     uint64_t seed, unsigned scale)
{
	struct source src;
	uint32_t n = 100000 / scale;

	if (source_open(&src, list, name, n, seed) == 0) {
		zipf_prepare(&src, n, alpha);
		for (uint32_t i = 0; i < 20 * n; i++)
			emit(&src, zipf(&src));
	}
	return source_close(&src);
}

/* Users on a Zipf set, and now and then a walk over the whole tree (find,
 * rsync, a backup), whose objects are ten times as many. */
static int make_scan(struct stream_list *list, const char *name, double alpha,
		     uint64_t seed, unsigned scale)
{
	struct source src;
	uint32_t hot = 20000 / scale;
	uint32_t all = 100000 / scale;

	if (source_open(&src, list, name, all, seed) == 0) {
		zipf_prepare(&src, hot, alpha);
		for (unsigned round = 0; round < 8; round++) {
			for (uint32_t i = 0; i < 10 * hot; i++)
				emit(&src, zipf(&src));
			for (uint32_t i = 0; i < all; i++) {
				emit(&src, i);
				emit(&src, zipf(&src));
			}
		}
	}
	return source_close(&src);
}

/* The same walk again and again. */
static int make_loop(struct stream_list *list, uint64_t seed, unsigned scale)
{
	struct source src;
	uint32_t n = 20000 / scale;

	if (source_open(&src, list, "loop", n, seed) == 0) {
		for (uint32_t i = 0; i < 20 * n; i++)
			emit(&src, i % n);
	}
	return source_close(&src);
}

/* Loops of several lengths in turn: the shorter ones fit, the longer do not. */
static int make_loops(struct stream_list *list, uint64_t seed, unsigned scale)
{
	struct source src;
	uint32_t n = 40000 / scale;

	if (source_open(&src, list, "loops", n, seed) == 0) {
		for (unsigned round = 0; round < 3; round++) {
			for (uint32_t part = 100; part >= 1; part /= 3) {
				uint32_t length = n / part;
				uint32_t first =
					(uint32_t)(next_random(&src.random) %
						   (n - length + 1));

				for (uint32_t i = 0; i < 6 * length; i++)
					emit(&src, first + i % length);
			}
		}
	}
	return source_close(&src);
}

/* One working set, then another of half the size that shares nothing with
 * it.  alpha 0: every object as often as any other. */
static int make_shift(struct stream_list *list, const char *name, double alpha,
		      uint64_t seed, unsigned scale)
{
	struct source src;
	uint32_t n = 50000 / scale;

	if (source_open(&src, list, name, n + n / 2, seed) == 0) {
		zipf_prepare(&src, n, alpha);
		for (uint32_t i = 0; i < 20 * n; i++)
			emit(&src, zipf(&src));
		zipf_prepare(&src, n / 2, alpha);
		for (uint32_t i = 0; i < 20 * n; i++)
			emit(&src, n + zipf(&src));
	}
	return source_close(&src);
}

int stream_generate(struct stream_list *list, uint64_t seed, unsigned scale)
{
	int rc;

	rc = make_zipf(list, "zipf-0.8", 0.8, seed, scale);
	if (rc == 0)
		rc = make_zipf(list, "zipf-1.0", 1.0, seed, scale);
	if (rc == 0)
		rc = make_scan(list, "zipf-0.8-scans", 0.8, seed, scale);
	if (rc == 0)
		rc = make_scan(list, "zipf-1.0-scans", 1.0, seed, scale);
	if (rc == 0)
		rc = make_loop(list, seed, scale);
	if (rc == 0)
		rc = make_loops(list, seed, scale);
	if (rc == 0)
		rc = make_shift(list, "shift-uniform", 0.0, seed, scale);
	if (rc == 0)
		rc = make_shift(list, "shift-zipf-0.8", 0.8, seed, scale);
	return rc;
}
