// SPDX-License-Identifier: LGPL-3.0-or-later
#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_OBJECT UINT32_MAX

enum belief {
	UNKNOWN,
	ABSENT,
	PRESENT
};

struct object {
	uint64_t size;
	bool written; /* reads do not tell what its size was beforehand */
	enum plan_kind kind;
};

struct state {
	uint32_t since;	 /* the last operation that shows this belief */
	uint32_t made;	 /* of PRESENT: by which; OPTRACE_NONE: beforehand */
	uint32_t object; /* of PRESENT */
	enum belief belief;
};

struct model {
	struct plan *plan;
	const struct optrace *trace;
	struct state *states;
	struct object *objects;
	size_t nobjects;
	uint32_t op; /* the present one */
	bool failed; /* no memory */
};

static bool is(const struct optrace_op *op, const char *letters)
{
	return strchr(letters, op->op) != NULL;
}

/* Does the operation show that its path exists (at first)? */
static bool shows_presence(const struct optrace_op *op)
{
	if (op->outcome == '!')
		return is(op, "SlALEQODHXTW");
	if (op->outcome == '+' &&
	    (is(op, "CM") || (op->op == 'K' && op->path2 == OPTRACE_NONE)))
		return false;
	return optrace_exists(op->outcome);
}

/* ---- kinds ---- */

enum {
	USED_AS_DIRECTORY = 1,
	USED_AS_FILE = 2,
	USED_AS_LINK = 4,
};

static uint8_t use_of(const struct optrace_op *op)
{
	if (op->outcome == 'r')
		return USED_AS_DIRECTORY;
	if (op->op == 'M' && op->outcome == 'x')
		return USED_AS_DIRECTORY;
	if (op->outcome != '+')
		return 0;
	if (is(op, "DMHV"))
		return USED_AS_DIRECTORY;
	if (is(op, "WC") || (op->op == 'O' && op->bytes != 0))
		return USED_AS_FILE;
	if (op->op == 'L' || (op->op == 'K' && op->path2 == OPTRACE_NONE))
		return USED_AS_LINK;
	return 0;
}

static void use_directories(const struct optrace *t, uint8_t *uses,
			    uint32_t path)
{
	for (path = t->paths[path].parent; path != OPTRACE_NONE;
	     path = t->paths[path].parent)
		uses[path] |= USED_AS_DIRECTORY;
}

static int find_kinds(struct plan *plan)
{
	const struct optrace *t = plan->trace;
	uint8_t *uses = calloc(t->npaths, 1);

	plan->kinds = calloc(t->npaths, 1);
	if (uses == NULL || plan->kinds == NULL) {
		free(uses);
		return -ENOMEM;
	}
	/* From the end: what is renamed is what it is used as later. */
	for (size_t i = t->nops; i-- > 0;) {
		const struct optrace_op *op = &t->ops[i];

		uses[op->path] |= use_of(op);
		if (op->op == 'R' && op->outcome == '+')
			uses[op->path] |= uses[op->path2];
		/* A missing name is in a directory, if that is there. */
		if (shows_presence(op) ||
		    (op->outcome == '-' && optrace_looks_up(op)))
			use_directories(t, uses, op->path);
		if (optrace_made(op) != OPTRACE_NONE)
			use_directories(t, uses, optrace_made(op));
	}
	for (size_t p = 0; p < t->npaths; p++) {
		if (uses[p] & USED_AS_DIRECTORY || p == OPTRACE_ROOT)
			plan->kinds[p] = PLAN_DIRECTORY;
		else if (uses[p] == USED_AS_LINK)
			plan->kinds[p] = PLAN_LINK;
		else
			plan->kinds[p] = PLAN_FILE;
	}
	free(uses);
	return 0;
}

/* ---- the model ---- */

/* Make room for one more in an array that doubles at powers of two. */
static bool grow(struct model *m, void *array_of_pointer, size_t count,
		 size_t size)
{
	void **array = array_of_pointer;
	void *grown;

	if (count & (count - 1))
		return true;
	grown = realloc(*array, (count ? count * 2 : 1) * size);
	if (grown == NULL) {
		m->failed = true;
		return false;
	}
	*array = grown;
	return true;
}

static uint32_t new_object(struct model *m, enum plan_kind kind)
{
	if (!grow(m, &m->objects, m->nobjects, sizeof(*m->objects)))
		return NO_OBJECT;
	m->objects[m->nobjects] = (struct object){ .kind = kind };
	return (uint32_t)m->nobjects++;
}

static void add_step(struct model *m, uint32_t path, uint32_t after,
		     enum plan_kind kind)
{
	struct plan *plan = m->plan;
	struct plan_step step = { .path = path,
				  .after = after,
				  .object = m->states[path].object,
				  .number = (uint32_t)plan->nhidden,
				  .kind = kind };

	if (after == OPTRACE_NONE) {
		if (grow(m, &plan->before, plan->nbefore, sizeof(step)))
			plan->before[plan->nbefore++] = step;
	} else if (grow(m, &plan->hidden, plan->nhidden, sizeof(step))) {
		plan->hidden[plan->nhidden++] = step;
	}
}

static void set_present(struct model *m, uint32_t path, uint32_t made,
			uint32_t object)
{
	m->states[path] = (struct state){ .belief = PRESENT,
					  .since = m->op,
					  .made = made,
					  .object = object };
}

static void set_absent(struct model *m, uint32_t path)
{
	m->states[path] = (struct state){ .belief = ABSENT,
					  .since = m->op,
					  .object = NO_OBJECT };
}

/* The later of two operations; OPTRACE_NONE is before all. */
static uint32_t later(uint32_t a, uint32_t b)
{
	if (a == OPTRACE_NONE || b == OPTRACE_NONE)
		return a == OPTRACE_NONE ? b : a;
	return a > b ? a : b;
}

/* The trace shows that the path is there: if it was not, it was made unseen
 * after the last sign of that. */
static void show_present(struct model *m, uint32_t path)
{
	struct state *state = &m->states[path];
	uint32_t after;

	if (state->belief == PRESENT) {
		/* Also of the directories above. */
		for (; path != OPTRACE_NONE;
		     path = m->trace->paths[path].parent)
			m->states[path].since = m->op;
		return;
	}
	show_present(m, m->trace->paths[path].parent);
	after = m->states[m->trace->paths[path].parent].made;
	if (state->belief == ABSENT)
		after = later(after, state->since);
	set_present(m, path, after, new_object(m, m->plan->kinds[path]));
	add_step(m, path, after, m->plan->kinds[path]);
}

static bool has_children(const struct model *m, uint32_t path)
{
	const struct children *c = &m->plan->children;

	for (uint32_t i = c->first[path]; i < c->first[path + 1]; i++) {
		if (m->states[c->sorted[i]].belief == PRESENT)
			return true;
	}
	return false;
}

/* The trace shows that the path is not there. */
static void show_absent(struct model *m, uint32_t path)
{
	struct state *state = &m->states[path];

	for (uint32_t p = m->trace->paths[path].parent; p != OPTRACE_NONE;
	     p = m->trace->paths[p].parent) {
		if (m->states[p].belief == ABSENT) {
			m->states[p].since = m->op;
			return;
		}
	}
	if (state->belief == PRESENT) {
		if (has_children(m, path)) {
			m->plan->contradictions++;
			return;
		}
		add_step(m, path, state->since, PLAN_ABSENT);
	}
	set_absent(m, path);
}

/* What the trace itself makes. */
static void make(struct model *m, uint32_t path, enum plan_kind kind)
{
	show_present(m, m->trace->paths[path].parent);
	show_absent(m, path);
	set_present(m, path, m->op, new_object(m, kind));
}

static void remove_path(struct model *m, uint32_t path)
{
	const struct children *c = &m->plan->children;

	for (uint32_t i = c->first[path]; i < c->first[path + 1]; i++) {
		if (m->states[c->sorted[i]].belief == PRESENT) {
			m->plan->contradictions++;
			remove_path(m, c->sorted[i]);
		}
	}
	set_absent(m, path);
}

/* What is below a directory goes with it. */
static void move_children(struct model *m, uint32_t from, uint32_t to)
{
	const struct children *c = &m->plan->children;

	for (uint32_t i = c->first[to]; i < c->first[to + 1]; i++)
		m->states[c->sorted[i]].belief = UNKNOWN;
	for (uint32_t i = c->first[from]; i < c->first[from + 1]; i++) {
		uint32_t child = c->sorted[i];
		const char *name = m->trace->paths[child].name;
		uint32_t moved = children_find(c, to, name, strlen(name));

		if (moved != OPTRACE_NONE) {
			m->states[moved] = m->states[child];
			m->states[moved].since = m->op;
			move_children(m, child, moved);
		}
		set_absent(m, child);
	}
}

static void rename_path(struct model *m, uint32_t from, uint32_t to)
{
	uint32_t object = m->states[from].object;

	show_present(m, m->trace->paths[to].parent);
	if (from == to)
		return;
	set_present(m, to, m->op, object);
	move_children(m, from, to);
	set_absent(m, from);
}

/* Bytes read tell a size, until somebody has written. */
static void use_data(struct model *m, const struct optrace_op *op)
{
	uint32_t number = m->states[op->path].object;
	struct object *object;

	if (number == NO_OBJECT || op->bytes == 0)
		return;
	object = &m->objects[number];
	if (op->op != 'O')
		object->written = true;
	else if (!object->written && op->bytes > object->size)
		object->size = op->bytes;
}

static void change(struct model *m, const struct optrace_op *op)
{
	switch (op->op) {
	case 'C':
		if (m->states[op->path].belief != PRESENT)
			make(m, op->path, PLAN_FILE);
		else
			show_present(m, op->path);
		break;
	case 'M':
		make(m, op->path, PLAN_DIRECTORY);
		break;
	case 'K':
		if (op->path2 == OPTRACE_NONE) {
			/* Where a link leads is not told: see plan.h. */
			make(m, op->path, m->plan->kinds[op->path]);
			break;
		}
		make(m, op->path2, PLAN_FILE);
		m->states[op->path2].object = m->states[op->path].object;
		break;
	case 'R':
		rename_path(m, op->path, op->path2);
		break;
	case 'U':
	case 'V':
		remove_path(m, op->path);
		break;
	default:
		break;
	}
	if (is(op, "OCW"))
		use_data(m, op);
}

static void follow(struct model *m, const struct optrace_op *op)
{
	if (!optrace_looks_up(op)) {
		if (m->states[op->path].belief == UNKNOWN)
			show_present(m, op->path);
		if (m->states[op->path].belief == ABSENT) {
			m->plan->nameless[m->op] = true;
			m->plan->nnameless++;
		}
		return;
	}
	if (shows_presence(op)) {
		show_present(m, op->path);
		if (op->outcome == 'x' && op->path2 != OPTRACE_NONE)
			show_present(m, op->path2);
	} else if (op->outcome == '-') {
		/* A create fails so when its directory is missing. */
		if (is(op, "CMK") && op->path != OPTRACE_ROOT)
			show_absent(m, m->trace->paths[op->path].parent);
		else
			show_absent(m, op->path);
	}
	if (op->outcome == '+')
		change(m, op);
}

static int by_operation(const void *left, const void *right)
{
	const struct plan_step *a = left;
	const struct plan_step *b = right;

	if (a->after != b->after)
		return a->after < b->after ? -1 : 1;
	return a->number < b->number ? -1 : 1;
}

static void finish(struct model *m)
{
	struct plan *plan = m->plan;

	if (plan->nhidden != 0)
		qsort(plan->hidden, plan->nhidden, sizeof(*plan->hidden),
		      by_operation);
	for (size_t i = 0; i < plan->nbefore; i++)
		plan->before[i].size = m->objects[plan->before[i].object].size;
	for (size_t i = 0; i < plan->nhidden; i++) {
		if (plan->hidden[i].kind != PLAN_ABSENT)
			plan->hidden[i].size =
				m->objects[plan->hidden[i].object].size;
	}
}

int plan_init(struct plan *plan, const struct optrace *trace)
{
	struct model m = { .plan = plan, .trace = trace };

	*plan = (struct plan){ .trace = trace };
	plan->nameless = calloc(trace->nops + 1, sizeof(*plan->nameless));
	m.states = calloc(trace->npaths, sizeof(*m.states));
	m.failed = plan->nameless == NULL || m.states == NULL ||
		   children_init(&plan->children, trace) != 0 ||
		   find_kinds(plan) != 0;
	if (!m.failed)
		set_present(&m, OPTRACE_ROOT, OPTRACE_NONE,
			    new_object(&m, PLAN_DIRECTORY));
	for (m.op = 0; m.op < trace->nops && !m.failed; m.op++)
		follow(&m, &trace->ops[m.op]);
	if (!m.failed)
		finish(&m);
	free(m.states);
	free(m.objects);
	return m.failed ? -ENOMEM : 0;
}

void plan_free(struct plan *plan)
{
	children_free(&plan->children);
	free(plan->before);
	free(plan->hidden);
	free(plan->kinds);
	free(plan->nameless);
	*plan = (struct plan){ 0 };
}

const struct plan_step *plan_hidden(const struct plan *plan, uint32_t op,
				    size_t *count)
{
	size_t low = 0;
	size_t high = plan->nhidden;

	*count = 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (plan->hidden[middle].after < op)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + *count < plan->nhidden &&
	       plan->hidden[low + *count].after == op)
		++*count;
	return &plan->hidden[low];
}
