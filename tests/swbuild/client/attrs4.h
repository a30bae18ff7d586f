/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* NFSv4's attributes: fattr4 and bitmap4. */
#ifndef SWBUILD_ATTRS4_H
#define SWBUILD_ATTRS4_H

#include "wire.h"

/* What is asked for; ATTRS4_ALL and ATTRS4_CHANGED as the Linux client does. */
enum attrs4_set {
	ATTRS4_ALL,
	ATTRS4_CHANGED, /* what a WRITE changes */
	ATTRS4_FRESH,	/* whether anything has changed */
	ATTRS4_ROOT,	/* all, and what the server grants */
	ATTRS4_NAMES,	/* READDIR: little */
	ATTRS4_ENTRIES, /* READDIR: all, and handles */
};

void put_attrs4(struct wire *w, enum attrs4_set set);

/* What struct sw_attrs does not have; what was not told is left as it was. */
struct attrs4_more {
	uint32_t lease; /* seconds */
	uint64_t maxread;
	uint64_t maxwrite;
	uint32_t error; /* of this entry */
	bool have_fh;
	struct sw_fh *fh; /* NULL: left out */
};

/* Reads a fattr4; more may be NULL. */
void get_attrs4(struct wire *w, struct sw_attrs *attrs,
		struct attrs4_more *more);

/* Writes a fattr4 of what is to be set. */
void put_setattr4(struct wire *w, const struct sw_setattr *set);

void skip_bitmap4(struct wire *w);

#endif
