/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file cache.h
 * @brief The engine (mdcache_ext) that all exports share
 *
 * One cache is made with the first export and lives as long as the process.
 * The engine tells backends apart by a number from 0 to 255, a slot. Exports
 * whose objects are the same (scale_backend_shared()) share one.
 *
 * The handle pool of the engine holds the backend's objects. It releases them
 * on the engine's own thread, with a context in which an export of the same
 * slot is the current one: so everything of an export must have left the pool
 * before the backend's export goes (scale_cache_leave()).
 */
#ifndef SCALE_CACHE_H
#define SCALE_CACHE_H

#include <pthread.h>
#include <stdint.h>

#include "freshness.h"
#include "fsal_types.h"
#include "mdcache_ext.h"

struct fsal_obj_handle;
struct scale_config;
struct scale_export;

/** An object of a backend, as the handle pool holds it. */
struct scale_pooled {
	struct fsal_obj_handle *sub;
	uint8_t slot;
};

/**
 * @brief Make the cache, if it is not there yet
 *
 * @return 0 or a negative errno value, logged.
 */
int scale_cache_start(const struct scale_config *cfg);

/** @brief At the very end of the process: stop the engine's thread. */
void scale_cache_stop(void);

/** An object of a backend that holds little more than the file's handle: some
 *  350 bytes of VFS's, with its names in lists and the allocator's share.
 */
#define SCALE_HANDLE_BYTES 1024

/** One that pins an inode of the backend's library (CEPH, GLUSTER). */
#define SCALE_PINNED_BYTES 8192

/**
 * @brief Give an export its slot
 *
 * @return 0, or -ENOSPC when all are taken.
 */
int scale_cache_join(struct scale_export *exp);

/**
 * @brief May this export be served beside those that share its objects?
 *
 * Objects are MDCACHE's, and serve every export that has the same keys: so all
 * of them must be cached, or asked for, or neither, and the shortest time to
 * live that one of them says holds for all. Undone by scale_cache_leave().
 *
 * @return 0; -EBUSY: others are kept fresh in another way, named in *mode.
 */
int scale_cache_claim(struct scale_export *exp,
		      enum scale_freshness_mode *mode);

/** @brief An export's times to live are others now; its mode is the same. */
void scale_cache_reclaim(struct scale_export *exp,
			 const struct scale_freshness *said);

/**
 * @brief The lock of a name, against other changes of it
 *
 * Held over calls of the backend, so each slot has its own. Names share them
 * by hash: two that do wait for each other for nothing.
 */
pthread_mutex_t *scale_cache_name_lock(uint8_t slot, uint64_t hash);

/** @brief Are there other exports with the same objects? */
bool scale_cache_shared(const struct scale_export *exp);

/**
 * @brief Forget all that is known of an export's objects, and let go of them
 *
 * Waits until the pool has released those that nobody uses. Where other exports
 * share the objects, what is known of them stays.
 */
void scale_cache_flush(struct scale_export *exp);

/** @brief Flush, and give the slot back. May be called again. */
void scale_cache_leave(struct scale_export *exp);

/**
 * @brief Hand an object to the handle pool, in use
 *
 * Takes over @a sub. Where the pool has an object with this key already, that
 * one is used and @a sub is merged into it and released.
 *
 * @return An error of the merge, or ERR_FSAL_NOMEM: @a sub is still the
 *         caller's.
 */
fsal_status_t scale_pool_add(struct scale_export *exp, struct mdx_key key,
			     struct fsal_obj_handle *sub,
			     struct mdx_handle **handle);

/**
 * @brief Leave an object with the handle pool, if there is room for it
 *
 * It is not in use, evicts nothing, and is the first to be evicted.
 *
 * @return true when @a sub was taken over.
 */
bool scale_pool_offer(struct scale_export *exp, struct mdx_key key,
		      struct fsal_obj_handle *sub);

/** @brief So many objects of this export's backend fit into the pool. */
uint64_t scale_pool_room(const struct scale_export *exp);

/** @brief The backend's object in a handle. */
struct fsal_obj_handle *scale_pool_sub(const struct mdx_handle *handle);

#endif /* SCALE_CACHE_H */
