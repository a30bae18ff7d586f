// SPDX-License-Identifier: LGPL-3.0-or-later
#include "scan.h"

#include "attrs.h"
#include "cache.h"
#include "permit.h"
#include "prefetch.h"

/** The part of the handle pool that the children of one directory may take,
 * where that is of use; a larger one would drive everything else out.
 */
#define HELD_PART 4

/** Names that some backends have are longer than NFS's. */
#define NAME_BYTES 1025

/** A scan on its way. */
struct progress {
	struct scale_export *exp;
	struct scale_obj *dir;
	struct scale_scan *scan;
	struct mdx_population population;
	bool populating;
	uint64_t held; /**< so many children may go into the handle pool */
	uint64_t began;
	/** of the last name that came; where the backend goes on */
	fsal_cookie_t cookie;
	char name[NAME_BYTES];
	bool moved;
};

void scale_scan_init(struct scale_scan *scan, uint64_t after, size_t keep)
{
	*scan = (struct scale_scan){ .after = after, .keep = keep };
	if (keep != 0)
		scan->window = gsh_malloc(keep * sizeof(*scan->window));
}

static void drop(struct scale_scanned *scanned)
{
	scale_obj_free(scanned->obj);
	fsal_release_attrs(&scanned->attrs);
	gsh_free(scanned->name);
}

void scale_scan_fini(struct scale_scan *scan)
{
	for (size_t i = 0; i < scan->count; i++)
		drop(&scan->window[i]);
	gsh_free(scan->window);
	scan->window = NULL;
	scan->count = 0;
}

/* --- The window: a heap, the highest cookie on top ----------------------- */

static void swap(struct scale_scanned *a, struct scale_scanned *b)
{
	struct scale_scanned c = *a;

	*a = *b;
	*b = c;
}

static void sift_up(struct scale_scanned *heap, size_t i)
{
	for (; i > 0 && heap[i].cookie > heap[(i - 1) / 2].cookie;
	     i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
}

static void sift_down(struct scale_scanned *heap, size_t count)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < count; i = child) {
		if (child + 1 < count &&
		    heap[child + 1].cookie > heap[child].cookie)
			child++;
		if (heap[i].cookie >= heap[child].cookie)
			break;
		swap(&heap[i], &heap[child]);
	}
}

static int by_cookie(const void *a, const void *b)
{
	const struct scale_scanned *x = a, *y = b;

	return (x->cookie > y->cookie) - (x->cookie < y->cookie);
}

/* Takes over the object. */
static void keep(struct scale_scan *scan, uint64_t cookie, const char *name,
		 struct scale_obj *obj, struct fsal_attrlist *attrs)
{
	struct scale_scanned *slot;

	if (cookie <= scan->after || scan->keep == 0) {
		scale_obj_free(obj);
		return;
	}
	if (scan->count == scan->keep) {
		scan->more = true;
		if (cookie > scan->window[0].cookie) {
			scale_obj_free(obj);
			return;
		}
		swap(&scan->window[0], &scan->window[--scan->count]);
		drop(&scan->window[scan->count]);
		sift_down(scan->window, scan->count);
	}
	slot = &scan->window[scan->count];
	slot->cookie = cookie;
	slot->obj = obj;
	slot->name = gsh_strdup(name);
	fsal_prepare_attrs(&slot->attrs, scan->attrmask);
	fsal_copy_attrs(&slot->attrs, attrs, false);
	sift_up(scan->window, scan->count++);
}

/* --- Reading ------------------------------------------------------------- */

bool scale_goes_on_by_name(const struct scale_export *exp)
{
	return (exp->abilities.supports &
		(UINT64_C(1) << fso_whence_is_name)) != 0;
}

static bool enough(const struct progress *p)
{
	const struct scale_scan *scan = p->scan;

	if (scan->max_names != 0 && scan->names >= scan->max_names)
		return true;
	return scan->budget_ns != 0 && scan->names % 64 == 0 &&
	       scale_stats_begin() - p->began > scan->budget_ns;
}

/* Called by the backend, in its context, once for each name. */
static enum fsal_dir_result scan_cb(const char *name,
				    struct fsal_obj_handle *sub,
				    struct fsal_attrlist *attrs,
				    void *dir_state, fsal_cookie_t cookie)
{
	struct progress *p = dir_state;
	struct scale_found found = { .sub = sub,
				     .attrs = attrs,
				     .ticket = p->population.ticket,
				     .listed = !p->exp->keeps_listed ||
					       p->scan->names >= p->held };
	struct fsal_export *below;
	struct scale_obj *obj;
	struct mdx_key dir = scale_obj_key(p->dir);
	struct mdx_key key;
	size_t len = strlen(name);

	if (enough(p)) {
		sub->obj_ops->release(sub);
		p->scan->given_up = true;
		return DIR_TERMINATE;
	}
	/* Longer than any file system's; where to go on could not be said. */
	if (len >= sizeof(p->name)) {
		sub->obj_ops->release(sub);
		p->scan->broken = true;
		return DIR_TERMINATE;
	}
	below = scale_enter(&p->exp->export);
	p->scan->names++;
	p->cookie = cookie;
	p->moved = true;
	memcpy(p->name, name, len + 1);
	obj = scale_obj_adopt(p->exp, &found);
	scale_store_parent(p->exp, found.ticket, obj, p->dir);
	if (p->populating && scale_obj_nameable(obj)) {
		int rc;

		key = scale_obj_key(obj);
		rc = mdx_populate_add(SCALE.cache, &p->population, name, len,
				      &key);
		/* -ESTALE may mean this name alone: the end will tell. */
		p->populating = rc == 0 || rc == -ESTALE;
		p->scan->no_room = rc == -ENOSPC;
	} else {
		p->populating = false;
	}
	keep(p->scan, mdx_cookie(SCALE.cache, dir, name, len), name, obj,
	     attrs);
	scale_up(below);
	return DIR_CONTINUE;
}

static fsal_status_t read_all(struct progress *p, struct fsal_obj_handle *sub)
{
	bool by_name = scale_goes_on_by_name(p->exp);
	attrmask_t attrmask = scale_attrs_to_fetch(p->exp, p->scan->attrmask);
	fsal_cookie_t *whence = NULL;
	fsal_status_t status;
	fsal_cookie_t cookie;
	char name[sizeof(p->name)];
	bool eof = false;

	do {
		struct scale_call call;

		p->moved = false;
		call = scale_call_begin(p->exp);
		status = sub->obj_ops->readdir(sub, whence, p, scan_cb,
					       attrmask, &eof);
		scale_call_end(&call, SCALE_OP_READDIR, status);
		/* The name must not change under the backend's hands. */
		memcpy(name, p->name, sizeof(name));
		cookie = p->cookie;
		whence = by_name ? (fsal_cookie_t *)name : &cookie;
	} while (!FSAL_IS_ERROR(status) && !eof && !p->scan->given_up &&
		 !p->scan->broken && p->moved);
	if (!FSAL_IS_ERROR(status) && !eof && !p->scan->given_up &&
	    !p->scan->broken) {
		LogCrit(COMPONENT_FSAL,
			"FSAL %s stopped in the middle of a directory, after %" PRIu64
			" names",
			p->exp->export.sub_export->fsal->name, p->scan->names);
		p->scan->broken = true;
	}
	return status;
}

/* What is left of names' life after a scan, for its first ones were read when
 * it began; half of it at least, or a slow backend would be read without end.
 */
static uint32_t left_of_life(const struct progress *p, bool exists)
{
	uint32_t ms =
		scale_freshness_name_ms(p->exp, &p->dir->obj.fsid, exists);
	uint64_t took = (scale_stats_begin() - p->began) / 1000000;

	return ms == MDX_FOREVER ? ms : ms - (uint32_t)MIN(took, ms / 2);
}

fsal_status_t scale_scan(struct scale_export *exp, struct scale_obj *dir,
			 struct scale_scan *scan)
{
	struct progress p = { .exp = exp,
			      .dir = dir,
			      .held = scale_pool_room(exp) / HELD_PART,
			      .scan = scan };
	struct scale_ref ref;
	fsal_status_t status;
	bool all;

	status = scale_ref_get(&ref, exp, dir, NULL, NULL);
	if (FSAL_IS_ERROR(status))
		return status;
	p.populating = mdx_populate_begin(SCALE.cache, scale_obj_key(dir),
					  &p.population) == 0;
	scan->no_room = !p.populating;
	if (!p.populating)
		p.population =
			(struct mdx_population){ .ticket = scale_ticket(exp) };
	p.began = scale_stats_begin();
	status = read_all(&p, ref.sub);
	all = p.populating && !FSAL_IS_ERROR(status) && !scan->given_up &&
	      !scan->broken;
	if (p.population.id != 0)
		scan->complete = mdx_populate_end(SCALE.cache, &p.population,
						  all, left_of_life(&p, true),
						  left_of_life(&p, false)) == 0;
	if (scan->names >= 16 || !scan->given_up)
		scale_prefetch_measure(&exp->scan_ns, p.began,
				       MAX(scan->names, 16));
	if (!FSAL_IS_ERROR(status))
		scale_permit(exp, dir, SCALE_MAY_READ);
	if (status.major == ERR_FSAL_STALE)
		scale_obj_gone(exp, dir);
	scale_ref_put(&ref);
	qsort(scan->window, scan->count, sizeof(*scan->window), by_cookie);
	return status;
}
