/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Changes by the protocol: declare all targets, the backend's operation, finish
 * all targets; each a step of its own. */
#include <errno.h>

#include "model_run.h"

#define BLOBS	(MDX_LINK | MDX_PARENT)
#define CHANGED (MDX_NUMBERS | MDX_ACL | MDX_OTHER)

static bool has_target(const struct activity *act, bool is_name,
		       unsigned int object, unsigned int name)
{
	for (unsigned int i = 0; i < act->target_count; i++) {
		const struct target *t = &act->targets[i];

		if (t->is_name == is_name && t->object == object &&
		    (!is_name || t->name == name))
			return true;
	}
	return false;
}

static void add_target(struct activity *act, bool is_name, unsigned int object,
		       unsigned int name, int32_t child)
{
	if (has_target(act, is_name, object, name))
		return;
	act->targets[act->target_count++] = (struct target){
		.is_name = is_name,
		.object = object,
		.name = name,
		.child = child,
	};
}

static void declare(struct actor *a, struct activity *act, struct target *t)
{
	struct world *w = a->run->world;
	struct mdx *c = a->run->engine.c;
	uint64_t before = tick();
	int r;

	if (t->is_name) {
		const struct name *n = name_of(a, t->name);

		r = mdx_change_name(c, &act->change, key_of(a, t->object),
				    (const char *)n->text, n->len);
		raise_to(&w->dirs[t->object].bindings[t->name].voided, before);
	} else {
		r = mdx_change_entry(c, &act->change, key_of(a, t->object));
		raise_to(&w->objects[t->object].voided, before);
	}
	t->declared = tick();
	if (r)
		wrong(a, "declaring a change of %s %u: %d",
		      t->is_name ? "directory" : "object", t->object, r);
}

static void operate(struct actor *a, struct target *t)
{
	struct world *w = a->run->world;
	struct cell *c = t->is_name ?
				 &w->dirs[t->object].bindings[t->name].child :
				 &w->objects[t->object].attrs;

	t->happened = cell_change(c, t->child, &t->version);
}

/* What the engine holds after an entry's change ended with this result. */
static void note_entry(struct actor *a, const struct target *t, int result,
		       const struct mdx_attrs *attrs, uint32_t ttl_ms,
		       bool keep, uint64_t before)
{
	struct world *w = a->run->world;
	uint32_t set = result == 0 && attrs ? attrs->valid : 0;

	raise_to(&w->objects[t->object].voided, before);
	if (result == 0 && keep)
		return;
	bound_entry(w, t->object, set, t->happened);
	bound_entry(w, t->object, CHANGED & ~set, before);
	exact_drop(a->run, t->object, CHANGED);
	if (result == 0 && attrs)
		exact_put(a->run, t->object, set, ttl_ms);
}

static void finish_entry(struct actor *a, struct activity *act,
			 struct target *t)
{
	struct world *w = a->run->world;
	bool keep = t->happened == 0 && !one_in(&a->rng, 4);
	uint64_t voided = entry_voided(w, t->object);
	struct mdx_attrs attrs = { 0 };
	struct mdx_attrs *given = NULL;
	uint64_t before;
	int r;

	if (t->happened && !one_in(&a->rng, 6)) {
		/* The answer of the operation, or of a question after it. */
		if (one_in(&a->rng, 4))
			t->version =
				cell_read(&w->objects[t->object].attrs).version;
		value_attrs(w, t->object, t->version, &attrs);
		attrs.valid = CHANGED;
		if (one_in(&a->rng, 4))
			attrs.valid &= (uint32_t)random_next(&a->rng);
		attach(a, t->object, t->version, &attrs);
		given = &attrs;
	}
	before = tick();
	r = engine_changed_entry(&a->run->engine, &act->change,
				 key_of(a, t->object), given, act->ttl_ms,
				 keep ? MDX_KEEP : 0);
	if (r && r != -ESTALE && r != -ENOSPC)
		wrong(a, "mdx_changed_entry of object %u: %d", t->object, r);
	if (r == 0 && given && given->valid && voided > t->declared)
		wrong(a, "a change of object %u that met another is stored",
		      t->object);
	note_entry(a, t, r, given, act->ttl_ms, keep, before);
	detach(a, &attrs);
	a->stats.changes++;
	a->stats.met += r == -ESTALE;
}

static enum mdx_outcome outcome_of(struct actor *a, const struct target *t)
{
	if (one_in(&a->rng, 8))
		return MDX_NAME_UNKNOWN;
	if (!t->happened)
		return MDX_NAME_KEEP;
	return t->child == ABSENT ? MDX_NAME_ABSENT : MDX_NAME_PRESENT;
}

static void finish_name(struct actor *a, struct activity *act, struct target *t)
{
	struct binding *b = &a->run->world->dirs[t->object].bindings[t->name];
	uint64_t voided = name_voided(a->run->world, t->object, t->name);
	enum mdx_outcome outcome = outcome_of(a, t);
	bool stores = outcome == MDX_NAME_ABSENT || outcome == MDX_NAME_PRESENT;
	struct mdx_key dir = key_of(a, t->object), child = dir;
	uint64_t before;
	int r;

	if (outcome == MDX_NAME_PRESENT)
		child = key_of(a, (unsigned int)t->child);
	before = tick();
	r = engine_changed_name(&a->run->engine, &act->change, dir,
				name_of(a, t->name), outcome,
				outcome == MDX_NAME_PRESENT ? &child : NULL,
				act->ttl_ms);
	exact_made(a->run, t->object);
	raise_to(&b->voided, before);
	if (r && r != -ESTALE && r != -ENOSPC)
		wrong(a, "mdx_changed_name of directory %u: %d", t->object, r);
	if (r == 0 && stores && voided > t->declared)
		wrong(a, "a change of name %u that met another is stored",
		      t->name);
	if (r == 0 && stores)
		raise_to(&b->bound, t->happened);
	else if (r || outcome == MDX_NAME_UNKNOWN)
		raise_to(&b->bound, before);
	if (r == 0 && stores)
		exact_name(a->run, t->object, t->name, act->ttl_ms);
	if (a->run->exact && (r || outcome == MDX_NAME_UNKNOWN) &&
	    mdx_is_complete(a->run->engine.c, dir))
		wrong(a,
		      "directory %u is complete after a change of name %u "
		      "with outcome %d, result %d",
		      t->object, t->name, (int)outcome, r);
	a->stats.changes++;
	a->stats.met += r == -ESTALE;
}

static bool step_change(struct actor *a, struct activity *act)
{
	unsigned int n = act->target_count;
	unsigned int stage = act->stage++;

	if (stage == 0)
		mdx_change_init(&act->change);
	if (stage < n) {
		declare(a, act, &act->targets[stage]);
	} else if (stage == n) {
		if (!one_in(&a->rng, 8))
			for (unsigned int i = 0; i < n; i++)
				operate(a, &act->targets[i]);
	} else {
		struct target *t = &act->targets[stage - n - 1];

		if (t->is_name)
			finish_name(a, act, t);
		else
			finish_entry(a, act, t);
	}
	return stage == 2 * n;
}

void begin_setattr(struct actor *a, struct activity *act)
{
	add_target(act, false, random_object(a), 0, 0);
	act->ttl_ms = random_ttl(a);
	act->step = step_change;
}

/* create, link, unlink, or rename over an existing name */
void begin_name_change(struct actor *a, struct activity *act)
{
	unsigned int dir = random_dir(a);
	unsigned int name = random_name(a, dir);
	unsigned int child = random_object(a);
	bool removes = one_in(&a->rng, 2);

	add_target(act, false, child, 0, 0);
	add_target(act, true, dir, name, removes ? ABSENT : (int32_t)child);
	add_target(act, false, dir, 0, 0);
	act->ttl_ms = random_ttl(a);
	act->step = step_change;
}

void begin_rename(struct actor *a, struct activity *act)
{
	unsigned int from = random_dir(a), to = random_dir(a);
	unsigned int old = random_name(a, from), new = random_name(a, to);
	struct cell *c = &a->run->world->dirs[from].bindings[old].child;
	int32_t child = cell_read(c).value;

	if (child == ABSENT || (from == to && old == new))
		return;
	/* The new name is there before the old one goes. */
	add_target(act, true, to, new, child);
	add_target(act, true, from, old, ABSENT);
	add_target(act, false, to, 0, 0);
	add_target(act, false, from, 0, 0);
	if (one_in(&a->rng, 2))
		add_target(act, false, (unsigned int)child, 0, 0);
	act->ttl_ms = random_ttl(a);
	act->step = step_change;
}
