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

/* Sets when, if it is to be sooner than it was. */
static void set_due(struct scale_obj *dir, uint32_t left)
{
	uint32_t complete = mdx_complete_left(SCALE.cache, scale_obj_key(dir));
	uint64_t due = atomic_load(&dir->names_due);
	uint64_t mine;

	/* Single names may be as new as the change. */
	if (complete != 0)
		left = MIN(left, complete);
	left -= MIN(left / 2, EARLY_MS);
	mine = scale_stats_begin() + left * NS_OF_MS;
	while ((due == 0 || mine < due) &&
	       !atomic_compare_exchange_weak(&dir->names_due, &due, mine))
		;
}

void scale_names_above_changed(const struct scale_export *exp,
			       struct scale_obj *dir)
{
	uint32_t life = life_of_names(exp, dir);

	if (life != 0)
		set_due(dir, life);
}

void scale_names_above_new(const struct scale_export *exp,
			   struct scale_obj *obj)
{
	uint32_t life;
	uint64_t ago;

	if (obj->obj.type != DIRECTORY)
		return;
	life = life_of_names(exp, obj);
	if (life != 0 &&
	    mdx_names_changed(SCALE.cache, scale_obj_key(obj), &ago) &&
	    ago < life)
		set_due(obj, life - (uint32_t)ago);
}

void scale_names_above_check(const struct scale_export *exp,
			     struct scale_obj *obj)
{
	uint64_t due = atomic_load(&obj->names_due);

	if (due == 0 || scale_stats_begin() < due ||
	    !atomic_compare_exchange_strong(&obj->names_due, &due, 0))
		return;
	/* What it asks for then is not answered with what was. */
	mdx_invalidate_names(SCALE.cache, scale_obj_key(obj));
	scale_upcall_tell_later(exp->upcall.backend_id, obj->key, obj->key_len,
				NAMES);
}

int32_t scale_names_above_life(const struct scale_obj *obj, int32_t life)
{
	uint64_t due = atomic_load(&obj->names_due);
	uint64_t now;
	int32_t left;

	if (due == 0 || life == 0)
		return life;
	now = scale_stats_begin();
	left = now < due ? (int32_t)MIN((due - now) / NS_OF_S, INT32_MAX) : 0;
	left = MAX(left, 1);
	return life < 0 ? left : MIN(life, left);
}
