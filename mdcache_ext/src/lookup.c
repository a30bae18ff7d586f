/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Looking names up, and iterating over them, without a lock. */
#include <errno.h>

#include "get.h"
#include "names.h"

#define READ_TRIES 64

enum found {
	FOUND_NOTHING, /* the name is not known */
	FOUND_NAME,
	FOUND_ABSENCE, /* no record, and the directory is complete */
	FOUND_RETRY
};

/* The tree of a copied directory, and the state of its names before it is
 * looked at; false: it has changed meanwhile. */
static bool open_tree(const struct mdx *c, const struct snap *dir,
		      struct tree *t, uint64_t *state)
{
	t->owner = dir->ref;
	t->gen = dir->gen;
	t->ext = arena_ptr(&c->arena, snap_hang(dir));
	*state = atomic_load_explicit(&t->ext->names_state,
				      memory_order_acquire);
	return entry_unchanged(c, dir);
}

static bool same_state(const struct mdx *c, const struct snap *dir,
		       const struct tree *t, uint64_t state)
{
	const struct entry *e = arena_ptr(&c->arena, dir->ref);

	return atomic_load_explicit(&t->ext->names_state,
				    memory_order_acquire) == state &&
	       block_generation(e) == dir->gen;
}

static enum found find(struct mdx *c, const struct snap *dir, const char *name,
		       size_t len, struct leaf *l, struct record *r)
{
	struct tree t;
	uint64_t state;
	uint32_t ref;

	if (!(dir->state & ENTRY_FILE))
		return FOUND_NOTHING;
	if (!open_tree(c, dir, &t, &state))
		return FOUND_RETRY;
	switch (names_find(c, &t, name, len, l, r, &ref)) {
	case TREE_RETRY:
		return FOUND_RETRY;
	case TREE_LEAF:
		break;
	default:
		if (ref)
			atomic_store_explicit(
				names_leaf_mark(arena_ptr(&c->arena, ref)), 1,
				memory_order_relaxed);
		if (!(state & NAMES_COMPLETE))
			return FOUND_NOTHING;
		if (!same_state(c, dir, &t, state))
			return FOUND_RETRY;
		return names_absent_until(c, t.ext) ? FOUND_ABSENCE :
						      FOUND_NOTHING;
	}
	if (r->flags & RECORD_DIRLIFE)
		r->until = atomic_load_explicit(&t.ext->names_until,
						memory_order_acquire);
	atomic_store_explicit(names_leaf_mark(arena_ptr(&c->arena, ref)), 1,
			      memory_order_relaxed);
	return FOUND_NAME;
}

/* Tells of the child of a record, in an RCU read section. */
static bool resolve(struct mdx *c, const struct record *r,
		    struct mdx_answer *child)
{
	struct entry *e = arena_ptr(&c->arena, r->child);
	struct snap s;

	if (!(r->flags & RECORD_CHILD))
		return false;
	for (unsigned int i = 0; i < READ_TRIES; i++) {
		enum read_result rc;

		if (!arena_is(&c->arena, r->child, KIND_ENTRY))
			return false;
		rc = entry_read(c, r->child, NULL, r->child_gen, &s);
		if (rc == READ_OTHER)
			return false;
		if (rc == READ_BUSY)
			continue;
		if (s.epoch != backend_epoch(c, s.backend))
			return false;
		get_fill(c, &s, child);
		policy_used(&e->uses);
		return true;
	}
	return false;
}

static int tell(struct mdx *c, enum found found, const struct record *r,
		struct mdx_answer *child)
{
	if (found == FOUND_ABSENCE) {
		count(&c->counters, MDX_C_NAME_COMPLETE);
		return -ENOENT;
	}
	if (found == FOUND_NOTHING || r->flags & RECORD_DOUBT) {
		count(&c->counters, MDX_C_NAME_MISS);
		return -ENODATA;
	}
	if (!cache_fresh(c, r->until)) {
		count(&c->counters, MDX_C_NAME_EXPIRED);
		return -ENODATA;
	}
	if (r->flags & RECORD_NEGATIVE) {
		count(&c->counters, MDX_C_NAME_NEGATIVE);
		return -ENOENT;
	}
	if (!resolve(c, r, child)) {
		count(&c->counters, MDX_C_NAME_ORPHAN);
		return -ESTALE;
	}
	count(&c->counters, MDX_C_NAME_HIT);
	return 0;
}

/* The same under the lock, where nothing has to be done again. */
static enum found find_locked(struct mdx *c, struct mdx_key dir, uint64_t hash,
			      const char *name, size_t len, struct leaf *l,
			      struct record *r)
{
	struct shard *sh = shard_of(c, hash);
	enum found found = FOUND_NOTHING;
	struct snap s;
	uint32_t ref;

	count(&c->counters, MDX_C_READ_LOCKED);
	rcu_leave();
	shard_lock(c, sh);
	rcu_enter();
	ref = hash_find(c, &sh->hash, dir, hash);
	if (ref) {
		entry_copy(c, ref, &s);
		if (s.epoch == backend_epoch(c, dir.backend))
			found = find(c, &s, name, len, l, r);
	}
	shard_unlock(c, sh);
	return found;
}

int mdx_lookup(struct mdx *c, struct mdx_key dir, const char *name, size_t len,
	       struct mdx_answer *child)
{
	enum found found = FOUND_RETRY;
	struct record r;
	struct leaf l;
	struct snap s;
	uint64_t hash;
	int rc;

	if (!key_sane(dir) || !name_sane(name, len) || !child)
		return -EINVAL;
	hash = hash_of(c, dir);
	rcu_enter();
	for (unsigned int i = 0; i < READ_TRIES && found == FOUND_RETRY; i++) {
		if (!get_snap(c, dir, hash, &s)) {
			found = FOUND_NOTHING;
			break;
		}
		found = find(c, &s, name, len, &l, &r);
		if (found == FOUND_RETRY)
			count(&c->counters, MDX_C_READ_RETRY);
		else
			policy_used(
				&((struct entry *)arena_ptr(&c->arena, s.ref))
					 ->uses);
	}
	if (found == FOUND_RETRY)
		found = find_locked(c, dir, hash, name, len, &l, &r);
	rc = tell(c, found, &r, child);
	rcu_leave();
	return rc;
}

uint64_t mdx_cookie(struct mdx *c, struct mdx_key dir, const char *name,
		    size_t len)
{
	uint64_t cookie = cookie_of(name, len);
	enum found found = FOUND_RETRY;
	struct record r;
	struct leaf l;
	struct snap s;
	uint64_t hash;

	if (!key_sane(dir) || !name_sane(name, len))
		return cookie;
	hash = hash_of(c, dir);
	rcu_enter();
	for (unsigned int i = 0; i < READ_TRIES && found == FOUND_RETRY; i++)
		found = get_snap(c, dir, hash, &s) ?
				find(c, &s, name, len, &l, &r) :
				FOUND_NOTHING;
	if (found == FOUND_RETRY)
		found = find_locked(c, dir, hash, name, len, &l, &r);
	rcu_leave();
	return found == FOUND_NAME ? r.cookie : cookie;
}

/* What a directory has more than a stat tier entry, in an RCU read section, and
 * the state of its names before it is looked at; NULL: it has no names. */
static const struct ext *find_ext(struct mdx *c, struct mdx_key dir,
				  uint64_t *state)
{
	struct tree t;
	struct snap s;
	uint64_t hash;

	if (!key_sane(dir))
		return NULL;
	hash = hash_of(c, dir);
	while (get_snap(c, dir, hash, &s) && s.state & ENTRY_FILE) {
		if (open_tree(c, &s, &t, state))
			return t.ext;
	}
	return NULL;
}

uint32_t mdx_complete_left(struct mdx *c, struct mdx_key dir)
{
	const struct ext *x;
	uint32_t left = 0;
	uint64_t state;

	rcu_enter();
	x = find_ext(c, dir, &state);
	if (x && state & NAMES_COMPLETE) {
		uint32_t until = atomic_load_explicit(&x->names_until,
						      memory_order_acquire);

		if (cache_fresh(c, until))
			left = cache_left_ms(c, until);
	}
	rcu_leave();
	return left;
}

bool mdx_is_complete(struct mdx *c, struct mdx_key dir)
{
	return mdx_complete_left(c, dir) != 0;
}

bool mdx_names_changed(struct mdx *c, struct mdx_key dir, uint64_t *ago_ms)
{
	const struct ext *x;
	uint32_t changed = 0;
	uint64_t state;

	rcu_enter();
	x = find_ext(c, dir, &state);
	if (x)
		changed =
			atomic_load_explicit(&x->changed, memory_order_relaxed);
	rcu_leave();
	*ago_ms = (uint64_t)(cache_tick(c) - changed) * TICK_MS;
	return changed != 0;
}

/* --- Iteration ----------------------------------------------------------- */

/* Copies the leaf around a cookie of a directory, or the stretch without names
 * there; false: it is not complete. */
static bool read_stretch(struct mdx *c, struct mdx_key dir, uint64_t hash,
			 uint64_t cookie, struct leaf *l, uint32_t *until)
{
	struct snap s;

	while (get_snap(c, dir, hash, &s) && s.state & ENTRY_FILE) {
		struct tree t;
		uint64_t state;
		uint32_t ref;

		if (!open_tree(c, &s, &t, &state) ||
		    tree_read(c, &t, cookie, l, &ref) == TREE_RETRY ||
		    !same_state(c, &s, &t, state))
			continue;
		if (ref)
			atomic_store_explicit(
				names_leaf_mark(arena_ptr(&c->arena, ref)), 1,
				memory_order_relaxed);
		policy_used(
			&((struct entry *)arena_ptr(&c->arena, s.ref))->uses);
		*until = atomic_load_explicit(&t.ext->names_until,
					      memory_order_acquire);
		return state & NAMES_COMPLETE && cache_fresh(c, *until);
	}
	return false;
}

/* Gives the names of a copied leaf from a cookie on. (It may begin before that:
 * since the last one was read the tree may have been built anew.) 1: go on. */
static int give(struct mdx *c, const struct leaf *l, uint64_t from,
		uint32_t until, bool (*each)(const struct mdx_dirent *, void *),
		void *arg)
{
	struct mdx_dirent d;
	struct record r;

	for (unsigned int at = 0; leaf_next(l, &at, &r);) {
		if (r.cookie < from)
			continue;
		/* One that may be here again is none that was listed. */
		if (r.flags & RECORD_NEGATIVE)
			continue;
		if (r.flags & RECORD_DIRLIFE)
			r.until = until;
		if (!cache_fresh(c, r.until))
			return -ENODATA; /* it may be gone */
		d.cookie = r.cookie;
		d.name = r.name;
		d.len = r.len;
		d.doubtful = r.flags & RECORD_DOUBT;
		rcu_enter();
		d.known = resolve(c, &r, &d.child);
		rcu_leave();
		if (!each(&d, arg))
			return 0;
	}
	return 1;
}

int mdx_readdir(struct mdx *c, struct mdx_key dir, uint64_t cookie,
		bool (*each)(const struct mdx_dirent *, void *), void *arg)
{
	uint64_t at = cookie + 1;
	uint64_t hash;
	bool counted = false;

	if (!key_sane(dir))
		return -EINVAL;
	hash = hash_of(c, dir);
	while (at <= MDX_COOKIE_LAST) {
		struct leaf l;
		uint32_t until;
		bool ok;
		int rc;

		rcu_enter();
		ok = read_stretch(c, dir, hash, at, &l, &until);
		rcu_leave();
		if (!counted)
			count(&c->counters,
			      ok ? MDX_C_READDIR : MDX_C_READDIR_MISS);
		counted = true;
		if (!ok)
			return -ENODATA;
		rc = give(c, &l, at, until, each, arg);
		if (rc <= 0)
			return rc ? rc : 1;
		at = leaf_last(&l) + 1;
	}
	return 0;
}
