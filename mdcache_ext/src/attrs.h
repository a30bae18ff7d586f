/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The packed form of attributes. It is exact: what has no place in it goes
 * into 64-bit words of the entry's "aside", a block that ordinary files do not
 * have.
 *
 *   bytes
 *   8	fileid
 *   24	atime, mtime, ctime: 34 bits of seconds (signed), 30 of nanoseconds
 *   6	size, to 256 TiB
 *   2	identity: owner, group, fsid (ident.h)
 *   2	mode (12 bits) and type (4)
 *   2	nlink
 *   2	space, as the difference from the size in blocks of 512 bytes
 *   2	valid, the numeric part
 *   1	flags
 *
 * The change attribute needs no place when it is the later of mtime and ctime
 * in nanoseconds, as of local file systems under Ganesha. Creation time, device
 * numbers and generation need none while they are zero.
 */
#ifndef MDX_ATTRS_H
#define MDX_ATTRS_H

#include <stdbool.h>
#include <stdint.h>

#include "ident.h"
#include "mdcache_ext.h"

/* Words of the aside, in the order in which they are stored. */
enum wide {
	WIDE_CHANGE,
	WIDE_BTIME,
	WIDE_GENERATION,
	WIDE_RDEV,
	WIDE_SIZE,
	WIDE_SPACE,
	WIDE_OWNER,
	WIDE_GROUP,
	WIDE_FSID_MAJOR,
	WIDE_FSID_MINOR,
	WIDE_MODE_NLINK,
	WIDE_ATIME, /* seconds, if beyond 34 bits; likewise the next three */
	WIDE_CTIME,
	WIDE_MTIME,
	WIDE_BTIME_SECONDS,
	WIDE_COUNT
};

enum packed_flags {
	PACKED_CHANGE_TIMES = 1 << 0, /* change is derived from the times */
	PACKED_ACL = 1 << 1,	      /* ACL is known (maybe to be none) */
	PACKED_OTHER = 1 << 2,	      /* likewise */
	PACKED_WIDE = 1 << 3,	      /* some values are aside */
};

struct packed {
	uint64_t fileid;
	uint64_t atime;
	uint64_t mtime;
	uint64_t ctime;
	uint64_t size_ident;
	uint64_t mode_nlink_space_valid;
	uint8_t flags; /* PACKED_CHANGE_TIMES, PACKED_WIDE */
	uint16_t wide; /* which words follow, 1 << enum wide */
	uint64_t words[WIDE_COUNT];
};

/* Whether the numbers are within what the interface allows. */
bool attrs_sane(const struct mdx_attrs *attrs);
/* Packs the numeric attributes that attrs->valid names (others are lost). */
void attrs_pack(struct idents *idents, const struct mdx_attrs *attrs,
		struct packed *packed);
/* The inverse; sets the numeric part of valid, and acl and other to NULL. */
void attrs_unpack(const struct idents *idents, const struct packed *packed,
		  struct mdx_attrs *attrs);
/* Copies the groups that `mask` names. */
void attrs_overlay(struct mdx_attrs *to, const struct mdx_attrs *from,
		   uint32_t mask);

#endif
