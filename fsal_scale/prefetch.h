/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file prefetch.h
 * @brief Several lookups that miss in one directory fetch all of it
 *
 * A directory read with its attributes is one call of a backend, or a few,
 * where its names looked up one by one are one call each. Whether that is
 * cheaper depends on the backend (PROXY_V4's readdir makes a lookup for each
 * entry), so it is measured while running: the time of a lookup, and of a
 * directory read per name. It is used where a name costs less than half.
 *
 * How large a directory is is not known before. As in the ski rental problem,
 * a directory is read for no longer than twice the time that its lookups have
 * taken so far: at worst three times is spent what lookups alone would cost,
 * and soon after that not even that, for after a failure it is tried again
 * only when four times as many lookups have missed.
 */
#ifndef SCALE_PREFETCH_H
#define SCALE_PREFETCH_H

#include "object.h"

/** A call that is answered sooner is not waited for by others. */
#define SCALE_QUICK_NS 100000

/**
 * @brief A name was looked up and is not known
 *
 * Called without locks; may ask the backend.
 *
 * @return true when the directory has been read meanwhile, by us or another:
 *         look again.
 */
bool scale_prefetch(struct scale_export *exp, struct scale_obj *dir);

/**
 * @brief Measure what something costs the backend
 *
 * @param[in,out] average  Nanoseconds each, moving
 * @param[in]     began    From scale_stats_begin()
 * @param[in]     things   Looked up or read; 0 measures nothing
 */
void scale_prefetch_measure(_Atomic uint64_t *average, uint64_t began,
			    uint64_t things);

/**
 * @brief Is another one's call worth waiting for?
 *
 * Of several that miss on one thing one asks (mdx_flight_join()). To wait for
 * it takes some ten microseconds of both, so a quick backend is better asked by
 * all of them; what more, while a directory is changed all the time no answer
 * is good for two.
 *
 * @param[in] average  Of scale_prefetch_measure(); 0, not measured, is worth it
 */
static inline bool scale_worth_waiting(const _Atomic uint64_t *average)
{
	uint64_t ns = atomic_load_explicit(average, memory_order_relaxed);

	return ns == 0 || ns > SCALE_QUICK_NS;
}

#endif /* SCALE_PREFETCH_H */
