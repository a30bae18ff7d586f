/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "leaf.h"

#include <string.h>
#include <xxhash.h>

#include "mdcache_ext.h"

#define FOREVER UINT32_MAX

uint64_t cookie_mask = UINT64_MAX;

uint64_t cookie_of(const char *name, size_t len)
{
	uint64_t h = XXH3_64bits(name, len) & cookie_mask;

	h >>= 64 - COOKIE_BITS;
	return h < MDX_COOKIE_FIRST ? h + MDX_COOKIE_FIRST : h;
}

static uint16_t fragment(const struct leaf *l, uint64_t cookie)
{
	unsigned int below = COOKIE_BITS - l->depth;

	return (uint16_t)(below > 16 ? cookie >> (below - 16) : cookie);
}

size_t record_size(size_t len, uint8_t flags)
{
	return RECORD_FIXED + (flags & RECORD_CHILD ? 8 : 0) +
	       (flags & RECORD_PROBED ? 1 : 0) + len;
}

static uint16_t get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* Everything but the cookie, which costs a hash. */
static bool decode(const struct leaf *l, unsigned int at, struct record *r)
{
	const uint8_t *p = l->bytes + at;
	unsigned int used = l->used <= LEAF_BYTES_MAX ? l->used :
							LEAF_BYTES_MAX;
	size_t size;
	uint16_t life;

	if (at + RECORD_FIXED > used)
		return false;
	r->len = p[0];
	r->flags = p[1];
	size = record_size(r->len, r->flags);
	if (!r->len || at + size > used)
		return false;
	r->at = (uint16_t)at;
	r->size = (uint16_t)size;
	life = get16(p + 4);
	r->until = life == EXPIRY_FOREVER ? FOREVER : l->base + life;
	p += RECORD_FIXED;
	r->child = 0;
	r->child_gen = 0;
	if (r->flags & RECORD_CHILD) {
		memcpy(&r->child, p, 4);
		memcpy(&r->child_gen, p + 4, 4);
		p += 8;
	}
	r->distance = r->flags & RECORD_PROBED ? *p++ : 0;
	r->name = (const char *)p;
	return true;
}

bool leaf_next(const struct leaf *l, unsigned int *at, struct record *r)
{
	if (!decode(l, *at, r))
		return false;
	r->cookie = cookie_of(r->name, r->len) + r->distance;
	*at += r->size;
	return true;
}

bool leaf_find(const struct leaf *l, uint64_t cookie, const char *name,
	       size_t len, struct record *r)
{
	uint16_t wanted = fragment(l, cookie);

	for (unsigned int at = 0; decode(l, at, r); at += r->size) {
		uint16_t here = get16(l->bytes + at + 2);

		if (here > wanted)
			return false;
		if (here != wanted ||
		    (name &&
		     (r->len != len || memcmp(r->name, name, len) != 0)))
			continue;
		r->cookie = cookie_of(r->name, r->len) + r->distance;
		if (r->cookie == cookie)
			return true;
	}
	return false;
}

/* Lives are counted from the base. It moves when a life is too long for it;
 * those that are over by then stay so. */
static void rebase(struct leaf *l, uint32_t now)
{
	struct record r;

	for (unsigned int at = 0; decode(l, at, &r); at += r.size) {
		uint16_t life;

		if (r.until == FOREVER)
			continue;
		life = (uint16_t)(r.until > now ? r.until - now : 0);
		memcpy(l->bytes + at + 4, &life, sizeof(life));
	}
	l->base = now;
}

static uint16_t encode_life(struct leaf *l, uint32_t until, uint32_t now)
{
	if (until == FOREVER)
		return EXPIRY_FOREVER;
	if (!l->count)
		l->base = now;
	if (until > l->base && until - l->base > EXPIRY_LONGEST)
		rebase(l, now);
	if (until <= l->base)
		return 0;
	return (uint16_t)(until - l->base > EXPIRY_LONGEST ? EXPIRY_LONGEST :
							     until - l->base);
}

void leaf_insert(struct leaf *l, const struct record *r, uint32_t now)
{
	uint16_t print = fragment(l, r->cookie);
	uint16_t life = encode_life(l, r->until, now);
	size_t size = record_size(r->len, r->flags);
	unsigned int at = 0;
	struct record o;
	uint8_t *p;

	while (decode(l, at, &o)) {
		uint16_t here = get16(l->bytes + at + 2);

		if (here > print ||
		    (here == print &&
		     cookie_of(o.name, o.len) + o.distance > r->cookie))
			break;
		at += o.size;
	}
	p = l->bytes + at;
	memmove(p + size, p, l->used - at);
	p[0] = r->len;
	p[1] = r->flags;
	memcpy(p + 2, &print, 2);
	memcpy(p + 4, &life, 2);
	p += RECORD_FIXED;
	if (r->flags & RECORD_CHILD) {
		memcpy(p, &r->child, 4);
		memcpy(p + 4, &r->child_gen, 4);
		p += 8;
	}
	if (r->flags & RECORD_PROBED)
		*p++ = r->distance;
	memcpy(p, r->name, r->len);
	l->used += (uint16_t)size;
	l->count++;
}

void leaf_remove(struct leaf *l, const struct record *r)
{
	uint8_t *p = l->bytes + r->at;

	memmove(p, p + r->size, (size_t)l->used - r->at - r->size);
	l->used -= r->size;
	l->count--;
}

void leaf_split(const struct leaf *l, struct leaf *low, struct leaf *high,
		uint32_t now)
{
	uint64_t bit = (uint64_t)1 << (COOKIE_BITS - 1 - l->depth);
	struct record r;
	unsigned int at = 0;

	low->low = l->low;
	high->low = l->low | bit;
	low->depth = high->depth = l->depth + 1;
	low->base = high->base = l->base;
	low->used = high->used = 0;
	low->count = high->count = 0;
	while (leaf_next(l, &at, &r))
		leaf_insert(r.cookie & bit ? high : low, &r, now);
}
