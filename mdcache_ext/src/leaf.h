/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A leaf: some names of a directory, packed, in the order of their cookies.
 *
 *	bytes	of a record
 *	1	length of the name
 *	1	flags
 *	2	fragment: the 16 bits of the cookie below the leaf's prefix
 *	2	fresh-until, in ticks after the leaf's base; 0xffff: for ever
 *	8	child: reference and generation	(if RECORD_CHILD)
 *	1	distance from the name's own cookie (if RECORD_PROBED)
 *	n	the name
 *
 * The cookie is not stored: it is a hash of the name (plus the distance, of
 * which only names with equal hashes have one). The fragment is what order and
 * search need of it. A name of 11 letters takes 25 bytes.
 *
 * Everything here works on copies, so it needs no lock and is easily tested.
 * Reading a copy is safe whatever bytes it holds.
 */
#ifndef MDX_LEAF_H
#define MDX_LEAF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COOKIE_BITS    62u
#define LEAF_BYTES_MAX 608u /* the largest class, less the header */
#define RECORD_FIXED   6u
#define RECORD_MAX     (RECORD_FIXED + 8u + 1u + 255u)
#define EXPIRY_FOREVER 0xffffu
#define EXPIRY_LONGEST 0xfffeu

enum record_flags {
	RECORD_CHILD = 1 << 0,	  /* the child's entry is known */
	RECORD_NEGATIVE = 1 << 1, /* the name does not exist */
	RECORD_DIRLIFE = 1 << 2,  /* lives as long as the directory's names */
	RECORD_PROBED = 1 << 3,	  /* not at its own cookie */
	RECORD_DOUBT = 1 << 4	  /* whether the name exists is not known */
};

struct leaf {
	uint64_t low;	/* first cookie it covers */
	uint8_t depth;	/* bits of prefix: it covers 2^(62 - depth) cookies */
	uint32_t base;	/* tick */
	uint16_t used;	/* bytes */
	uint16_t count; /* records */
	uint8_t bytes[LEAF_BYTES_MAX];
};

struct record {
	uint64_t cookie;
	const char *name;
	uint32_t child;
	uint32_t child_gen;
	uint32_t until; /* tick, TICK_FOREVER; nothing with RECORD_DIRLIFE */
	uint8_t len;
	uint8_t flags;
	uint8_t distance;
	uint16_t at;   /* of the record in the leaf */
	uint16_t size; /* bytes */
};

/* The cookie that a name has by itself. */
uint64_t cookie_of(const char *name, size_t len);
/* For tests: which bits of the hash are used (all), so that names collide. */
extern uint64_t cookie_mask;

static inline bool leaf_covers(const struct leaf *l, uint64_t cookie)
{
	return l->depth == 0 ||
	       (l->low ^ cookie) >> (COOKIE_BITS - l->depth) == 0;
}

/* The last cookie it covers. */
static inline uint64_t leaf_last(const struct leaf *l)
{
	return l->low + (((uint64_t)1 << (COOKIE_BITS - l->depth)) - 1);
}

/* Decodes the record at *at and moves on; false: the end, or nonsense. */
bool leaf_next(const struct leaf *l, unsigned int *at, struct record *r);
/* Finds a name at a cookie; or (name NULL) whatever is there. */
bool leaf_find(const struct leaf *l, uint64_t cookie, const char *name,
	       size_t len, struct record *r);
/* Bytes that a record takes. */
size_t record_size(size_t len, uint8_t flags);
/* Inserts; there must be room, and nothing at that cookie. `now` is the tick
 * that counts as the present if the base has to be moved. */
void leaf_insert(struct leaf *l, const struct record *r, uint32_t now);
void leaf_remove(struct leaf *l, const struct record *r);
/* Distributes the records to two leaves of one bit more of prefix. */
void leaf_split(const struct leaf *l, struct leaf *low, struct leaf *high,
		uint32_t now);

#endif
