/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Traces of file-system operations.
 *
 * A trace is text, plain or gzipped, a line for each operation, in the order
 * in which they were completed:
 *
 *     op TAB path TAB outcome TAB bytes TAB process [TAB path2]
 *
 * with trailing empty fields dropped. A path is relative to the root of the
 * tree ("." is the root itself) and lexically normalised; "=N" means the N-th
 * path (from 0) that was spelled out before, path2 counted. The process is a
 * small number, written where it differs from the line above (at first 0).
 *
 * Operations:
 *
 *     S stat, l lstat (of a link itself), F fstat (of an open file)
 *     A access, L readlink, E get an extended attribute, Q statfs
 *     O open to read (bytes: read before the close, from the beginning to
 *       the last one), W open an existing file for writing, C create or open
 *       (bytes: written before the close, in the same way)
 *     D read a directory (bytes: its entries)
 *     M mkdir, U unlink, V rmdir, R rename path to path2
 *     K link path2 to path; without path2: a symbolic link at path
 *     T set attributes, H chdir, X execve, Y fsync
 *
 * Outcomes: + success, - no such name, n not a link (of readlink), x exists,
 * d a component is no directory, r is a directory, ! any other error.
 *
 * F and Y work on an open file and look no name up.
 */
#ifndef OPTRACE_H
#define OPTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPTRACE_OPS	  "SlFALEQOWCDMUVRKTHXY"
#define OPTRACE_OUTCOMES  "+-nxdr!"
#define OPTRACE_ROOT	  0 /* the root's path; always there */
#define OPTRACE_NONE	  UINT32_MAX
#define OPTRACE_MAX_DEPTH 128

struct optrace_path {
	char *text;	  /* from the root; "." for the root */
	const char *name; /* the last component, in text */
	uint32_t parent;  /* OPTRACE_NONE: this is the root */
};

struct optrace_op {
	uint64_t bytes;
	uint32_t path;
	uint32_t path2; /* OPTRACE_NONE: absent */
	uint32_t process;
	char op;
	char outcome;
};

struct optrace {
	struct optrace_path *paths; /* parents before what is in them */
	struct optrace_op *ops;
	size_t npaths;
	size_t nops;
	uint32_t nprocesses; /* they are 0 .. nprocesses-1 */
};

/*
 * Reads a trace, to be freed with optrace_free(), also after an error.
 * `program` begins the line on stderr that tells what is wrong, in which line
 * of the file, and what to do about it.  Returns 0 or a negative errno:
 * -EINVAL for what is no trace.
 */
int optrace_read(struct optrace *trace, const char *file, const char *program);

void optrace_free(struct optrace *trace);

/* Does the operation look its path up? */
static inline bool optrace_looks_up(const struct optrace_op *op)
{
	return op->op != 'F' && op->op != 'Y';
}

/*
 * Does the outcome tell that the path exists?  What a create, rename or link
 * that succeeded makes does from then on.
 */
static inline bool optrace_exists(char outcome)
{
	return outcome == '+' || outcome == 'n' || outcome == 'x' ||
	       outcome == 'r';
}

/* Did the operation change the tree? */
bool optrace_changes(const struct optrace_op *op);

/* The path that a successful create, mkdir, link or rename made;
 * OPTRACE_NONE: it made none. */
uint32_t optrace_made(const struct optrace_op *op);

/* What a perfect coherent cache would still have to ask for. */
struct optrace_ideal {
	size_t lookups;	 /* operations that look a path up */
	size_t positive; /* distinct paths that were found at some time */
	size_t missing;	 /* distinct first missing components */
	size_t changes;	 /* successful creates, writes, removals, ... */
	size_t floor;	 /* the sum of the last three */
};

/* Returns 0 or -ENOMEM. */
int optrace_ideal(const struct optrace *trace, struct optrace_ideal *ideal);

#endif
