/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "tree.h"

#include <errno.h>
#include <string.h>

_Static_assert(sizeof(struct tree_block) == 32, "leaf classes count on it");

static uint32_t load32(const _Atomic uint32_t *p)
{
	return atomic_load_explicit(p, memory_order_acquire);
}

static void store32(_Atomic uint32_t *p, uint32_t v)
{
	atomic_store_explicit(p, v, memory_order_release);
}

static void *block_at(const struct mdx *c, uint32_t ref)
{
	return arena_ptr(&c->arena, ref & ~NODE_FLAG);
}

/* The slot that leads to a cookie in a node of this level. */
static unsigned int slot_of(uint64_t cookie, unsigned int level)
{
	return (unsigned int)(cookie << (64 - COOKIE_BITS)
				     << NODE_BITS * level >>
			      (64 - NODE_BITS));
}

static uint64_t prefix(uint64_t cookie, unsigned int depth)
{
	unsigned int below = COOKIE_BITS - depth;

	return cookie >> below << below;
}

/* --- Reading ------------------------------------------------------------- */

static bool is_ours(const struct tree_block *b, const struct tree *t,
		    uint64_t cookie, unsigned int *depth, uint64_t *low)
{
	*depth = atomic_load_explicit(&b->depth, memory_order_acquire);
	*low = atomic_load_explicit(&b->low, memory_order_acquire);
	return load32(&b->owner) == t->owner && load32(&b->gen) == t->gen &&
	       *depth <= COOKIE_BITS && prefix(cookie, *depth) == *low;
}

static bool stable(const struct tree_block *b, uint32_t seq)
{
	return !(seq & 1) &&
	       atomic_load_explicit(&b->seq, memory_order_relaxed) == seq;
}

static bool copy_leaf(const struct tree_leaf *leaf, const struct tree *t,
		      uint64_t cookie, struct leaf *l)
{
	const struct tree_block *b = &leaf->head;
	uint32_t seq = load32(&b->seq);
	unsigned int depth;

	if (seq & 1 || !is_ours(b, t, cookie, &depth, &l->low))
		return false;
	l->depth = (uint8_t)depth;
	l->base = load32(&b->base);
	l->count = atomic_load_explicit(&b->count, memory_order_acquire);
	l->used = atomic_load_explicit(&b->used, memory_order_acquire);
	if (l->used > LEAF_BYTES_MAX || !stable(b, seq))
		return false; /* the bytes must be within the block */
	for (unsigned int i = 0; i < (l->used + 7u) / 8; i++) {
		uint64_t w =
			atomic_load_explicit(&leaf->w[i], memory_order_acquire);

		memcpy(l->bytes + (size_t)8 * i, &w, 8);
	}
	return stable(b, seq);
}

static bool follow(const struct tree_node *n, const struct tree *t,
		   uint64_t cookie, unsigned int level, uint32_t *ref)
{
	uint32_t seq = load32(&n->head.seq);
	unsigned int depth;
	uint64_t low;

	if (!is_ours(&n->head, t, cookie, &depth, &low) ||
	    depth != NODE_BITS * level)
		return false;
	*ref = load32(&n->slot[slot_of(cookie, level)]);
	return stable(&n->head, seq);
}

enum tree_result tree_read(const struct mdx *c, const struct tree *t,
			   uint64_t cookie, struct leaf *l, uint32_t *ref)
{
	unsigned int level = 0;

	*ref = load32(&t->ext->root);
	for (; *ref & NODE_FLAG; level++) {
		if (level == LEVELS_MAX ||
		    !follow(block_at(c, *ref), t, cookie, level, ref))
			return TREE_RETRY;
	}
	if (*ref)
		return copy_leaf(block_at(c, *ref), t, cookie, l) ? TREE_LEAF :
								    TREE_RETRY;
	l->depth = (uint8_t)(NODE_BITS * level < COOKIE_BITS ?
				     NODE_BITS * level :
				     COOKIE_BITS);
	l->low = prefix(cookie, l->depth);
	l->used = 0;
	l->count = 0;
	l->base = 0;
	return TREE_NOTHING;
}

/* --- Writing ------------------------------------------------------------- */

static unsigned int class_for(unsigned int used)
{
	unsigned int class = CLASS_LEAF_FIRST;

	while (arena_classes[class].size - sizeof(struct tree_block) < used)
		class ++;
	return class;
}

static void write_head(struct tree_block *b, const struct tree *t,
		       unsigned int depth, uint64_t low)
{
	store32(&b->owner, t->owner);
	store32(&b->gen, t->gen);
	atomic_store_explicit(&b->depth, (uint8_t)depth, memory_order_release);
	atomic_store_explicit(&b->low, low, memory_order_release);
}

static void write_leaf(struct tree_leaf *leaf, const struct tree *t,
		       const struct leaf *l)
{
	struct tree_block *b = &leaf->head;

	seq_begin(&b->seq);
	write_head(b, t, l->depth, l->low);
	store32(&b->base, l->base);
	atomic_store_explicit(&b->count, l->count, memory_order_release);
	atomic_store_explicit(&b->used, l->used, memory_order_release);
	for (unsigned int i = 0; i < (l->used + 7u) / 8; i++) {
		uint64_t w;

		memcpy(&w, l->bytes + (size_t)8 * i, 8);
		atomic_store_explicit(&leaf->w[i], w, memory_order_release);
	}
	seq_end(&b->seq);
}

/* A new leaf; 0: no memory. */
static uint32_t new_leaf(struct mdx *c, struct shard *sh, const struct tree *t,
			 const struct leaf *l)
{
	unsigned int class = class_for(l->used);
	uint32_t ref = 0;
	struct tree_leaf *b;

	/* A somewhat larger block will do, rather than that a slab be begun. */
	for (unsigned int i = class;
	     i <= class + 1 && i <= CLASS_LEAF_LAST && !ref; i++)
		ref = arena_alloc_old(&c->arena, i);
	if (!ref)
		ref = arena_alloc(&c->arena, class);
	for (unsigned int i = class + 1; i <= CLASS_LEAF_LAST && !ref; i++)
		ref = arena_alloc_old(&c->arena, i);
	if (!ref) {
		sh->need = (uint8_t) class;
		return 0;
	}
	b = block_at(c, ref);
	/* What is new was used: it must not be the first to go. */
	atomic_store_explicit(&b->head.mark, 1, memory_order_relaxed);
	write_leaf(b, t, l);
	t->ext->leaves++;
	return ref;
}

static void free_block(struct mdx *c, uint32_t ref)
{
	struct tree_block *b = block_at(c, ref);

	seq_begin(&b->seq);
	arena_free(&c->arena, ref & ~NODE_FLAG);
}

static void free_leaf(struct mdx *c, const struct tree *t, uint32_t ref)
{
	t->ext->leaves--;
	free_block(c, ref);
}

/* The node whose slots lead to a leaf of this depth, and its level; NULL: the
 * root does. */
static struct tree_node *parent_of(const struct mdx *c, const struct tree *t,
				   uint64_t cookie, unsigned int depth,
				   unsigned int *level)
{
	uint32_t ref = load32(&t->ext->root);
	struct tree_node *n = NULL;

	for (*level = 0; depth > NODE_BITS * *level; ++*level) {
		n = block_at(c, ref);
		ref = load32(&n->slot[slot_of(cookie, *level)]);
	}
	return n;
}

/* Lets all slots (or the root) that lead to a prefix lead to `ref`. */
static void point(const struct mdx *c, const struct tree *t, uint64_t low,
		  unsigned int depth, uint32_t ref)
{
	unsigned int level, first, n;
	struct tree_node *node = parent_of(c, t, low, depth, &level);

	if (!node) {
		store32(&t->ext->root, ref);
		return;
	}
	first = slot_of(low, level - 1);
	n = 1u << (NODE_BITS * level - depth);
	for (unsigned int i = first; i < first + n; i++)
		store32(&node->slot[i], ref);
}

/* Takes nodes out that lead to nothing any more. */
static void prune(struct mdx *c, const struct tree *t, uint64_t cookie,
		  unsigned int depth)
{
	while (depth) {
		unsigned int level;
		struct tree_node *n = parent_of(c, t, cookie, depth, &level);
		uint32_t ref;

		for (unsigned int i = 0; i < NODE_SLOTS; i++)
			if (load32(&n->slot[i]))
				return;
		depth = NODE_BITS * (level - 1);
		ref = load32(&t->ext->root);
		for (unsigned int i = 0; i + 1 < level; i++) {
			n = block_at(c, ref);
			ref = load32(&n->slot[slot_of(cookie, i)]);
		}
		point(c, t, prefix(cookie, depth), depth, 0);
		free_block(c, ref);
	}
}

void tree_drop_leaf(struct mdx *c, const struct tree *t, uint32_t ref,
		    const struct leaf *l)
{
	point(c, t, l->low, l->depth, 0);
	free_leaf(c, t, ref);
	prune(c, t, l->low, l->depth);
}

/* Writes a leaf back: in a new block if it has grown out of its own, or (if
 * there is one to be had) shrunk to less than half of it. */
static int write_back(struct mdx *c, struct shard *sh, const struct tree *t,
		      uint32_t ref, const struct leaf *l)
{
	unsigned int size = arena_classes[arena_class_of(&c->arena, ref)].size;
	size_t needed = l->used + sizeof(struct tree_block);
	uint32_t fresh = 0;

	if (needed > size || needed < size / 2u)
		fresh = new_leaf(c, sh, t, l);
	if (fresh) {
		point(c, t, l->low, l->depth, fresh);
		free_leaf(c, t, ref);
		return 0;
	}
	if (needed > size)
		return -EAGAIN;
	write_leaf(block_at(c, ref), t, l);
	return 0;
}

void tree_update(struct mdx *c, struct shard *sh, const struct tree *t,
		 uint32_t ref, const struct leaf *l)
{
	if (l->count)
		write_back(c, sh, t, ref, l); /* it fits, so it succeeds */
	else
		tree_drop_leaf(c, t, ref, l);
}

/* A node that is not published, nor filled in, yet; 0: no memory. */
static uint32_t new_node(struct mdx *c, struct shard *sh, const struct tree *t,
			 unsigned int depth, uint64_t low)
{
	uint32_t ref = arena_alloc(&c->arena, CLASS_NODE);
	struct tree_node *n;

	if (!ref) {
		sh->need = CLASS_NODE;
		return 0;
	}
	n = block_at(c, ref);
	write_head(&n->head, t, depth, low);
	return ref | NODE_FLAG;
}

static void fill_node(const struct mdx *c, uint32_t ref, uint32_t low,
		      uint32_t high)
{
	struct tree_node *n = block_at(c, ref);

	for (unsigned int i = 0; i < NODE_SLOTS; i++)
		store32(&n->slot[i], i < NODE_SLOTS / 2 ? low : high);
	seq_end(&n->head.seq);
}

/* Splits a leaf in two; *l becomes the half that covers `cookie`, *ref its
 * block or 0. */
static int split(struct mdx *c, struct shard *sh, const struct tree *t,
		 uint64_t cookie, struct leaf *l, uint32_t *ref, uint32_t now)
{
	struct leaf half[2];
	uint32_t refs[2] = { 0, 0 }, node = 0;
	bool failed = false;
	unsigned int high;

	if (l->depth == COOKIE_BITS)
		return -ENOSPC;
	leaf_split(l, &half[0], &half[1], now);
	/* The node first: leaves are content with what is there, it is not. */
	if (l->depth % NODE_BITS == 0) {
		node = new_node(c, sh, t, l->depth, l->low);
		failed = !node;
	}
	for (unsigned int i = 0; i < 2 && !failed; i++) {
		if (!half[i].count)
			continue;
		refs[i] = new_leaf(c, sh, t, &half[i]);
		failed = !refs[i];
	}
	if (failed) {
		for (unsigned int i = 0; i < 2; i++)
			if (refs[i])
				free_leaf(c, t, refs[i]);
		if (node)
			free_block(c, node);
		return -EAGAIN;
	}
	if (node) {
		fill_node(c, node, refs[0], refs[1]);
		point(c, t, l->low, l->depth, node);
	} else {
		point(c, t, half[0].low, half[0].depth, refs[0]);
		point(c, t, half[1].low, half[1].depth, refs[1]);
	}
	free_leaf(c, t, *ref);
	high = leaf_covers(&half[1], cookie);
	*l = half[high];
	*ref = refs[high];
	return 0;
}

/* Where there is no leaf, one may cover as much as there is nothing. */
static void widen(const struct mdx *c, const struct tree *t, uint64_t cookie,
		  struct leaf *l)
{
	unsigned int level;
	const struct tree_node *n = parent_of(c, t, cookie, l->depth, &level);
	unsigned int slot, run;

	if (!n)
		return;
	slot = slot_of(cookie, level - 1);
	for (run = 1u << (NODE_BITS * level - l->depth); run < NODE_SLOTS / 2;
	     run *= 2) {
		unsigned int buddy = (slot & ~(run - 1)) ^ run;

		for (unsigned int i = buddy; i < buddy + run; i++)
			if (load32(&n->slot[i]))
				return;
		l->depth--;
		l->low = prefix(cookie, l->depth);
	}
}

int tree_set(struct mdx *c, struct shard *sh, const struct tree *t,
	     const struct record *r, uint32_t now)
{
	size_t size = record_size(r->len, r->flags);
	struct record old = { 0 };
	struct leaf l = { .used = 0 };
	uint32_t ref;
	int rc;

	if (tree_read(c, t, r->cookie, &l, &ref) == TREE_NOTHING)
		widen(c, t, r->cookie, &l);
	for (;;) {
		bool there = leaf_find(&l, r->cookie, NULL, 0, &old);

		if (l.used + size - (there ? old.size : 0) <= LEAF_BYTES_MAX) {
			if (there)
				leaf_remove(&l, &old);
			break;
		}
		rc = split(c, sh, t, r->cookie, &l, &ref, now);
		if (rc)
			return rc;
	}
	leaf_insert(&l, r, now);
	if (ref)
		return write_back(c, sh, t, ref, &l);
	ref = new_leaf(c, sh, t, &l);
	if (!ref)
		return -EAGAIN;
	point(c, t, l.low, l.depth, ref);
	return 0;
}

/* --- Garbage ------------------------------------------------------------- */

static void discard(struct mdx *c, uint32_t ref)
{
	struct tree_block *b = block_at(c, ref);

	seq_begin(&b->seq); /* readers must not take the link for a base */
	store32(&b->base, c->garbage);
	c->garbage = ref;
}

void tree_drop(struct mdx *c, const struct tree *t)
{
	uint32_t root = load32(&t->ext->root);

	if (!root)
		return;
	store32(&t->ext->root, 0);
	t->ext->leaves = 0;
	pthread_mutex_lock(&c->garbage_lock);
	discard(c, root);
	pthread_mutex_unlock(&c->garbage_lock);
	release_kick(c);
}

bool tree_collect(struct mdx *c, unsigned int blocks)
{
	unsigned int n = 0;

	pthread_mutex_lock(&c->garbage_lock);
	for (; n < blocks && c->garbage; n++) {
		uint32_t ref = c->garbage, last = 0;
		struct tree_node *node = block_at(c, ref);

		c->garbage = load32(&node->head.base);
		for (unsigned int i = 0; ref & NODE_FLAG && i < NODE_SLOTS;
		     i++) {
			uint32_t child = load32(&node->slot[i]);

			/* The slots of a leaf are neighbours. */
			if (child && child != last)
				discard(c, child);
			last = child;
		}
		arena_free(&c->arena, ref & ~NODE_FLAG);
	}
	pthread_mutex_unlock(&c->garbage_lock);
	return n;
}
