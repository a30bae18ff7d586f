/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * freshprobe storm: very many changes a second, and whether the server's
 * answers are right afterwards.
 */
#ifndef FRESHPROBE_STORM_H
#define FRESHPROBE_STORM_H

#include <stdbool.h>
#include <stdint.h>

#include "ask.h"
#include "kinds.h"

enum {
	STORM_FILES = 250, /* of a directory, whose attributes change */
	STORM_NAMES = 100, /* of a directory, made and removed */
	STORM_MOVED = 50   /* of a directory, renamed there and back */
};

struct storm_options {
	const char *export;
	const char *directory;
	uint64_t duration; /* ns */
	double rate;	   /* changes a second of all threads */
	unsigned threads;
	unsigned directories;
	int freeze;	/* pid of the server, to be stopped for 2 s; 0 */
	uint64_t grace; /* ns from the last change to the check */
};

struct storm_directory {
	char path[PATH_SIZE];
	struct fh fh;
	struct fh files[STORM_FILES];
	bool made[STORM_NAMES];
	bool moved[STORM_MOVED];
};

struct storm_path {
	char text[PATH_SIZE + 16];
	size_t name; /* where its last part is */
};

/* Name `number` of a sort: 'f' a file, 'n' a name, 'a' and 'b' the moved. */
struct storm_path storm_path(const struct storm_directory *d, char sort,
			     unsigned number);

/* What was found when all was compared with the files. */
struct storm_result {
	unsigned checked;
	unsigned attributes; /* wrong ones */
	unsigned names;
	unsigned listings;
};

int storm_run(const struct storm_options *options);

/* Finds all handles and has the server know everything. */
void storm_find(struct storm_directory *d, const struct fh *root);

/* Asks for something at random; whatever the answer is. */
void storm_ask(const struct storm_directory *d, uint64_t random);

void storm_check(const struct storm_directory *d, struct storm_result *result);

#endif
