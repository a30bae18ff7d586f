/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file order.h
 * @brief Which operations of different processes must keep the trace's order
 *
 * A process does its operations one after another.  Of two operations of
 * different processes the later one waits for the earlier one where one of
 * them changes whether a path is there (or what is written in it), and the
 * other one uses that path or looks up something below it.  Operations that
 * only use a path may change places.
 *
 * So each path has a queue, in the trace's order: a change waits for all that
 * is before it, a use for the last change before it.  An operation waits only
 * for earlier ones, so the earliest one that has not begun can always begin.
 */
#ifndef SWBUILD_ORDER_H
#define SWBUILD_ORDER_H

#include "optrace.h"
#include "plan.h"

/** An operation's place at one path. */
struct order_wait {
	uint32_t path;
	uint32_t need; /* operations at this path that must have ended */
};

struct order {
	struct order_wait *waits;
	size_t *first;	 /* of operation i: waits[first[i]] to [first[i + 1]] */
	uint32_t *next;	 /* its process's next operation, or OPTRACE_NONE */
	uint32_t *start; /* of each process, or OPTRACE_NONE */
};

/** @return 0 or -ENOMEM; to be freed in any case. */
int order_init(struct order *order, const struct plan *plan);

void order_free(struct order *order);

#endif
