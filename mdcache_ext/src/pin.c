/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Entries in use for their data: promotion, pins, pages. */
#include <errno.h>

#include "reclaim.h"
#include "tier.h"

struct use {
	struct mdx_key key;
	uint64_t hash;
	struct mdx_attachment *pages;
	enum obtain how;
};

static int pin(struct mdx *c, struct shard *sh, void *arg)
{
	const struct use *u = arg;
	struct entry *e;
	uint32_t ref;
	int rc = tier_obtain(c, sh, u->key, u->hash, u->how, &ref);

	if (rc)
		return rc;
	e = arena_ptr(&c->arena, ref);
	if (!entry_pinned(e)) {
		policy_remove(c, &sh->queue[TIER_FILE], ref);
		atomic_fetch_or_explicit(&e->state, ENTRY_PINNED,
					 memory_order_release);
		atomic_fetch_add_explicit(&c->pinned, 1, memory_order_relaxed);
	}
	entry_ext(c, ref)->pins++;
	return 0;
}

int mdx_pin(struct mdx *c, struct mdx_key key)
{
	struct use u = { .key = key, .how = OBTAIN_FILE };
	struct shard *sh;
	int rc;

	if (!key_sane(key))
		return -EINVAL;
	u.hash = hash_of(c, key);
	sh = shard_of(c, u.hash);
	rc = reclaim_run(c, sh, pin, &u);
	if (rc == -ENOSPC) {
		u.how = OBTAIN_FORCED;
		rc = reclaim_run(c, sh, pin, &u);
	}
	if (!rc)
		count(&c->counters, MDX_C_PIN);
	return rc;
}

int mdx_unpin(struct mdx *c, struct mdx_key key)
{
	struct shard *sh;
	struct entry *e;
	uint64_t hash;
	uint32_t ref;
	int rc = 0;

	if (!key_sane(key))
		return -EINVAL;
	hash = hash_of(c, key);
	sh = shard_of(c, hash);
	shard_lock(c, sh);
	ref = hash_find(c, &sh->hash, key, hash);
	e = arena_ptr(&c->arena, ref);
	if (!ref || !entry_pinned(e)) {
		rc = -EINVAL;
	} else if (--entry_ext(c, ref)->pins == 0) {
		atomic_fetch_and_explicit(&e->state, (uint8_t)~ENTRY_PINNED,
					  memory_order_release);
		atomic_fetch_sub_explicit(&c->pinned, 1, memory_order_relaxed);
		policy_insert(c, &sh->queue[TIER_FILE], ref, hash);
		/* Pins may have gone above the limit; the way back. */
		if (atomic_load(&c->entries[TIER_FILE]) >
		    atomic_load(&c->max[TIER_FILE]))
			tier_evict(c, sh, TIER_FILE, false);
	}
	shard_unlock(c, sh);
	if (reclaim_unpinned(c))
		release_kick(c);
	return rc;
}

static int promote(struct mdx *c, struct shard *sh, void *arg)
{
	const struct use *u = arg;
	uint32_t ref = hash_find(c, &sh->hash, u->key, u->hash);
	int rc;

	if (!ref)
		return -ENOENT;
	rc = tier_obtain(c, sh, u->key, u->hash, OBTAIN_FILE, &ref);
	if (!rc && u->pages)
		entry_set_pages(c, ref, u->pages);
	return rc;
}

int mdx_promote(struct mdx *c, struct mdx_key key)
{
	struct use u = { .key = key };

	if (!key_sane(key))
		return -EINVAL;
	u.hash = hash_of(c, key);
	return reclaim_run(c, shard_of(c, u.hash), promote, &u);
}

static int drop_pages(struct mdx *c, struct shard *sh, void *arg)
{
	const struct use *u = arg;
	uint32_t ref = hash_find(c, &sh->hash, u->key, u->hash);

	if (!ref)
		return -ENOENT;
	if (entry_in_file_tier(arena_ptr(&c->arena, ref)))
		entry_set_pages(c, ref, NULL);
	return 0;
}

int mdx_pages_set(struct mdx *c, struct mdx_key key,
		  struct mdx_attachment *pages)
{
	struct use u = { .key = key, .pages = pages };

	if (!key_sane(key))
		return -EINVAL;
	u.hash = hash_of(c, key);
	return reclaim_run(c, shard_of(c, u.hash), pages ? promote : drop_pages,
			   &u);
}
