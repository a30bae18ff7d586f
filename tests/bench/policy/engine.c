// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The cache engine itself in the place of a policy: entries of its stat tier,
 * limited by count, with the number of shards that it chooses for the size.
 * So it is not only the algorithm that is measured, but what the engine makes
 * of it.  Its hashes are seeded at random: results differ a little from run to
 * run.
 */
#include "budget.h"

#include <errno.h>
#include <mdcache_ext.h>
#include <stdlib.h>
#include <string.h>

#define HANDLE_BYTES 27

/* A handle as file systems make them: mostly the same. */
struct handle {
	uint8_t bytes[HANDLE_BYTES];
};

static struct mdx_key key_of(struct handle *h, uint32_t key)
{
	memset(h, 0x5a, sizeof(*h));
	memcpy(h->bytes + 12, &key, sizeof(key));
	return (struct mdx_key){ .bytes = h->bytes, .len = HANDLE_BYTES };
}

/* Nothing expires. */
static uint64_t stopped_clock(void *arg)
{
	(void)arg;
	return 1;
}

/* NULL: no memory. */
static struct mdx *make(uint64_t files, uint64_t stats, uint64_t bytes)
{
	struct mdx_params params;
	struct mdx *c;

	mdx_params_init(&params);
	params.limits.max_files = files;
	params.limits.max_stats = stats;
	params.limits.max_bytes = bytes;
	params.now_ms = stopped_clock;
	return mdx_create(&params, &c) == 0 ? c : NULL;
}

/* So many bytes that the counts alone decide. */
static uint64_t ample(uint64_t entries)
{
	return entries * 1024 + ((uint64_t)64 << 20);
}

static void *create(const struct policy *policy, const struct stream *s,
		    uint32_t capacity)
{
	(void)policy;
	(void)s;
	return make(1, capacity, ample(capacity));
}

static void destroy(void *state)
{
	mdx_destroy(state);
}

static void fetch(struct mdx *c, struct mdx_key key)
{
	struct mdx_attrs attrs = { .valid = MDX_TYPE | MDX_MODE | MDX_SIZE,
				   .type = 1,
				   .mode = 0644,
				   .size = 4096 };

	/* What finds no room is not kept, and missed the next time. */
	(void)mdx_put(c, mdx_ticket(c), key, &attrs, MDX_FOREVER);
}

static bool use(void *state, uint32_t key, size_t position, uint32_t *evicted)
{
	struct handle h;
	struct mdx_key k = key_of(&h, key);

	(void)position;
	*evicted = NO_KEY;
	if (mdx_get(state, k, MDX_SIZE, NULL) == 0)
		return true;
	fetch(state, k);
	return false;
}

static void drop(void *state, uint32_t key)
{
	struct handle h;

	mdx_forget(state, key_of(&h, key));
}

static int tiers(const struct stream *s, uint32_t files, uint32_t stats,
		 struct tier_result *result)
{
	struct mdx *c = make(files, stats, ample((uint64_t)files + stats));

	if (c == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < s->nrequests; i++) {
		struct handle h;
		struct mdx_key k = key_of(&h, STREAM_KEY(s->requests[i]));
		struct mdx_answer answer;
		bool held;

		if (s->requests[i] & STREAM_REMOVE) {
			mdx_forget(c, k);
			continue;
		}
		held = mdx_get(c, k, MDX_SIZE, &answer) == 0;
		result->misses += !held;
		if (!held)
			fetch(c, k);
		if (s->requests[i] & STREAM_DATA) {
			result->data_misses += !held || !answer.file_tier;
			(void)mdx_promote(c, k);
		}
	}
	mdx_destroy(c);
	return 0;
}

int64_t engine_within_bytes(const struct stream *s, uint64_t bytes,
			    uint32_t *entries)
{
	struct mdx *c = make(1, (uint64_t)s->nkeys + 1, bytes);
	int64_t misses = 0;
	uint64_t held = 0;
	uint64_t samples = 0;
	uint32_t evicted;

	*entries = 1;
	if (c == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < s->nrequests; i++) {
		uint32_t key = STREAM_KEY(s->requests[i]);
		struct mdx_usage usage;

		if (s->requests[i] & STREAM_REMOVE)
			drop(c, key);
		else
			misses += !use(c, key, i, &evicted);
		if (i % 256 != 0 || i < s->nrequests / 4)
			continue;
		mdx_usage(c, &usage);
		held += usage.stats;
		samples++;
	}
	/* LRU needs room for one. */
	*entries = held > samples ? (uint32_t)(held / samples) : 1;
	mdx_destroy(c);
	return misses;
}

const struct policy policy_engine = {
	.name = "engine",
	.text = "the cache engine, its stat tier limited by count",
	.role = CHOSEN,
	.create = create,
	.destroy = destroy,
	.use = use,
	.remove = drop,
	.tiers = tiers,
};
