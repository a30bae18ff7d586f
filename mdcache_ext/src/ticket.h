/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Tickets: an answer that is older than what is known since is not stored.
 *
 * The cache has one clock, which every invalidation and every begin and end of
 * a change advances. A ticket is the clock's value before the backend was
 * asked. Each event stamps what it is about with its own clock value; an answer
 * may be stored if no stamp of what it is about is later than its ticket.
 *
 * Stamps are not kept per entry, for the entry may not exist: each shard has a
 * few hundred, found by hash. Two things may share one; then a ticket is void
 * that need not be, which costs a repeated fetch and is never wrong. Stamping,
 * and checking together with storing, are done under the shard's lock, so they
 * are ordered; the clock is advanced under it, too, so a ticket that is later
 * than a stamp was taken after the event.
 *
 * Events about a whole backend stamp the backend without a shard's lock, and
 * then advance its epoch. Whoever stores reads the epoch first, then checks the
 * stamp, then stores with that epoch: if the event comes after the check, the
 * stored entry has the old epoch and is unknown at once.
 *
 * A change stamps its targets when it begins and again when it is finished. A
 * fetch that overlaps any part of it begins before the second stamp; if it
 * stored between the two, the finish replaces what it stored. Of two changes of
 * one target that overlap, whichever finishes second finds a stamp that is not
 * its own and later than its begin, and leaves the target unknown: the order in
 * which the backend executed them is not known either.
 */
#ifndef MDX_TICKET_H
#define MDX_TICKET_H

#include <stdbool.h>
#include <stdint.h>

#include "mdcache_ext.h"

#define STAMPS_ENTRY 256u
#define STAMPS_NAME  1024u
#define STAMPS_DIR   1024u

struct stamps {
	uint64_t entry[STAMPS_ENTRY];
	uint64_t name[STAMPS_NAME]; /* of directories in this shard */
	uint64_t dir[STAMPS_DIR];   /* all names of a directory */
};

/* A new moment. */
uint64_t ticket_advance(struct mdx *c);

static inline uint64_t *stamp_of_entry(struct stamps *s, uint64_t hash)
{
	return &s->entry[(hash >> 40) % STAMPS_ENTRY];
}

static inline uint64_t *stamp_of_dir(struct stamps *s, uint64_t dir_hash)
{
	return &s->dir[(dir_hash >> 40) % STAMPS_DIR];
}

static inline uint64_t *stamp_of_name(struct stamps *s, uint64_t dir_hash,
				      uint64_t name_hash)
{
	uint64_t mixed = (dir_hash ^ name_hash) * 0x9e3779b97f4a7c15u;

	return &s->name[(mixed >> 40) % STAMPS_NAME];
}

/* May an answer with this ticket be stored? The first under the shard's lock,
 * the second after the epoch was read. */
static inline bool ticket_good(const uint64_t *stamp, uint64_t ticket)
{
	return ticket && *stamp <= ticket;
}
bool ticket_good_for_backend(const struct mdx *c, uint8_t backend,
			     uint64_t ticket);

/* Voids all tickets on a thing, under the shard's lock. */
static inline uint64_t ticket_void(struct mdx *c, uint64_t *stamp)
{
	return *stamp = ticket_advance(c);
}

/* A change begins, and finishes: whether it met no other (and, for a backend's
 * invalidation in between, ticket_good_for_backend says the rest). */
void change_begin(struct mdx *c, struct mdx_change *ch, uint64_t *stamp);
bool change_finish(struct mdx *c, struct mdx_change *ch, uint64_t *stamp);

#endif
