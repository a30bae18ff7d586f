/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "names.h"

#include <errno.h>

struct tree names_tree(const struct mdx *c, uint32_t dir)
{
	return (struct tree){ .owner = dir,
			      .gen = block_generation(
				      arena_ptr(&c->arena, dir)),
			      .ext = entry_ext(c, dir) };
}

/* Looks at one cookie. */
static enum tree_result look(const struct mdx *c, const struct tree *t,
			     uint64_t cookie, const char *name, size_t len,
			     struct leaf *l, struct record *r, uint32_t *ref)
{
	enum tree_result rc = tree_read(c, t, cookie, l, ref);

	if (rc == TREE_LEAF && !leaf_find(l, cookie, name, len, r))
		rc = TREE_NOTHING;
	return rc;
}

enum tree_result names_find(const struct mdx *c, const struct tree *t,
			    const char *name, size_t len, struct leaf *l,
			    struct record *r, uint32_t *ref)
{
	bool probed =
		atomic_load_explicit(&t->ext->probed, memory_order_acquire);
	uint64_t own = cookie_of(name, len);
	enum tree_result rc = look(c, t, own, name, len, l, r, ref);

	for (unsigned int i = 1;
	     rc == TREE_NOTHING && probed && i <= PROBES_MAX; i++)
		rc = look(c, t, own + i, name, len, l, r, ref);
	return rc;
}

/* Every state has a number of its own. */
static void set_state(struct mdx *c, struct ext *x, uint64_t flags)
{
	atomic_store_explicit(&x->names_state,
			      ticket_advance(c) << NAMES_FLAGS | flags,
			      memory_order_release);
}

uint32_t names_absent_until(const struct mdx *c, const struct ext *x)
{
	uint32_t until, absent;

	if (!(atomic_load_explicit(&x->names_state, memory_order_acquire) &
	      NAMES_COMPLETE))
		return 0;
	until = atomic_load_explicit(&x->names_until, memory_order_acquire);
	absent = atomic_load_explicit(&x->absent_until, memory_order_acquire);
	if (absent < until)
		until = absent;
	return cache_fresh(c, until) ? until : 0;
}

void names_set_complete(struct mdx *c, struct ext *x)
{
	set_state(c, x, NAMES_COMPLETE);
}

void names_hole(struct mdx *c, uint32_t dir)
{
	struct ext *x = entry_ext(c, dir);

	x->holes = true;
	if (atomic_load(&x->names_state) & NAMES_COMPLETE)
		count(&c->counters, MDX_C_INCOMPLETE);
	set_state(c, x, 0);
}

static void add_names(struct mdx *c, struct ext *x, int32_t n)
{
	x->names += (uint32_t)n;
	atomic_fetch_add_explicit(&c->names, (uint64_t)(int64_t)n,
				  memory_order_relaxed);
}

/* The cookie for a name that has no record. */
static bool free_cookie(const struct mdx *c, const struct tree *t,
			struct record *r)
{
	uint64_t own = cookie_of(r->name, r->len);

	for (unsigned int i = 0; i <= PROBES_MAX; i++) {
		struct record other;
		struct leaf l;
		uint32_t ref;

		r->cookie = own + i;
		if (r->cookie > MDX_COOKIE_LAST)
			return false;
		if (look(c, t, r->cookie, NULL, 0, &l, &other, &ref) ==
		    TREE_LEAF)
			continue;
		if (i) {
			r->flags |= RECORD_PROBED;
			r->distance = (uint8_t)i;
		}
		return true;
	}
	return false;
}

int names_set(struct mdx *c, struct shard *sh, uint32_t dir, const char *name,
	      size_t len, struct record *r)
{
	struct tree t = names_tree(c, dir);
	struct record old;
	struct leaf l;
	uint32_t ref;
	bool there = names_find(c, &t, name, len, &l, &old, &ref) == TREE_LEAF;
	int rc;

	r->name = name;
	r->len = (uint8_t)len;
	r->distance = 0;
	r->flags &= (uint8_t)~RECORD_PROBED;
	if (there) {
		r->cookie = old.cookie;
		r->distance = old.distance;
		r->flags |= old.flags & RECORD_PROBED;
	} else if (!free_cookie(c, &t, r)) {
		names_hole(c, dir);
		t.ext->population = 0;
		return -ENOSPC;
	}
	if (r->flags & RECORD_PROBED) {
		/* Before the record can be missed. */
		atomic_store_explicit(&t.ext->probed, true,
				      memory_order_release);
		count(&c->counters, MDX_C_COLLISION);
	}
	rc = tree_set(c, sh, &t, r, cache_tick(c));
	if (rc == -ENOSPC) {
		t.ext->population = 0;
		names_forget(c, sh, dir, name, len);
	}
	if (!rc && !there)
		add_names(c, t.ext, 1);
	return rc;
}

bool names_unset(struct mdx *c, struct shard *sh, uint32_t dir,
		 const char *name, size_t len)
{
	struct tree t = names_tree(c, dir);
	struct record r;
	struct leaf l;
	uint32_t ref;

	if (names_find(c, &t, name, len, &l, &r, &ref) != TREE_LEAF)
		return false;
	leaf_remove(&l, &r);
	tree_update(c, sh, &t, ref, &l);
	add_names(c, t.ext, -1);
	return true;
}

void names_forget(struct mdx *c, struct shard *sh, uint32_t dir,
		  const char *name, size_t len)
{
	struct ext *x = entry_ext(c, dir);

	/* In this order: a reader that misses the record sees the new state. */
	names_hole(c, dir);
	names_unset(c, sh, dir, name, len);
	if (x->population) {
		/* The population may have read the name before; it must not add
		 * what it read. A record that says nothing prevents it. */
		struct record nothing = { .flags = RECORD_NEGATIVE };

		if (names_set(c, sh, dir, name, len, &nothing))
			x->population = 0;
	}
}

void names_drop(struct mdx *c, uint32_t dir)
{
	struct tree t = names_tree(c, dir);

	names_hole(c, dir);
	t.ext->population = 0;
	tree_drop(c, &t);
	add_names(c, t.ext, -(int32_t)t.ext->names);
	atomic_store_explicit(&t.ext->changed, 0, memory_order_relaxed);
	atomic_store_explicit(&t.ext->probed, false, memory_order_release);
}

static void drop_leaf(struct mdx *c, const struct tree *t, uint32_t ref,
		      const struct leaf *l)
{
	names_hole(c, t->owner);
	/* There may have been names newer than what is to be added. */
	t->ext->population = 0;
	count(&c->counters, MDX_C_EVICT_LEAF);
	add_names(c, t->ext, -(int32_t)l->count);
	tree_drop_leaf(c, t, ref, l);
}

void names_age(struct mdx *c, uint32_t dir, unsigned int leaves)
{
	struct tree t = names_tree(c, dir);
	uint64_t at = t.ext->hand;

	/* Empty stretches count as half a leaf, lest they take long. */
	for (unsigned int i = 0; i < 2 * leaves; i++) {
		struct leaf l;
		uint32_t ref;

		if (tree_read(c, &t, at, &l, &ref) == TREE_LEAF) {
			struct tree_block *b = arena_ptr(&c->arena, ref);

			if (atomic_exchange_explicit(&b->mark, 0,
						     memory_order_relaxed) == 0)
				drop_leaf(c, &t, ref, &l);
			i++;
		}
		at = leaf_last(&l) + 1;
		if (at > MDX_COOKIE_LAST)
			at = 0;
	}
	t.ext->hand = at;
}

bool names_evict_leaf(struct mdx *c, uint32_t dir, uint32_t leaf)
{
	struct tree t = names_tree(c, dir);
	const struct tree_block *b = arena_ptr(&c->arena, leaf);
	struct leaf l;
	uint32_t ref;

	if (tree_read(c, &t,
		      atomic_load_explicit(&b->low, memory_order_acquire), &l,
		      &ref) != TREE_LEAF ||
	    ref != leaf)
		return false;
	drop_leaf(c, &t, ref, &l);
	return true;
}
