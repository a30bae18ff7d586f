/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file learn.h
 * @brief What a backend says is remembered; what is changed is no longer known
 *
 * The engine's two protocols (mdcache_ext.h) in the terms of an export and its
 * freshness. All of it does nothing for objects that are not cached.
 *
 * A fetch takes a ticket, asks the backend, and stores with that ticket. A
 * change declares its targets, asks the backend, and finishes each of them:
 *
 *	struct scale_change ch;
 *
 *	scale_change_begin(&ch, exp);
 *	scale_change_obj(&ch, dir);
 *	scale_change_name(&ch, dir, name);
 *	... ask the backend ...
 *	scale_changed_name(&ch, dir, name, MDX_NAME_PRESENT, child);
 *	scale_changed_obj(&ch, dir);
 *
 * From its declaration to its finish a name is locked against other changes
 * through this server, so that a rename knows what it replaces. What is looked
 * up or listed meanwhile does not wait. All names of a change are declared at
 * once.
 *
 * After it the attributes of changed objects are unknown: what the backend
 * makes of them (change, times) only the backend can say, and MDCACHE asks.
 */
#ifndef SCALE_LEARN_H
#define SCALE_LEARN_H

#include "object.h"

/* --- Learning ------------------------------------------------------------ */

/** @brief A ticket for an export, 0 where nothing is cached. */
static inline uint64_t scale_ticket(const struct scale_export *exp)
{
	return exp->cached ? mdx_ticket(SCALE.cache) : 0;
}

/**
 * @brief Store what the backend said of an object, unless that is nothing
 *
 * Where foreign changes are not announced, a directory's change attribute that
 * is not what it was tells of one: its names are forgotten.
 */
void scale_learn_attrs(struct scale_export *exp, uint64_t ticket,
		       const struct scale_obj *obj,
		       const struct fsal_attrlist *said);

/**
 * @brief Store that a name exists, or with @a child NULL that it does not
 *
 * @return false when the answer may be older than something that is known to
 *         have happened since it was asked for.
 */
bool scale_store_name(struct scale_export *exp, uint64_t ticket,
		      const struct scale_obj *dir, const char *name,
		      const struct scale_obj *child);

/** @brief Store which directory a directory is in. */
void scale_store_parent(struct scale_export *exp, uint64_t ticket,
			const struct scale_obj *child,
			const struct scale_obj *dir);

/** What no change of an object changes. */
#define SCALE_IDENTITY (MDX_TYPE | MDX_FSID | MDX_FILEID)

/** What any change of an object's attributes may have changed. */
#define SCALE_CHANGEABLE ((MDX_NUMBERS & ~SCALE_IDENTITY) | MDX_ACL)

/* --- Changing ------------------------------------------------------------ */

struct scale_change {
	struct mdx_change ch;
	struct scale_export *exp;
	/** names that are locked, and not finished */
	unsigned int names;
	pthread_mutex_t *locks[2];
};

void scale_change_begin(struct scale_change *ch, struct scale_export *exp);
void scale_change_obj(struct scale_change *ch, const struct scale_obj *obj);
void scale_change_name(struct scale_change *ch, const struct scale_obj *dir,
		       const char *name);

/** @brief Declare the two names of a rename, if they are two. */
void scale_change_names(struct scale_change *ch, const struct scale_obj *olddir,
			const char *old_name, const struct scale_obj *newdir,
			const char *new_name);

/** @brief Finish an object: its attributes are unknown. */
void scale_changed_obj(struct scale_change *ch, const struct scale_obj *obj);

/**
 * @brief Finish a name
 *
 * @param[in] child  Of MDX_NAME_PRESENT; otherwise NULL
 */
void scale_changed_name(struct scale_change *ch, struct scale_obj *dir,
			const char *name, enum mdx_outcome outcome,
			const struct scale_obj *child);

/**
 * @brief What a failed change has made of a name
 *
 * @param[in] status  The backend's; an error
 *
 * @return MDX_NAME_KEEP where the backend plainly refused and what is known
 *         agrees; MDX_NAME_UNKNOWN otherwise.
 */
enum mdx_outcome scale_failed_name(const struct scale_obj *dir,
				   const char *name, fsal_status_t status);

#endif /* SCALE_LEARN_H */
