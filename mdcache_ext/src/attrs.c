/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "attrs.h"

#include <string.h>

#define BILLION	  1000000000
#define NSEC_BITS 30
#define NSEC_MASK (((uint64_t)1 << NSEC_BITS) - 1)
#define SIZE_BITS 48
#define SIZE_MASK (((uint64_t)1 << SIZE_BITS) - 1)
#define BLOCK	  512

bool attrs_sane(const struct mdx_attrs *a)
{
	const struct timespec *times[] = { &a->atime, &a->btime, &a->ctime,
					   &a->mtime };
	static const uint32_t bits[] = { MDX_ATIME, MDX_BTIME, MDX_CTIME,
					 MDX_MTIME };

	if (a->valid & ~(uint32_t)(MDX_NUMBERS | MDX_ACL | MDX_OTHER))
		return false;
	if (a->valid & MDX_TYPE && a->type > 15)
		return false;
	for (unsigned int i = 0; i < 4; i++)
		if (a->valid & bits[i] &&
		    (times[i]->tv_nsec < 0 || times[i]->tv_nsec >= BILLION))
			return false;
	return true;
}

static void add_wide(struct packed *p, enum wide which, uint64_t value)
{
	p->wide |= (uint16_t)(1u << which);
	p->words[which] = value;
}

static uint64_t pack_time(struct packed *p, enum wide seconds,
			  const struct timespec *t)
{
	int64_t sec = t->tv_sec;

	if (sec < -((int64_t)1 << 33) || sec >= (int64_t)1 << 33) {
		add_wide(p, seconds, (uint64_t)sec);
		sec = 0;
	}
	return (uint64_t)sec << NSEC_BITS | (uint64_t)t->tv_nsec;
}

static struct timespec unpack_time(const struct packed *p, enum wide seconds,
				   uint64_t v)
{
	struct timespec t = {
		/* An arithmetic shift brings the sign back. */
		.tv_sec = (int64_t)v >> NSEC_BITS,
		.tv_nsec = (long)(v & NSEC_MASK),
	};

	if (p->wide & 1u << seconds)
		t.tv_sec = (int64_t)p->words[seconds];
	return t;
}

static uint64_t nanoseconds(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * BILLION + (uint64_t)t->tv_nsec;
}

static uint64_t change_of_times(const struct timespec *m,
				const struct timespec *c)
{
	bool later = m->tv_sec > c->tv_sec ||
		     (m->tv_sec == c->tv_sec && m->tv_nsec > c->tv_nsec);

	return nanoseconds(later ? m : c);
}

static uint64_t blocks(uint64_t bytes)
{
	return bytes / BLOCK + (bytes % BLOCK != 0);
}

static void pack_sizes(struct packed *p, const struct mdx_attrs *a,
		       int16_t *difference)
{
	int64_t d = (int64_t)(a->space / BLOCK) - (int64_t)blocks(a->size);

	*difference = 0;
	if (a->size > SIZE_MASK)
		add_wide(p, WIDE_SIZE, a->size);
	else
		p->size_ident = a->size;
	if (a->space % BLOCK || d < INT16_MIN || d > INT16_MAX)
		add_wide(p, WIDE_SPACE, a->space);
	else
		*difference = (int16_t)d;
}

static void pack_ident(struct packed *p, struct idents *idents,
		       const struct mdx_attrs *a)
{
	struct ident id = { a->owner, a->group, a->fsid_major, a->fsid_minor };
	int number = ident_number(idents, &id);

	if (number >= 0) {
		p->size_ident |= (uint64_t)number << SIZE_BITS;
		return;
	}
	add_wide(p, WIDE_OWNER, a->owner);
	add_wide(p, WIDE_GROUP, a->group);
	add_wide(p, WIDE_FSID_MAJOR, a->fsid_major);
	add_wide(p, WIDE_FSID_MINOR, a->fsid_minor);
}

void attrs_overlay(struct mdx_attrs *to, const struct mdx_attrs *from,
		   uint32_t mask)
{
#define OVERLAY(bit, field)                      \
	do {                                     \
		if (mask & (bit))                \
			to->field = from->field; \
	} while (0)
	OVERLAY(MDX_TYPE, type);
	OVERLAY(MDX_MODE, mode);
	OVERLAY(MDX_NLINK, nlink);
	OVERLAY(MDX_OWNER, owner);
	OVERLAY(MDX_GROUP, group);
	OVERLAY(MDX_SIZE, size);
	OVERLAY(MDX_SPACE, space);
	OVERLAY(MDX_FSID, fsid_major);
	OVERLAY(MDX_FSID, fsid_minor);
	OVERLAY(MDX_FILEID, fileid);
	OVERLAY(MDX_RDEV, rdev);
	OVERLAY(MDX_ATIME, atime);
	OVERLAY(MDX_BTIME, btime);
	OVERLAY(MDX_CTIME, ctime);
	OVERLAY(MDX_MTIME, mtime);
	OVERLAY(MDX_CHANGE, change);
	OVERLAY(MDX_GENERATION, generation);
#undef OVERLAY
	to->valid |= mask & MDX_NUMBERS;
}

void attrs_pack(struct idents *idents, const struct mdx_attrs *attrs,
		struct packed *p)
{
	struct mdx_attrs a = { 0 };
	int16_t difference;
	uint32_t mode;
	uint64_t nlink;

	/* Values that are not valid are zero, and so cost nothing. */
	attrs_overlay(&a, attrs, attrs->valid & MDX_NUMBERS);
	p->flags = 0;
	p->wide = 0;
	p->size_ident = 0;
	p->fileid = a.fileid;
	p->atime = pack_time(p, WIDE_ATIME, &a.atime);
	p->mtime = pack_time(p, WIDE_MTIME, &a.mtime);
	p->ctime = pack_time(p, WIDE_CTIME, &a.ctime);
	if (a.btime.tv_sec || a.btime.tv_nsec)
		add_wide(p, WIDE_BTIME,
			 pack_time(p, WIDE_BTIME_SECONDS, &a.btime));
	pack_sizes(p, &a, &difference);
	pack_ident(p, idents, &a);
	mode = a.mode;
	nlink = a.nlink;
	if (mode > 0xfff || nlink > 0xffff) {
		add_wide(p, WIDE_MODE_NLINK, (uint64_t)mode << 32 | nlink);
		mode = 0;
		nlink = 0;
	}
	p->mode_nlink_space_valid =
		(uint64_t)(a.type << 12 | mode) | nlink << 16 |
		(uint64_t)(uint16_t)difference << 32 | (uint64_t)a.valid << 48;
	if (a.change && a.change == change_of_times(&a.mtime, &a.ctime))
		p->flags |= PACKED_CHANGE_TIMES;
	else if (a.change)
		add_wide(p, WIDE_CHANGE, a.change);
	if (a.generation)
		add_wide(p, WIDE_GENERATION, a.generation);
	if (a.rdev)
		add_wide(p, WIDE_RDEV, a.rdev);
	if (p->wide)
		p->flags |= PACKED_WIDE;
}

static void unpack_wide(const struct packed *p, struct mdx_attrs *a)
{
	const uint64_t *w = p->words;

#define WIDE(which, field)                   \
	do {                                 \
		if (p->wide & 1u << (which)) \
			a->field = w[which]; \
	} while (0)
	WIDE(WIDE_CHANGE, change);
	WIDE(WIDE_GENERATION, generation);
	WIDE(WIDE_RDEV, rdev);
	WIDE(WIDE_SIZE, size);
	WIDE(WIDE_OWNER, owner);
	WIDE(WIDE_GROUP, group);
	WIDE(WIDE_FSID_MAJOR, fsid_major);
	WIDE(WIDE_FSID_MINOR, fsid_minor);
#undef WIDE
	if (p->wide & 1u << WIDE_MODE_NLINK) {
		a->mode = (uint32_t)(w[WIDE_MODE_NLINK] >> 32);
		a->nlink = (uint32_t)w[WIDE_MODE_NLINK];
	}
	if (p->wide & 1u << WIDE_BTIME)
		a->btime = unpack_time(p, WIDE_BTIME_SECONDS, w[WIDE_BTIME]);
}

void attrs_unpack(const struct idents *idents, const struct packed *p,
		  struct mdx_attrs *a)
{
	uint64_t m = p->mode_nlink_space_valid;
	const struct ident *id =
		ident_get(idents, (uint16_t)(p->size_ident >> SIZE_BITS));

	a->valid = (uint32_t)(m >> 48);
	a->type = (uint32_t)(m >> 12) & 15;
	a->mode = (uint32_t)m & 0xfff;
	a->nlink = (uint32_t)(m >> 16) & 0xffff;
	a->owner = id->owner;
	a->group = id->group;
	a->fsid_major = id->fsid_major;
	a->fsid_minor = id->fsid_minor;
	a->size = p->size_ident & SIZE_MASK;
	a->fileid = p->fileid;
	a->rdev = 0;
	a->change = 0;
	a->generation = 0;
	a->atime = unpack_time(p, WIDE_ATIME, p->atime);
	a->mtime = unpack_time(p, WIDE_MTIME, p->mtime);
	a->ctime = unpack_time(p, WIDE_CTIME, p->ctime);
	a->btime = (struct timespec){ 0, 0 };
	a->acl = NULL;
	a->other = NULL;
	if (p->wide)
		unpack_wide(p, a);
	if (p->flags & PACKED_CHANGE_TIMES)
		a->change = change_of_times(&a->mtime, &a->ctime);
	if (p->wide & 1u << WIDE_SPACE)
		a->space = p->words[WIDE_SPACE];
	else
		a->space = (blocks(a->size) +
			    (uint64_t)(int16_t)(uint16_t)(m >> 32)) *
			   BLOCK;
}
