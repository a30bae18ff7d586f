/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Storing what the backend said of names, by a fetch or after a change, and
 * invalidating them. */
#include "name_put.h"

#include <errno.h>

#include "get.h"
#include "reclaim.h"
#include "tier.h"

struct name {
	struct mdx_key dir;
	uint64_t hash; /* of dir */
	const char *name;
	size_t len;
	struct record record;
	uint64_t ticket;
};

void name_record(struct mdx *c, const struct mdx_key *child, struct record *r)
{
	struct snap s;

	*r = (struct record){ .flags = child ? 0 : RECORD_NEGATIVE };
	if (!child)
		return;
	rcu_enter();
	if (get_snap(c, *child, hash_of(c, *child), &s)) {
		r->flags = RECORD_CHILD;
		r->child = s.ref;
		r->child_gen = s.gen;
	}
	rcu_leave();
}

static bool sane(struct mdx_key dir, const char *name, size_t len,
		 const struct mdx_key *child)
{
	return key_sane(dir) && name_sane(name, len) &&
	       (!child || key_sane(*child));
}

static uint64_t *stamp_of(const struct name *n, struct shard *sh)
{
	return stamp_of_name(&sh->stamps, n->hash, cookie_of(n->name, n->len));
}

/* Sets a name, in a directory that is found or made. -ESTALE: its backend has
 * been invalidated since the ticket. (Seen before that, the directory is of an
 * epoch that passes with the invalidation; so this is looked at afterwards.) */
static int set(struct mdx *c, struct shard *sh, struct name *n)
{
	uint32_t dir;
	int rc = tier_obtain(c, sh, n->dir, n->hash, OBTAIN_FILE, &dir);

	if (rc)
		return rc;
	if (!ticket_good_for_backend(c, n->dir.backend, n->ticket)) {
		names_forget(c, sh, dir, n->name, n->len);
		return -ESTALE;
	}
	policy_used(&((struct entry *)arena_ptr(&c->arena, dir))->uses);
	/* In a complete directory, absence says the same and costs nothing. */
	if (n->record.flags & RECORD_NEGATIVE &&
	    names_absent_until(c, entry_ext(c, dir)) >= n->record.until) {
		names_unset(c, sh, dir, n->name, n->len);
		return 0;
	}
	return names_set(c, sh, dir, n->name, n->len, &n->record);
}

static int put(struct mdx *c, struct shard *sh, void *arg)
{
	struct name *n = arg;

	if (!ticket_good(stamp_of(n, sh), n->ticket) ||
	    !ticket_good(stamp_of_dir(&sh->stamps, n->hash), n->ticket) ||
	    !ticket_good_for_backend(c, n->dir.backend, n->ticket))
		return -ESTALE;
	return set(c, sh, n);
}

int mdx_name_put(struct mdx *c, uint64_t ticket, struct mdx_key dir,
		 const char *name, size_t len, const struct mdx_key *child,
		 uint32_t ttl_ms)
{
	struct name n = {
		.dir = dir, .name = name, .len = len, .ticket = ticket
	};
	int rc;

	if (!sane(dir, name, len, child))
		return -EINVAL;
	name_record(c, child, &n.record);
	n.record.until = cache_until(c, ttl_ms);
	n.hash = hash_of(c, dir);
	rc = reclaim_run(c, shard_of(c, n.hash), put, &n);
	count(&c->counters, rc == 0	  ? MDX_C_NAME_PUT :
			    rc == -ESTALE ? MDX_C_NAME_VOID :
					    MDX_C_NAME_NOSPACE);
	return rc;
}

/* --- Changes ------------------------------------------------------------- */

struct finish {
	struct name n;
	struct mdx_change *change;
	enum mdx_outcome outcome;
	uint64_t stamp; /* of the finish, 0: not yet */
	bool alone;	/* it met no other */
};

int mdx_change_name(struct mdx *c, struct mdx_change *ch, struct mdx_key dir,
		    const char *name, size_t len)
{
	struct name n = { .dir = dir, .name = name, .len = len };
	struct shard *sh;

	if (!sane(dir, name, len, NULL))
		return -EINVAL;
	if (ch->count == MDX_CHANGE_MAX)
		return -E2BIG;
	n.hash = hash_of(c, dir);
	sh = shard_of(c, n.hash);
	shard_lock(c, sh);
	change_begin(c, ch, stamp_of(&n, sh));
	shard_unlock(c, sh);
	return 0;
}

/* The directory, if it is there and holds names. */
static uint32_t find_dir(struct mdx *c, struct shard *sh, const struct name *n)
{
	uint32_t dir = hash_find(c, &sh->hash, n->dir, n->hash);

	return dir && entry_in_file_tier(arena_ptr(&c->arena, dir)) ? dir : 0;
}

static void note_change(const struct mdx *c, struct ext *x)
{
	if (!atomic_load_explicit(&x->changed, memory_order_relaxed))
		atomic_store_explicit(&x->changed, cache_tick(c),
				      memory_order_relaxed);
}

static int finish(struct mdx *c, struct shard *sh, void *arg)
{
	struct finish *f = arg;
	struct name *n = &f->n;
	uint64_t *stamp = stamp_of(n, sh);
	uint64_t begun = f->change->stamps[0];
	uint32_t dir = find_dir(c, sh, n);

	if (!f->stamp) {
		/* All its names, or its whole backend, may have been
		 * invalidated in between, too. */
		f->alone = change_finish(c, f->change, stamp) &&
			   ticket_good(stamp_of_dir(&sh->stamps, n->hash),
				       begun) &&
			   ticket_good_for_backend(c, n->dir.backend, begun);
		f->stamp = *stamp;
	}
	f->alone = f->alone && *stamp == f->stamp;
	if (f->outcome == MDX_NAME_KEEP)
		return 0;
	if (dir)
		note_change(c, entry_ext(c, dir));
	if (!f->alone || f->outcome == MDX_NAME_UNKNOWN) {
		if (dir)
			names_forget(c, sh, dir, n->name, n->len);
		return f->alone ? 0 : -ESTALE;
	}
	n->ticket = begun;
	return set(c, sh, n);
}

int mdx_changed_name(struct mdx *c, struct mdx_change *ch, struct mdx_key dir,
		     const char *name, size_t len, enum mdx_outcome outcome,
		     const struct mdx_key *child, uint32_t ttl_ms)
{
	bool present = outcome == MDX_NAME_PRESENT;
	struct finish f = { .n = { .dir = dir, .name = name, .len = len },
			    .change = ch,
			    .outcome = outcome };
	struct shard *sh;
	int rc;

	if (!sane(dir, name, len, present ? child : NULL) ||
	    (present && !child))
		return -EINVAL;
	name_record(c, present ? child : NULL, &f.n.record);
	f.n.record.until = cache_until(c, ttl_ms);
	f.n.hash = hash_of(c, dir);
	sh = shard_of(c, f.n.hash);
	rc = reclaim_run(c, sh, finish, &f);
	if (rc == -ENOSPC) {
		f.outcome = MDX_NAME_UNKNOWN;
		reclaim_run(c, sh, finish, &f);
	}
	count(&c->counters, rc == -ESTALE ? MDX_C_CHANGE_LOST : MDX_C_CHANGE);
	return rc;
}

/* --- Invalidation -------------------------------------------------------- */

/* Names that were in no list, besides as many as there are of others: where
 * files come and go under ever new names, and nobody asks for them, the
 * directory is no longer known before there are more of them. */
#define DOUBTED_MAX 2000

/* A record that says nothing keeps the absence of records an answer. */
static int doubt(struct mdx *c, struct shard *sh, void *arg)
{
	struct name *n = arg;
	uint32_t dir = find_dir(c, sh, n);
	uint32_t before;
	struct ext *x;
	int rc;

	ticket_void(c, stamp_of(n, sh));
	if (!dir)
		return 0;
	x = entry_ext(c, dir);
	if (!x->population &&
	    !(atomic_load(&x->names_state) & NAMES_COMPLETE)) {
		names_unset(c, sh, dir, n->name, n->len);
		return 0;
	}
	n->record =
		(struct record){ .flags = RECORD_DOUBT, .until = TICK_FOREVER };
	before = x->names;
	rc = names_set(c, sh, dir, n->name, n->len, &n->record);
	if (!rc && x->names > before)
		x->doubted++;
	if (!rc && !x->population &&
	    x->doubted > DOUBTED_MAX + (uint64_t)x->names / 2)
		names_drop(c, dir);
	return rc;
}

void mdx_doubt_name(struct mdx *c, struct mdx_key dir, const char *name,
		    size_t len)
{
	struct name n = { .dir = dir, .name = name, .len = len };
	int rc;

	if (!sane(dir, name, len, NULL))
		return;
	n.hash = hash_of(c, dir);
	rc = reclaim_run(c, shard_of(c, n.hash), doubt, &n);
	if (rc)
		mdx_invalidate_name(c, dir, name, len);
	else
		count(&c->counters, MDX_C_DOUBT_NAME);
}

void mdx_invalidate_name(struct mdx *c, struct mdx_key dir, const char *name,
			 size_t len)
{
	struct name n = { .dir = dir, .name = name, .len = len };
	struct shard *sh;
	uint32_t ref;

	if (!sane(dir, name, len, NULL))
		return;
	count(&c->counters, MDX_C_INVALIDATE_NAME);
	n.hash = hash_of(c, dir);
	sh = shard_of(c, n.hash);
	shard_lock(c, sh);
	ticket_void(c, stamp_of(&n, sh));
	ref = find_dir(c, sh, &n);
	if (ref)
		names_forget(c, sh, ref, name, len);
	shard_unlock(c, sh);
}

void mdx_invalidate_names(struct mdx *c, struct mdx_key dir)
{
	struct name n = { .dir = dir };
	struct shard *sh;
	uint32_t ref;

	if (!key_sane(dir))
		return;
	count(&c->counters, MDX_C_INVALIDATE_NAMES);
	n.hash = hash_of(c, dir);
	sh = shard_of(c, n.hash);
	shard_lock(c, sh);
	ticket_void(c, stamp_of_dir(&sh->stamps, n.hash));
	ref = find_dir(c, sh, &n);
	if (ref)
		names_drop(c, ref);
	shard_unlock(c, sh);
}
