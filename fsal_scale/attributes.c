// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Attributes of objects, and the targets of symbolic links.
 */
#include "lookup.h"
#include "names_above.h"
#include "permit.h"
#include "prefetch.h"

/** Asked for by MDCACHE only when it needs them; see scale_attrs_want(). */
#define ATTRS_NOT_HELD (ATTR4_FS_LOCATIONS | ATTR4_SEC_LABEL)

fsal_status_t scale_fetch_attrs(struct scale_export *exp, struct scale_obj *obj,
				struct fsal_attrlist *attrs)
{
	uint64_t ticket = scale_ticket(exp);
	struct scale_call call;
	struct scale_ref ref;
	fsal_status_t status;
	bool fetched;

	status = scale_ref_get(&ref, exp, obj, attrs, &fetched);
	if (FSAL_IS_ERROR(status))
		return status;
	if (!fetched) {
		call = scale_call_begin(exp);
		status = ref.sub->obj_ops->getattrs(ref.sub, attrs);
		scale_call_end(&call, SCALE_OP_GETATTRS, status);
		scale_prefetch_measure(&exp->attrs_ns, call.began, 1);
	}
	if (status.major == ERR_FSAL_STALE)
		scale_obj_gone(exp, obj);
	if (!FSAL_IS_ERROR(status) && scale_obj_cached(obj) &&
	    exp->fresh.mode != SCALE_OFF)
		scale_learn_attrs(exp, ticket, obj, attrs);
	scale_ref_put(&ref);
	return status;
}

static bool cached_attrs(struct scale_export *exp, const struct scale_obj *obj,
			 struct fsal_attrlist *attrs_out,
			 enum scale_outcome *outcome)
{
	struct mdx_answer answer;
	uint32_t want;
	int rc;

	*outcome = SCALE_OUTCOME_UNCACHED;
	if (!scale_obj_cached(obj) ||
	    (attrs_out->request_mask & exp->supported & ATTRS_NOT_HELD) ||
	    !scale_lookup_want(exp, attrs_out, &want))
		return false;
	rc = mdx_get(SCALE.cache, scale_obj_key(obj), want, &answer);
	if (rc != 0) {
		*outcome = rc == -ENOENT ? SCALE_OUTCOME_MISS :
					   SCALE_OUTCOME_INVALID;
		return false;
	}
	*outcome = SCALE_OUTCOME_HIT;
	scale_attrs_from_cache(exp, obj, &answer, attrs_out);
	return true;
}

static fsal_status_t pass_getattrs(struct fsal_obj_handle *obj_hdl,
				   struct fsal_attrlist *attrs_out)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_GETATTRS);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->getattrs(use.sub, attrs_out);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_getattrs(struct fsal_obj_handle *obj_hdl,
				    struct fsal_attrlist *attrs_out)
{
	struct scale_export *exp = scale_current();
	struct scale_obj *obj = scale_obj(obj_hdl);
	struct mdx_flight *flight = NULL;
	struct fsal_attrlist attrs;
	enum scale_outcome outcome;
	fsal_status_t status;

	if (!scale_obj_cached(obj))
		return pass_getattrs(obj_hdl, attrs_out);
	scale_names_above_check(exp, obj);
	if (cached_attrs(exp, obj, attrs_out, &outcome)) {
		scale_stats_request(exp->stats, SCALE_OP_GETATTRS, outcome);
		return fsalstat(ERR_FSAL_NO_ERROR, 0);
	}
	if (outcome != SCALE_OUTCOME_UNCACHED &&
	    scale_worth_waiting(&exp->attrs_ns) &&
	    mdx_flight_join(SCALE.cache, scale_obj_key(obj), NULL, 0,
			    SCALE_FLIGHT_MS, &flight) == 0) {
		enum scale_outcome again;

		if (cached_attrs(exp, obj, attrs_out, &again)) {
			scale_stats_request(exp->stats, SCALE_OP_GETATTRS,
					    SCALE_OUTCOME_SHARED);
			return fsalstat(ERR_FSAL_NO_ERROR, 0);
		}
	}
	scale_stats_request(exp->stats, SCALE_OP_GETATTRS, outcome);
	scale_attrs_prepare(exp, attrs_out, &attrs);
	status = scale_fetch_attrs(exp, obj, &attrs);
	if (flight != NULL)
		mdx_flight_done(SCALE.cache, flight, 0);
	/* An error may have been put into the list, where it was asked for. */
	scale_lookup_give(exp, obj, &attrs, attrs_out);
	fsal_release_attrs(&attrs);
	return status;
}

static fsal_status_t scale_setattr2(struct fsal_obj_handle *obj_hdl,
				    bool bypass, struct state_t *state,
				    struct fsal_attrlist *attrib_set)
{
	struct scale_change ch;
	struct scale_use use;
	attrmask_t changed;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_SETATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_change_begin(&ch, use.call.exp);
	scale_change_obj(&ch, use.obj);
	changed = attrib_set->valid_mask;
	status = use.sub->obj_ops->setattr2(use.sub, bypass, state, attrib_set);
	/* Even a failed one may have set some of them. */
	scale_changed_obj(&ch, use.obj);
	if (obj_hdl->type == DIRECTORY &&
	    (changed & (ATTR_MODE | ATTR_OWNER | ATTR_GROUP | ATTR_ACL)))
		scale_permits_forget(use.obj->key, use.obj->key_len);
	/* To set the size, the backend opens the file. */
	if ((changed & ATTR_SIZE) && use.ref.handle != NULL)
		mdx_pool_set_fds(SCALE.cache, use.ref.handle,
				 use.call.exp->pools_fds);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_test_access(struct fsal_obj_handle *obj_hdl,
				       fsal_accessflags_t access_type,
				       fsal_accessflags_t *allowed,
				       fsal_accessflags_t *denied,
				       bool owner_skip)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_OTHER);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->test_access(use.sub, access_type, allowed,
					       denied, owner_skip);
	return scale_use_end(&use, status);
}

static bool cached_link(struct scale_export *exp, const struct scale_obj *obj,
			struct gsh_buffdesc *link_content,
			enum scale_outcome *outcome)
{
	char buf[MDX_BLOB_MAX];
	int len;

	*outcome = SCALE_OUTCOME_UNCACHED;
	if (!scale_obj_cached(obj) || !scale_serves(exp))
		return false;
	len = mdx_blob_get(SCALE.cache, scale_obj_key(obj), MDX_LINK, buf,
			   sizeof(buf));
	*outcome = len > 0 ? SCALE_OUTCOME_HIT : SCALE_OUTCOME_MISS;
	if (len <= 0)
		return false;
	link_content->addr = gsh_malloc((size_t)len);
	link_content->len = (size_t)len;
	memcpy(link_content->addr, buf, (size_t)len);
	return true;
}

static fsal_status_t scale_readlink(struct fsal_obj_handle *obj_hdl,
				    struct gsh_buffdesc *link_content,
				    bool refresh)
{
	struct scale_export *exp = scale_current();
	struct scale_obj *obj = scale_obj(obj_hdl);
	uint64_t ticket = scale_ticket(exp);
	enum scale_outcome outcome;
	struct scale_call call;
	struct scale_ref ref;
	fsal_status_t status;

	if (cached_link(exp, obj, link_content, &outcome)) {
		scale_stats_request(exp->stats, SCALE_OP_READLINK, outcome);
		return fsalstat(ERR_FSAL_NO_ERROR, 0);
	}
	scale_stats_request(exp->stats, SCALE_OP_READLINK, outcome);
	status = scale_ref_get(&ref, exp, obj, NULL, NULL);
	if (FSAL_IS_ERROR(status))
		return status;
	call = scale_call_begin(exp);
	/* What an object of the pool remembers may be as old as it is. */
	status = ref.sub->obj_ops->readlink(ref.sub, link_content,
					    refresh || scale_obj_cached(obj));
	scale_call_end(&call, SCALE_OP_READLINK, status);
	if (!FSAL_IS_ERROR(status) && outcome == SCALE_OUTCOME_MISS)
		(void)mdx_blob_put(SCALE.cache, ticket, scale_obj_key(obj),
				   MDX_LINK, link_content->addr,
				   link_content->len);
	if (status.major == ERR_FSAL_STALE)
		scale_obj_gone(exp, obj);
	scale_ref_put(&ref);
	return status;
}

void scale_attribute_ops_init(struct fsal_obj_ops *ops)
{
	ops->getattrs = scale_getattrs;
	ops->setattr2 = scale_setattr2;
	ops->test_access = scale_test_access;
	ops->readlink = scale_readlink;
}
