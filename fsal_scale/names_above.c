// SPDX-License-Identifier: LGPL-3.0-or-later
#include "names_above.h"

#include "cache.h"
#include "scale.h"

#define NS_OF_MS UINT64_C(1000000)
#define NS_OF_S	 UINT64_C(1000000000)

/** So much earlier, at most: the attributes of what was removed by others are
 * over with the names, or a moment before, and MDCACHE 4.3 lists names twice
 * when it meets a stale one among those it holds.
 */
#define EARLY_MS 2000

#define NAMES                                                            \
	(FSAL_UP_INVALIDATE_CONTENT | FSAL_UP_INVALIDATE_DIR_POPULATED | \
	 FSAL_UP_INVALIDATE_DIR_CHUNKS)

/* The life of names in a directory, in milliseconds; 0: they do not live, or
 * for ever, for foreign changes are told of, or there are none.
 */
static uint32_t life_of_names(const struct scale_export *exp,
			      const struct scale_obj *dir)
{
	uint32_t ms = scale_freshness_name_ms(exp, &dir->obj.fsid, true);

	return ms == MDX_FOREVER ? 0 : ms;
}

void scale_names_above_changed(const struct scale_export *exp,
			       struct scale_obj *dir)
{
	uint32_t left = life_of_names(exp, dir);
	uint64_t due = atomic_load(&dir->names_due);
	uint32_t complete;
	uint64_t mine;

	if (left == 0)
		return;
	/* Single names may be as new as this. */
	complete = mdx_complete_left(SCALE.cache, scale_obj_key(dir));
	if (complete != 0)
		left = MIN(left, complete);
	left -= MIN(left / 2, EARLY_MS);
	mine = scale_stats_begin() + left * NS_OF_MS;
	while ((due == 0 || mine < due) &&
	       !atomic_compare_exchange_weak(&dir->names_due, &due, mine))
		;
}

void scale_names_above_new(const struct scale_export *exp,
			   struct scale_obj *obj)
{
	if (obj->obj.type == DIRECTORY && life_of_names(exp, obj) != 0 &&
	    mdx_names_changed(SCALE.cache, scale_obj_key(obj)))
		scale_names_above_changed(exp, obj);
}

void scale_names_above_check(const struct scale_export *exp,
			     struct scale_obj *obj, struct fsal_attrlist *attrs)
{
	uint64_t due = atomic_load(&obj->names_due);
	uint64_t now;
	int32_t left;

	if (due == 0)
		return;
	now = scale_stats_begin();
	if (now >= due) {
		if (!atomic_compare_exchange_strong(&obj->names_due, &due, 0))
			return;
		/* What it asks for then is not answered with what was. */
		mdx_invalidate_names(SCALE.cache, scale_obj_key(obj));
		scale_upcall_tell_later(exp->upcall.backend_id, obj->key,
					obj->key_len, NAMES);
		return;
	}
	left = (int32_t)MIN((due - now) / NS_OF_S, INT32_MAX);
	if (attrs->expire_time_attr < 0 || attrs->expire_time_attr > left)
		attrs->expire_time_attr = MAX(left, 1);
}
