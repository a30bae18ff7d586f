// SPDX-License-Identifier: LGPL-3.0-or-later
#include "prefetch.h"

#include "lookup.h"
#include "scan.h"

#include <xxhash.h>

/** Misses in one directory before it is thought of. */
#define FIRST_TRY 8

/** Nanoseconds below which no try is worth its overhead. */
#define LEAST_BUDGET 20000

/** Directories in which lookups miss; one that meets another replaces it. */
#define PLACES 4096

static struct place {
	_Atomic uint64_t tag;
	_Atomic uint32_t misses;
	_Atomic uint32_t next_try;
} places[PLACES];

void scale_prefetch_measure(_Atomic uint64_t *average, uint64_t began,
			    uint64_t things)
{
	uint64_t each, old;

	if (things == 0)
		return;
	each = (scale_stats_begin() - began) / things + 1;
	old = atomic_load_explicit(average, memory_order_relaxed);
	/* One that gets lost in a race is no loss. */
	atomic_store_explicit(average, old == 0 ? each : (7 * old + each) / 8,
			      memory_order_relaxed);
}

static struct place *count_miss(const struct scale_obj *dir, uint32_t *misses)
{
	uint64_t tag = XXH3_64bits_withSeed(dir->key, dir->key_len, dir->slot);
	struct place *place = &places[tag % PLACES];

	if (atomic_load_explicit(&place->tag, memory_order_relaxed) != tag) {
		atomic_store_explicit(&place->tag, tag, memory_order_relaxed);
		atomic_store_explicit(&place->misses, 0, memory_order_relaxed);
		atomic_store_explicit(&place->next_try, FIRST_TRY,
				      memory_order_relaxed);
	}
	*misses = atomic_fetch_add_explicit(&place->misses, 1,
					    memory_order_relaxed) +
		  1;
	return place;
}

bool scale_prefetch(struct scale_export *exp, struct scale_obj *dir)
{
	uint64_t lookup_ns =
		atomic_load_explicit(&exp->lookup_ns, memory_order_relaxed);
	uint64_t scan_ns =
		atomic_load_explicit(&exp->scan_ns, memory_order_relaxed);
	struct mdx_flight *flight = NULL;
	struct scale_scan scan;
	struct place *place;
	uint32_t misses;
	fsal_status_t status;
	int rc;

	if (!scale_serves(exp) || exp->fresh.name_ms == 0)
		return false;
	place = count_miss(dir, &misses);
	if (misses < atomic_load_explicit(&place->next_try,
					  memory_order_relaxed) ||
	    lookup_ns * misses * 2 < LEAST_BUDGET ||
	    (scan_ns != 0 && scan_ns > lookup_ns / 2))
		return false;
	rc = mdx_flight_join(SCALE.cache, scale_obj_key(dir), "", 0,
			     SCALE_FLIGHT_MS, &flight);
	if (rc == 0)
		return true;
	if (rc < 0)
		return false;
	atomic_store_explicit(&place->next_try, misses * 4,
			      memory_order_relaxed);
	scale_scan_init(&scan, 0, 0);
	scan.budget_ns = lookup_ns * misses * 2;
	status = scale_scan(exp, dir, &scan);
	scale_scan_fini(&scan);
	mdx_flight_done(SCALE.cache, flight, 0);
	return !FSAL_IS_ERROR(status) && scan.complete;
}
