/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The names of directories: what is known of a name, and of a directory as a
 * whole.
 *
 * A directory is complete if all its names are held: then the absence of a
 * record is an answer, for a time that may be shorter. Whatever
 * makes a record disappear without the name being known to be absent (eviction
 * of a leaf, invalidation, want of memory) ends completeness; the number in
 * ext.names_state is then new, so a reader that looked for a record before and
 * reads the state afterwards cannot combine the two.
 *
 * Names whose hashes are equal are put at the next free cookies (up to
 * PROBES_MAX). The hash has 62 bits, so that takes an adversary; only in
 * directories where it has happened do lookups look further than one place.
 */
#ifndef MDX_NAMES_H
#define MDX_NAMES_H

#include "tree.h"

#define PROBES_MAX 16u

/* Directories with more leaves of names than this are not replaced whole when
 * memory is short, but leaf by leaf. */
#define LARGE_LEAVES 32u

static inline bool names_large(const struct ext *x)
{
	return x->leaves > LARGE_LEAVES;
}

static inline bool name_sane(const char *name, size_t len)
{
	return name && len >= 1 && len <= MDX_NAME_MAX;
}

/* Looks for a record. TREE_LEAF: found, in *l (r->name points into it).
 * TREE_NOTHING: there is none. TREE_RETRY: only without the lock. */
enum tree_result names_find(const struct mdx *c, const struct tree *t,
			    const char *name, size_t len, struct leaf *l,
			    struct record *r, uint32_t *ref);

/* Under the lock of the directory's shard, for a file tier entry: */

struct tree names_tree(const struct mdx *c, uint32_t dir);
/* Sets what is known of a name; r->cookie, name, len and distance are filled
 * in. -EAGAIN: no memory. -ENOSPC: no place, the name is unknown. */
int names_set(struct mdx *c, struct shard *sh, uint32_t dir, const char *name,
	      size_t len, struct record *r);
/* Takes a record away; false: there was none. */
bool names_unset(struct mdx *c, struct shard *sh, uint32_t dir,
		 const char *name, size_t len);
/* The directory is not complete, and a population that is going on will not
 * make it so. */
void names_hole(struct mdx *c, uint32_t dir);
/* Absence of a name is not known any more. */
void names_forget(struct mdx *c, struct shard *sh, uint32_t dir,
		  const char *name, size_t len);
/* All names go. */
void names_drop(struct mdx *c, uint32_t dir);
/* Drops those of the next `leaves` leaves that were not used since the last
 * time. */
void names_age(struct mdx *c, uint32_t dir, unsigned int leaves);
/* Drops a leaf if it is this directory's; false: it is not. */
bool names_evict_leaf(struct mdx *c, uint32_t dir, uint32_t leaf);
/* From now on all names are held. */
void names_set_complete(struct mdx *c, struct ext *x);
/* Are they, and for how long is the absence of one an answer: a tick, 0 if not
 * at all. */
uint32_t names_absent_until(const struct mdx *c, const struct ext *x);

/* Without a lock: */

static inline uint32_t names_leaf_owner(const void *leaf)
{
	const struct tree_block *b = leaf;

	return atomic_load_explicit(&b->owner, memory_order_acquire);
}

static inline _Atomic uint8_t *names_leaf_mark(void *leaf)
{
	struct tree_block *b = leaf;

	return &b->mark;
}

#endif
