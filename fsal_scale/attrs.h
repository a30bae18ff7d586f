/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file attrs.h
 * @brief Attributes between Ganesha's form and the engine's
 *
 * Ganesha asks again and again for what it asked and did not get. So an answer
 * from memory must have all that is asked and that the backend gives; what an
 * export can give is learnt from what it gave (scale_export.provided).
 */
#ifndef SCALE_ATTRS_H
#define SCALE_ATTRS_H

#include <stdbool.h>

#include "fsal_types.h"
#include "mdcache_ext.h"

struct fsal_obj_handle;
struct scale_export;
struct scale_obj;

/** Attributes that the engine holds. */
#define SCALE_ATTRS_HELD \
	(ATTRS_POSIX | ATTR_CREATION | ATTR_GENERATION | ATTR_ACL)

/**
 * @brief What to ask a backend for, so that its answer can be kept
 *
 * @param[in] requested  What is asked of us, 0 if nothing
 *
 * @return That, and whatever costs the backend no more.
 */
attrmask_t scale_attrs_to_fetch(const struct scale_export *exp,
				attrmask_t requested);

/**
 * @brief A list for a backend to fill, with that to ask for
 *
 * @param[in]  attrs_out  What is asked of us; NULL: nothing
 * @param[out] attrs      To be given back with fsal_release_attrs()
 */
void scale_attrs_prepare(const struct scale_export *exp,
			 const struct fsal_attrlist *attrs_out,
			 struct fsal_attrlist *attrs);

/**
 * @brief What must be known to answer
 *
 * Locations and labels are not held. MDCACHE asks for them with everything
 * else, and once more, alone, when it needs them: that goes down.
 *
 * @param[in] exp        Whose backend gives attributes
 * @param[in] requested  Ganesha's mask
 *
 * @return The engine's mask.
 */
uint32_t scale_attrs_want(const struct scale_export *exp, attrmask_t requested);

/**
 * @brief Put attributes into the engine's form
 *
 * Type, fsid and fileid are the object's own, and so always valid. An ACL is
 * attached: drop it with scale_attrs_drop().
 *
 * @return The same.
 */
void scale_attrs_to_cache(const struct fsal_attrlist *from,
			  const struct fsal_obj_handle *obj,
			  struct mdx_attrs *to);

/** @brief Give back what scale_attrs_to_cache() or mdx_get() took. */
void scale_attrs_drop(struct mdx_attrs *attrs);

/**
 * @brief Answer from memory
 *
 * @param[in]     obj     Whose attributes they are
 * @param[in]     answer  What mdx_get() found; its ACL is taken over
 * @param[in,out] to      Only what is valid in @a answer is set
 */
void scale_attrs_from_cache(const struct scale_export *exp,
			    const struct scale_obj *obj,
			    struct mdx_answer *answer,
			    struct fsal_attrlist *to);

/**
 * @brief The life of attributes that go up to MDCACHE
 *
 * MDCACHE's time to live begins when it is told: it must not add to ours, nor
 * to that of a directory's names (names_above.h).
 *
 * @param[in] left_ms  What is left of the entry's life
 *
 * @return Seconds, for expire_time_attr; never more than the export's own.
 */
int32_t scale_attrs_expiry(const struct scale_export *exp,
			   const struct scale_obj *obj, uint32_t left_ms);

#endif /* SCALE_ATTRS_H */
