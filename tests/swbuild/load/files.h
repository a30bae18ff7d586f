/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file files.h
 * @brief What one process's files are like now, and which an operation takes
 *
 * The set stays what it was for any length of time: a file that `unlink` took
 * away is made again by `create` (empty; the next write_file fills it), by
 * write_new or by write_file, and directories made by mkdir are removed.  What
 * the mix does not restore by itself is restored by upkeep: operations that a
 * process adds while it waits for its next one, and that are counted apart.
 */
#ifndef SWBUILD_FILES_H
#define SWBUILD_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "ops.h"
#include "shape.h"

#define FILES_LIMIT  8 /* files that are away, or empty, or directories made */
#define QUEUE_ROOM   (2 * FILES_LIMIT)
#define FILES_UPKEEP 3 /* operations after one of the mix, at most */
#define NO_FILE	     UINT32_MAX

struct number_queue {
	uint32_t numbers[QUEUE_ROOM];
	unsigned first;
	unsigned count;
};

struct files {
	const struct shape *shape;
	uint32_t process;
	uint64_t random;	   /* a random.h sequence */
	struct number_queue away;  /* unlinked, to be made again */
	struct number_queue empty; /* made again, not yet written */
	struct number_queue made;  /* directories of mkdir */
	uint32_t directories_made; /* so far: their names do not repeat */
};

/** What an operation is to be done with. */
struct choice {
	enum op op;
	uint32_t directory; /* of the process */
	char name[NAME_ROOM];
	uint32_t file; /* or NO_FILE, or a made directory's number */
	uint32_t size; /* bytes that it has, or is to have */
	bool absent;   /* the name does not exist (yet) */
};

void files_init(struct files *f, const struct shape *shape, uint32_t process);

/** Chooses for an operation; files_done() must follow. */
void files_choose(struct files *f, enum op op, struct choice *choice);

/** Takes note of what became of it. */
void files_done(struct files *f, const struct choice *choice, bool succeeded);

/**
 * @brief What must be done to keep the set as it is
 *
 * After each operation, until it is OP_NONE, but FILES_UPKEEP times at most: a
 * server that refuses must not keep a process at it.
 *
 * @param[in] makes_files  The mix needs a file that is away
 *
 * @return OP_NONE if nothing needs to be done now.
 */
enum op files_upkeep(const struct files *f, bool makes_files);

/** What must be done to restore the set at the end; OP_NONE: it is whole. */
enum op files_restore(const struct files *f);

#endif
