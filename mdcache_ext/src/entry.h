/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Entries as they lie in memory, and how they are read without a lock.
 *
 * An entry is one block of the arena: 24 bytes of header, 61 of packed
 * attributes and references, then the key. With a key of 27 bytes that is 112.
 *
 * Each entry has a sequence number: odd while it is written to or free, even
 * while it is stable. A reader copies what it needs and believes it only if the
 * number was even and is still the same (a seqlock, per entry). Because blocks
 * of a slab never change their class within a read section, what a reader sees
 * of a block that was freed and used again is at worst another entry, and then
 * the number has changed. So freed entries need no grace period, and a budget
 * that is full can be used again at once.
 *
 * Memory order: the copied words are loaded with acquire and stored with
 * release, so that no load of a word can be seen after the second look at the
 * number, and no store before the first change of it. These are plain loads and
 * stores on x86. (H.-J. Boehm, "Can seqlocks get along with programming
 * language memory models?", MSPC 2012, section 5.)
 *
 * An entry's generation changes with each life of its block, and when it is
 * forgotten in place. Names refer to their child by block and generation; a
 * name whose child has gone is thereby known to be an orphan. Generations have
 * 32 bits and outlive the slab's other uses.
 *
 * All writing is done under the lock of the entry's shard.
 */
#ifndef MDX_ENTRY_H
#define MDX_ENTRY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "attrs.h"

enum entry_state {
	ENTRY_FILE = 1 << 0,   /* file tier: `aside` refers to an ext */
	ENTRY_PINNED = 1 << 1, /* not in a queue */
	ENTRY_MAIN = 1 << 2    /* in the main queue of the policy */
};

struct entry {
	_Atomic uint32_t seq;
	_Atomic uint32_t gen;
	uint32_t next; /* of the policy's queue; under the shard's lock */
	uint32_t prev;
	_Atomic uint8_t uses; /* the policy's; set by readers */
	_Atomic uint8_t state;
	_Atomic uint8_t key_len;
	_Atomic uint8_t backend;
	_Atomic uint32_t epoch; /* of the backend, when it was last put */
	_Atomic uint64_t w[];	/* see below */
};

/* Words of an entry. The last ones are bytes: acl, flags, key. */
enum {
	W_FRESH_ASIDE, /* fresh-until tick; reference of aside or ext << 32 */
	W_FILEID,
	W_ATIME,
	W_MTIME,
	W_CTIME,
	W_SIZE_IDENT,
	W_MODE_NLINK_SPACE_VALID,
	W_BYTES,
	BYTE_ACL = 8 * W_BYTES, /* 4 bytes: number of the attachment */
	BYTE_FLAGS = BYTE_ACL + 4,
	BYTE_KEY = BYTE_FLAGS + 1,
	WORDS_MAX = (BYTE_KEY + MDX_KEY_MAX + 7) / 8
};

static inline unsigned int entry_words(unsigned int key_len)
{
	return (BYTE_KEY + key_len + 7) / 8;
}

#define ENTRY_BYTES_MAX (sizeof(struct entry) + 8 * WORDS_MAX)

/* What is aside of an entry: rare values and references. The aside of a file
 * tier entry hangs on its ext. */
struct aside {
	_Atomic uint32_t owner; /* entry */
	_Atomic uint32_t link;	/* blobs */
	_Atomic uint32_t parent;
	_Atomic uint32_t other; /* attachment */
	_Atomic uint32_t wide;	/* 1 << enum wide: which words follow */
	uint32_t unused;
	_Atomic uint64_t words[];
};

struct blob {
	_Atomic uint32_t owner; /* entry */
	_Atomic uint32_t len;	/* bytes */
	_Atomic uint64_t words[];
};

/* What a file tier entry has more than a stat tier entry. The state of names:
 * a number that is new with every event after which a reader may not conclude
 * absence from what it saw before, and a flag: that it may be concluded at all.
 */
#define NAMES_COMPLETE 1u
#define NAMES_FLAGS    1 /* bits */

struct ext {
	_Atomic uint32_t owner; /* entry */
	_Atomic uint32_t aside;
	_Atomic uint32_t root;	       /* of the names' tree, 0: no names */
	_Atomic uint32_t names_until;  /* tick: the life of populated names */
	_Atomic uint32_t absent_until; /* and of what their absence says */
	_Atomic uint32_t changed; /* tick: of our own first change of a name */
	_Atomic uint64_t names_state; /* number << NAMES_FLAGS | flags */
	uint64_t population;	      /* that is going on, 0: none */
	uint64_t hand;		      /* cookie: where leaves were last aged */
	uint32_t names;
	uint32_t leaves;
	uint32_t pins;
	_Atomic uint32_t pages; /* attachment */
	_Atomic bool probed;	/* some names are not at their own cookies */
	bool holes;		/* names were lost since population began */
	uint32_t doubted;	/* names that came by being doubted, since */
};

/* A consistent copy of an entry. */
struct snap {
	uint32_t ref;
	uint32_t gen;
	uint32_t seq;
	uint32_t epoch;
	uint8_t state;
	uint8_t key_len;
	uint8_t backend;
	uint32_t aside; /* of the entry or its ext */
	uint32_t wide;
	uint32_t blobs; /* those it has: MDX_LINK, MDX_PARENT */
	uint64_t w[WORDS_MAX];
	uint64_t words[WIDE_COUNT]; /* in the order of enum wide, dense */
};

static inline uint8_t *snap_bytes(struct snap *s)
{
	return (uint8_t *)s->w;
}

static inline const void *snap_key(const struct snap *s)
{
	return (const uint8_t *)s->w + BYTE_KEY;
}

static inline uint8_t snap_flags(const struct snap *s)
{
	return ((const uint8_t *)s->w)[BYTE_FLAGS];
}

static inline uint32_t snap_acl(const struct snap *s)
{
	uint32_t acl;

	memcpy(&acl, (const uint8_t *)s->w + BYTE_ACL, sizeof(acl));
	return acl;
}

static inline uint32_t snap_fresh(const struct snap *s)
{
	return (uint32_t)s->w[W_FRESH_ASIDE];
}

/* The word that w[0] is (its upper half is the reference of aside or ext). */
static inline uint32_t snap_hang(const struct snap *s)
{
	return (uint32_t)(s->w[W_FRESH_ASIDE] >> 32);
}

/* For blocks with a sequence number in front: free, never used. */
static inline void block_init_free(void *p, uint32_t generation)
{
	struct entry *e = p;

	atomic_store_explicit(&e->seq, 1, memory_order_relaxed);
	atomic_store_explicit(&e->gen, generation, memory_order_relaxed);
}

static inline uint32_t block_generation(const void *p)
{
	const struct entry *e = p;

	return atomic_load_explicit(&e->gen, memory_order_relaxed);
}

/* Writing, under the lock: begin, stores with release, end. */
static inline void seq_begin(_Atomic uint32_t *seq)
{
	uint32_t s = atomic_load_explicit(seq, memory_order_relaxed);

	atomic_store_explicit(seq, s | 1, memory_order_relaxed);
}

static inline void seq_end(_Atomic uint32_t *seq)
{
	uint32_t s = atomic_load_explicit(seq, memory_order_relaxed);

	atomic_store_explicit(seq, s + 1, memory_order_release);
}

struct mdx;
struct shard;

enum read_result {
	READ_OK,
	READ_OTHER,
	READ_BUSY
};

/* Copies an entry without a lock, in an RCU read section. READ_OTHER: it is not
 * (or no longer) the entry asked for: of this key if `key` is given, of this
 * generation otherwise. READ_BUSY: it is being written to. */
enum read_result entry_read(const struct mdx *c, uint32_t ref,
			    const struct mdx_key *key, uint32_t gen,
			    struct snap *s);

/* Has the entry been left alone since it was copied? */
bool entry_unchanged(const struct mdx *c, const struct snap *s);

/* The numeric attributes of a copy. */
void snap_attrs(const struct mdx *c, const struct snap *s,
		struct mdx_attrs *attrs);

/* Reads a blob of a copied entry, in the same read section: its length,
 * -ENOENT, or -EAGAIN: the entry has changed. */
int entry_read_blob(const struct mdx *c, const struct snap *s, uint32_t which,
		    void *buf, size_t size);

/* The following are called under the lock of the entry's shard. */

static inline bool entry_in_file_tier(const struct entry *e)
{
	return atomic_load_explicit(&e->state, memory_order_relaxed) &
	       ENTRY_FILE;
}

static inline bool entry_pinned(const struct entry *e)
{
	return atomic_load_explicit(&e->state, memory_order_relaxed) &
	       ENTRY_PINNED;
}

/* Copies an entry that is in use. */
void entry_copy(const struct mdx *c, uint32_t ref, struct snap *s);
/* The hash of the key of an entry that is in use. */
uint64_t entry_hash(const struct mdx *c, uint32_t ref);
/* The ext of a file tier entry. */
struct ext *entry_ext(const struct mdx *c, uint32_t ref);

/* A new entry without attributes, in no tier and not in the hash; 0: no
 * memory. */
uint32_t entry_new(struct mdx *c, struct shard *sh, const struct mdx_key *key,
		   uint32_t epoch);
/* Frees an entry that is in no queue and not in the hash. */
void entry_delete(struct mdx *c, uint32_t ref);
/* Stores numeric attributes, flags, and the numbers of attachments, of which
 * somebody holds references: the entry gets its own. `old` is a copy of the
 * entry, which this spoils. -EAGAIN: no memory. */
int entry_store(struct mdx *c, struct shard *sh, uint32_t ref, struct snap *old,
		const struct mdx_attrs *attrs, uint8_t known, uint32_t acl,
		uint32_t other, uint32_t fresh, uint32_t epoch);
/* Stores a blob; `which` is MDX_LINK or MDX_PARENT. -EAGAIN: no memory. */
int entry_set_blob(struct mdx *c, struct shard *sh, uint32_t ref,
		   uint32_t which, const void *bytes, size_t len);
/* Forgets blobs: `mask` has MDX_LINK, MDX_PARENT. */
void entry_drop_blobs(struct mdx *c, uint32_t ref, uint32_t mask);
/* The attachment of a file tier entry's pages, of which somebody holds a
 * reference; NULL: none. */
void entry_set_pages(struct mdx *c, uint32_t ref, struct mdx_attachment *pages);
/* Attaches or takes away the ext. -EAGAIN: no memory. */
int entry_add_ext(struct mdx *c, struct shard *sh, uint32_t ref);
void entry_drop_ext(struct mdx *c, uint32_t ref);
/* A generation that no name knows. */
void entry_new_generation(struct mdx *c, uint32_t ref);

#endif
