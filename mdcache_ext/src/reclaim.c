/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "reclaim.h"

#include <errno.h>

#include "names.h"
#include "tier.h"

#define TRIES	      24
#define VICTIMS	      8	 /* replaced for one block */
#define STEAL_TURNS   16 /* one of so many attempts takes a slab */
#define GARBAGE_STEPS 64
#define GIVE_SLABS    256 /* looked at for one to give back */
#define SLABS_LEAST   3	  /* one operation may need blocks of three classes */

/* How a slab is looked at: spared if its blocks were used, or not. */
enum mercy {
	MERCIFUL,
	MERCILESS
};

/* --- Replacement by the policy ------------------------------------------- */

/* Replaces one entry of a tier in some shard. */
static bool evict_somewhere(struct mdx *c, enum tier tier, bool memory)
{
	unsigned int first = atomic_fetch_add_explicit(&c->reclaim_turn, 1,
						       memory_order_relaxed);
	bool done = false;

	for (unsigned int i = 0; i < c->shard_count && !done; i++) {
		struct shard *sh =
			&c->shards[(first + i) & (c->shard_count - 1)];

		shard_lock(c, sh);
		done = tier_evict(c, sh, tier, memory);
		shard_unlock(c, sh);
	}
	return done;
}

/* --- Emptying a slab ----------------------------------------------------- */

/* Evicts what a block belongs to, or the block alone, under the lock. */
static bool evict_block(struct mdx *c, struct shard *sh, uint32_t ref,
			uint64_t hash, uint32_t block, unsigned int kind)
{
	const struct entry *e = arena_ptr(&c->arena, ref);
	bool file = entry_in_file_tier(e);

	if (kind == KIND_LEAF)
		return file && names_evict_leaf(c, ref, block);
	/* A large directory is not lost for the sake of one block. */
	if (entry_pinned(e) || (file && names_large(entry_ext(c, ref))))
		return false;
	if (kind != KIND_EXT) {
		count(&c->counters, file ? MDX_C_EVICT_FILE : MDX_C_EVICT);
		tier_remove(c, sh, ref, hash);
	} else if (file) {
		policy_remove(c, &sh->queue[TIER_FILE], ref);
		tier_demote(c, sh, ref, hash);
	}
	return true;
}

/* The same for a block that was met without a lock, with its entry. */
static bool evict_met(struct mdx *c, uint32_t ref, uint32_t block,
		      unsigned int kind)
{
	struct mdx_key key;
	struct snap s;
	struct shard *sh;
	uint64_t hash;
	bool ok;

	rcu_enter();
	ok = arena_is(&c->arena, ref, KIND_ENTRY) &&
	     entry_read(c, ref, NULL,
			block_generation(arena_ptr(&c->arena, ref)),
			&s) == READ_OK;
	rcu_leave();
	if (!ok)
		return false;
	key = (struct mdx_key){ snap_key(&s), s.key_len, s.backend };
	hash = hash_of(c, key);
	sh = shard_of(c, hash);
	shard_lock(c, sh);
	ok = hash_find(c, &sh->hash, key, hash) == ref &&
	     evict_block(c, sh, ref, hash, block, kind);
	shard_unlock(c, sh);
	return ok;
}

/* The entry that a block belongs to; 0: it is not for taking. */
static uint32_t owner_of(const struct mdx *c, uint32_t ref, unsigned int kind)
{
	void *p = arena_ptr(&c->arena, ref);

	switch (kind) {
	case KIND_ENTRY:
		return ref;
	case KIND_EXT: /* the owner is the first word of these */
	case KIND_ASIDE:
	case KIND_BLOB:
		return atomic_load_explicit((_Atomic uint32_t *)p,
					    memory_order_acquire);
	case KIND_LEAF:
		return names_leaf_owner(p);
	default:
		return 0;
	}
}

/* Where it says whether a block was used lately. */
static _Atomic uint8_t *mark_of(struct mdx *c, uint32_t ref, unsigned int kind)
{
	uint32_t owner = owner_of(c, ref, kind);
	struct entry *e = arena_ptr(&c->arena, owner);

	if (kind == KIND_LEAF)
		return names_leaf_mark(arena_ptr(&c->arena, ref));
	return owner && arena_is(&c->arena, owner, KIND_ENTRY) ? &e->uses :
								 NULL;
}

/* Counts the blocks that were used lately, and begins to forget it of leaves. */
static unsigned int age(struct mdx *c, const uint32_t *refs, unsigned int n,
			unsigned int kind)
{
	unsigned int used = 0;

	for (unsigned int i = 0; i < n; i++) {
		_Atomic uint8_t *mark = mark_of(c, refs[i], kind);

		if (!mark || !atomic_load_explicit(mark, memory_order_relaxed))
			continue;
		used++;
		/* The uses of entries are the policy's; without them it would
		 * be a plain FIFO. */
		if (kind == KIND_LEAF)
			atomic_store_explicit(mark, 0, memory_order_relaxed);
	}
	return used;
}

static void empty_slab(struct mdx *c, uint32_t slab, unsigned int keep,
		       enum mercy mercy)
{
	uint32_t refs[SLAB_BLOCKS_MAX];
	unsigned int n = arena_drain(&c->arena, slab, refs);
	unsigned int kind;

	if (!n)
		return;
	rcu_enter(); /* owners are in slabs that may change their class */
	kind = arena_classes[arena_class_of(&c->arena, refs[0])].kind;
	/* Of the class in need, the policy replaces better. */
	if (mercy == MERCIFUL && (arena_class_of(&c->arena, refs[0]) == keep ||
				  age(c, refs, n, kind) > n / 4))
		n = 0;
	rcu_leave();
	for (unsigned int i = 0; i < n; i++) {
		uint32_t owner = 0;

		rcu_enter();
		if (arena_is(&c->arena, refs[i], kind))
			owner = owner_of(c, refs[i], kind);
		rcu_leave();
		if (owner)
			evict_met(c, owner, refs[i], kind);
	}
	arena_drained(&c->arena, slab);
}

/* Empties slabs until some can be used for something else, or, if no class is
 * in need, one can be given back: those that are sparsely used anyway, or
 * whichever is next. */
static bool steal(struct mdx *c, unsigned int keep, unsigned int slabs,
		  bool sparse, enum mercy mercy)
{
	for (unsigned int i = 0; i < slabs; i++) {
		uint32_t slab = arena_next_slab(&c->arena, sparse);

		if (!slab)
			return false;
		empty_slab(c, slab, keep, mercy);
		tree_collect(c, GARBAGE_STEPS);
		if (!arena_harvest(&c->arena, keep))
			continue;
		count(&c->counters, MDX_C_STEAL);
		if (keep == CLASS_NONE ||
		    arena_free_slabs(&c->arena) >= SLABS_LEAST)
			return true;
	}
	return false;
}

/* --- Room for whoever needs it ------------------------------------------- */

static bool has_names(unsigned int class)
{
	return class == CLASS_EXT || class >= CLASS_LEAF_FIRST;
}

static bool any_room(struct mdx *c, unsigned int class)
{
	tree_collect(c, GARBAGE_STEPS);
	if (arena_has(&c->arena, class))
		return true;
	arena_harvest(&c->arena, class);
	return arena_free_slabs(&c->arena) >= SLABS_LEAST ||
	       steal(c, class, 4, true, MERCILESS);
}

/* Replaces by the policy until there is room: the blocks that fall free are of
 * all classes, but they also leave slabs sparse. */
static bool replace(struct mdx *c, unsigned int class)
{
	enum tier first = has_names(class) ? TIER_FILE : TIER_STAT;

	for (unsigned int i = 0; i < VICTIMS; i++) {
		if (!evict_somewhere(c, first, true) &&
		    (first == TIER_FILE ||
		     !evict_somewhere(c, TIER_FILE, true)))
			return false;
		if (any_room(c, class))
			return true;
	}
	return false;
}

static bool make_memory(struct mdx *c, unsigned int class)
{
	unsigned int turn = atomic_fetch_add_explicit(&c->steal_turn, 1,
						      memory_order_relaxed);

	if (arena_has(&c->arena, class) || arena_grow(&c->arena) ||
	    any_room(c, class))
		return true;
	if (turn % STEAL_TURNS == 0 && steal(c, class, 4, false, MERCIFUL))
		return true;
	return replace(c, class) || steal(c, class, 16, false, MERCIFUL) ||
	       steal(c, class, 64, false, MERCILESS) ||
	       arena_free_slabs(&c->arena); /* fewer may do as well */
}

int reclaim_run(struct mdx *c, struct shard *sh, locked_op op, void *arg)
{
	for (unsigned int i = 0; i < TRIES; i++) {
		uint8_t need;
		int rc;

		shard_lock(c, sh);
		rc = op(c, sh, arg);
		need = sh->need;
		shard_unlock(c, sh);
		if (rc == -EAGAIN ? !make_memory(c, need) :
		    rc == -EBUSY  ? !evict_somewhere(c, need, false) :
				    true)
			return rc == -EAGAIN || rc == -EBUSY ? -ENOSPC : rc;
	}
	return -ENOSPC;
}

/* --- In the background --------------------------------------------------- */

static bool over_count(struct mdx *c, enum tier tier)
{
	return atomic_load_explicit(&c->entries[tier], memory_order_relaxed) >
	       atomic_load_explicit(&c->max[tier], memory_order_relaxed);
}

/* Whether there is a slab to give back; slabs are emptied for it, at first
 * those that are little used. */
static bool find_slab(struct mdx *c)
{
	return arena_free_slabs(&c->arena) ||
	       arena_harvest(&c->arena, CLASS_NONE) ||
	       steal(c, CLASS_NONE, 4, true, MERCILESS) ||
	       steal(c, CLASS_NONE, 16, false, MERCIFUL) ||
	       steal(c, CLASS_NONE, GIVE_SLABS, false, MERCILESS);
}

/* One slab back to the system. False: all have been tried, and what is pinned
 * keeps them. A slab that was found but that a caller in need was quicker to
 * take says nothing of the others. Under trim_lock. */
static bool give_back(struct mdx *c)
{
	bool found;

	if (!c->trim_vain)
		atomic_store(&c->trim_pins, atomic_load(&c->pinned));
	found = find_slab(c);
	if (arena_shrink(&c->arena)) {
		count(&c->counters, MDX_C_TRIM);
		found = true;
	}
	c->trim_vain = found ? 0 : c->trim_vain + GIVE_SLABS;
	/* Twice round: a large directory goes after its names have gone. */
	if (c->trim_vain < 2 * (uint64_t)arena_round(&c->arena))
		return true;
	c->trim_vain = 0;
	return reclaim_unpinned(c);
}

/* One step under trim_lock; false: there was none to do. */
static bool background_step(struct mdx *c)
{
	return tree_collect(c, GARBAGE_STEPS) ||
	       (over_count(c, TIER_FILE) &&
		evict_somewhere(c, TIER_FILE, false)) ||
	       (over_count(c, TIER_STAT) &&
		evict_somewhere(c, TIER_STAT, false)) ||
	       (budget_excess(&c->budget) && give_back(c));
}

bool reclaim_background(struct mdx *c, unsigned int steps)
{
	bool more = true;

	for (unsigned int i = 0; i < steps && more; i++) {
		/* One at a time: of two, each would take the other's slabs for
		 * missing, and evict one entry too many. */
		pthread_mutex_lock(&c->trim_lock);
		more = background_step(c);
		pthread_mutex_unlock(&c->trim_lock);
	}
	return !more;
}
