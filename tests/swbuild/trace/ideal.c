// SPDX-License-Identifier: LGPL-3.0-or-later
/* What operations do to a tree, and the least that they need of a backend. */
#include "optrace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	FOUND = 1,	 /* the path was found at some time */
	KNOWN_ABOVE = 2, /* something in it was */
	ABSENT = 4,	 /* the path was not found at some time */
	MISSING = 8,	 /* it is the first missing component of such a path */
};

bool optrace_changes(const struct optrace_op *op)
{
	return op->outcome == '+' && strchr("CWMUVRKT", op->op) != NULL;
}

uint32_t optrace_made(const struct optrace_op *op)
{
	if (op->outcome != '+')
		return OPTRACE_NONE;
	switch (op->op) {
	case 'C':
	case 'M':
		return op->path;
	case 'R':
		return op->path2;
	case 'K':
		return op->path2 != OPTRACE_NONE ? op->path2 : op->path;
	default:
		return OPTRACE_NONE;
	}
}

/* The uppermost component that was never found; or the path itself, which
 * was there at another time. */
static uint32_t first_missing(const struct optrace *t, const uint8_t *marks,
			      uint32_t path)
{
	uint32_t missing = path;

	for (uint32_t p = t->paths[path].parent;
	     p != OPTRACE_NONE && p != OPTRACE_ROOT; p = t->paths[p].parent) {
		if (!(marks[p] & (FOUND | KNOWN_ABOVE)))
			missing = p;
	}
	return missing;
}

int optrace_ideal(const struct optrace *trace, struct optrace_ideal *ideal)
{
	uint8_t *marks = calloc(trace->npaths, 1);

	*ideal = (struct optrace_ideal){ 0 };
	if (marks == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < trace->nops; i++) {
		const struct optrace_op *op = &trace->ops[i];

		if (!optrace_looks_up(op))
			continue;
		ideal->lookups++;
		ideal->changes += optrace_changes(op);
		/* Other errors are of an object that is there. */
		if (op->outcome == '-' || op->outcome == 'd')
			marks[op->path] |= ABSENT;
		else
			marks[op->path] |= FOUND;
	}
	/* Parents come before their children. */
	for (size_t p = trace->npaths - 1; p > OPTRACE_ROOT; p--) {
		if (marks[p] & (FOUND | KNOWN_ABOVE))
			marks[trace->paths[p].parent] |= KNOWN_ABOVE;
	}
	for (uint32_t p = 0; p < trace->npaths; p++) {
		if (marks[p] & ABSENT)
			marks[first_missing(trace, marks, p)] |= MISSING;
	}
	for (size_t p = 0; p < trace->npaths; p++) {
		ideal->positive += (marks[p] & FOUND) != 0;
		ideal->missing += (marks[p] & MISSING) != 0;
	}
	ideal->floor = ideal->positive + ideal->missing + ideal->changes;
	free(marks);
	return 0;
}
