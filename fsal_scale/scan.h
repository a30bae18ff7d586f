/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file scan.h
 * @brief Reading a whole directory from the backend
 *
 * The engine gives a directory's names in the order of its own cookies, which
 * are hashes of the names (mdx_cookie()): they outlive eviction and restart,
 * and a new name has its place at once. The price is that a directory must
 * have been read to its end before the first name can be given.
 *
 * Reading one makes it complete in the engine, if there is room. In any case
 * the names that come next in cookie order, after a given one, are kept in a
 * window, so that a listing goes on even where nothing can be cached. A
 * directory that is larger than SCALE_SCAN_NAMES, or takes too long, is given
 * up; see dirents.c for what is done then.
 */
#ifndef SCALE_SCAN_H
#define SCALE_SCAN_H

#include "learn.h"

/** Names that a directory may have to be read as a whole. */
#define SCALE_SCAN_NAMES 131072

/** Nanoseconds after which reading the first part of a listing is given up. */
#define SCALE_SCAN_NS UINT64_C(2000000000)

/** Names kept for the listing in progress; MDCACHE takes 128 at a time. */
#define SCALE_WINDOW 256

/** A name in the window. */
struct scale_scanned {
	uint64_t cookie;
	struct scale_obj *obj;
	struct fsal_attrlist attrs;
	char *name;
};

struct scale_scan {
	/* in */
	attrmask_t attrmask;
	uint64_t after;	    /**< names with higher cookies are kept */
	size_t keep;	    /**< so many of them; 0: none */
	uint64_t max_names; /**< give up after so many, 0: never */
	uint64_t budget_ns; /**< give up after so long, 0: never */
	/* out */
	uint64_t names;
	bool given_up;
	bool complete; /**< the engine knows all of it now */
	bool broken;   /**< the backend stopped, and not at the end */
	bool no_room;  /**< the engine had no memory for all of it */
	bool more;     /**< there are names after those in the window */
	size_t count;
	struct scale_scanned *window; /**< in cookie order */
};

/** @brief Does the backend go on after a name instead of a cookie (MEM)? */
bool scale_goes_on_by_name(const struct scale_export *exp);

/** @brief For a listing after a cookie; keep 0: only to learn. */
void scale_scan_init(struct scale_scan *scan, uint64_t after, size_t keep);

/**
 * @brief Read a directory
 *
 * The current export must be @a exp. Only one thread need do so at a time: see
 * mdx_flight_join().
 */
fsal_status_t scale_scan(struct scale_export *exp, struct scale_obj *dir,
			 struct scale_scan *scan);

/** @brief Free what is left in the window. */
void scale_scan_fini(struct scale_scan *scan);

#endif /* SCALE_SCAN_H */
