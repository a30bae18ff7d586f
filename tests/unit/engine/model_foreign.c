/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Changes made beside the engine, and invalidations, with and without. */
#include "model_run.h"

static void noted_gone(struct run *run, unsigned int object, uint64_t t)
{
	struct world *w = run->world;

	bound_entry(w, object, MDX_ALL, t);
	raise_to(&w->objects[object].voided, t);
	raise_to(&run->pages_bound[object], t);
	exact_drop(run, object, MDX_ALL);
	if (object < DIRS) {
		raise_to(&w->dirs[object].bound, t);
		raise_to(&w->dirs[object].foreign, t);
	}
}

static void invalidate_groups(struct actor *a, unsigned int object,
			      uint32_t mask)
{
	struct world *w = a->run->world;
	uint64_t before = tick();

	engine_invalidate(&a->run->engine, key_of(a, object), mask);
	bound_entry(w, object, mask, before);
	if (mask & MDX_ALL)
		raise_to(&w->objects[object].voided, before);
	if (mask & MDX_PAGES)
		raise_to(&a->run->pages_bound[object], before);
	exact_drop(a->run, object, mask);
}

static void forget(struct actor *a, unsigned int object)
{
	uint64_t before = tick();

	engine_forget(&a->run->engine, key_of(a, object));
	noted_gone(a->run, object, before);
}

static void invalidate_backend(struct actor *a, uint8_t backend)
{
	struct world *w = a->run->world;
	uint64_t before = tick();

	mdx_invalidate_backend(a->run->engine.c, backend);
	raise_to(&w->backend_bound[backend], before);
	for (unsigned int i = 0; i < KEYS; i++)
		if (w->objects[i].backend == backend)
			exact_drop(a->run, i, MDX_ALL);
}

static void invalidate_all(struct actor *a)
{
	uint64_t before = tick();

	engine_invalidate_all(&a->run->engine);
	raise_to(&a->run->world->all_bound, before);
	for (unsigned int i = 0; i < KEYS; i++)
		exact_drop(a->run, i, MDX_ALL);
}

static void invalidate_names(struct actor *a, unsigned int dir)
{
	struct directory *d = &a->run->world->dirs[dir];
	uint64_t before = tick();

	engine_invalidate_names(&a->run->engine, key_of(a, dir));
	raise_to(&d->bound, before);
	raise_to(&d->foreign, before);
}

static void check_incomplete(struct actor *a, unsigned int dir)
{
	if (a->run->exact && a->run->engine.fault == FAULT_NONE &&
	    mdx_is_complete(a->run->engine.c, key_of(a, dir)))
		wrong(a, "directory %u is complete after an invalidation", dir);
}

void announce_entry(struct actor *a, unsigned int object)
{
	uint32_t n = random_below(&a->rng, 400);

	if (n == 0)
		invalidate_all(a);
	else if (n < 3)
		invalidate_backend(a, a->run->world->objects[object].backend);
	else if (n < 20)
		forget(a, object);
	else if (n < 100)
		invalidate_groups(a, object,
				  (uint32_t)random_next(&a->rng) &
					  (MDX_ALL | MDX_PAGES));
	else
		invalidate_groups(a, object,
				  n & 1 ? MDX_ALL : MDX_ALL | MDX_PAGES);
}

void announce_name(struct actor *a, unsigned int dir, unsigned int name)
{
	struct directory *d = &a->run->world->dirs[dir];
	const struct name *n = name_of(a, name);
	uint32_t how = random_below(&a->rng, 400);
	uint64_t before;

	if (how == 0) {
		invalidate_all(a);
	} else if (how < 3) {
		invalidate_backend(a, a->run->world->objects[dir].backend);
	} else if (how < 8) {
		forget(a, dir);
	} else if (how < 30) {
		invalidate_names(a, dir);
	} else if (how < 215) {
		before = tick();
		engine_doubt_name(&a->run->engine, key_of(a, dir), n);
		raise_to(&d->bindings[name].bound, before);
		return;
	} else {
		before = tick();
		engine_invalidate_name(&a->run->engine, key_of(a, dir), n);
		raise_to(&d->bindings[name].bound, before);
		raise_to(&d->foreign, before);
	}
	check_incomplete(a, dir);
}

void do_invalidate(struct actor *a)
{
	unsigned int dir = random_dir(a);

	if (one_in(&a->rng, 2))
		announce_entry(a, random_object(a));
	else
		announce_name(a, dir, random_name(a, dir));
}

static bool step_foreign_entry(struct actor *a, struct activity *act)
{
	uint32_t version;

	if (act->stage++ == 0) {
		cell_change(&a->run->world->objects[act->object].attrs, 0,
			    &version);
		return false;
	}
	announce_entry(a, act->object);
	return true;
}

static bool step_foreign_name(struct actor *a, struct activity *act)
{
	struct directory *d = &a->run->world->dirs[act->dir];
	uint32_t version;
	int32_t child;

	if (act->stage++ == 0) {
		child = one_in(&a->rng, 2) ? ABSENT : (int32_t)random_object(a);
		cell_change(&d->bindings[act->name].child, child, &version);
		return false;
	}
	announce_name(a, act->dir, act->name);
	return true;
}

void begin_foreign_entry(struct actor *a, struct activity *act)
{
	act->object = random_object(a);
	act->step = step_foreign_entry;
}

void begin_foreign_name(struct actor *a, struct activity *act)
{
	act->dir = random_dir(a);
	act->name = random_name(a, act->dir);
	act->step = step_foreign_name;
}
