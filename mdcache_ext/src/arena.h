/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The arena: blocks of a few sizes, named by 32-bit references.
 *
 * One piece of address space (64 GiB) is reserved; a reference is an offset in
 * it in units of 16 bytes, so no table stands between a reference and its
 * block. The space is cut into slabs of 16 KiB. A slab holds blocks of one
 * class; a bitmap beside the slabs (48 bytes per slab, 0.3%) tells which are in
 * use, so no block has a header.
 *
 * Guarantees
 *   - A block that is freed may be handed out again at once, for the same
 *     class. Readers without a lock must expect that and detect it.
 *   - A slab changes its class only after an RCU grace period (arena_harvest).
 *   - arena_alloc is a few steps long and never asks the system for memory;
 *     arena_grow does that, page faults included, and is called without locks.
 *   - Memory is taken from the budget before it is committed.
 *
 * With a large budget memory is committed in chunks of 2 MiB and advised to be
 * a huge page; with a small one, slab by slab.
 */
#ifndef MDX_ARENA_H
#define MDX_ARENA_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "budget.h"

#define SLAB_SIZE	16384u
#define SLAB_UNITS	1024u /* references per slab */
#define CHUNK_SLABS	128u  /* slabs of a huge page */
#define SLAB_BLOCKS_MAX 256u

/* What a block is, and so where its sequence number and owner are. */
enum block_kind {
	KIND_NONE,
	KIND_SEGMENT,
	KIND_OVERFLOW,
	KIND_ENTRY,
	KIND_EXT,
	KIND_ASIDE,
	KIND_BLOB,
	KIND_LEAF,
	KIND_NODE
};

enum arena_class {
	CLASS_NONE, /* a slab without use */
	CLASS_SEGMENT,
	CLASS_OVERFLOW,
	CLASS_ENTRY_FIRST, /* 96, 112, ... 224 bytes */
	CLASS_ENTRY_LAST = CLASS_ENTRY_FIRST + 8,
	CLASS_EXT,
	CLASS_ASIDE_FIRST, /* 64, 112, 160 bytes */
	CLASS_ASIDE_LAST = CLASS_ASIDE_FIRST + 2,
	CLASS_BLOB_FIRST, /* 64, 128, 256, 640 bytes */
	CLASS_BLOB_LAST = CLASS_BLOB_FIRST + 3,
	CLASS_LEAF_FIRST, /* 64, 128, 192, ... 640 bytes */
	CLASS_LEAF_LAST = CLASS_LEAF_FIRST + 9,
	CLASS_NODE,
	CLASS_COUNT
};

struct class_info {
	uint16_t size;	/* bytes of a block, a multiple of 16 */
	uint16_t count; /* blocks in a slab */
	uint8_t kind;
};
extern const struct class_info arena_classes[CLASS_COUNT];

struct slab {
	_Atomic uint8_t class;
	uint8_t list : 7;   /* enum in arena.c */
	uint8_t usable : 1; /* was committed once */
	uint16_t used;	    /* blocks in use */
	uint32_t next;	    /* of its list */
	uint32_t prev;
	uint32_t gen_base; /* generations of entries here start above it */
	uint64_t map[SLAB_BLOCKS_MAX / 64];
};

struct slab_list {
	uint32_t head; /* slab number, 0: empty */
	uint32_t count;
};

struct arena {
	char *base;
	struct slab *slabs;
	size_t size;
	uint32_t slab_count; /* all that the address space has */
	uint32_t frontier;   /* first slab never used */
	bool huge;
	struct budget *budget;
	pthread_mutex_t lock;  /* all below, and the slabs */
	struct slab_list free; /* committed, any class may have them */
	struct slab_list gone; /* given back to the system */
	struct slab_list partial[CLASS_COUNT];
	struct slab_list empty[CLASS_COUNT];
	uint32_t slabs_of[CLASS_COUNT]; /* for choosing whom to take from */
	_Atomic uint64_t used_bytes;
	uint32_t sweep_hand[2]; /* any, sparse */
};

bool arena_init(struct arena *a, struct budget *budget);
void arena_destroy(struct arena *a);

static inline void *arena_ptr(const struct arena *a, uint32_t ref)
{
	return a->base + ((size_t)ref << 4);
}

/* A block whose contents are as its last user, or arena_new_slab, left them;
 * 0: there is none without arena_grow or eviction. */
uint32_t arena_alloc(struct arena *a, unsigned int class);
/* The same, but not from a slab that has no class yet. */
uint32_t arena_alloc_old(struct arena *a, unsigned int class);
void arena_free(struct arena *a, uint32_t ref);

static inline unsigned int arena_class_of(const struct arena *a, uint32_t ref)
{
	return atomic_load_explicit(&a->slabs[ref / SLAB_UNITS].class,
				    memory_order_acquire);
}

/* Whether a reference that may be stale names a block of this kind now. In an
 * RCU read section the answer holds until the section ends. */
static inline bool arena_is(const struct arena *a, uint32_t ref,
			    enum block_kind kind)
{
	const struct class_info *info = &arena_classes[arena_class_of(a, ref)];

	return info->kind == kind && ref % SLAB_UNITS % (info->size / 16u) == 0;
}

/* Are there two blocks to be had without asking the system? (One operation may
 * need two of a class.) */
bool arena_has(struct arena *a, unsigned int class);
/* Commits more memory if the budget allows. Not under a lock. */
bool arena_grow(struct arena *a);
/* Turns slabs whose blocks are all free into free slabs, after a grace period,
 * except those of `keep`; returns how many. Not under a lock. */
unsigned int arena_harvest(struct arena *a, unsigned int keep);
/* Gives one free slab back to the system; false: there is none. */
bool arena_shrink(struct arena *a);

/* Begins to empty a slab: no block of it is handed out until arena_drained, nor
 * does it change its class. Returns how many references are in use in it; 0:
 * none that could be evicted, or another thread empties it; that was all then.
 */
unsigned int arena_drain(struct arena *a, uint32_t slab,
			 uint32_t refs[SLAB_BLOCKS_MAX]);
/* Ends it, whether all blocks have been freed or not. */
void arena_drained(struct arena *a, uint32_t slab);
/* A slab in use, round and round; with `sparse`, one that is less than half
 * used. 0: none among the next 4096. */
uint32_t arena_next_slab(struct arena *a, bool sparse);
/* Slabs that any class may have. */
uint32_t arena_free_slabs(struct arena *a);
/* All slabs that were ever in use: arena_next_slab's round. */
uint32_t arena_round(struct arena *a);

#endif
