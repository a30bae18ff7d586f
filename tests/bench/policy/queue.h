/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Doubly linked queues of keys.  The links of all keys are one array, so a
 * key is in one queue at most.
 */
#ifndef POLICY_QUEUE_H
#define POLICY_QUEUE_H

#include "policy.h"

struct link {
	uint32_t newer;
	uint32_t older;
};

struct queue {
	uint32_t newest;
	uint32_t oldest;
	uint32_t length;
};

#define QUEUE_EMPTY ((struct queue){ NO_KEY, NO_KEY, 0 })

static inline void queue_push(struct queue *q, struct link *links, uint32_t key)
{
	links[key] = (struct link){ .newer = NO_KEY, .older = q->newest };
	if (q->newest != NO_KEY)
		links[q->newest].newer = key;
	else
		q->oldest = key;
	q->newest = key;
	q->length++;
}

static inline void queue_take(struct queue *q, struct link *links, uint32_t key)
{
	const struct link *l = &links[key];

	if (l->newer != NO_KEY)
		links[l->newer].older = l->older;
	else
		q->newest = l->older;
	if (l->older != NO_KEY)
		links[l->older].newer = l->newer;
	else
		q->oldest = l->newer;
	q->length--;
}

#endif
