/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The handle pool: the few backend objects that operations have needed lately,
 * found by key, and as many of those that listings brought as there is room
 * for. Least recently used ones go first, of those not in use; the limits
 * (objects, descriptors, estimated bytes) may be passed only by what is in
 * use. One lock: each use of a handle is a call to the backend, which takes
 * many times as long as what is done here.
 */
#ifndef MDX_POOL_H
#define MDX_POOL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "mdcache_ext.h"
#include "release.h"

struct mdx_handle {
	struct release release; /* first: what is freed */
	struct mdx_handle *chain;
	struct mdx_handle *newer, *older; /* while not in use */
	uint64_t hash;
	uint64_t charge;
	uint64_t used; /* when its last use ended, as a count of uses */
	uint32_t fds;
	uint32_t users;
	bool dropped; /* not found any more; goes at the last put */
	uint8_t backend;
	uint8_t key_len;
	uint8_t key[];
};

struct unused {
	struct mdx_handle *newest, *oldest;
};

struct pool {
	pthread_mutex_t lock;
	struct mdx_pool_limits limits;
	struct mdx_handle **buckets;
	uint32_t bucket_mask;
	struct unused unused[2]; /* without and with descriptors */
	uint64_t uses;
	uint64_t unused_fds;
	uint64_t count, fds, charge;
};

struct mdx;

bool pool_init(struct pool *p, const struct mdx_pool_limits *limits);
void pool_destroy(struct pool *p);
/* Gives all objects up; none may be in use. */
void pool_drop_all(struct mdx *c);
void pool_usage(struct pool *p, struct mdx_usage *u);

#endif
