/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The names of a directory: one structure, in the order of the cookies, for
 * lookup by name and for iteration.
 *
 * Cookies are hashes, so they are evenly spread, and a trie over their bits is
 * balanced by itself: nodes of 64 slots (6 bits), and leaves (leaf.h) of up to
 * 608 bytes of names. A leaf covers all cookies with a prefix of `depth` bits;
 * when that lies between two nodes' depths, several slots lead to the same
 * leaf, as in extendible hashing. A leaf that is full is split in two. A
 * directory of a few names is one leaf of fitting size (64 to 640 bytes); one
 * of five million has four levels. No operation touches more than one leaf, its
 * two halves and the path, whatever the size of the directory.
 *
 * Space: a name of 11 letters has a record of 25 bytes; a leaf is 85% full on
 * the mean and has 32 bytes of header for some 18 names; nodes take another
 * half byte a name. That is 32 bytes.
 *
 * Writers hold the lock of the directory's shard. Readers take none: each block
 * has a sequence number, as entries have (entry.h), its owner (block and
 * generation of the directory's entry), and the prefix that it covers. A reader
 * that was led astray, because a leaf was split or is another directory's by
 * now, sees that from the copy and starts over. What it finds is therefore the
 * state of this directory's names at one moment of the search; and so is what
 * it does not find.
 *
 * All names of a directory are dropped by taking the root away; the tree is
 * freed piece by piece later. Its leaves may also go one by one when memory is
 * short; the directory is then not complete any more.
 *
 * Sources: R. Fagin et al., "Extendible hashing", ACM TODS 4(3), 1979;
 * P. Bagwell, "Ideal hash trees", 2001.
 */
#ifndef MDX_TREE_H
#define MDX_TREE_H

#include "cache.h"
#include "leaf.h"

#define NODE_BITS  6u
#define NODE_SLOTS 64u
#define LEVELS_MAX 11u

/* The head of leaves and nodes. The first two words are as an entry's. */
struct tree_block {
	_Atomic uint32_t seq;
	_Atomic uint32_t owner;
	_Atomic uint32_t gen; /* of the owner */
	_Atomic uint8_t depth;
	_Atomic uint8_t mark; /* used since it was last looked at */
	_Atomic uint16_t count;
	_Atomic uint64_t low;
	_Atomic uint32_t base; /* garbage: the next block */
	_Atomic uint16_t used;
	uint16_t unused;
};

struct tree_leaf {
	struct tree_block head;
	_Atomic uint64_t w[]; /* records */
};

struct tree_node {
	struct tree_block head;
	_Atomic uint32_t slot[NODE_SLOTS]; /* reference | NODE; 0: no names */
};

#define NODE_FLAG 1u /* blocks start at multiples of 64 bytes */

/* A directory as the tree sees it. */
struct tree {
	uint32_t owner;
	uint32_t gen;
	struct ext *ext;
};

enum tree_result {
	TREE_LEAF,
	TREE_NOTHING,
	TREE_RETRY
};

/* Copies the leaf that covers a cookie; *ref is its reference. TREE_NOTHING:
 * there are no names around it, and l->low and l->depth tell how far around.
 * TREE_RETRY happens only without the lock. */
enum tree_result tree_read(const struct mdx *c, const struct tree *t,
			   uint64_t cookie, struct leaf *l, uint32_t *ref);

/* Under the shard's lock: */

/* Puts a record at its cookie, in the place of what is there. -EAGAIN: no
 * memory. -ENOSPC: too many cookies are the same but for their last bits. */
int tree_set(struct mdx *c, struct shard *sh, const struct tree *t,
	     const struct record *r, uint32_t now);
/* Writes a leaf back from which records were removed. */
void tree_update(struct mdx *c, struct shard *sh, const struct tree *t,
		 uint32_t ref, const struct leaf *l);
/* Drops a leaf with its names. */
void tree_drop_leaf(struct mdx *c, const struct tree *t, uint32_t ref,
		    const struct leaf *l);
/* Detaches everything. */
void tree_drop(struct mdx *c, const struct tree *t);

/* Frees up to so many blocks of detached trees; true: there were some. Not
 * under a lock. */
bool tree_collect(struct mdx *c, unsigned int blocks);

#endif
