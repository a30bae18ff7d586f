/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What the tests of the engine share: a cache with a clock of their own. */
#ifndef ENGINE_TEST_H
#define ENGINE_TEST_H

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cunit_main.h"
#include "mdcache_ext.h"

#define MIB ((uint64_t)1 << 20)

static _Atomic uint64_t test_now;	   /* milliseconds */
static _Atomic unsigned int test_released; /* release callbacks so far */

static inline uint64_t test_clock(void *arg)
{
	(void)arg;
	return atomic_load(&test_now);
}

static inline void test_release(void *object, void *arg)
{
	(void)object;
	(void)arg;
	atomic_fetch_add(&test_released, 1);
}

static inline struct mdx *test_cache(uint64_t files, uint64_t stats,
				     uint64_t bytes, unsigned int shards)
{
	struct mdx_params p;
	struct mdx *c = NULL;

	mdx_params_init(&p);
	p.limits = (struct mdx_limits){ files, stats, bytes };
	p.shards = shards;
	p.now_ms = test_clock;
	p.attachment_release = test_release;
	p.handle_release = test_release;
	if (mdx_create(&p, &c)) {
		fputs("mdx_create failed\n", stderr);
		abort();
	}
	return c;
}

/* Key number n; it lives in a static buffer of this thread, one of 16. */
static inline struct mdx_key test_key(uint64_t n)
{
	static _Thread_local char buf[16][32];
	static _Thread_local unsigned int turn;
	char *b = buf[turn++ % 16];

	/* 27 bytes, as a local file system's handle. */
	memset(b, 'k', 27);
	memcpy(b + 8, &n, sizeof(n));
	return (struct mdx_key){ b, 27, 0 };
}

static inline struct mdx_attrs test_attrs(uint64_t n)
{
	struct mdx_attrs a = { .valid = MDX_NUMBERS,
			       .type = 1,
			       .mode = 0644,
			       .nlink = 1,
			       .owner = 1000,
			       .group = 100,
			       .size = n,
			       .space = (n + 511) / 512 * 512,
			       .fsid_major = 8,
			       .fsid_minor = 1,
			       .fileid = n * 7 + 1,
			       .atime = { 1700000000, 1 },
			       .ctime = { 1700000000 + (time_t)n, 999999999 },
			       .mtime = { 1700000000 + (time_t)n, 5 } };

	a.change = (uint64_t)a.ctime.tv_sec * 1000000000 + 999999999;
	return a;
}

static inline uint64_t test_counter(struct mdx *c, enum mdx_counter which)
{
	uint64_t values[MDX_COUNTER_COUNT];

	mdx_counters(c, values);
	return values[which];
}

static inline int test_put(struct mdx *c, uint64_t n, uint32_t ttl_ms)
{
	struct mdx_attrs a = test_attrs(n);

	return mdx_put(c, mdx_ticket(c), test_key(n), &a, ttl_ms);
}

#endif
