/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * freshprobe changes: how long after a change the server's answers are right.
 */
#ifndef FRESHPROBE_CHANGES_H
#define FRESHPROBE_CHANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "kinds.h"

struct changes_options {
	const char *export;    /* pseudo path */
	const char *directory; /* the export's root, or the second client's */
	const char *only;      /* the names of kinds, or NULL for all */
	unsigned count;	       /* changes of each kind */
	unsigned askers;       /* more clients that ask the same */
	unsigned first;	       /* number of the first, for their names */
	uint64_t spacing;      /* ns between questions; 0: at once */
	uint64_t patience;     /* ns before the next change is made anyway */
	uint64_t limit;	       /* ns after which an answer stays wrong */
	uint64_t settle;       /* ns between making the files and asking */
};

/* Measures one batch and prints a line of JSON. */
int changes_run(const struct changes_options *options);

/* ---- changer.c: a thread that makes changes while others are asked ---- */

void changer_start(void);

/* Makes the object's change a moment (0.5 to 2.5 ms) from now. */
void changer_begin(struct object *o);

/* Whether it has been made; o->changed is when the call returned. */
bool changer_done(void);
void changer_stop(void);

/* ---- pending.c: objects whose answers are still wrong ---- */

struct pending {
	struct object **objects;
	unsigned count;
	const struct changes_options *options;
};

void pending_add(struct pending *p, struct object *o);

/*
 * Asks for each object that is due, rarer the longer it is wrong (each 20th of
 * the time, at least each 2 s), and drops those that are right or have
 * reached the limit.  When the next one is due, or UINT64_MAX.
 */
uint64_t pending_round(struct pending *p);

#endif
