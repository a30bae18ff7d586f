/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Questions to the engine. Bounds are read before, the tick after. */
#include <errno.h>
#include <string.h>

#include "model_run.h"

#define CANDIDATES 4

void do_get(struct actor *a)
{
	unsigned int object = random_object(a);
	uint32_t want = (uint32_t)random_next(&a->rng) & MDX_ALL;
	struct mdx_answer answer;
	struct entry_bounds bounds;
	uint64_t asked, until;
	int r;

	if (one_in(&a->rng, 2))
		want &= MDX_NUMBERS;
	if (one_in(&a->rng, 2))
		want &= (uint32_t)random_next(&a->rng);
	if (one_in(&a->rng, 4))
		want = 0;
	entry_bounds(a->run->world, object, &bounds);
	asked = now_ms(a->run);
	memset(&answer, 0xee, sizeof(answer));
	r = engine_get(&a->run->engine, object, key_of(a, object), want,
		       &answer);
	until = tick();
	a->stats.gets++;
	if (r == -ENOENT) {
		if (a->pins[object])
			wrong(a, "object %u is pinned, and not there", object);
		return;
	}
	if (r != 0 && r != -ESTALE) {
		wrong(a, "mdx_get of object %u: %d", object, r);
		return;
	}
	if (r == 0 && (answer.attrs.valid & want) != want)
		wrong(a, "object %u: wanted 0x%x, got 0x%x and no error",
		      object, want, answer.attrs.valid);
	if (r == -ESTALE && (answer.attrs.valid & want) == want)
		wrong(a, "object %u: -ESTALE, but all of 0x%x is there", object,
		      want);
	if (a->pins[object] && (!answer.file_tier || !answer.pinned))
		wrong(a, "object %u is pinned, and said not to be", object);
	check_entry(a, object, &bounds, &answer, r == 0 ? want : 0, until,
		    asked, "mdx_get");
	if (r == 0 && want & (MDX_ACL | MDX_OTHER)) {
		mdx_detach(a->run->engine.c, answer.attrs.acl);
		mdx_detach(a->run->engine.c, answer.attrs.other);
	}
	a->stats.hits += r == 0;
}

void do_blob_get(struct actor *a)
{
	unsigned int object = random_object(a);
	uint32_t which = one_in(&a->rng, 2) ? MDX_LINK : MDX_PARENT;
	unsigned int group = which == MDX_LINK ? 18 : 19;
	struct cell *c = &a->run->world->objects[object].attrs;
	uint8_t given[MDX_BLOB_MAX], truth[MDX_BLOB_MAX];
	struct entry_bounds bounds;
	struct window win;
	uint64_t asked, until;
	int r;

	entry_bounds(a->run->world, object, &bounds);
	asked = now_ms(a->run);
	r = engine_blob_get(&a->run->engine, object, key_of(a, object), which,
			    given, sizeof(given));
	until = tick();
	if (r == -ENOENT || r == -ESTALE)
		return;
	if (r < 1 || r > MDX_BLOB_MAX) {
		wrong(a, "mdx_blob_get of object %u: %d", object, r);
		return;
	}
	exact_check_blob(a, object, which, asked);
	win = cell_window(c, bounds.group[group], until);
	for (uint32_t v = win.first; v <= win.last; v++)
		if (value_blob(a->run->world, object, v, which, truth) ==
			    (size_t)r &&
		    !memcmp(given, truth, (size_t)r))
			return;
	wrong(a, "blob 0x%x of object %u is of none of the versions %u to %u",
	      which, object, win.first, win.last);
}

/* The bounds of what a name may point at, read before the lookup. */
struct candidates {
	unsigned int count;
	int32_t object[CANDIDATES];
	struct entry_bounds bounds[CANDIDATES];
};

static void find_candidates(struct actor *a, unsigned int dir,
			    unsigned int name, uint64_t bound,
			    struct candidates *found)
{
	struct world *w = a->run->world;
	struct cell *c = &w->dirs[dir].bindings[name].child;
	struct window win = cell_window(c, bound, UINT64_MAX);

	found->count = 0;
	for (uint32_t v = win.last + 1; v-- > win.first;) {
		int32_t child = cell_value(c, v);

		if (child == ABSENT)
			continue;
		found->object[found->count] = child;
		entry_bounds(w, (unsigned int)child,
			     &found->bounds[found->count]);
		if (++found->count == CANDIDATES)
			break;
	}
}

void do_lookup(struct actor *a)
{
	unsigned int dir = random_dir(a);
	unsigned int name = random_name(a, dir);
	uint64_t bound = name_bound(a->run->world, dir, name);
	struct mdx_answer child;
	struct candidates before;
	uint64_t asked, until;
	int r, truth;

	find_candidates(a, dir, name, bound, &before);
	asked = now_ms(a->run);
	memset(&child, 0xee, sizeof(child));
	r = engine_lookup(&a->run->engine, key_of(a, dir), name_of(a, name),
			  &child);
	until = tick();
	a->stats.lookups++;
	if (r == -ENODATA)
		return;
	if (r != 0 && r != -ENOENT && r != -ESTALE) {
		wrong(a, "mdx_lookup: %d", r);
		return;
	}
	exact_check_name(a, dir, name, asked);
	truth = check_binding(a, dir, name, bound, until, r, &child,
			      "mdx_lookup");
	if (r) {
		a->stats.absent += r == -ENOENT;
		return;
	}
	a->stats.found++;
	if (truth == ABSENT)
		return;
	for (unsigned int i = 0; i < before.count; i++)
		if (before.object[i] == truth) {
			check_entry(a, (unsigned int)truth, &before.bounds[i],
				    &child, 0, until, asked, "mdx_lookup");
			return;
		}
	/* It came to be after the bounds were read. */
	a->stats.unchecked++;
}

void do_cookie(struct actor *a)
{
	unsigned int dir = random_dir(a);
	unsigned int number = random_name(a, dir);
	struct name *n = &a->run->world->names[number];
	uint64_t cookie = mdx_cookie(a->run->engine.c, key_of(a, dir),
				     (const char *)n->text, n->len);
	uint64_t known = 0;

	if (cookie < MDX_COOKIE_FIRST || cookie > MDX_COOKIE_LAST)
		wrong(a, "mdx_cookie: %#llx", (unsigned long long)cookie);
	/* With equal hashes, only while it is stored. */
	if (a->run->collide)
		return;
	if (!atomic_compare_exchange_strong_explicit(
		    &n->cookie, &known, cookie, MODEL_EXCHANGE, MODEL_LOAD) &&
	    known != cookie)
		wrong(a, "the cookie of name %u is %#llx and %#llx", number,
		      (unsigned long long)known, (unsigned long long)cookie);
}
