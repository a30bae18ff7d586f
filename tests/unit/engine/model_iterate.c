/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Iterations of a directory, in one go or in several calls with other work in
 * between.
 *
 * Of a name, let B be its bound before the first call and E the end of the last
 * one. If all its versions after B and until E are present, it has to be given
 * once; if all are absent, never.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model_run.h"

struct iteration {
	uint64_t cookie;
	unsigned int room;	/* names until the callback stops */
	uint64_t asked_ms;	/* of the call in progress */
	uint64_t *first_bounds; /* of each name, before the first call */
	uint64_t *bounds;	/* before the call in progress */
	bool *given;
	bool *doubted; /* given, and it may not exist */
	struct actor *actor;
	struct activity *activity;
	struct entry_bounds objects[KEYS];
};

static void free_iteration(struct activity *act)
{
	struct iteration *it = act->iteration;

	if (!it)
		return;
	free(it->first_bounds);
	free(it->bounds);
	free(it->given);
	free(it->doubted);
	free(it);
	act->iteration = NULL;
}

static void check_cookie(struct actor *a, struct name *n, unsigned int number,
			 uint64_t cookie)
{
	uint64_t known = 0;

	if (cookie < MDX_COOKIE_FIRST || cookie > MDX_COOKIE_LAST)
		wrong(a, "mdx_readdir: cookie %#llx",
		      (unsigned long long)cookie);
	/* With equal hashes, only while it is stored. */
	if (a->run->collide)
		return;
	if (!atomic_compare_exchange_strong_explicit(
		    &n->cookie, &known, cookie, MODEL_EXCHANGE, MODEL_LOAD) &&
	    known != cookie)
		wrong(a,
		      "mdx_readdir: the cookie of name %u is %#llx, was %#llx",
		      number, (unsigned long long)cookie,
		      (unsigned long long)known);
}

/* Between two calls a name may have been lost and stored again, at another
 * cookie if hashes are equal. */
static bool moves(const struct actor *a, const struct iteration *it)
{
	return a->run->collide && it->activity->stage > 1;
}

static bool each_name(const struct mdx_dirent *d, void *arg)
{
	struct iteration *it = arg;
	struct actor *a = it->actor;
	unsigned int dir = it->activity->dir;
	struct world *w = a->run->world;
	uint64_t until = tick();
	int number = name_find(w, d->name, d->len);
	int truth;

	a->stats.dirents++;
	if (number < 0 || (unsigned int)number >= w->dirs[dir].names) {
		wrong(a, "mdx_readdir of directory %u: a name that is not",
		      dir);
		return false;
	}
	if (d->cookie <= it->cookie)
		wrong(a,
		      "mdx_readdir of directory %u: cookie %#llx after %#llx",
		      dir, (unsigned long long)d->cookie,
		      (unsigned long long)it->cookie);
	if (it->given[number] && !moves(a, it))
		wrong(a, "mdx_readdir of directory %u: name %d twice", dir,
		      number);
	it->given[number] = true;
	it->cookie = d->cookie;
	check_cookie(a, &w->names[number], (unsigned int)number, d->cookie);
	it->doubted[number] = d->doubtful;
	if (d->doubtful) {
		if (d->known)
			wrong(a,
			      "mdx_readdir of directory %u: name %d is known and doubtful",
			      dir, number);
		return --it->room > 0;
	}
	exact_check_name(a, dir, (unsigned int)number, it->asked_ms);
	truth = check_binding(a, dir, (unsigned int)number, it->bounds[number],
			      until, d->known ? 0 : -ESTALE, &d->child,
			      "mdx_readdir");
	if (d->known && truth != ABSENT)
		check_entry(a, (unsigned int)truth, &it->objects[truth],
			    &d->child, 0, until, it->asked_ms, "mdx_readdir");
	return --it->room > 0;
}

static void check_all_given(struct actor *a, struct activity *act,
			    uint64_t until)
{
	struct directory *dir = &a->run->world->dirs[act->dir];
	struct iteration *it = act->iteration;

	for (unsigned int i = 0; i < dir->names; i++) {
		struct cell *c = &dir->bindings[i].child;
		struct window win = cell_window(c, it->first_bounds[i], until);
		bool present = true, absent = true;

		for (uint32_t v = win.first; v <= win.last; v++) {
			if (cell_value(c, v) == ABSENT)
				present = false;
			else
				absent = false;
		}
		if (present && !it->given[i] && !moves(a, it))
			wrong(a, "mdx_readdir of directory %u: skipped name %u",
			      act->dir, i);
		if (absent && it->given[i] && !it->doubted[i])
			wrong(a,
			      "mdx_readdir of directory %u: name %u does not "
			      "exist",
			      act->dir, i);
	}
}

static bool step_iteration(struct actor *a, struct activity *act)
{
	struct world *w = a->run->world;
	struct directory *dir = &w->dirs[act->dir];
	struct iteration *it = act->iteration;
	uint64_t *bounds = act->stage++ ? it->bounds : it->first_bounds;
	uint64_t until;
	int r;

	for (unsigned int i = 0; i < dir->names; i++)
		bounds[i] = name_bound(w, act->dir, i);
	if (bounds != it->bounds)
		memcpy(it->bounds, bounds, dir->names * sizeof(*bounds));
	for (unsigned int i = 0; i < KEYS; i++)
		entry_bounds(w, i, &it->objects[i]);
	it->room = 1 + (one_in(&a->rng, 3) ? random_below(&a->rng, 20) :
					     random_below(&a->rng, 2000));
	it->asked_ms = now_ms(a->run);
	r = engine_readdir(&a->run->engine, key_of(a, act->dir), it->cookie,
			   each_name, it);
	until = tick();
	a->stats.iterations += act->stage == 1;
	if (r == 1)
		return false;
	if (r == 0) {
		a->stats.iterated++;
		check_all_given(a, act, until);
	} else if (r != -ENODATA) {
		wrong(a, "mdx_readdir of directory %u: %d", act->dir, r);
	}
	free_iteration(act);
	return true;
}

void begin_iteration(struct actor *a, struct activity *act)
{
	begin_iteration_of(a, act, random_dir(a));
}

void begin_iteration_of(struct actor *a, struct activity *act, unsigned int dir)
{
	struct iteration *it = calloc(1, sizeof(*it));
	unsigned int names;

	if (!it)
		return;
	act->dir = dir;
	act->iteration = it;
	names = a->run->world->dirs[dir].names;
	it->first_bounds = calloc(names, sizeof(*it->first_bounds));
	it->bounds = calloc(names, sizeof(*it->bounds));
	it->given = calloc(names, sizeof(*it->given));
	it->doubted = calloc(names, sizeof(*it->doubted));
	it->actor = a;
	it->activity = act;
	if (it->first_bounds && it->bounds && it->given && it->doubted)
		act->step = step_iteration;
	else
		free_iteration(act);
}
