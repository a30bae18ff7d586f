/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What the objects of the simulated backend look like: every value follows from
 * the seed, the object and the version, so that nothing has to be stored. */
#include <string.h>

#include "model_world.h"

static uint64_t stream(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t s = seed ^ a * 0x9e3779b97f4a7c15 ^ b << 32 ^ c << 57;

	random_next(&s);
	return s;
}

/* Edges of the packed format and values that files really have. */
static uint64_t odd_number(uint64_t *rng)
{
	static const uint64_t edges[] = { 0,
					  1,
					  0xfff,
					  0x1000,
					  0xffff,
					  0x10000,
					  0xffffffff,
					  0x100000000,
					  INT64_MAX,
					  UINT64_MAX,
					  511,
					  512,
					  513,
					  0xffffffffffff,
					  0x1000000000000,
					  (uint64_t)32767 * 512,
					  (uint64_t)32768 * 512 };
	uint64_t r = random_next(rng);

	if (r % 4 == 0)
		return edges[(r >> 8) % (sizeof(edges) / sizeof(edges[0]))];
	return r >> (r >> 58); /* of any length */
}

static struct timespec ordinary_time(uint64_t *rng)
{
	return (struct timespec){
		.tv_sec = 1500000000 + (time_t)random_below(rng, 300000000),
		.tv_nsec = (long)random_below(rng, 1000000000),
	};
}

static struct timespec odd_time(uint64_t *rng)
{
	static const int64_t edges[] = { 0,
					 -1,
					 ((int64_t)1 << 33) - 1,
					 (int64_t)1 << 33,
					 -((int64_t)1 << 33),
					 -((int64_t)1 << 33) - 1,
					 INT64_MAX,
					 INT64_MIN };
	struct timespec t = ordinary_time(rng);
	uint32_t n = random_below(rng, 16);

	if (n < sizeof(edges) / sizeof(edges[0]))
		t.tv_sec = edges[n];
	if (one_in(rng, 8))
		t.tv_nsec = 999999999;
	return t;
}

static void make_odd(uint64_t *rng, struct mdx_attrs *a)
{
	uint64_t which = random_next(rng);

#define ODD(bit, field, value)              \
	do {                                \
		if (which & (bit))          \
			a->field = (value); \
	} while (0)
	ODD(MDX_MODE, mode, (uint32_t)odd_number(rng));
	ODD(MDX_NLINK, nlink, (uint32_t)odd_number(rng));
	ODD(MDX_OWNER, owner, odd_number(rng));
	ODD(MDX_GROUP, group, odd_number(rng));
	ODD(MDX_SIZE, size, odd_number(rng));
	ODD(MDX_SPACE, space, odd_number(rng));
	ODD(MDX_FSID, fsid_major, odd_number(rng));
	ODD(MDX_FSID, fsid_minor, odd_number(rng));
	ODD(MDX_FILEID, fileid, odd_number(rng));
	ODD(MDX_RDEV, rdev, odd_number(rng));
	ODD(MDX_CHANGE, change, odd_number(rng));
	ODD(MDX_GENERATION, generation, odd_number(rng));
	ODD(MDX_ATIME, atime, odd_time(rng));
	ODD(MDX_BTIME, btime, odd_time(rng));
	ODD(MDX_CTIME, ctime, odd_time(rng));
	ODD(MDX_MTIME, mtime, odd_time(rng));
#undef ODD
}

void value_attrs(const struct world *w, unsigned int object, uint32_t version,
		 struct mdx_attrs *a)
{
	uint64_t rng = stream(w->seed, object, version, 1);

	memset(a, 0, sizeof(*a));
	a->type = random_below(&rng, 16);
	a->mode = random_below(&rng, 010000);
	a->nlink = 1 + random_below(&rng, 3);
	a->owner = 1000 + random_below(&rng, 40);
	a->group = 100 + random_below(&rng, 10);
	a->size = random_next(&rng) >> 30;
	a->space = (a->size + 511) / 512 * 512 +
		   512 * (uint64_t)random_below(&rng, 9);
	a->fsid_major = 0xfd00;
	a->fsid_minor = w->objects[object].backend;
	a->fileid = random_next(&rng);
	a->atime = ordinary_time(&rng);
	a->ctime = ordinary_time(&rng);
	a->mtime = one_in(&rng, 2) ? a->ctime : ordinary_time(&rng);
	a->change = (uint64_t)a->ctime.tv_sec * 1000000000 +
		    (uint64_t)a->ctime.tv_nsec;
	if (one_in(&rng, 4))
		make_odd(&rng, a);
}

int value_attachment(const struct world *w, unsigned int object,
		     uint32_t version, uint32_t which)
{
	uint64_t rng =
		stream(w->seed, object, version, which == MDX_ACL ? 2 : 3);

	return one_in(&rng, 4) ? -1 : (int)random_below(&rng, ATTACHMENTS);
}

static void fill(uint64_t *rng, uint8_t *buf, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = (uint8_t)random_next(rng);
}

size_t value_blob(const struct world *w, unsigned int object, uint32_t version,
		  uint32_t which, uint8_t *buf)
{
	uint64_t rng =
		stream(w->seed, object, version, which == MDX_LINK ? 4 : 5);
	size_t len =
		1 + random_below(&rng, one_in(&rng, 4) ? MDX_BLOB_MAX : 60);

	fill(&rng, buf, len);
	return len;
}

bool same_group(const struct mdx_attrs *a, const struct mdx_attrs *b,
		uint32_t bit)
{
#define SAME_TIME(t) \
	(a->t.tv_sec == b->t.tv_sec && a->t.tv_nsec == b->t.tv_nsec)
	switch (bit) {
	case MDX_TYPE:
		return a->type == b->type;
	case MDX_MODE:
		return a->mode == b->mode;
	case MDX_NLINK:
		return a->nlink == b->nlink;
	case MDX_OWNER:
		return a->owner == b->owner;
	case MDX_GROUP:
		return a->group == b->group;
	case MDX_SIZE:
		return a->size == b->size;
	case MDX_SPACE:
		return a->space == b->space;
	case MDX_FSID:
		return a->fsid_major == b->fsid_major &&
		       a->fsid_minor == b->fsid_minor;
	case MDX_FILEID:
		return a->fileid == b->fileid;
	case MDX_RDEV:
		return a->rdev == b->rdev;
	case MDX_ATIME:
		return SAME_TIME(atime);
	case MDX_BTIME:
		return SAME_TIME(btime);
	case MDX_CTIME:
		return SAME_TIME(ctime);
	case MDX_MTIME:
		return SAME_TIME(mtime);
	case MDX_CHANGE:
		return a->change == b->change;
	case MDX_GENERATION:
		return a->generation == b->generation;
	default:
		return true;
	}
#undef SAME_TIME
}

/* Lengths as backends have them, and the extremes; many keys differ in one byte
 * or in the backend alone. */
void value_key(uint64_t seed, unsigned int object, struct object *o)
{
	static const uint8_t lens[] = { 1,  2,	8,  16, 27,  27,
					27, 28, 40, 59, 127, MDX_KEY_MAX };
	static const uint8_t backends[BACKENDS_MAX] = { 0, 1, 255 };

	o->key_len = lens[random_below(&seed, sizeof(lens))];
	o->backend = backends[random_below(&seed, BACKENDS_MAX)];
	memset(o->key, 0xa5, sizeof(o->key));
	fill(&seed, o->key + o->key_len / 2, (o->key_len + 1u) / 2);
	if (o->key_len >= 8) {
		o->key[o->key_len - 1] = (uint8_t)object;
		o->key[o->key_len - 2] = (uint8_t)(object / 8);
	}
}

void value_name(uint64_t seed, unsigned int number, struct name *n)
{
	size_t len;

	if (number < 40)
		len = 1 + number % 3;
	else if (number % 16 == 0)
		len = MDX_NAME_MAX - random_below(&seed, 3);
	else if (number % 16 < 3)
		len = 1 + random_below(&seed, MDX_NAME_MAX);
	else
		len = 5 + random_below(&seed, 13);
	n->len = (uint8_t)len;
	fill(&seed, n->text, len);
	/* Some differ only at their end. */
	if (number % 5 == 0 && len > 8)
		memset(n->text, 'a', len - 4);
}
