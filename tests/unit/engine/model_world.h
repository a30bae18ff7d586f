/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The truth: a simulated backend, and what the engine has been told of it.
 *
 * The backend consists of cells. A cell is one fact that changes: the
 * attributes of an object, or what a name in a directory is. All versions that
 * a cell ever had are kept, each with the tick at which it began.
 *
 * The oracle. Let S be the moment a question is put to the engine and E the
 * moment its answer is there. The engine may answer "not known" at any time.
 * Any other answer must be a version that was current at some moment after B
 * and not after E, where B, the bound, is the latest of
 *   - the beginning of an invalidation that was over before S: what it found
 *     may not be told any more, and what is fetched with a ticket from before
 *     it may not be stored; so the fetch was later than that;
 *   - the backend's operation of a change that was over before S and left its
 *     result in the cache;
 *   - the beginning of the end (mdx_changed_...) of any other change that was
 *     over before S, as of an invalidation.
 * A version that ended before B is a stale answer, one that began after E or
 * never existed an invented one. An invalidation that is still running at S
 * sets no bound, and nothing is assumed of the order of calls that overlap, so
 * that a report is never a false alarm; and because a bound is the beginning of
 * a call or the very moment of the backend's operation, an answer that is one
 * version too old is always seen.
 *
 * Bounds are kept per group of attributes, for a group can be invalidated or
 * set alone.
 */
#ifndef MODEL_WORLD_H
#define MODEL_WORLD_H

#include <stddef.h>

#include "mdcache_ext.h"
#include "model_order.h"

#define KEYS	     256 /* objects */
#define DIRS	     6	 /* of these, directories */
#define GROUPS	     20	 /* bits of enum mdx_mask */
#define CELL_MAX     4096
#define ATTACHMENTS  32
#define ABSENT	     (-1)
#define BACKENDS_MAX 3

struct version {
	_Atomic uint64_t start;
	_Atomic int32_t value;
};

struct cell {
	atomic_bool lock; /* the backend's operations on it */
	_Atomic uint32_t count;
	struct version *versions;
};

struct object {
	uint8_t key[MDX_KEY_MAX];
	uint8_t key_len;
	uint8_t backend;
	struct cell attrs; /* values follow from the version's number */
	_Atomic uint64_t bound[GROUPS];
	_Atomic uint64_t voided; /* beginning of the last voiding call */
};

struct name {
	uint8_t text[MDX_NAME_MAX];
	uint8_t len;
	_Atomic uint64_t cookie; /* 0: not seen yet */
};

struct binding {
	struct cell child; /* index of an object, or ABSENT */
	_Atomic uint64_t bound;
	_Atomic uint64_t voided;
};

struct directory {
	unsigned int names;
	struct binding *bindings; /* as many, of world->names */
	_Atomic uint64_t bound;
	_Atomic uint64_t foreign; /* last announced foreign change of a name */
	_Atomic uint64_t begun;	  /* last population */
};

struct world {
	uint64_t seed;
	unsigned int names_max;
	struct name *names;
	uint16_t *name_index; /* open addressing, by text */
	struct object objects[KEYS];
	struct directory dirs[DIRS]; /* dirs[i] is objects[i] */
	_Atomic uint64_t backend_bound[MDX_BACKENDS];
	_Atomic uint64_t all_bound;
	struct version *versions;
	size_t versions_size;
};

/* NULL without memory. */
struct world *world_create(uint64_t seed);
void world_destroy(struct world *w);

struct mdx_key object_key(const struct world *w, unsigned int object);
/* The number of a name, -1: no name of this world. */
int name_find(const struct world *w, const void *text, size_t len);

/* --- Cells --------------------------------------------------------------- */

struct reading {
	uint32_t version;
	int32_t value;
};

/* The backend's operations, atomic. Change gives the tick of the new version,
 * or 0: the cell is full, nothing was done. */
struct reading cell_read(struct cell *c);
uint64_t cell_change(struct cell *c, int32_t value, uint32_t *version);

struct window {
	uint32_t first, last;
};
/* The versions that were current at some moment after `after` and not after
 * `until`. */
struct window cell_window(const struct cell *c, uint64_t after, uint64_t until);
static inline int32_t cell_value(const struct cell *c, uint32_t version)
{
	return atomic_load_explicit(&c->versions[version].value, MODEL_LOAD);
}

/* --- Bounds, to be read before the question is put ----------------------- */

struct entry_bounds {
	uint64_t group[GROUPS];
};
void entry_bounds(const struct world *w, unsigned int object,
		  struct entry_bounds *bounds);
uint64_t name_bound(const struct world *w, unsigned int dir, unsigned int name);
/* The beginning of the last call that is over and voided tickets on this. */
uint64_t entry_voided(const struct world *w, unsigned int object);
uint64_t name_voided(const struct world *w, unsigned int dir,
		     unsigned int name);
/* The same of foreign changes to any name of a directory. */
uint64_t dir_foreign(const struct world *w, unsigned int dir);

/* To be called after the engine was told, with the tick from before. */
void bound_entry(struct world *w, unsigned int object, uint32_t mask,
		 uint64_t tick);

/* --- Values (model_values.c) --------------------------------------------- */

/* The attributes of a version; acl and other are NULL, see below. */
void value_attrs(const struct world *w, unsigned int object, uint32_t version,
		 struct mdx_attrs *attrs);
/* Number of the attachment that MDX_ACL or MDX_OTHER is, -1: none. */
int value_attachment(const struct world *w, unsigned int object,
		     uint32_t version, uint32_t which);
size_t value_blob(const struct world *w, unsigned int object, uint32_t version,
		  uint32_t which, uint8_t *buf);
/* Whether two sets of attributes agree in one numeric group. */
bool same_group(const struct mdx_attrs *a, const struct mdx_attrs *b,
		uint32_t bit);
void value_key(uint64_t seed, unsigned int object, struct object *o);
void value_name(uint64_t seed, unsigned int number, struct name *n);

#endif
