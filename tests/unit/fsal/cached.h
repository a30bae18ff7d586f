/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file cached.h
 * @brief SCALE with its cache, on the file system in memory (tree.h)
 *
 * A test does what MDCACHE would: it asks for objects, and releases them. Each
 * is between begin() and end(), which checks that nothing was leaked and
 * nothing misused.
 */
#ifndef CACHED_H
#define CACHED_H

#include "harness.h"
#include "lookup.h"
#include "passing.h"
#include "tree.h"

/** The root of @ref scale. */
extern struct fsal_obj_handle *root;

/** What is asked for with an object, as NFSv3 does. */
#define ASKED ATTRS_POSIX

/** Objects and names of its caches that tests may use. */
#define CACHED_FILES 2000
#define CACHED_STATS 4000

/** @brief Suite initialiser. */
int cached_setup(void);

/** @brief Set Attr_Expiration_Time of exports that are made from now on. */
void set_expiry(int32_t seconds);

/** @brief Make @ref scale of these parameters, over the backend TREE. */
void begin(const char *params);

/** @brief Take it away, see that all is in order, and empty the tree. */
void end(void);

/** @brief Let go of the backend's objects that nobody uses. */
void empty_pool(void);

/** @brief Let so many of them stay that nobody uses. */
void limit_pool(uint32_t handles);

/** @brief Forget one object, as eviction does. */
void evict(struct fsal_obj_handle *obj);

/** @brief Look a name up, with attributes. NULL when it fails. */
struct fsal_obj_handle *find(struct fsal_obj_handle *dir, const char *name);

/** @brief The same, for what becomes of it only. */
fsal_errors_t look(struct fsal_obj_handle *dir, const char *name);

/** @brief Release an object. */
void drop(struct fsal_obj_handle *obj);

/** @brief Ask for attributes; they need not be released. */
fsal_errors_t get(struct fsal_obj_handle *obj, struct fsal_attrlist *attrs);

/** @brief The size that is told of an object; UINT64_MAX for an error. */
uint64_t size_of(struct fsal_obj_handle *obj);

/** @brief Set the size. */
fsal_errors_t truncate_to(struct fsal_obj_handle *obj, uint64_t size);

/** @brief Create a file by name, and release it. */
fsal_errors_t create(struct fsal_obj_handle *dir, const char *name);

/** @brief What a client's handle brings back; NULL when it fails. */
struct fsal_obj_handle *by_handle(struct fsal_export *exp,
				  const struct tree_node *node,
				  fsal_status_t *status);

/** @brief Read a directory to its end. @return The number of names. */
size_t list(struct fsal_obj_handle *dir);

/** @brief Read a directory, so that it is complete in memory. */
void learn(struct fsal_obj_handle *dir);

/** Events that MDCACHE heard, and what to do when it hears one. */
extern unsigned int heard;
extern void (*when_heard)(void);

/** @brief Bring an event from the backend. */
void bring_invalidate(const struct tree_node *node, uint32_t flags);

/** Check how many calls the backend gets while something is done. */
#define COSTS(n, what)                                                     \
	do {                                                               \
		unsigned int was_ = tree.total;                            \
		what;                                                      \
		CU_ASSERT_EQUAL(tree.total - was_, (unsigned int)(n));     \
		if (tree.total - was_ != (unsigned int)(n))                \
			fprintf(stderr, "\n    line %d: %u calls, not %u", \
				__LINE__, tree.total - was_,               \
				(unsigned int)(n));                        \
	} while (0)

#define OK(what)                                            \
	do {                                                \
		CU_ASSERT_EQUAL((what), ERR_FSAL_NO_ERROR); \
	} while (0)

/** @brief Does the engine know all names of a directory? */
bool complete(struct fsal_obj_handle *dir);

#endif /* CACHED_H */
