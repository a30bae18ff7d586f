// SPDX-License-Identifier: LGPL-3.0-or-later
#include "order.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum use {
	NO_USE,
	USE,
	CHANGE
};

/* The paths of one operation. */
struct touched {
	uint32_t paths[4 * OPTRACE_MAX_DEPTH];
	enum use uses[4 * OPTRACE_MAX_DEPTH];
	size_t count;
};

/* What has been queued at a path so far. */
struct queue {
	uint32_t total;
	uint32_t before_uses; /* of them, before the present row of uses */
	bool changed;	      /* the last one is a change */
	bool matters;	      /* there is a change at all */
};

static void touch(struct touched *t, uint32_t path, enum use use)
{
	for (size_t i = 0; i < t->count; i++) {
		if (t->paths[i] == path) {
			if (use > t->uses[i])
				t->uses[i] = use;
			return;
		}
	}
	if (t->count == sizeof(t->paths) / sizeof(t->paths[0]))
		return;
	t->paths[t->count] = path;
	t->uses[t->count++] = use;
}

static void walk(struct touched *t, const struct optrace *trace, uint32_t path)
{
	for (; path != OPTRACE_ROOT; path = trace->paths[path].parent)
		touch(t, path, USE);
}

static void touched_by(struct touched *t, const struct plan *plan, uint32_t i)
{
	const struct optrace_op *op = &plan->trace->ops[i];
	const struct plan_step *steps;
	size_t nsteps;

	t->count = 0;
	if (optrace_looks_up(op))
		walk(t, plan->trace, op->path);
	else
		touch(t, op->path, USE);
	if (op->path2 != OPTRACE_NONE)
		walk(t, plan->trace, op->path2);
	if (op->outcome == '+') {
		if (strchr("CWMUVR", op->op) != NULL ||
		    (op->op == 'K' && op->path2 == OPTRACE_NONE))
			touch(t, op->path, CHANGE);
		if (optrace_made(op) != OPTRACE_NONE)
			touch(t, optrace_made(op), CHANGE);
	}
	steps = plan_hidden(plan, i, &nsteps);
	for (size_t s = 0; s < nsteps; s++)
		touch(t, steps[s].path, CHANGE);
}

static uint32_t enqueue(struct queue *q, enum use use)
{
	uint32_t need;

	if (use == CHANGE) {
		need = q->total;
		q->changed = true;
	} else {
		if (q->changed)
			q->before_uses = q->total;
		need = q->before_uses;
		q->changed = false;
	}
	q->total++;
	return need;
}

/* What is never changed needs no queue. */
static size_t count_waits(const struct plan *plan, struct queue *queues)
{
	struct touched t;
	size_t count = 0;

	for (uint32_t i = 0; i < plan->trace->nops; i++) {
		touched_by(&t, plan, i);
		for (size_t p = 0; p < t.count; p++)
			queues[t.paths[p]].matters |= t.uses[p] == CHANGE;
	}
	for (uint32_t i = 0; i < plan->trace->nops; i++) {
		touched_by(&t, plan, i);
		for (size_t p = 0; p < t.count; p++)
			count += queues[t.paths[p]].matters;
	}
	return count;
}

static void fill(struct order *order, const struct plan *plan,
		 struct queue *queues)
{
	struct touched t;
	size_t count = 0;

	for (uint32_t i = 0; i < plan->trace->nops; i++) {
		order->first[i] = count;
		touched_by(&t, plan, i);
		for (size_t p = 0; p < t.count; p++) {
			struct queue *q = &queues[t.paths[p]];

			if (q->matters)
				order->waits[count++] = (struct order_wait){
					.path = t.paths[p],
					.need = enqueue(q, t.uses[p]),
				};
		}
	}
	order->first[plan->trace->nops] = count;
}

static void chain(struct order *order, const struct optrace *trace)
{
	for (uint32_t p = 0; p < trace->nprocesses; p++)
		order->start[p] = OPTRACE_NONE;
	for (size_t i = trace->nops; i-- > 0;) {
		uint32_t *start = &order->start[trace->ops[i].process];

		order->next[i] = *start;
		*start = (uint32_t)i;
	}
}

int order_init(struct order *order, const struct plan *plan)
{
	const struct optrace *trace = plan->trace;
	struct queue *queues = calloc(trace->npaths, sizeof(*queues));

	*order = (struct order){
		.first = malloc((trace->nops + 1) * sizeof(*order->first)),
		.next = malloc((trace->nops + 1) * sizeof(*order->next)),
		.start =
			malloc((trace->nprocesses + 1) * sizeof(*order->start)),
	};
	if (queues == NULL)
		return -ENOMEM;
	order->waits =
		malloc((count_waits(plan, queues) + 1) * sizeof(*order->waits));
	if (order->first == NULL || order->next == NULL ||
	    order->start == NULL || order->waits == NULL) {
		free(queues);
		return -ENOMEM;
	}
	fill(order, plan, queues);
	chain(order, trace);
	free(queues);
	return 0;
}

void order_free(struct order *order)
{
	free(order->waits);
	free(order->first);
	free(order->next);
	free(order->start);
	*order = (struct order){ 0 };
}
