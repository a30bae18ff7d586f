/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Fetches by ticket, and populations. Each step may be followed by any others,
 * so that tickets grow old. */
#include <errno.h>
#include <string.h>

#include "model_run.h"

/* A void ticket must store nothing: an invalidation that began after the ticket
 * was there and was over before the store. */
static void check_ticket(struct actor *a, int result, uint64_t voided,
			 uint64_t begun, const char *what, unsigned int number)
{
	if (result == 0 && voided > begun)
		wrong(a, "%s %u was stored, its ticket was void", what, number);
	if (result && result != -ESTALE && result != -ENOSPC)
		wrong(a, "storing %s %u: %d", what, number, result);
	a->stats.puts += result == 0;
	a->stats.voided += result == -ESTALE;
}

static void attach_one(struct actor *a, int number, uint32_t bit,
		       struct mdx_attrs *attrs, struct mdx_attachment **where)
{
	struct shared_object *o;

	*where = NULL;
	if (!(attrs->valid & bit) || number < 0)
		return;
	o = &a->run->objects[number];
	atomic_fetch_add_explicit(&o->given, 1, MODEL_EXCHANGE);
	*where = engine_attach(&a->run->engine, o, 100 + (size_t)number * 50);
	if (!*where) {
		attrs->valid &= ~bit;
		atomic_fetch_sub_explicit(&o->given, 1, MODEL_EXCHANGE);
	} else if (mdx_attachment_object(*where) != o) {
		wrong(a, "attachment %d has another object", number);
	}
}

void attach(struct actor *a, unsigned int object, uint32_t version,
	    struct mdx_attrs *attrs)
{
	const struct world *w = a->run->world;

	attach_one(a, value_attachment(w, object, version, MDX_ACL), MDX_ACL,
		   attrs, &attrs->acl);
	attach_one(a, value_attachment(w, object, version, MDX_OTHER),
		   MDX_OTHER, attrs, &attrs->other);
}

void detach(struct actor *a, struct mdx_attrs *attrs)
{
	mdx_detach(a->run->engine.c, attrs->acl);
	mdx_detach(a->run->engine.c, attrs->other);
	attrs->acl = NULL;
	attrs->other = NULL;
}

int put_entry(struct actor *a, uint64_t ticket, uint64_t begun,
	      unsigned int object, uint32_t version, uint32_t ttl_ms)
{
	uint64_t voided = entry_voided(a->run->world, object);
	struct mdx_attrs attrs;
	int r;

	value_attrs(a->run->world, object, version, &attrs);
	attrs.valid = MDX_NUMBERS | MDX_ACL | MDX_OTHER;
	if (one_in(&a->rng, 4))
		attrs.valid &= (uint32_t)random_next(&a->rng);
	attach(a, object, version, &attrs);
	r = engine_put(&a->run->engine, ticket, key_of(a, object), &attrs,
		       ttl_ms);
	check_ticket(a, r, voided, begun, "object", object);
	if (r == 0)
		exact_put(a->run, object, attrs.valid, ttl_ms);
	detach(a, &attrs);
	return r;
}

static void put_blob(struct actor *a, struct activity *act)
{
	uint32_t which = one_in(&a->rng, 2) ? MDX_LINK : MDX_PARENT;
	uint64_t voided = entry_voided(a->run->world, act->object);
	uint8_t bytes[MDX_BLOB_MAX];
	size_t len = value_blob(a->run->world, act->object, act->version, which,
				bytes);
	int r = mdx_blob_put(a->run->engine.c, act->ticket,
			     key_of(a, act->object), which, bytes, len);

	if (r == -ENOENT)
		return;
	check_ticket(a, r, voided, act->begun, "blob of object", act->object);
	if (r == 0)
		exact_blob(a->run, act->object, which);
}

static bool step_fetch_entry(struct actor *a, struct activity *act)
{
	struct object *o = &a->run->world->objects[act->object];

	switch (act->stage++) {
	case 0:
		act->ticket = mdx_ticket(a->run->engine.c);
		act->begun = tick();
		if (act->ticket == 0)
			wrong(a, "a ticket is 0");
		return false;
	case 1:
		act->version = cell_read(&o->attrs).version;
		return false;
	case 2:
		put_entry(a, act->ticket, act->begun, act->object, act->version,
			  act->ttl_ms);
		return !one_in(&a->rng, 3);
	default:
		put_blob(a, act);
		return true;
	}
}

void begin_fetch_entry(struct actor *a, struct activity *act)
{
	act->object = random_object(a);
	act->ttl_ms = random_ttl(a);
	act->step = step_fetch_entry;
}

static void put_name(struct actor *a, struct activity *act)
{
	uint64_t voided = name_voided(a->run->world, act->dir, act->name);
	struct mdx_key child;
	int r;

	if (act->child != ABSENT)
		child = key_of(a, (unsigned int)act->child);
	r = engine_name_put(&a->run->engine, act->ticket, key_of(a, act->dir),
			    name_of(a, act->name),
			    act->child == ABSENT ? NULL : &child, act->ttl_ms);
	exact_made(a->run, act->dir);
	check_ticket(a, r, voided, act->begun, "name", act->name);
	if (r == 0)
		exact_name(a->run, act->dir, act->name, act->ttl_ms);
}

static bool step_fetch_name(struct actor *a, struct activity *act)
{
	struct world *w = a->run->world;

	switch (act->stage++) {
	case 0:
		act->ticket = mdx_ticket(a->run->engine.c);
		act->begun = tick();
		return false;
	case 1:
		act->child =
			cell_read(&w->dirs[act->dir].bindings[act->name].child)
				.value;
		if (act->child != ABSENT)
			act->version =
				cell_read(&w->objects[act->child].attrs).version;
		return false;
	case 2:
		if (act->child != ABSENT)
			put_entry(a, act->ticket, act->begun,
				  (unsigned int)act->child, act->version,
				  act->ttl_ms);
		return false;
	default:
		put_name(a, act);
		return true;
	}
}

void begin_fetch_name(struct actor *a, struct activity *act)
{
	act->dir = random_dir(a);
	act->name = random_name(a, act->dir);
	act->ttl_ms = random_ttl(a);
	act->step = step_fetch_name;
}

/* --- Populations --------------------------------------------------------- */

static void add_name(struct actor *a, struct activity *act, unsigned int name)
{
	struct world *w = a->run->world;
	struct reading found =
		cell_read(&w->dirs[act->dir].bindings[name].child);
	unsigned int child = (unsigned int)found.value;
	uint64_t voided;
	struct mdx_key key;
	uint32_t version;
	int r;

	if (found.value == ABSENT)
		return;
	version = cell_read(&w->objects[child].attrs).version;
	if (!one_in(&a->rng, 8))
		put_entry(a, act->population.ticket, act->begun, child, version,
			  act->ttl_ms);
	key = key_of(a, child);
	/* A change that is only declared does not forbid it: its end will put
	 * right what is stored now. */
	voided = name_bound(w, act->dir, name);
	if (load(&w->dirs[act->dir].begun) > act->begun)
		voided = UINT64_MAX;
	r = engine_populate_add(&a->run->engine, &act->population,
				name_of(a, name), &key);
	check_ticket(a, r, voided, act->begun, "populated name", name);
	if (r == 0)
		exact_name(a->run, act->dir, name, MDX_FOREVER);
}

static void end_population(struct actor *a, struct activity *act)
{
	struct world *w = a->run->world;
	bool all = !one_in(&a->rng, 8);
	uint64_t foreign = dir_foreign(w, act->dir);
	bool taken = load(&w->dirs[act->dir].begun) > act->begun;
	int r = mdx_populate_end(a->run->engine.c, &act->population, all,
				 act->ttl_ms, act->ttl_ms);

	if (r == 0 && !all)
		wrong(a, "directory %u is complete, the backend failed",
		      act->dir);
	if (r == 0 && taken)
		wrong(a,
		      "directory %u is complete by a population that was "
		      "taken over",
		      act->dir);
	if (r == 0 && foreign > act->begun)
		wrong(a, "directory %u is complete in spite of an invalidation",
		      act->dir);
	if (r && r != -ESTALE)
		wrong(a, "mdx_populate_end of directory %u: %d", act->dir, r);
	if (r == 0)
		exact_complete(a->run, act->dir, act->ttl_ms);
	a->stats.populated += r == 0;
}

static bool step_population(struct actor *a, struct activity *act)
{
	struct world *w = a->run->world;
	struct directory *dir = &w->dirs[act->dir];
	unsigned int some = 1 + random_below(&a->rng, 400);
	uint64_t before;
	int r;

	if (act->stage == 0) {
		before = tick();
		r = mdx_populate_begin(a->run->engine.c, key_of(a, act->dir),
				       &act->population);
		act->begun = tick();
		exact_made(a->run, act->dir);
		if (r == 0)
			raise_to(&dir->begun, before);
		act->stage = 1;
		a->stats.populations++;
		if (r && r != -ENOSPC)
			wrong(a, "mdx_populate_begin of directory %u: %d",
			      act->dir, r);
		return r != 0;
	}
	while (some-- > 0 && act->name < dir->names)
		add_name(a, act, act->name++);
	if (act->name < dir->names || one_in(&a->rng, 4))
		return false;
	end_population(a, act);
	return true;
}

void begin_population(struct actor *a, struct activity *act)
{
	begin_population_of(a, act, random_dir(a));
}

void begin_population_of(struct actor *a, struct activity *act,
			 unsigned int dir)
{
	act->dir = dir;
	act->ttl_ms = random_ttl(a);
	act->name = 0;
	act->step = step_population;
}
