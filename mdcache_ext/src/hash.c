/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "hash.h"

#include <errno.h>
#include <xxhash.h>

#include "cache.h"
#include "mem.h"

#define READ_TRIES 32

_Static_assert(sizeof(struct bucket) == 64, "a bucket is a cache line");

static uint16_t tag_of(uint64_t hash)
{
	return (uint16_t)(hash >> 8);
}

uint64_t hash_of(const struct mdx *c, struct mdx_key key)
{
	/* The seed keeps clients from making keys that fall together. */
	return XXH3_64bits_withSeed(key.bytes, key.len,
				    c->seed +
					    key.backend * 0x9e3779b97f4a7c15u);
}

static uint32_t index_of(uint64_t hash, uint32_t buckets)
{
	uint32_t top = 1u << (31 - __builtin_clz(buckets));
	uint32_t h = (uint32_t)(hash >> 24);
	uint32_t i = h & (2 * top - 1);

	return i < buckets ? i : h & (top - 1);
}

static struct bucket *bucket_at(const struct mdx *c, const struct hash *h,
				uint32_t i)
{
	uint32_t segment = atomic_load_explicit(
		&h->segments[i / SEGMENT_BUCKETS], memory_order_acquire);

	return (struct bucket *)arena_ptr(&c->arena, segment) +
	       i % SEGMENT_BUCKETS;
}

static struct bucket *next_of(const struct mdx *c, const struct bucket *b)
{
	uint32_t next = atomic_load_explicit(&b->next, memory_order_acquire);

	return next ? arena_ptr(&c->arena, next) : NULL;
}

bool hash_init(struct mdx *c, struct hash *h)
{
	uint32_t segment;

	h->segments = mem_alloc(SEGMENTS_MAX * sizeof(*h->segments));
	if (!h->segments)
		return false;
	segment = arena_alloc(&c->arena, CLASS_SEGMENT);
	while (!segment && arena_grow(&c->arena))
		segment = arena_alloc(&c->arena, CLASS_SEGMENT);
	atomic_store_explicit(&h->segments[0], segment, memory_order_release);
	atomic_store_explicit(&h->buckets, BUCKETS_FIRST, memory_order_release);
	return segment;
}

void hash_destroy(struct hash *h)
{
	mem_free((void *)h->segments);
}

/* An entry lies in two or three cache lines; they are fetched side by side. */
static void prefetch(const char *entry)
{
	__builtin_prefetch(entry);
	__builtin_prefetch(entry + 64);
	__builtin_prefetch(entry + 111);
}

bool hash_read(const struct mdx *c, const struct hash *h, struct mdx_key key,
	       uint64_t hash, struct snap *s, bool *busy)
{
	uint16_t tag = tag_of(hash);
	uint32_t n = atomic_load_explicit(&h->buckets, memory_order_acquire);

	*busy = false;
	for (unsigned int tries = 0; tries < READ_TRIES; tries++) {
		const struct bucket *b = bucket_at(c, h, index_of(hash, n));
		bool again = false;
		uint32_t now;

		/* A chain is short; a reader led astray by the reuse of an
		 * overflow bucket must not follow it for ever. */
		for (unsigned int hops = 0; b && hops < 64;
		     b = next_of(c, b), hops++) {
			for (unsigned int i = 0; i < BUCKET_SLOTS; i++) {
				uint32_t ref;
				enum read_result r;

				if (atomic_load_explicit(
					    &b->tag[i], memory_order_relaxed) !=
				    tag)
					continue;
				ref = atomic_load_explicit(
					&b->ref[i], memory_order_acquire);
				if (!ref)
					continue;
				prefetch(arena_ptr(&c->arena, ref));
				r = entry_read(c, ref, &key, 0, s);
				if (r == READ_OK)
					return true;
				again |= r == READ_BUSY;
			}
		}
		now = atomic_load_explicit(&h->buckets, memory_order_acquire);
		if (now == n && !again)
			return false;
		n = now;
	}
	*busy = true;
	return false;
}

static bool same_key(const struct mdx *c, uint32_t ref, struct mdx_key key)
{
	struct snap s;

	entry_copy(c, ref, &s);
	return s.key_len == key.len && s.backend == key.backend &&
	       memcmp(snap_key(&s), key.bytes, key.len) == 0;
}

uint32_t hash_find(const struct mdx *c, const struct hash *h,
		   struct mdx_key key, uint64_t hash)
{
	uint32_t n = atomic_load_explicit(&h->buckets, memory_order_relaxed);

	for (struct bucket *b = bucket_at(c, h, index_of(hash, n)); b;
	     b = next_of(c, b)) {
		for (unsigned int i = 0; i < BUCKET_SLOTS; i++) {
			uint32_t ref = atomic_load_explicit(
				&b->ref[i], memory_order_relaxed);

			if (ref &&
			    atomic_load_explicit(&b->tag[i],
						 memory_order_relaxed) ==
				    tag_of(hash) &&
			    same_key(c, ref, key))
				return ref;
		}
	}
	return 0;
}

static void set_slot(struct bucket *b, unsigned int i, uint64_t hash,
		     uint32_t ref)
{
	atomic_store_explicit(&b->tag[i], tag_of(hash), memory_order_relaxed);
	atomic_store_explicit(&b->ref[i], ref, memory_order_release);
}

static int add(struct mdx *c, struct shard *sh, struct bucket *b, uint64_t hash,
	       uint32_t ref)
{
	struct bucket *last;
	uint32_t more;

	for (; b; b = next_of(c, b)) {
		last = b;
		for (unsigned int i = 0; i < BUCKET_SLOTS; i++) {
			if (!atomic_load_explicit(&b->ref[i],
						  memory_order_relaxed)) {
				set_slot(b, i, hash, ref);
				return 0;
			}
		}
	}
	more = arena_alloc(&c->arena, CLASS_OVERFLOW);
	if (!more) {
		sh->need = CLASS_OVERFLOW;
		return -EAGAIN;
	}
	b = arena_ptr(&c->arena, more);
	for (unsigned int i = 0; i < BUCKET_SLOTS; i++)
		atomic_store_explicit(&b->ref[i], 0, memory_order_relaxed);
	atomic_store_explicit(&b->next, 0, memory_order_relaxed);
	set_slot(b, 0, hash, ref);
	atomic_store_explicit(&last->next, more, memory_order_release);
	return 0;
}

static bool is_empty(const struct bucket *b)
{
	for (unsigned int i = 0; i < BUCKET_SLOTS; i++)
		if (atomic_load_explicit(&b->ref[i], memory_order_relaxed))
			return false;
	return true;
}

/* Takes empty overflow buckets out of a chain. */
static void tidy(struct mdx *c, struct bucket *b)
{
	for (;;) {
		uint32_t ref =
			atomic_load_explicit(&b->next, memory_order_relaxed);
		struct bucket *next;

		if (!ref)
			return;
		next = arena_ptr(&c->arena, ref);
		if (!is_empty(next)) {
			b = next;
			continue;
		}
		atomic_store_explicit(
			&b->next,
			atomic_load_explicit(&next->next, memory_order_relaxed),
			memory_order_release);
		arena_free(&c->arena, ref);
	}
}

/* Moves what belongs to bucket `to` when there are `n` buckets out of bucket
 * `from`: first copies, then (with `clear`) removes. */
static int copy_over(struct mdx *c, struct shard *sh, uint32_t from,
		     uint32_t to, uint32_t n, bool clear)
{
	const struct hash *h = &sh->hash;

	for (struct bucket *b = bucket_at(c, h, from); b; b = next_of(c, b)) {
		for (unsigned int i = 0; i < BUCKET_SLOTS; i++) {
			uint32_t ref = atomic_load_explicit(
				&b->ref[i], memory_order_relaxed);
			uint64_t hash = ref ? entry_hash(c, ref) : 0;

			if (!ref || index_of(hash, n) != to)
				continue;
			if (clear)
				atomic_store_explicit(&b->ref[i], 0,
						      memory_order_release);
			else if (add(c, sh, bucket_at(c, h, to), hash, ref))
				return -EAGAIN;
		}
	}
	return 0;
}

static void clear_bucket(struct mdx *c, struct bucket *b)
{
	for (struct bucket *o = b; o; o = next_of(c, o))
		for (unsigned int i = 0; i < BUCKET_SLOTS; i++)
			atomic_store_explicit(&o->ref[i], 0,
					      memory_order_release);
	tidy(c, b);
}

/* Splits one bucket; if there is no memory, another time. */
static void split(struct mdx *c, struct shard *sh)
{
	struct hash *h = &sh->hash;
	uint32_t n = atomic_load_explicit(&h->buckets, memory_order_relaxed);
	uint32_t from = n & ~(1u << (31 - __builtin_clz(n)));

	if (n % SEGMENT_BUCKETS == 0) {
		uint32_t s = n / SEGMENT_BUCKETS, ref;

		if (s == SEGMENTS_MAX)
			return;
		ref = arena_alloc(&c->arena, CLASS_SEGMENT);
		if (!ref)
			return;
		/* A segment is a slab: its buckets were made zero with it, or
		 * cleared one by one when the table shrank. */
		atomic_store_explicit(&h->segments[s], ref,
				      memory_order_release);
	}
	if (copy_over(c, sh, from, n, n + 1, false)) {
		clear_bucket(c, bucket_at(c, h, n));
		if (n % SEGMENT_BUCKETS == 0) {
			arena_free(&c->arena,
				   atomic_load_explicit(
					   &h->segments[n / SEGMENT_BUCKETS],
					   memory_order_relaxed));
		}
		return;
	}
	atomic_store_explicit(&h->buckets, n + 1, memory_order_release);
	copy_over(c, sh, from, n, n + 1, true);
	tidy(c, bucket_at(c, h, from));
}

/* Joins the last bucket with the one that it was split from. */
static void join(struct mdx *c, struct shard *sh)
{
	struct hash *h = &sh->hash;
	uint32_t n =
		atomic_load_explicit(&h->buckets, memory_order_relaxed) - 1;
	uint32_t to = n & ~(1u << (31 - __builtin_clz(n)));

	if (copy_over(c, sh, n, to, n, false)) {
		/* Take back what was copied already. */
		copy_over(c, sh, to, n, n + 1, true);
		tidy(c, bucket_at(c, h, to));
		return;
	}
	atomic_store_explicit(&h->buckets, n, memory_order_release);
	clear_bucket(c, bucket_at(c, h, n));
	if (n % SEGMENT_BUCKETS == 0)
		arena_free(&c->arena, atomic_load_explicit(
					      &h->segments[n / SEGMENT_BUCKETS],
					      memory_order_relaxed));
}

int hash_insert(struct mdx *c, struct shard *sh, uint64_t hash, uint32_t ref)
{
	struct hash *h = &sh->hash;
	uint32_t n = atomic_load_explicit(&h->buckets, memory_order_relaxed);

	if (add(c, sh, bucket_at(c, h, index_of(hash, n)), hash, ref))
		return -EAGAIN;
	h->count++;
	if ((uint64_t)h->count * 2 > (uint64_t)n * 13)
		split(c, sh);
	return 0;
}

void hash_remove(struct mdx *c, struct shard *sh, uint64_t hash, uint32_t ref)
{
	struct hash *h = &sh->hash;
	uint32_t n = atomic_load_explicit(&h->buckets, memory_order_relaxed);
	struct bucket *first = bucket_at(c, h, index_of(hash, n));

	for (struct bucket *b = first; b; b = next_of(c, b))
		for (unsigned int i = 0; i < BUCKET_SLOTS; i++)
			if (atomic_load_explicit(&b->ref[i],
						 memory_order_relaxed) == ref)
				atomic_store_explicit(&b->ref[i], 0,
						      memory_order_release);
	tidy(c, first);
	h->count--;
	if (n > BUCKETS_FIRST && (uint64_t)h->count < (uint64_t)n * 3)
		join(c, sh);
}
