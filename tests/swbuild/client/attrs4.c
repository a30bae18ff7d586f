// SPDX-License-Identifier: LGPL-3.0-or-later
#include "attrs4.h"

#include "protocol.h"

#define WORDS	  3
#define BIT(attr) (UINT32_C(1) << (attr) % 32)

#define ALL_0                                                       \
	(BIT(FATTR4_TYPE) | BIT(FATTR4_CHANGE) | BIT(FATTR4_SIZE) | \
	 BIT(FATTR4_FSID) | BIT(FATTR4_FILEID))
#define ALL_1                                                          \
	(BIT(FATTR4_MODE) | BIT(FATTR4_NUMLINKS) | BIT(FATTR4_OWNER) | \
	 BIT(FATTR4_OWNER_GROUP) | BIT(FATTR4_RAWDEV) |                \
	 BIT(FATTR4_SPACE_USED) | BIT(FATTR4_TIME_ACCESS) |            \
	 BIT(FATTR4_TIME_METADATA) | BIT(FATTR4_TIME_MODIFY) |         \
	 BIT(FATTR4_MOUNTED_ON_FILEID))

static const uint32_t sets[][2] = {
	[ATTRS4_ALL] = { ALL_0, ALL_1 },
	[ATTRS4_CHANGED] = { BIT(FATTR4_CHANGE) | BIT(FATTR4_SIZE),
			     BIT(FATTR4_SPACE_USED) |
				     BIT(FATTR4_TIME_METADATA) |
				     BIT(FATTR4_TIME_MODIFY) },
	[ATTRS4_FRESH] = { BIT(FATTR4_CHANGE) | BIT(FATTR4_SIZE),
			   BIT(FATTR4_TIME_METADATA) |
				   BIT(FATTR4_TIME_MODIFY) },
	[ATTRS4_ROOT] = { ALL_0 | BIT(FATTR4_LEASE_TIME) | BIT(FATTR4_MAXREAD) |
				  BIT(FATTR4_MAXWRITE),
			  ALL_1 },
	[ATTRS4_NAMES] = { BIT(FATTR4_RDATTR_ERROR) | BIT(FATTR4_FILEID),
			   BIT(FATTR4_MOUNTED_ON_FILEID) },
	[ATTRS4_ENTRIES] = { ALL_0 | BIT(FATTR4_RDATTR_ERROR) |
				     BIT(FATTR4_FILEHANDLE),
			     ALL_1 },
};

void put_attrs4(struct wire *w, enum attrs4_set set)
{
	put_u32(w, 2);
	put_u32(w, sets[set][0]);
	put_u32(w, sets[set][1]);
}

/* Words that we know; more than those must be zero, for nobody asks. */
static void get_bitmap(struct wire *w, uint32_t *words)
{
	uint32_t count = get_u32(w);

	memset(words, 0, WORDS * sizeof(*words));
	for (uint32_t i = 0; i < count && !w->bad; i++) {
		uint32_t word = get_u32(w);

		if (i < WORDS)
			words[i] = word;
		else if (word)
			w->bad = true;
	}
}

void skip_bitmap4(struct wire *w)
{
	uint32_t words[WORDS];

	get_bitmap(w, words);
}

static void get_time(struct wire *w, struct timespec *time)
{
	time->tv_sec = (time_t)get_u64(w);
	time->tv_nsec = get_u32(w);
}

static void get_handle(struct wire *w, struct attrs4_more *more)
{
	if (!more || !more->fh) {
		skip_opaque(w);
		return;
	}
	get_fh(w, more->fh);
	more->have_fh = true;
}

/* Those of the first word, in the order of their numbers. */
static void get_word_0(struct wire *w, uint32_t word, struct sw_attrs *attrs,
		       struct attrs4_more *more)
{
	struct attrs4_more none = { 0 };

	if (!more)
		more = &none;
	if (word & BIT(FATTR4_TYPE))
		attrs->type = get_u32(w);
	if (word & BIT(FATTR4_CHANGE))
		attrs->change = get_u64(w);
	if (word & BIT(FATTR4_SIZE))
		attrs->size = get_u64(w);
	if (word & BIT(FATTR4_FSID))
		get_bytes(w, 16);
	if (word & BIT(FATTR4_LEASE_TIME))
		more->lease = get_u32(w);
	if (word & BIT(FATTR4_RDATTR_ERROR))
		more->error = get_u32(w);
	if (word & BIT(FATTR4_FILEHANDLE))
		get_handle(w, more);
	if (word & BIT(FATTR4_FILEID))
		attrs->fileid = get_u64(w);
	if (word & BIT(FATTR4_MAXREAD))
		more->maxread = get_u64(w);
	if (word & BIT(FATTR4_MAXWRITE))
		more->maxwrite = get_u64(w);
}

static void get_word_1(struct wire *w, uint32_t word, struct sw_attrs *attrs)
{
	if (word & BIT(FATTR4_MODE))
		attrs->mode = get_u32(w);
	if (word & BIT(FATTR4_NUMLINKS))
		attrs->nlink = get_u32(w);
	if (word & BIT(FATTR4_OWNER))
		skip_opaque(w);
	if (word & BIT(FATTR4_OWNER_GROUP))
		skip_opaque(w);
	if (word & BIT(FATTR4_RAWDEV))
		get_bytes(w, 8);
	if (word & BIT(FATTR4_SPACE_USED))
		attrs->used = get_u64(w);
	if (word & BIT(FATTR4_TIME_ACCESS))
		get_time(w, &attrs->atime);
	if (word & BIT(FATTR4_TIME_METADATA))
		get_time(w, &attrs->ctime);
	if (word & BIT(FATTR4_TIME_MODIFY))
		get_time(w, &attrs->mtime);
	if (word & BIT(FATTR4_MOUNTED_ON_FILEID))
		get_bytes(w, 8);
}

void get_attrs4(struct wire *w, struct sw_attrs *attrs,
		struct attrs4_more *more)
{
	uint32_t words[WORDS];
	const uint8_t *start;
	uint32_t length;

	get_bitmap(w, words);
	length = get_u32(w);
	start = wire_at(w);
	memset(attrs, 0, sizeof(*attrs));
	get_word_0(w, words[0], attrs, more);
	get_word_1(w, words[1], attrs);
	/* An attribute that was not asked for is not read above. */
	if (wire_at(w) - start != (ptrdiff_t)length)
		w->bad = true;
}

static void put_time(struct wire *w, uint32_t set, uint32_t given,
		     const struct timespec *time)
{
	put_u32(w, set & given ? SET_TO_CLIENT_TIME4 : SET_TO_SERVER_TIME4);
	if (!(set & given))
		return;
	put_u64(w, (uint64_t)time->tv_sec);
	put_u32(w, (uint32_t)time->tv_nsec);
}

void put_setattr4(struct wire *w, const struct sw_setattr *set)
{
	uint32_t atime = set->set & (SW_SET_ATIME | SW_SET_ATIME_NOW);
	uint32_t mtime = set->set & (SW_SET_MTIME | SW_SET_MTIME_NOW);
	uint32_t second = (set->set & SW_SET_MODE ? BIT(FATTR4_MODE) : 0) |
			  (atime ? BIT(FATTR4_TIME_ACCESS_SET) : 0) |
			  (mtime ? BIT(FATTR4_TIME_MODIFY_SET) : 0);
	uint8_t *at;
	uint32_t length;

	put_u32(w, second ? 2 : 1);
	put_u32(w, set->set & SW_SET_SIZE ? BIT(FATTR4_SIZE) : 0);
	if (second)
		put_u32(w, second);
	at = wire_at(w);
	put_u32(w, 0);
	if (set->set & SW_SET_SIZE)
		put_u64(w, set->size);
	if (set->set & SW_SET_MODE)
		put_u32(w, set->mode);
	if (atime)
		put_time(w, set->set, SW_SET_ATIME, &set->atime);
	if (mtime)
		put_time(w, set->set, SW_SET_MTIME, &set->mtime);
	length = htonl((uint32_t)(wire_at(w) - at) - 4);
	memcpy(at, &length, sizeof(length));
}
