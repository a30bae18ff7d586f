// SPDX-License-Identifier: LGPL-3.0-or-later
#include "learn.h"

#include <xxhash.h>

#include "attrs.h"
#include "cache.h"
#include "names_above.h"

#define NS_OF_S UINT64_C(1000000000)

static bool same_change(const struct scale_export *exp, uint64_t a, uint64_t b)
{
	return a == b ||
	       (exp->rounds_change && (a / NS_OF_S == b || b / NS_OF_S == a));
}

/* An object's change attribute that is not what it was tells of a change that
 * nobody announced. After changes through this server the attribute is unknown,
 * and there is nothing to compare: what else is known lives on until its time
 * is over; under ask, where there is no such time, changes have dropped it.
 */
static bool foreign_change(const struct scale_export *exp, struct mdx_key key,
			   const struct mdx_attrs *attrs)
{
	struct mdx_answer old;

	const fsal_fsid_t fsid = { attrs->fsid_major, attrs->fsid_minor };

	if (!(attrs->valid & MDX_CHANGE) ||
	    (attrs->type == DIRECTORY && scale_freshness_announced(exp, &fsid)))
		return false;
	if (mdx_get(SCALE.cache, key, 0, &old) == 0 &&
	    ((old.attrs.valid | old.expired) & MDX_CHANGE))
		return !same_change(exp, old.attrs.change, attrs->change);
	return exp->fresh.mode == SCALE_ASK;
}

static void store_attrs(struct scale_export *exp, uint64_t ticket,
			struct mdx_key key, const struct mdx_attrs *attrs)
{
	bool directory = attrs->type == DIRECTORY;
	uint32_t ttl = scale_freshness_attrs(exp, attrs);
	bool foreign;

	if (ttl == 0 || (exp->fresh.mode == SCALE_ASK && !directory))
		return;
	/* Removed, and still open: when it is closed it is gone, and nothing
	 * tells of that.
	 */
	if (!directory && (attrs->valid & MDX_NLINK) && attrs->nlink == 0) {
		mdx_forget(SCALE.cache, key);
		return;
	}
	foreign = foreign_change(exp, key, attrs);
	if (foreign && directory)
		mdx_invalidate_names(SCALE.cache, key);
	(void)mdx_put(SCALE.cache, ticket, key, attrs, ttl);
	if (!foreign)
		return;
	/* What did not come with these attributes may be another one now; the
	 * store has made its life as long as theirs.
	 */
	mdx_invalidate(SCALE.cache, key,
		       (MDX_ACL | MDX_LINK | MDX_PARENT) & ~attrs->valid);
	scale_stats_invalidation(exp->stats, SCALE_SOURCE_FOREIGN_SEEN);
}

void scale_learn_attrs(struct scale_export *exp, uint64_t ticket,
		       const struct scale_obj *obj,
		       const struct fsal_attrlist *said)
{
	struct mdx_attrs attrs;

	if (said->valid_mask == 0 || said->valid_mask == ATTR_RDATTR_ERR)
		return;
	atomic_fetch_or_explicit(&exp->provided, said->valid_mask,
				 memory_order_relaxed);
	scale_attrs_to_cache(said, &obj->obj, &attrs);
	store_attrs(exp, ticket, scale_obj_key(obj), &attrs);
	scale_attrs_drop(&attrs);
}

bool scale_store_name(struct scale_export *exp, uint64_t ticket,
		      const struct scale_obj *dir, const char *name,
		      const struct scale_obj *child)
{
	uint32_t ttl =
		scale_freshness_name_ms(exp, &dir->obj.fsid, child != NULL);
	struct mdx_key key;

	if (ttl == 0 || !scale_obj_cached(dir))
		return true;
	if (child == NULL)
		return mdx_name_put(SCALE.cache, ticket, scale_obj_key(dir),
				    name, strlen(name), NULL, ttl) != -ESTALE;
	/* Under ask the child would have to be asked for, which costs the
	 * backend as much as the name.
	 */
	if (!scale_obj_cached(child) || exp->fresh.mode == SCALE_ASK)
		return true;
	key = scale_obj_key(child);
	return mdx_name_put(SCALE.cache, ticket, scale_obj_key(dir), name,
			    strlen(name), &key, ttl) != -ESTALE;
}

void scale_store_parent(struct scale_export *exp, uint64_t ticket,
			const struct scale_obj *child,
			const struct scale_obj *dir)
{
	if (exp->fresh.mode == SCALE_ASK || child->obj.type != DIRECTORY ||
	    !scale_obj_cached(child) || !scale_obj_cached(dir))
		return;
	(void)mdx_blob_put(SCALE.cache, ticket, scale_obj_key(child),
			   MDX_PARENT, dir->key, dir->key_len);
}

static pthread_mutex_t *lock_of(const struct scale_obj *dir, const char *name)
{
	uint64_t hash = XXH3_64bits(dir->key, dir->key_len);

	hash = XXH3_64bits_withSeed(name, strlen(name), hash);
	return scale_cache_name_lock(dir->slot, hash);
}

void scale_change_begin(struct scale_change *ch, struct scale_export *exp)
{
	mdx_change_init(&ch->ch);
	ch->exp = exp;
	ch->names = 0;
	ch->locks[0] = NULL;
	ch->locks[1] = NULL;
}

/* From here on the backend may have changed it: what was is told to nobody,
 * least of all to MDCACHE, which would keep it when the change is over.
 */
void scale_change_obj(struct scale_change *ch, const struct scale_obj *obj)
{
	if (!scale_obj_cached(obj))
		return;
	mdx_invalidate(SCALE.cache, scale_obj_key(obj), SCALE_CHANGEABLE);
	(void)mdx_change_entry(SCALE.cache, &ch->ch, scale_obj_key(obj));
}

static void declare(struct scale_change *ch, const struct scale_obj *dir,
		    const char *name)
{
	ch->names++;
	(void)mdx_change_name(SCALE.cache, &ch->ch, scale_obj_key(dir), name,
			      strlen(name));
}

void scale_change_name(struct scale_change *ch, const struct scale_obj *dir,
		       const char *name)
{
	if (!scale_obj_cached(dir))
		return;
	ch->locks[0] = lock_of(dir, name);
	PTHREAD_MUTEX_lock(ch->locks[0]);
	declare(ch, dir, name);
}

void scale_change_names(struct scale_change *ch, const struct scale_obj *olddir,
			const char *old_name, const struct scale_obj *newdir,
			const char *new_name)
{
	pthread_mutex_t *a, *b;

	/* Directories are cached or not by their export, both alike. */
	if (!scale_obj_cached(olddir) || !scale_obj_cached(newdir))
		return;
	a = lock_of(olddir, old_name);
	b = lock_of(newdir, new_name);
	ch->locks[0] = MIN(a, b);
	ch->locks[1] = a == b ? NULL : MAX(a, b);
	PTHREAD_MUTEX_lock(ch->locks[0]);
	if (ch->locks[1] != NULL)
		PTHREAD_MUTEX_lock(ch->locks[1]);
	declare(ch, newdir, new_name);
	if (!scale_obj_same(olddir, newdir) || strcmp(old_name, new_name) != 0)
		declare(ch, olddir, old_name);
}

static void finish_name(struct scale_change *ch)
{
	if (--ch->names != 0)
		return;
	for (unsigned int i = 0; i < 2; i++) {
		if (ch->locks[i] != NULL)
			PTHREAD_MUTEX_unlock(ch->locks[i]);
	}
}

void scale_changed_obj(struct scale_change *ch, const struct scale_obj *obj)
{
	const struct scale_export *exp = ch->exp;
	const struct mdx_attrs identity = {
		.valid = SCALE_IDENTITY,
		.type = obj->obj.type,
		.fsid_major = obj->obj.fsid.major,
		.fsid_minor = obj->obj.fsid.minor,
		.fileid = obj->obj.fileid,
	};
	uint32_t ttl = scale_freshness_attrs(exp, &identity);
	bool kept = ttl != 0 && exp->fresh.mode != SCALE_ASK;

	if (!scale_obj_cached(obj))
		return;
	(void)mdx_changed_entry(SCALE.cache, &ch->ch, scale_obj_key(obj),
				kept ? &identity : NULL, ttl, 0);
	scale_stats_invalidation(exp->stats, SCALE_SOURCE_OWN_CHANGE);
}

void scale_changed_name(struct scale_change *ch, struct scale_obj *dir,
			const char *name, enum mdx_outcome outcome,
			const struct scale_obj *child)
{
	const struct scale_export *exp = ch->exp;
	uint32_t ttl = scale_freshness_name_ms(exp, &dir->obj.fsid,
					       outcome != MDX_NAME_ABSENT);
	struct mdx_key key;

	if (!scale_obj_cached(dir))
		return;
	if (outcome == MDX_NAME_PRESENT && !scale_obj_nameable(child))
		outcome = MDX_NAME_UNKNOWN;
	if ((outcome == MDX_NAME_PRESENT || outcome == MDX_NAME_ABSENT) &&
	    ttl == 0)
		outcome = MDX_NAME_UNKNOWN;
	if (outcome == MDX_NAME_PRESENT)
		key = scale_obj_key(child);
	(void)mdx_changed_name(SCALE.cache, &ch->ch, scale_obj_key(dir), name,
			       strlen(name), outcome,
			       outcome == MDX_NAME_PRESENT ? &key : NULL, ttl);
	if (outcome != MDX_NAME_KEEP)
		scale_names_above_changed(exp, dir);
	/* A foreign change may hide behind this one, and nothing expires. */
	if (exp->fresh.mode == SCALE_ASK)
		mdx_invalidate_names(SCALE.cache, scale_obj_key(dir));
	finish_name(ch);
}

enum mdx_outcome scale_failed_name(const struct scale_obj *dir,
				   const char *name, fsal_status_t status)
{
	struct mdx_answer child;
	int rc;

	switch (status.major) {
	case ERR_FSAL_ACCESS:
	case ERR_FSAL_PERM:
	case ERR_FSAL_NOTEMPTY:
		return MDX_NAME_KEEP;
	case ERR_FSAL_EXIST:
		break;
	default:
		return MDX_NAME_UNKNOWN;
	}
	if (!scale_obj_cached(dir))
		return MDX_NAME_UNKNOWN;
	rc = mdx_lookup(SCALE.cache, scale_obj_key(dir), name, strlen(name),
			&child);
	return rc == 0 || rc == -ESTALE ? MDX_NAME_KEEP : MDX_NAME_UNKNOWN;
}
