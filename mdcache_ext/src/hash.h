/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The hash table of a shard: from a key's hash to the entry's reference.
 *
 * Buckets are cache lines of ten references, each with 16 more bits of the
 * hash, so that a lookup costs one line here and, but for one in some thousand,
 * one entry. What does not fit hangs on as an overflow bucket. The table grows
 * and shrinks by linear hashing: one bucket at a time is split in two (or two
 * joined), ten entries are moved, and no moment is longer than others. At 6.5
 * entries a bucket on the mean, an entry costs about 10 bytes.
 *
 * Readers take no lock. A bucket may be split under their eyes: the entries are
 * first put in the new bucket, then the number of buckets is published, then
 * the old places are cleared. A reader that finds nothing looks at the number
 * again and starts over if it has changed. What a reader finds is a candidate:
 * entry_read verifies the key. Segments that are no longer used become other
 * things only after a grace period (arena.h).
 *
 * Source: W. Litwin, "Linear hashing: a new tool for file and table
 * addressing", VLDB 1980.
 */
#ifndef MDX_HASH_H
#define MDX_HASH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "arena.h"
#include "mdcache_ext.h"

#define BUCKET_SLOTS	10
#define SEGMENT_BUCKETS (SLAB_SIZE / 64u)
#define SEGMENTS_MAX	4096u
#define BUCKETS_FIRST	4u

struct bucket {
	_Atomic uint16_t tag[BUCKET_SLOTS];
	_Atomic uint32_t ref[BUCKET_SLOTS]; /* 0: free */
	_Atomic uint32_t next;		    /* overflow bucket */
};

struct hash {
	_Atomic uint32_t buckets;
	uint32_t count; /* entries */
	_Atomic uint32_t *segments;
};

struct mdx;
struct shard;
struct snap;

/* The bits of a hash: shard (8 low), tag (16), bucket (40 high). */
uint64_t hash_of(const struct mdx *c, struct mdx_key key);

bool hash_init(struct mdx *c, struct hash *h);
void hash_destroy(struct hash *h);

/* Finds and copies an entry without a lock, in an RCU read section. False: it
 * is not there. *busy is set when writers were in the way for too long, and
 * the caller must look under the lock. */
bool hash_read(const struct mdx *c, const struct hash *h, struct mdx_key key,
	       uint64_t hash, struct snap *s, bool *busy);

/* The following are called under the shard's lock. */
uint32_t hash_find(const struct mdx *c, const struct hash *h,
		   struct mdx_key key, uint64_t hash);
/* -EAGAIN: no memory. */
int hash_insert(struct mdx *c, struct shard *sh, uint64_t hash, uint32_t ref);
void hash_remove(struct mdx *c, struct shard *sh, uint64_t hash, uint32_t ref);

#endif
