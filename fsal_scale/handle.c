// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Objects and their names outside of directories: keys and wire handles, and
 * the life of objects as MDCACHE sees it.
 */
#include "attrs.h"
#include "cache.h"
#include "learn.h"
#include "lookup.h"
#include "object.h"
#include "prefetch.h"

/* MDCACHE counts references itself and never asks. */
static void scale_get_ref(struct fsal_obj_handle *obj_hdl)
{
	struct scale_obj *obj = scale_obj(obj_hdl);
	struct fsal_export *self = scale_down();

	if (obj->own != NULL)
		obj->own->obj_ops->get_ref(obj->own);
	scale_up(self);
}

static void scale_put_ref(struct fsal_obj_handle *obj_hdl)
{
	struct scale_obj *obj = scale_obj(obj_hdl);
	struct fsal_export *self = scale_down();

	if (obj->own != NULL)
		obj->own->obj_ops->put_ref(obj->own);
	scale_up(self);
}

static void scale_release(struct fsal_obj_handle *obj_hdl)
{
	scale_obj_free(scale_obj(obj_hdl));
}

static fsal_status_t scale_merge(struct fsal_obj_handle *orig_hdl,
				 struct fsal_obj_handle *dupe_hdl)
{
	return scale_obj_merge(scale_obj(orig_hdl), scale_obj(dupe_hdl));
}

/* A wire handle is the backend's own, byte for byte: NFSv3 leaves no room to
 * add to it, and a client's handle stays good when SCALE is put above a
 * backend or taken away.
 */
static fsal_status_t scale_handle_to_wire(const struct fsal_obj_handle *obj_hdl,
					  fsal_digesttype_t output_type,
					  struct gsh_buffdesc *fh_desc)
{
	const struct scale_obj *obj = scale_obj(obj_hdl);
	struct scale_export *exp = scale_current();
	struct fsal_obj_handle *own = obj->own;
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);
	struct fsal_export *self;
	size_t len;

	if (own != NULL) {
		self = scale_down();
		status =
			own->obj_ops->handle_to_wire(own, output_type, fh_desc);
		scale_up(self);
		return status;
	}
	len = obj->key_len - (size_t)atomic_load_explicit(&exp->key_rest,
							  memory_order_relaxed);
	if (fh_desc->len < len) {
		LogMajor(COMPONENT_FSAL,
			 "A handle of %zu bytes does not fit into %zu", len,
			 fh_desc->len);
		return fsalstat(ERR_FSAL_TOOSMALL, 0);
	}
	memcpy(fh_desc->addr, obj->key, len);
	fh_desc->len = len;
	return status;
}

static void scale_handle_to_key(struct fsal_obj_handle *obj_hdl,
				struct gsh_buffdesc *fh_desc)
{
	struct scale_obj *obj = scale_obj(obj_hdl);

	fh_desc->addr = obj->key;
	fh_desc->len = obj->key_len + SCALE_KEY_ID_BYTES;
}

/* Asked about each object of NFSv4. Only a directory with the sticky bit can
 * be a referral (fsal_common_is_referral()): about others nobody need be asked.
 */
static bool scale_is_referral(struct fsal_obj_handle *obj_hdl,
			      struct fsal_attrlist *attrs, bool cache_attrs)
{
	struct scale_use use;
	fsal_status_t status;
	bool result;

	if (obj_hdl->type != DIRECTORY ||
	    ((attrs->valid_mask & ATTR_MODE) != 0 &&
	     (attrs->mode & S_ISVTX) == 0))
		return false;
	status = scale_use_begin(&use, obj_hdl, SCALE_OP_OTHER);
	if (FSAL_IS_ERROR(status))
		return false;
	result = use.sub->obj_ops->is_referral(use.sub, attrs, cache_attrs);
	(void)scale_use_end(&use, status);
	return result;
}

void scale_handle_ops_init(struct fsal_obj_ops *ops)
{
	ops->get_ref = scale_get_ref;
	ops->put_ref = scale_put_ref;
	ops->release = scale_release;
	ops->merge = scale_merge;
	ops->handle_to_wire = scale_handle_to_wire;
	ops->handle_to_key = scale_handle_to_key;
	ops->is_referral = scale_is_referral;
	/* handle_cmp stays Ganesha's: it compares what handle_to_key says. */
}

static fsal_status_t host_to_sub_key(struct fsal_export *exp_hdl,
				     struct gsh_buffdesc *fh_desc)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	size_t room = fh_desc->len + FSAL_KEY_EXTRA_BYTES;
	fsal_status_t status;

	status = sub_exp->exp_ops.host_to_key(sub_exp, fh_desc);
	scale_up(self);
	/* The handle is a client's, and GPFS takes the key's length from it
	 * unseen: a forged one could name any place for our id.
	 */
	if (!FSAL_IS_ERROR(status) && fh_desc->len + SCALE_KEY_ID_BYTES > room)
		status = fsalstat(ERR_FSAL_BADHANDLE, 0);
	return status;
}

/* Exports of one backend share their objects, and MDCACHE serves an object that
 * it holds to whichever export is asked with its handle. A file system that
 * this export's backend has never shown may be another export's: then only the
 * backend can say whether the handle is good here.
 */
static fsal_status_t check_foreign(struct scale_export *exp,
				   const struct gsh_buffdesc *fh_desc)
{
	char buf[NFS4_FHSIZE + FSAL_KEY_EXTRA_BYTES];
	struct gsh_buffdesc desc = { buf, fh_desc->len };
	struct scale_found found = { .ticket = 0 };
	struct mdx_answer answer;
	struct scale_call call;
	struct mdx_key key;
	fsal_status_t status;

	if (fh_desc->len > NFS4_FHSIZE)
		return fsalstat(ERR_FSAL_BADHANDLE, 0);
	memcpy(buf, fh_desc->addr, fh_desc->len);
	status = host_to_sub_key(&exp->export, &desc);
	if (FSAL_IS_ERROR(status) || desc.len > MDX_KEY_MAX)
		return status;
	key = (struct mdx_key){ buf, (uint8_t)desc.len, exp->slot };
	if (mdx_get(SCALE.cache, key, 0, &answer) != 0 ||
	    scale_obj_belongs(exp, &answer))
		return status;
	memcpy(buf, fh_desc->addr, fh_desc->len);
	desc.len = fh_desc->len;
	call = scale_call_begin(exp);
	status = scale_sub_create(exp, &desc, &found.sub, NULL);
	scale_call_end(&call, SCALE_OP_CREATE_HANDLE, status);
	if (!FSAL_IS_ERROR(status))
		scale_obj_free(scale_obj_adopt(exp, &found));
	return status;
}

/* The backend's check of a client's handle is its only one, and cheap: it is
 * never left out.
 */
static fsal_status_t scale_wire_to_host(struct fsal_export *exp_hdl,
					fsal_digesttype_t in_type,
					struct gsh_buffdesc *fh_desc, int flags)
{
	struct scale_export *exp = scale_export(exp_hdl);
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct scale_call call = scale_call_begin(exp);
	fsal_status_t status;

	status =
		sub_exp->exp_ops.wire_to_host(sub_exp, in_type, fh_desc, flags);
	scale_call_end(&call, SCALE_OP_WIRE_TO_HOST, status);
	if (!FSAL_IS_ERROR(status) && exp->cached && scale_cache_shared(exp))
		status = check_foreign(exp, fh_desc);
	return status;
}

static fsal_status_t scale_host_to_key(struct fsal_export *exp_hdl,
				       struct gsh_buffdesc *fh_desc)
{
	fsal_status_t status = host_to_sub_key(exp_hdl, fh_desc);

	if (!FSAL_IS_ERROR(status))
		scale_key_append(fh_desc,
				 scale_export(exp_hdl)->upcall.backend_id);
	return status;
}

static struct scale_obj *from_cache(struct scale_export *exp,
				    struct mdx_key key,
				    struct fsal_attrlist *attrs_out,
				    enum scale_outcome *outcome)
{
	struct mdx_answer answer;
	struct scale_obj *obj = NULL;
	uint32_t want;
	int rc;

	if (!scale_lookup_want(exp, attrs_out, &want)) {
		*outcome = SCALE_OUTCOME_UNCACHED;
		return NULL;
	}
	rc = mdx_get(SCALE.cache, key, want, &answer);
	*outcome = rc == -ENOENT ? SCALE_OUTCOME_MISS : SCALE_OUTCOME_INVALID;
	if (rc == 0)
		obj = scale_obj_from_answer(exp, &answer);
	if (obj != NULL) {
		*outcome = SCALE_OUTCOME_HIT;
		if (attrs_out != NULL)
			scale_attrs_from_cache(exp, obj, &answer, attrs_out);
	}
	scale_attrs_drop(&answer.attrs);
	return obj;
}

static fsal_status_t ask_backend(struct scale_export *exp,
				 struct gsh_buffdesc *fh_desc,
				 struct mdx_key key, struct scale_obj **obj,
				 struct fsal_attrlist *attrs_out)
{
	struct fsal_attrlist attrs;
	struct scale_found found = { .attrs = &attrs,
				     .ticket = scale_ticket(exp) };
	struct scale_call call;
	fsal_status_t status;

	scale_attrs_prepare(exp, attrs_out, &attrs);
	call = scale_call_begin(exp);
	status = scale_sub_create(exp, fh_desc, &found.sub, &attrs);
	scale_call_end(&call, SCALE_OP_CREATE_HANDLE, status);
	if (!FSAL_IS_ERROR(status)) {
		*obj = scale_obj_adopt(exp, &found);
		(*obj)->nameless = exp->needs_names &&
				   scale_obj_special((*obj)->obj.type);
		scale_lookup_give(exp, *obj, &attrs, attrs_out);
	} else if (status.major == ERR_FSAL_STALE && key.len != 0) {
		mdx_forget(SCALE.cache, key);
		scale_stats_invalidation(exp->stats, SCALE_SOURCE_STALE);
	}
	fsal_release_attrs(&attrs);
	return status;
}

/* MDCACHE has let go of an object, and a client's handle asks for it again. */
static fsal_status_t scale_create_handle(struct fsal_export *exp_hdl,
					 struct gsh_buffdesc *fh_desc,
					 struct fsal_obj_handle **handle,
					 struct fsal_attrlist *attrs_out)
{
	struct scale_export *exp = scale_export(exp_hdl);
	enum scale_outcome outcome = SCALE_OUTCOME_UNCACHED;
	char buf[NFS4_FHSIZE + FSAL_KEY_EXTRA_BYTES];
	struct gsh_buffdesc desc = { buf, fh_desc->len };
	struct mdx_key key = { buf, 0, exp->slot };
	struct mdx_flight *flight = NULL;
	struct scale_obj *obj = NULL;
	fsal_status_t status = fsalstat(ERR_FSAL_NO_ERROR, 0);

	*handle = NULL;
	if (fh_desc->len > NFS4_FHSIZE)
		return fsalstat(ERR_FSAL_BADHANDLE, 0);
	if (scale_serves(exp)) {
		memcpy(buf, fh_desc->addr, fh_desc->len);
		status = host_to_sub_key(exp_hdl, &desc);
		if (FSAL_IS_ERROR(status))
			return status;
		if (desc.len <= MDX_KEY_MAX)
			key.len = (uint8_t)desc.len;
	}
	if (key.len != 0) {
		obj = from_cache(exp, key, attrs_out, &outcome);
		if (obj == NULL && scale_worth_waiting(&exp->attrs_ns) &&
		    mdx_flight_join(SCALE.cache, key, NULL, 0, SCALE_FLIGHT_MS,
				    &flight) == 0) {
			obj = from_cache(exp, key, attrs_out, &outcome);
			if (obj != NULL)
				outcome = SCALE_OUTCOME_SHARED;
		}
	}
	scale_stats_request(exp->stats, SCALE_OP_CREATE_HANDLE, outcome);
	if (obj == NULL)
		status = ask_backend(exp, fh_desc, key, &obj, attrs_out);
	if (flight != NULL)
		mdx_flight_done(SCALE.cache, flight, 0);
	if (obj != NULL)
		*handle = &obj->obj;
	return status;
}

void scale_handle_export_ops_init(struct export_ops *ops)
{
	ops->create_handle = scale_create_handle;
	ops->wire_to_host = scale_wire_to_host;
	ops->host_to_key = scale_host_to_key;
}
