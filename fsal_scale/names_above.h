/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file names_above.h
 * @brief The life of a directory's names in MDCACHE, after changes
 *
 * MDCACHE keeps names until the directory has another time of modification. A
 * foreign change that hides behind one's own has none that MDCACHE would miss:
 * it fetches the time after both of them, and may then be given names that are
 * known from before the first, and keep them for as long as the directory. So
 * after a change of one's own MDCACHE is told to drop the directory's names
 * when those that were known before it are about to be over, and the engine
 * drops them, too: with the first request for the directory's attributes after
 * that, for which it comes before it lists. Their life, as it is handed up,
 * ends no later.
 */
#ifndef SCALE_NAMES_ABOVE_H
#define SCALE_NAMES_ABOVE_H

#include "object.h"

/** @brief A name of a directory was changed through this server. */
void scale_names_above_changed(const struct scale_export *exp,
			       struct scale_obj *dir);

/** @brief MDCACHE is given a new object, and may have had one before when names
 *         of it were changed.
 */
void scale_names_above_new(const struct scale_export *exp,
			   struct scale_obj *obj);

/** @brief MDCACHE asks for an object's attributes: the time to tell it. */
void scale_names_above_check(const struct scale_export *exp,
			     struct scale_obj *obj);

/**
 * @brief How long MDCACHE may do without asking for an object's attributes
 *
 * @param[in] life  If there are no names to be dropped, seconds; -1: for ever
 */
int32_t scale_names_above_life(const struct scale_obj *obj, int32_t life);

#endif /* SCALE_NAMES_ABOVE_H */
