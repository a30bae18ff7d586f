/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The kinds of change.  Each object has a directory of its own, so that what
 * is measured of one does not tell the server of another.
 */
#ifndef FRESHPROBE_KINDS_H
#define FRESHPROBE_KINDS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ask.h"

enum {
	MOST_HANDLES = 3,
	MOST_KINDS = 16,
	PATH_SIZE = 96
};

struct object;

struct kind {
	const char *name;
	/* Makes the object's files. */
	void (*prepare)(const struct object *o);
	/* Looks the handles up that the questions need. */
	void (*find)(struct object *o);
	/* Whether the answers are those from before the change. */
	bool (*before)(const struct object *o);
	void (*change)(const struct object *o);
	/* Whether all answers are those after it; asks until one is not. */
	bool (*after)(const struct object *o);
};

struct object {
	const struct kind *kind;
	char path[PATH_SIZE]; /* of its directory */
	struct fh directory;
	struct fh handles[MOST_HANDLES];
	uint64_t changed;	/* ns: the change had been made */
	uint64_t asked;		/* ns: the last wrong answer came */
	uint64_t due;		/* ns: when it is to be asked again */
	_Atomic uint64_t right; /* ns: the first right answer came, or 0 */
	atomic_bool again;	/* a later answer was wrong */
	bool unready;		/* wrong answers before the change */
};

/* Ends with one whose name is NULL. */
extern const struct kind kinds[];

#endif
