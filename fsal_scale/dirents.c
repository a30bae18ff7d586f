// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Reading directories.
 *
 * A listing is given in the order of the engine's cookies (scan.h), from
 * memory where the directory is complete. Where it is not, it is read from the
 * backend to its end, which makes it complete, and the listing goes on from
 * what was read.
 *
 * A directory too large for that is passed through in the backend's own order.
 * Its cookies are told apart by the highest bit, which no backend uses, so
 * that a client's cookie is understood whatever has been forgotten meanwhile.
 * MDCACHE must not be given both orders in one life of the object it holds
 * (it would find the same name twice): once a listing was passed through, all
 * that begin later are, until MDCACHE drops the object.
 */
#include "lookup.h"
#include "permit.h"
#include "prefetch.h"
#include "scan.h"

#define FOREIGN_COOKIE (UINT64_C(1) << 63)

/** Children looked up one by one before the directory is read instead. */
#define LOOKUPS_MAX 8

/** A directory of more names is not read twice to be sure of it. */
#define RESCAN_NAMES 4096

/* --- From memory --------------------------------------------------------- */

/** A listing on its way up. */
struct listing {
	struct scale_export *exp;
	struct scale_obj *dir;
	fsal_readdir_cb cb;
	void *dir_state;
	attrmask_t attrmask;
	uint32_t want;
	uint64_t cookie; /**< of the last name given, or where to begin */
	unsigned int lookups;
	bool stuck; /**< too little is known of what comes next */
	fsal_status_t status;
};

static enum fsal_dir_result give(struct listing *l, const char *name,
				 struct scale_obj *obj,
				 struct fsal_attrlist *attrs, uint64_t cookie)
{
	enum fsal_dir_result result;

	l->cookie = cookie;
	result = l->cb(name, &obj->obj, attrs, l->dir_state, cookie);
	fsal_release_attrs(attrs);
	return result;
}

/* The name is known, and what it names has been forgotten. */
static bool give_forgotten(struct listing *l, const char *name, uint64_t cookie)
{
	struct fsal_attrlist attrs;
	struct scale_obj *obj;
	fsal_status_t status;

	if (l->lookups++ == LOOKUPS_MAX) {
		l->stuck = true;
		return false;
	}
	fsal_prepare_attrs(&attrs, l->attrmask);
	status = scale_lookup_backend(l->exp, l->dir, name, &obj, &attrs);
	if (obj != NULL)
		return give(l, name, obj, &attrs, cookie) == DIR_CONTINUE;
	fsal_release_attrs(&attrs);
	if (status.major == ERR_FSAL_NOENT)
		return true;
	l->status = status;
	return false;
}

static bool give_known(const struct mdx_dirent *dirent, void *arg)
{
	struct listing *l = arg;
	struct mdx_answer child = dirent->child;
	char name[MDX_NAME_MAX + 1];
	struct fsal_attrlist attrs;
	struct scale_obj *obj = NULL;

	memcpy(name, dirent->name, dirent->len);
	name[dirent->len] = '\0';
	if (dirent->known && (l->want & MDX_ACL)) {
		struct mdx_key key = { dirent->child.key, child.key_len,
				       child.backend };

		/* A listing does not hand out references. */
		if (mdx_get(SCALE.cache, key, l->want, &child) == 0)
			obj = scale_obj_from_answer(l->exp, &child);
		else
			child.attrs.acl = NULL;
	} else if (dirent->known && (child.attrs.valid & l->want) == l->want) {
		obj = scale_obj_from_answer(l->exp, &child);
	}
	if (obj == NULL) {
		if (l->want & MDX_ACL)
			scale_attrs_drop(&child.attrs);
		return give_forgotten(l, name, dirent->cookie);
	}
	fsal_prepare_attrs(&attrs, l->attrmask);
	scale_attrs_from_cache(l->exp, obj, &child, &attrs);
	return give(l, name, obj, &attrs, dirent->cookie) == DIR_CONTINUE;
}

/*
 * @return true when the listing is done for now: *eof says whether for good.
 */
static bool from_memory(struct listing *l, bool *eof)
{
	int rc;

	if (!scale_permitted(l->exp, l->dir, SCALE_MAY_READ))
		return false;
	l->stuck = false;
	l->lookups = 0;
	rc = mdx_readdir(SCALE.cache, scale_obj_key(l->dir), l->cookie,
			 give_known, l);
	*eof = rc == 0;
	if (rc == 0)
		return true;
	return rc == 1 && !l->stuck;
}

/* --- From the backend ---------------------------------------------------- */

/* MDCACHE could be given more than it asks for (DIR_READAHEAD); 4.3 then hangs
 * when it ends, after a large directory.
 */
static bool from_scan(struct listing *l, struct scale_scan *scan)
{
	enum fsal_dir_result result = DIR_CONTINUE;
	size_t first = 0;
	size_t given;

	/* What memory has given already, before it was stuck. */
	while (first < scan->count && scan->window[first].cookie <= l->cookie)
		first++;
	given = first;
	while (given < scan->count && result == DIR_CONTINUE) {
		struct scale_scanned *s = &scan->window[given++];

		s->attrs.expire_time_attr = scale_attrs_expiry(
			l->exp, s->obj, l->exp->fresh.attr_ms);
		result = give(l, s->name, s->obj, &s->attrs, s->cookie);
		gsh_free(s->name);
	}
	/* The rest stays in the window, to be freed. */
	memmove(scan->window + first, scan->window + given,
		(scan->count - given) * sizeof(*scan->window));
	scan->count -= given - first;
	return scan->count == first && !scan->more;
}

/** A listing that is passed through. */
struct passing {
	struct scale_export *exp;
	struct scale_obj *dir;
	struct fsal_export *self;
	fsal_readdir_cb cb;
	void *dir_state;
	uint64_t ticket;
	uint64_t tag;
};

/* Called by the backend, in its context, once for each name. */
static enum fsal_dir_result pass_cb(const char *name,
				    struct fsal_obj_handle *sub,
				    struct fsal_attrlist *attrs,
				    void *dir_state, fsal_cookie_t cookie)
{
	struct passing *p = dir_state;
	struct scale_found found = {
		.sub = sub, .attrs = attrs, .ticket = p->ticket, .listed = true
	};
	struct fsal_export *below = scale_enter(p->self);
	enum fsal_dir_result result;
	struct scale_obj *obj;

	obj = scale_obj_adopt(p->exp, &found);
	scale_store_parent(p->exp, p->ticket, obj, p->dir);
	if (p->exp->cached)
		scale_store_name(p->exp, p->ticket, p->dir, name, obj);
	result = p->cb(name, &obj->obj, attrs, p->dir_state, cookie | p->tag);
	scale_up(below);
	return result;
}

static fsal_status_t pass_through(struct scale_export *exp,
				  struct scale_obj *dir, fsal_cookie_t *whence,
				  void *dir_state, fsal_readdir_cb cb,
				  attrmask_t attrmask, bool *eof)
{
	bool tagged = scale_serves(exp);
	fsal_cookie_t untagged;
	struct passing p = {
		.exp = exp,
		.dir = dir,
		.self = op_ctx->fsal_export,
		.cb = cb,
		.dir_state = dir_state,
		.ticket = scale_ticket(exp),
		.tag = tagged ? FOREIGN_COOKIE : 0,
	};
	struct scale_call call;
	struct scale_ref ref;
	fsal_status_t status;

	status = scale_ref_get(&ref, exp, dir, NULL, NULL);
	if (FSAL_IS_ERROR(status))
		return status;
	if (whence != NULL && tagged) {
		untagged = *whence & ~FOREIGN_COOKIE;
		whence = &untagged;
	}
	call = scale_call_begin(exp);
	status = ref.sub->obj_ops->readdir(ref.sub, whence, &p, pass_cb,
					   scale_attrs_to_fetch(exp, attrmask),
					   eof);
	scale_call_end(&call, SCALE_OP_READDIR, status);
	if (status.major == ERR_FSAL_STALE)
		scale_obj_gone(exp, dir);
	scale_ref_put(&ref);
	return status;
}

/* What was read first may have changed before the end of the directory, and
 * MDCACHE have been told of it before it is given the name, which it would then
 * keep. Memory knows which names are in doubt.
 */
static bool told_meanwhile(struct listing *l, bool *eof)
{
	return scale_freshness_announced(l->exp, &l->dir->obj.fsid) &&
	       from_memory(l, eof);
}

/* Something was told of that may be older than what was read: the same, where
 * memory has not all of it.
 */
static bool overtaken(const struct listing *l, const struct scale_scan *scan)
{
	return !scan->complete && !scan->given_up && !scan->no_room &&
	       !scan->broken && scan->names <= RESCAN_NAMES &&
	       scale_freshness_announced(l->exp, &l->dir->obj.fsid);
}

static void begin_scan(const struct listing *l, bool beginning,
		       struct scale_scan *scan)
{
	scale_scan_init(scan, l->cookie, SCALE_WINDOW);
	scan->attrmask = l->attrmask;
	if (beginning)
		scan->budget_ns = SCALE_SCAN_NS;
	/* What has begun in this order must go on in it; yet no client's cookie
	 * shall make the server read without end.
	 */
	if (!scale_goes_on_by_name(l->exp))
		scan->max_names = beginning ? SCALE_SCAN_NAMES :
					      8 * SCALE_SCAN_NAMES;
}

/* Reads the whole directory, and gives what comes next. */
static fsal_status_t read_whole(struct listing *l, bool *eof, bool *too_large)
{
	bool beginning = l->cookie == 0 && !scale_goes_on_by_name(l->exp);
	struct mdx_flight *flight = NULL;
	struct scale_scan scan;
	fsal_status_t status;

	*too_large = false;
	if (mdx_flight_join(SCALE.cache, scale_obj_key(l->dir), "", 0,
			    SCALE_FLIGHT_MS, &flight) == 0 &&
	    from_memory(l, eof))
		return l->status;
	begin_scan(l, beginning, &scan);
	status = scale_scan(l->exp, l->dir, &scan);
	if (!FSAL_IS_ERROR(status) && overtaken(l, &scan)) {
		scale_scan_fini(&scan);
		begin_scan(l, beginning, &scan);
		status = scale_scan(l->exp, l->dir, &scan);
	}
	if (flight != NULL)
		mdx_flight_done(SCALE.cache, flight, 0);
	/* One that cannot be kept would be read again for each part of it. */
	*too_large = beginning && !FSAL_IS_ERROR(status) &&
		     (scan.given_up || (scan.no_room && scan.more));
	if (!FSAL_IS_ERROR(status) && scan.given_up && !*too_large)
		status = fsalstat(ERR_FSAL_BADCOOKIE, 0);
	if (!FSAL_IS_ERROR(status) && scan.broken)
		status = fsalstat(ERR_FSAL_SERVERFAULT, 0);
	if (!FSAL_IS_ERROR(status) && !*too_large &&
	    !(scan.complete && told_meanwhile(l, eof)))
		*eof = from_scan(l, &scan);
	scale_scan_fini(&scan);
	return FSAL_IS_ERROR(status) ? status : l->status;
}

static fsal_status_t scale_readdir(struct fsal_obj_handle *dir_hdl,
				   fsal_cookie_t *whence, void *dir_state,
				   fsal_readdir_cb cb, attrmask_t attrmask,
				   bool *eof)
{
	struct scale_export *exp = scale_current();
	struct scale_obj *dir = scale_obj(dir_hdl);
	struct listing l = {
		.exp = exp,
		.dir = dir,
		.cb = cb,
		.dir_state = dir_state,
		.attrmask = attrmask,
		.status = { ERR_FSAL_NO_ERROR, 0 },
	};
	fsal_status_t status;
	bool too_large;

	if (!scale_obj_cached(dir) || !scale_serves(exp)) {
		scale_stats_request(exp->stats, SCALE_OP_READDIR,
				    SCALE_OUTCOME_UNCACHED);
		return pass_through(exp, dir, whence, dir_state, cb, attrmask,
				    eof);
	}
	l.want = scale_attrs_want(exp, attrmask);
	l.cookie = whence != NULL ? *whence : 0;
	if ((l.cookie & FOREIGN_COOKIE) != 0) {
		/* A backend that goes on by name was never passed through. */
		if (scale_goes_on_by_name(exp))
			return fsalstat(ERR_FSAL_BADCOOKIE, 0);
		atomic_store(&dir->foreign_order, true);
	}
	if ((l.cookie & FOREIGN_COOKIE) != 0 ||
	    (l.cookie == 0 && atomic_load(&dir->foreign_order)))
		goto pass;
	*eof = false;
	if (from_memory(&l, eof)) {
		scale_stats_request(exp->stats, SCALE_OP_READDIR,
				    SCALE_OUTCOME_HIT);
		return l.status;
	}
	scale_stats_request(exp->stats, SCALE_OP_READDIR,
			    SCALE_OUTCOME_INVALID);
	status = read_whole(&l, eof, &too_large);
	if (!too_large)
		return status;
	atomic_store(&dir->foreign_order, true);
	return pass_through(exp, dir, whence, dir_state, cb, attrmask, eof);
pass:
	scale_stats_request(exp->stats, SCALE_OP_READDIR,
			    SCALE_OUTCOME_UNCACHED);
	return pass_through(exp, dir, whence, dir_state, cb, attrmask, eof);
}

/* MDCACHE of 4.3 would use it to put a new name among those it holds, and does
 * it wrong: it lets the chunk of names before the new one point into itself
 * (place_new_dirent(), next_ck), so that listings skip names or never end.
 * Without a cookie it reads the directory again, which is answered from memory.
 */
static fsal_cookie_t
scale_compute_readdir_cookie(struct fsal_obj_handle *dir_hdl, const char *name)
{
	struct scale_export *exp = scale_current();
	struct scale_use use;
	fsal_cookie_t cookie;
	fsal_status_t status;

	if (scale_obj_cached(scale_obj(dir_hdl)) && scale_serves(exp))
		return 0;
	status = scale_use_begin(&use, dir_hdl, SCALE_OP_OTHER);
	if (FSAL_IS_ERROR(status))
		return 0;
	cookie = use.sub->obj_ops->compute_readdir_cookie(use.sub, name);
	(void)scale_use_end(&use, status);
	return cookie;
}

static int scale_dirent_cmp(struct fsal_obj_handle *dir_hdl, const char *name1,
			    fsal_cookie_t cookie1, const char *name2,
			    fsal_cookie_t cookie2)
{
	struct scale_export *exp = scale_current();
	struct scale_obj *dir = scale_obj(dir_hdl);
	struct scale_use use;
	fsal_status_t status;
	int result;

	if (scale_obj_cached(dir) && scale_serves(exp))
		return (cookie1 > cookie2) - (cookie1 < cookie2);
	status = scale_use_begin(&use, dir_hdl, SCALE_OP_OTHER);
	if (FSAL_IS_ERROR(status))
		return 0;
	result = use.sub->obj_ops->dirent_cmp(use.sub, name1, cookie1, name2,
					      cookie2);
	(void)scale_use_end(&use, status);
	return result;
}

void scale_dirent_ops_init(struct fsal_obj_ops *ops)
{
	ops->readdir = scale_readdir;
	ops->compute_readdir_cookie = scale_compute_readdir_cookie;
	ops->dirent_cmp = scale_dirent_cmp;
}
