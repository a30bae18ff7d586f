/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file plan.h
 * @brief What a trace needs to be there, and when
 *
 * The trace is gone through in its order, with a model of the tree.  What an
 * operation finds and nothing in the trace has made must exist beforehand; a
 * file's size is the largest number of bytes that was read of it before it was
 * written.
 *
 * A trace may leave out the processes that made or removed something: a path
 * that did not exist is suddenly there.  Then somebody unseen has made it, and
 * the replay does so after the last operation that shows the old state (a
 * hidden step).  Such steps are counted, and no part of what is measured.
 *
 * What the trace cannot tell: where a symbolic link leads, so one that is used
 * as a file or directory is made as such.
 */
#ifndef SWBUILD_PLAN_H
#define SWBUILD_PLAN_H

#include <stdbool.h>

#include "children.h"
#include "optrace.h"

enum plan_kind {
	PLAN_ABSENT,
	PLAN_FILE,
	PLAN_DIRECTORY,
	PLAN_LINK
};

struct plan_step {
	uint64_t size; /* of a file, bytes */
	uint32_t path;
	uint32_t after;	     /* an operation; OPTRACE_NONE: beforehand */
	uint32_t object;     /* the planner's */
	uint32_t number;     /* the same */
	enum plan_kind kind; /* PLAN_ABSENT: it is removed */
};

struct plan {
	const struct optrace *trace;
	struct children children;
	/* What exists beforehand, directories before what is in them. */
	struct plan_step *before;
	size_t nbefore;
	/* By the operation they come after. */
	struct plan_step *hidden;
	size_t nhidden;
	/* What each path is whenever it is there: an enum plan_kind. */
	uint8_t *kinds;
	/* Operations on an open file that has no name any more: they are not
	 * replayed, for no file is held open. */
	bool *nameless;
	size_t nnameless;
	/* Operations that contradict the ones before and for which no hidden
	 * step can be the reason. */
	size_t contradictions;
};

/** @return 0 or -ENOMEM; to be freed in any case. */
int plan_init(struct plan *plan, const struct optrace *trace);

void plan_free(struct plan *plan);

/** The first hidden step after an operation; *count: how many. */
const struct plan_step *plan_hidden(const struct plan *plan, uint32_t op,
				    size_t *count);

#endif
