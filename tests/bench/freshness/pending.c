/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "changes.h"
#include "nfsload.h"

enum {
	SHARE = 20,
	LEAST_NS = 1000000,
	MOST_NS = 2000000000
};

static uint64_t next_due(const struct object *o, uint64_t now)
{
	uint64_t wait = (now - o->changed) / SHARE;

	if (wait < LEAST_NS)
		wait = LEAST_NS;
	return now + (wait < MOST_NS ? wait : MOST_NS);
}

void pending_add(struct pending *p, struct object *o)
{
	o->due = next_due(o, now_ns());
	p->objects[p->count++] = o;
}

uint64_t pending_round(struct pending *p)
{
	uint64_t next = UINT64_MAX;
	unsigned kept = 0;

	for (unsigned i = 0; i < p->count; i++) {
		struct object *o = p->objects[i];
		uint64_t now = now_ns();

		if (o->due <= now) {
			bool right = o->kind->after(o);

			now = now_ns();
			if (right) {
				o->right = now;
				continue;
			}
			o->asked = now;
			if (now - o->changed > p->options->limit)
				continue;
			o->due = next_due(o, now);
		}
		if (o->due < next)
			next = o->due;
		p->objects[kept++] = o;
	}
	p->count = kept;
	return next;
}
