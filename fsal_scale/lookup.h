/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file lookup.h
 * @brief What finding objects by name, by handle and in a directory share
 */
#ifndef SCALE_LOOKUP_H
#define SCALE_LOOKUP_H

#include "attrs.h"
#include "learn.h"

/** How long to wait for another's fetch of the same thing, milliseconds. */
#define SCALE_FLIGHT_MS 5000

/** @brief Are attributes of this export answered from memory? */
static inline bool scale_serves(const struct scale_export *exp)
{
	return exp->cached && exp->fresh.mode != SCALE_ASK &&
	       exp->fresh.attr_ms != 0;
}

/**
 * @brief What the engine must know to answer with an object
 *
 * @param[in]  attrs_out  What is asked of the object; may be NULL
 * @param[out] want       The engine's mask
 *
 * @return false when it cannot be answered from memory.
 */
static inline bool scale_lookup_want(const struct scale_export *exp,
				     const struct fsal_attrlist *attrs_out,
				     uint32_t *want)
{
	*want = 0;
	if (!scale_serves(exp))
		return false;
	if (attrs_out != NULL)
		*want = scale_attrs_want(exp, attrs_out->request_mask);
	return true;
}

/**
 * @brief Hand up attributes that a backend has just given
 *
 * @param[in]     obj        What they are of; may be NULL
 * @param[in,out] attrs      References are passed on where they were asked for
 * @param[in,out] attrs_out  May be NULL
 */
static inline void scale_lookup_give(const struct scale_export *exp,
				     const struct scale_obj *obj,
				     struct fsal_attrlist *attrs,
				     struct fsal_attrlist *attrs_out)
{
	if (attrs_out == NULL)
		return;
	fsal_copy_attrs(attrs_out, attrs, true);
	if (exp->fresh.mode != SCALE_OFF && obj != NULL &&
	    scale_obj_cached(obj))
		attrs_out->expire_time_attr =
			scale_attrs_expiry(exp, obj, exp->fresh.attr_ms);
}

/**
 * @brief Ask the backend for an object's attributes, and remember them
 *
 * @param[in,out] attrs  Prepared with scale_attrs_to_fetch()
 */
fsal_status_t scale_fetch_attrs(struct scale_export *exp, struct scale_obj *obj,
				struct fsal_attrlist *attrs);

/**
 * @brief Find an object in a directory from memory
 *
 * @param[out] obj      The object; NULL when it is not found, or not to be
 * @param[out] outcome  HIT, NEGATIVE (it does not exist), or why not
 */
void scale_lookup_cached(struct scale_export *exp, struct scale_obj *dir,
			 const char *name, struct scale_obj **obj,
			 struct fsal_attrlist *attrs_out,
			 enum scale_outcome *outcome);

/** @brief Ask the backend for a name, and remember what it says. */
fsal_status_t scale_lookup_backend(struct scale_export *exp,
				   struct scale_obj *dir, const char *name,
				   struct scale_obj **obj,
				   struct fsal_attrlist *attrs_out);

#endif /* SCALE_LOOKUP_H */
