/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <errno.h>
#include <string.h>

#include "model_run.h"

static bool same_attachment(struct actor *a, unsigned int object,
			    uint32_t version, uint32_t bit,
			    const struct mdx_attachment *given)
{
	int number = value_attachment(a->run->world, object, version, bit);

	if (!given)
		return number < 0;
	return number >= 0 &&
	       mdx_attachment_object(given) == &a->run->objects[number];
}

/* Is there a version in the window of which this group is? */
static bool group_possible(struct actor *a, unsigned int object, uint32_t bit,
			   struct window win, const struct mdx_attrs *given)
{
	const struct world *w = a->run->world;

	for (uint32_t v = win.first; v <= win.last; v++) {
		struct mdx_attrs truth;

		if (bit == MDX_ACL || bit == MDX_OTHER) {
			if (same_attachment(a, object, v, bit,
					    bit == MDX_ACL ? given->acl :
							     given->other))
				return true;
			continue;
		}
		value_attrs(w, object, v, &truth);
		if (same_group(&truth, given, bit))
			return true;
	}
	return false;
}

static void wrong_group(struct actor *a, unsigned int object, uint32_t bit,
			struct window win, const struct mdx_attrs *given,
			const char *where)
{
	struct cell *c = &a->run->world->objects[object].attrs;
	uint32_t newest = atomic_load_explicit(&c->count, MODEL_LOAD) - 1;
	struct window any;

	for (uint32_t v = newest + 1; v-- > 0;) {
		any.first = any.last = v;
		if (group_possible(a, object, bit, any, given)) {
			wrong(a,
			      "%s of object %u: group 0x%x is of version %u, "
			      "possible are %u to %u",
			      where, object, bit, v, win.first, win.last);
			return;
		}
	}
	wrong(a,
	      "%s of object %u: group 0x%x is of no version, possible are "
	      "%u to %u",
	      where, object, bit, win.first, win.last);
}

static void check_references(struct actor *a,
			     const struct mdx_attachment *given)
{
	const struct shared_object *o;

	if (!given)
		return;
	o = mdx_attachment_object(given);
	if (load(&o->released) >= load(&o->given))
		wrong(a, "attachment %u was released while in use", o->number);
}

void check_entry(struct actor *a, unsigned int object,
		 const struct entry_bounds *bounds,
		 const struct mdx_answer *answer, uint32_t want, uint64_t until,
		 uint64_t asked_ms, const char *where)
{
	struct cell *c = &a->run->world->objects[object].attrs;
	const struct mdx_attrs *given = &answer->attrs;
	struct mdx_key key = key_of(a, object);
	uint64_t same_bound = UINT64_MAX;
	struct window win = { 0, 0 };

	if (given->valid & ~(uint32_t)MDX_ALL)
		wrong(a, "%s of object %u: valid is 0x%x", where, object,
		      given->valid);
	if (answer->key_len != key.len || answer->backend != key.backend ||
	    memcmp(answer->key, key.bytes, key.len) != 0)
		wrong(a, "%s of object %u: another key", where, object);
	if ((given->acl && !(want & MDX_ACL)) ||
	    (given->other && !(want & MDX_OTHER)))
		wrong(a, "%s of object %u: attachment not asked for", where,
		      object);
	for (unsigned int g = 0; g < GROUPS; g++) {
		uint32_t bit = 1u << g;

		/* Of these, only what was asked for is told. */
		if (bit & (MDX_ACL | MDX_OTHER) && !(want & bit))
			continue;
		if (!(given->valid & bit) || bit & (MDX_LINK | MDX_PARENT))
			continue;
		if (bounds->group[g] != same_bound) {
			same_bound = bounds->group[g];
			win = cell_window(c, same_bound, until);
		}
		if (!group_possible(a, object, bit, win, given)) {
			wrong_group(a, object, bit, win, given, where);
			return;
		}
	}
	check_references(a, given->acl);
	check_references(a, given->other);
	exact_check(a, object, given->valid, answer->left_ms, asked_ms);
}

int check_binding(struct actor *a, unsigned int dir, unsigned int name,
		  uint64_t bound, uint64_t until, int result,
		  const struct mdx_answer *child, const char *where)
{
	struct world *w = a->run->world;
	struct cell *c = &w->dirs[dir].bindings[name].child;
	struct window win = cell_window(c, bound, until);

	for (uint32_t v = win.first; v <= win.last; v++) {
		int32_t truth = cell_value(c, v);
		const struct object *o;

		if (truth == ABSENT) {
			if (result == -ENOENT)
				return ABSENT;
			continue;
		}
		o = &w->objects[truth];
		if (result == -ESTALE)
			return ABSENT;
		if (result == 0 && child->key_len == o->key_len &&
		    child->backend == o->backend &&
		    !memcmp(child->key, o->key, o->key_len))
			return truth;
	}
	wrong(a,
	      "%s of directory %u, name %u: %s, possible are versions %u to "
	      "%u (the last is %s)",
	      where, dir, name,
	      result == -ENOENT ? "does not exist" :
	      result == -ESTALE ? "exists" :
				  "exists, as another object",
	      win.first, win.last,
	      cell_value(c, win.last) == ABSENT ? "absent" : "present");
	return ABSENT;
}
