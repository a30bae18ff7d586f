/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file children.h
 * @brief The paths of a trace by their directories
 */
#ifndef SWBUILD_CHILDREN_H
#define SWBUILD_CHILDREN_H

#include "optrace.h"

struct children {
	const struct optrace *trace;
	uint32_t *sorted; /* all paths but the root, by parent and name */
	uint32_t *first;  /* of each path: where in sorted its children begin;
			   * those of path p end where those of p + 1 begin */
};

/** @return 0 or -ENOMEM. */
int children_init(struct children *c, const struct optrace *trace);

void children_free(struct children *c);

/** The path of a name of `length` bytes in a directory, or OPTRACE_NONE. */
uint32_t children_find(const struct children *c, uint32_t directory,
		       const char *name, size_t length);

#endif
