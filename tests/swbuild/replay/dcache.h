/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file dcache.h
 * @brief The name cache of the replaying client
 *
 * As a kernel's: a name that was looked up is known, with its handle or as
 * missing, for a time to live; what the client changes itself it knows.  An
 * entry holds as long as its directory is the one it was looked up in.
 * Switched off, every component of every path is looked up each time.
 */
#ifndef SWBUILD_DCACHE_H
#define SWBUILD_DCACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "client.h"
#include "optrace.h"

struct act;

enum dentry_state {
	DENTRY_UNKNOWN,
	DENTRY_MISSING,
	DENTRY_FOUND
};

struct dentry {
	struct sw_fh fh; /* the last one known; length 0: none */
	enum sw_type type;
	enum dentry_state state;
	uint64_t expires;
	uint64_t changed;    /* when a change of it began or ended */
	uint32_t generation; /* another one when another object is there */
	uint32_t above;	     /* the directory's generation when looked up */
	uint32_t changing;   /* changes in flight */
	struct act *looking; /* who looks it up; it has a list of who waits */
};

struct dcache {
	const struct optrace *trace;
	struct dentry *of; /* each path */
	uint64_t life;	   /* ns */
	bool on;
};

/** @return 0 or -ENOMEM. */
int dcache_init(struct dcache *dcache, const struct optrace *trace, bool on,
		uint64_t life);

void dcache_free(struct dcache *dcache);

/** Forgets everything but the root's handle. */
void dcache_clear(struct dcache *dcache);

/** What is known; in a cache that is off, nothing but the root. */
enum dentry_state dcache_get(const struct dcache *dcache, uint32_t path,
			     uint64_t now);

/** Takes note of an answer. */
void dcache_found(struct dcache *dcache, uint32_t path, const struct sw_fh *fh,
		  enum sw_type type, uint64_t now);
void dcache_missing(struct dcache *dcache, uint32_t path, uint64_t now);

/** Somebody else has changed it. */
void dcache_forget(struct dcache *dcache, uint32_t path);

/** A change of a name begins and ends: listings on the way are not trusted. */
void dcache_change(struct dcache *dcache, uint32_t path, uint64_t now);
void dcache_changed(struct dcache *dcache, uint32_t path, uint64_t now);

/** Takes note of an entry of a listing that was asked for at `asked`. */
void dcache_listed(struct dcache *dcache, uint32_t path,
		   const struct sw_entry *entry, uint64_t asked, uint64_t now);

#endif
