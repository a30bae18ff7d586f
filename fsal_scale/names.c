// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Finding objects by name.
 */
#include "lookup.h"
#include "permit.h"
#include "prefetch.h"

/** How often a name is asked for again that changes all the time. */
#define LOOKUP_TRIES 3

/* Under ask, names are good while the directory is as it was: the backend says
 * whether it is. A directory that changed a moment ago may change again within
 * the grain of its clock, so it is not relied on yet.
 */
static bool still_as_it_was(struct scale_export *exp, struct scale_obj *dir)
{
	struct mdx_key key = scale_obj_key(dir);
	struct fsal_attrlist attrs;
	fsal_status_t status;
	bool good;

	scale_attrs_prepare(exp, NULL, &attrs);
	status = scale_fetch_attrs(exp, dir, &attrs);
	good = !FSAL_IS_ERROR(status) && (attrs.valid_mask & ATTR_CHANGE);
	if (good) {
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		if (llabs((now.tv_sec - attrs.ctime.tv_sec) * 1000LL +
			  (now.tv_nsec - attrs.ctime.tv_nsec) / 1000000) < 100)
			good = false;
	}
	if (!good)
		mdx_invalidate_names(SCALE.cache, key);
	fsal_release_attrs(&attrs);
	return good;
}

void scale_lookup_cached(struct scale_export *exp, struct scale_obj *dir,
			 const char *name, struct scale_obj **obj,
			 struct fsal_attrlist *attrs_out,
			 enum scale_outcome *outcome)
{
	struct mdx_key key = scale_obj_key(dir);
	struct mdx_answer child;
	uint32_t want;
	int rc;

	*obj = NULL;
	*outcome = SCALE_OUTCOME_UNCACHED;
	if (!scale_obj_cached(dir) || !exp->cached ||
	    exp->fresh.mode == SCALE_OFF)
		return;
	rc = mdx_lookup(SCALE.cache, key, name, strlen(name), &child);
	if (rc == -ENOENT && exp->fresh.mode == SCALE_ASK) {
		rc = -ENODATA;
		if (still_as_it_was(exp, dir))
			rc = mdx_lookup(SCALE.cache, key, name, strlen(name),
					&child);
	}
	switch (rc) {
	case -ENOENT:
		*outcome = SCALE_OUTCOME_NEGATIVE;
		return;
	case -ESTALE:
		*outcome = SCALE_OUTCOME_INVALID;
		return;
	case 0:
		break;
	default:
		*outcome = SCALE_OUTCOME_MISS;
		return;
	}
	if (!scale_lookup_want(exp, attrs_out, &want))
		return;
	*outcome = SCALE_OUTCOME_INVALID;
	if ((child.attrs.valid & want) != want)
		return;
	if (want & MDX_ACL) {
		/* A lookup does not hand out references. */
		char buf[MDX_KEY_MAX];
		struct mdx_key child_key = { buf, child.key_len,
					     child.backend };

		memcpy(buf, child.key, child.key_len);
		rc = mdx_get(SCALE.cache, child_key, want, &child);
		if (rc != 0)
			return;
	}
	*obj = scale_obj_from_answer(exp, &child);
	if (*obj != NULL) {
		*outcome = SCALE_OUTCOME_HIT;
		if (attrs_out != NULL)
			scale_attrs_from_cache(exp, *obj, &child, attrs_out);
	}
	if (want & MDX_ACL)
		scale_attrs_drop(&child.attrs);
}

/* Once. *good: nothing is known to have happened to the name meanwhile. */
static fsal_status_t ask_for_name(struct scale_export *exp,
				  struct scale_obj *dir, const char *name,
				  struct scale_obj **obj,
				  struct fsal_attrlist *attrs_out, bool *good)
{
	struct fsal_attrlist attrs;
	struct scale_found found = { .attrs = &attrs,
				     .ticket = scale_ticket(exp) };
	struct scale_ref ref;
	struct scale_call call;
	fsal_status_t status;

	*obj = NULL;
	*good = true;
	status = scale_ref_get(&ref, exp, dir, NULL, NULL);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_attrs_prepare(exp, attrs_out, &attrs);
	call = scale_call_begin(exp);
	status = ref.sub->obj_ops->lookup(ref.sub, name, &found.sub, &attrs);
	status = scale_no_null(status, found.sub);
	scale_call_end(&call, SCALE_OP_LOOKUP, status);
	scale_prefetch_measure(&exp->lookup_ns, call.began, 1);
	if (!FSAL_IS_ERROR(status)) {
		*obj = scale_obj_adopt(exp, &found);
		*good = scale_store_name(exp, found.ticket, dir, name, *obj);
		scale_store_parent(exp, found.ticket, *obj, dir);
		scale_lookup_give(exp, *obj, &attrs, attrs_out);
	} else if (status.major == ERR_FSAL_NOENT) {
		scale_store_name(exp, found.ticket, dir, name, NULL);
	} else if (status.major == ERR_FSAL_STALE) {
		scale_obj_gone(exp, dir);
	}
	if (!FSAL_IS_ERROR(status) || status.major == ERR_FSAL_NOENT)
		scale_permit(exp, dir, SCALE_MAY_SEARCH);
	fsal_release_attrs(&attrs);
	scale_ref_put(&ref);
	return status;
}

/*
 * MDCACHE keeps a name until it is told of a change in the directory. Where it
 * has been told of one while the backend was asked, and is given what was true
 * before, it keeps that until the next one. So the backend is asked again.
 */
fsal_status_t scale_lookup_backend(struct scale_export *exp,
				   struct scale_obj *dir, const char *name,
				   struct scale_obj **obj,
				   struct fsal_attrlist *attrs_out)
{
	fsal_status_t status;
	bool good;

	for (unsigned int i = 0;; i++) {
		status = ask_for_name(exp, dir, name, obj, attrs_out, &good);
		if (good || *obj == NULL || i == LOOKUP_TRIES ||
		    !scale_freshness_announced(exp, &dir->obj.fsid))
			return status;
		scale_obj_free(*obj);
		*obj = NULL;
		if (attrs_out != NULL)
			fsal_release_attrs(attrs_out);
	}
}

static struct scale_obj *cached_parent(struct scale_export *exp,
				       struct scale_obj *dir,
				       struct fsal_attrlist *attrs_out,
				       enum scale_outcome *outcome)
{
	char buf[MDX_BLOB_MAX];
	struct mdx_key key = { buf, 0, dir->slot };
	struct scale_obj *obj = NULL;
	struct mdx_answer parent;
	uint32_t want;
	int len;

	*outcome = SCALE_OUTCOME_UNCACHED;
	if (!scale_obj_cached(dir) || !scale_lookup_want(exp, attrs_out, &want))
		return NULL;
	*outcome = SCALE_OUTCOME_MISS;
	len = mdx_blob_get(SCALE.cache, scale_obj_key(dir), MDX_PARENT, buf,
			   sizeof(buf));
	if (len <= 0 || len > MDX_KEY_MAX)
		return NULL;
	key.len = (uint8_t)len;
	if (mdx_get(SCALE.cache, key, want, &parent) == 0)
		obj = scale_obj_from_answer(exp, &parent);
	if (obj != NULL) {
		*outcome = SCALE_OUTCOME_HIT;
		if (attrs_out != NULL)
			scale_attrs_from_cache(exp, obj, &parent, attrs_out);
	}
	scale_attrs_drop(&parent.attrs);
	return obj;
}

/* Asked for each directory that a client's handle brings back. It is no name:
 * a moved directory has another one, without a change in it.
 */
static fsal_status_t lookup_parent(struct scale_export *exp,
				   struct scale_obj *dir,
				   struct scale_obj **obj,
				   struct fsal_attrlist *attrs_out)
{
	struct fsal_attrlist attrs;
	struct scale_found found = { .attrs = &attrs };
	enum scale_outcome outcome;
	struct scale_call call;
	struct scale_ref ref;
	fsal_status_t status;

	*obj = cached_parent(exp, dir, attrs_out, &outcome);
	scale_stats_request(exp->stats, SCALE_OP_LOOKUP_PARENT, outcome);
	if (*obj != NULL)
		return fsalstat(ERR_FSAL_NO_ERROR, 0);

	found.ticket = scale_ticket(exp);
	status = scale_ref_get(&ref, exp, dir, NULL, NULL);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_attrs_prepare(exp, attrs_out, &attrs);
	call = scale_call_begin(exp);
	status = ref.sub->obj_ops->lookup(ref.sub, "..", &found.sub, &attrs);
	status = scale_no_null(status, found.sub);
	scale_call_end(&call, SCALE_OP_LOOKUP_PARENT, status);
	if (!FSAL_IS_ERROR(status)) {
		*obj = scale_obj_adopt(exp, &found);
		scale_store_parent(exp, found.ticket, dir, *obj);
		scale_lookup_give(exp, *obj, &attrs, attrs_out);
	} else if (status.major == ERR_FSAL_STALE) {
		scale_obj_gone(exp, dir);
	}
	fsal_release_attrs(&attrs);
	scale_ref_put(&ref);
	return status;
}

static fsal_status_t lookup_name(struct scale_export *exp,
				 struct scale_obj *dir, const char *name,
				 struct scale_obj **obj,
				 struct fsal_attrlist *attrs_out)
{
	bool permitted = scale_permitted(exp, dir, SCALE_MAY_SEARCH);
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);
	enum scale_outcome outcome = SCALE_OUTCOME_UNCACHED;
	struct mdx_flight *flight = NULL;
	int joined = -1;

	*obj = NULL;
	if (permitted)
		scale_lookup_cached(exp, dir, name, obj, attrs_out, &outcome);
	if (outcome != SCALE_OUTCOME_HIT && outcome != SCALE_OUTCOME_NEGATIVE &&
	    outcome != SCALE_OUTCOME_UNCACHED) {
		enum scale_outcome again;

		/* What another one is told is told to all who may search. */
		if (scale_prefetch(exp, dir))
			joined = 0;
		else if (scale_worth_waiting(&exp->lookup_ns))
			joined = mdx_flight_join(SCALE.cache,
						 scale_obj_key(dir), name,
						 strlen(name), SCALE_FLIGHT_MS,
						 &flight);
		if (joined == 0) {
			scale_lookup_cached(exp, dir, name, obj, attrs_out,
					    &again);
			if (again == SCALE_OUTCOME_HIT)
				outcome = SCALE_OUTCOME_SHARED;
			else if (again == SCALE_OUTCOME_NEGATIVE)
				outcome = again;
		}
	}
	scale_stats_request(exp->stats, SCALE_OP_LOOKUP, outcome);
	if (outcome == SCALE_OUTCOME_NEGATIVE)
		status = fsalstat(ERR_FSAL_NOENT, ENOENT);
	else if (*obj == NULL)
		status = scale_lookup_backend(exp, dir, name, obj, attrs_out);
	if (flight != NULL)
		mdx_flight_done(SCALE.cache, flight, 0);
	return status;
}

static fsal_status_t scale_lookup(struct fsal_obj_handle *dir_hdl,
				  const char *name,
				  struct fsal_obj_handle **handle,
				  struct fsal_attrlist *attrs_out)
{
	struct scale_export *exp = scale_current();
	struct scale_obj *dir = scale_obj(dir_hdl);
	struct scale_obj *obj;
	fsal_status_t status;

	*handle = NULL;
	if (strcmp(name, "..") == 0)
		status = lookup_parent(exp, dir, &obj, attrs_out);
	else
		status = lookup_name(exp, dir, name, &obj, attrs_out);
	if (obj != NULL)
		*handle = &obj->obj;
	return status;
}

void scale_name_ops_init(struct fsal_obj_ops *ops)
{
	ops->lookup = scale_lookup;
}

static fsal_status_t scale_lookup_path(struct fsal_export *exp_hdl,
				       const char *path,
				       struct fsal_obj_handle **handle,
				       struct fsal_attrlist *attrs_out)
{
	struct scale_export *exp = scale_export(exp_hdl);
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct scale_found found = { .attrs = attrs_out,
				     .ticket = scale_ticket(exp) };
	struct scale_call call = scale_call_begin(exp);
	fsal_status_t status;

	*handle = NULL;
	status = sub_exp->exp_ops.lookup_path(sub_exp, path, &found.sub,
					      attrs_out);
	status = scale_no_null(status, found.sub);
	scale_call_end(&call, SCALE_OP_OTHER, status);
	if (!FSAL_IS_ERROR(status))
		*handle = &scale_obj_adopt(exp, &found)->obj;
	return status;
}

/* Never called in 4.3; a backend that had junctions of its own would return
 * an object, the default returns none.
 */
static fsal_status_t scale_lookup_junction(struct fsal_export *exp_hdl,
					   struct fsal_obj_handle *junction,
					   struct fsal_obj_handle **handle)
{
	struct scale_export *exp = scale_export(exp_hdl);
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct scale_found found = { .sub = NULL };
	struct scale_use use;
	fsal_status_t status;

	*handle = NULL;
	status = scale_use_begin(&use, junction, SCALE_OP_OTHER);
	if (FSAL_IS_ERROR(status))
		return status;
	status = sub_exp->exp_ops.lookup_junction(sub_exp, use.sub, &found.sub);
	status = scale_use_end(&use, status);
	if (!FSAL_IS_ERROR(status) && found.sub != NULL)
		*handle = &scale_obj_adopt(exp, &found)->obj;
	return status;
}

void scale_name_export_ops_init(struct export_ops *ops)
{
	ops->lookup_path = scale_lookup_path;
	ops->lookup_junction = scale_lookup_junction;
}
