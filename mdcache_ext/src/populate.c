/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Population: all names of a directory, from the backend's readdir.
 *
 * It starts with no names, so whatever record is there when a name is to be
 * added came after the beginning: it is a change that was finished meanwhile,
 * or a fetch with a good ticket, and newer than the backend's list. That record
 * stays. A name whose absence is known by now has a record, too, for the
 * directory is not complete yet; and a name that has become unknown gets one
 * that says nothing, and leaves a hole, with which the directory does not
 * become complete. When records go for want of memory, the population is over.
 */
#include <errno.h>
#include <string.h>

#include "name_put.h"
#include "reclaim.h"
#include "tier.h"

struct populate {
	struct mdx_population *p;
	struct mdx_key dir;
	uint64_t hash;
	const char *name;
	size_t len;
	struct record record;
	bool all;
	uint32_t ttl_ms;
	uint32_t absent_ms;
};

static struct populate context(const struct mdx *c, struct mdx_population *p)
{
	struct populate u = { .p = p,
			      .dir = { p->key, p->key_len, p->backend } };

	u.hash = hash_of(c, u.dir);
	return u;
}

static int begin(struct mdx *c, struct shard *sh, void *arg)
{
	struct populate *u = arg;
	struct ext *x;
	uint32_t dir;
	int rc = tier_obtain(c, sh, u->dir, u->hash, OBTAIN_FILE, &dir);

	if (rc)
		return rc;
	x = entry_ext(c, dir);
	names_drop(c, dir);
	/* The ticket is taken here, for nothing before counts. */
	u->p->id = x->population = u->p->ticket = ticket_advance(c);
	x->holes = false;
	x->doubted = 0;
	atomic_store_explicit(&x->names_until, 0, memory_order_release);
	return 0;
}

int mdx_populate_begin(struct mdx *c, struct mdx_key dir,
		       struct mdx_population *p)
{
	struct populate u;

	if (!key_sane(dir))
		return -EINVAL;
	memcpy(p->key, dir.bytes, dir.len);
	p->key_len = dir.len;
	p->backend = dir.backend;
	u = context(c, p);
	return reclaim_run(c, shard_of(c, u.hash), begin, &u);
}

/* The directory, if this population is still going on; else 0. */
static uint32_t going_on(struct mdx *c, struct shard *sh,
			 const struct populate *u)
{
	uint32_t dir = hash_find(c, &sh->hash, u->dir, u->hash);
	const struct entry *e = arena_ptr(&c->arena, dir);

	return dir && entry_in_file_tier(e) &&
			       atomic_load(&e->epoch) ==
				       backend_epoch(c, u->dir.backend) &&
			       entry_ext(c, dir)->population == u->p->id ?
		       dir :
		       0;
}

static int add(struct mdx *c, struct shard *sh, void *arg)
{
	struct populate *u = arg;
	uint32_t dir = going_on(c, sh, u);
	struct record newer;
	struct leaf l;
	struct tree t;
	uint32_t ref;

	if (!dir)
		return -ESTALE;
	t = names_tree(c, dir);
	if (names_find(c, &t, u->name, u->len, &l, &newer, &ref) == TREE_LEAF)
		return -ESTALE;
	policy_used(&((struct entry *)arena_ptr(&c->arena, dir))->uses);
	return names_set(c, sh, dir, u->name, u->len, &u->record);
}

static int lost(struct mdx *c, struct shard *sh, void *arg)
{
	uint32_t dir = going_on(c, sh, arg);

	if (dir)
		names_hole(c, dir);
	return 0;
}

int mdx_populate_add(struct mdx *c, struct mdx_population *p, const char *name,
		     size_t len, const struct mdx_key *child)
{
	struct populate u = context(c, p);
	struct shard *sh = shard_of(c, u.hash);
	int rc;

	if (!name_sane(name, len) || !child || !key_sane(*child))
		return -EINVAL;
	u.name = name;
	u.len = len;
	name_record(c, child, &u.record);
	u.record.flags |= RECORD_DIRLIFE;
	u.record.until = TICK_FOREVER;
	rc = reclaim_run(c, sh, add, &u);
	if (rc == -ENOSPC)
		reclaim_run(c, sh, lost, &u);
	count(&c->counters, rc == 0	  ? MDX_C_NAME_PUT :
			    rc == -ESTALE ? MDX_C_NAME_VOID :
					    MDX_C_NAME_NOSPACE);
	return rc;
}

static int end(struct mdx *c, struct shard *sh, void *arg)
{
	const struct populate *u = arg;
	uint32_t dir = going_on(c, sh, u);
	struct ext *x;

	if (!dir)
		return -ESTALE;
	x = entry_ext(c, dir);
	x->population = 0;
	atomic_store_explicit(&x->names_until, cache_until(c, u->ttl_ms),
			      memory_order_release);
	atomic_store_explicit(&x->absent_until, cache_until(c, u->absent_ms),
			      memory_order_release);
	if (!u->all || x->holes)
		return -ESTALE;
	names_set_complete(c, x);
	return 0;
}

int mdx_populate_end(struct mdx *c, struct mdx_population *p, bool all,
		     uint32_t ttl_ms, uint32_t absent_ms)
{
	struct populate u = context(c, p);
	int rc;

	u.all = all;
	u.ttl_ms = ttl_ms;
	u.absent_ms = absent_ms;
	rc = reclaim_run(c, shard_of(c, u.hash), end, &u);
	count(&c->counters, rc ? MDX_C_POPULATE_FAIL : MDX_C_POPULATE);
	return rc;
}
