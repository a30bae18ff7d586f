/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* With a single actor all calls are over when the next begins: what can be
 * known, and for how long, is then known exactly. */
#include <errno.h>
#include <stdlib.h>

#include "model_run.h"

#define EXACT_BLOBS (uint32_t)(MDX_LINK | MDX_PARENT)

bool exact_create(struct run *run)
{
	struct exact *x;

	run->exact = NULL;
	if (run->actors > 1)
		return true;
	x = calloc(1, sizeof(*x));
	if (!x)
		return false;
	run->exact = x;
	for (unsigned int d = 0; d < DIRS; d++) {
		x->name_until[d] = calloc(run->world->dirs[d].names,
					  sizeof(*x->name_until[d]));
		if (!x->name_until[d])
			return false;
	}
	return true;
}

void exact_destroy(struct run *run)
{
	if (!run->exact)
		return;
	for (unsigned int d = 0; d < DIRS; d++)
		free(run->exact->name_until[d]);
	free(run->exact);
	run->exact = NULL;
}

static uint64_t end_of_life(struct run *run, uint32_t ttl_ms)
{
	return ttl_ms == MDX_FOREVER ? UINT64_MAX : now_ms(run) + ttl_ms;
}

void exact_put(struct run *run, unsigned int object, uint32_t groups,
	       uint32_t ttl_ms)
{
	struct exact *x = run->exact;

	if (!x)
		return;
	if (now_ms(run) > x->until[object]) /* had expired, was dropped */
		x->known[object] &= x->remade[object] ? EXACT_BLOBS : 0;
	x->remade[object] = false;
	x->known[object] |= groups;
	x->until[object] = end_of_life(run, ttl_ms);
}

void exact_blob(struct run *run, unsigned int object, uint32_t which)
{
	if (run->exact)
		run->exact->known[object] |= which;
}

void exact_made(struct run *run, unsigned int object)
{
	if (run->exact)
		run->exact->remade[object] = true;
}

void exact_drop(struct run *run, unsigned int object, uint32_t groups)
{
	if (run->exact)
		run->exact->known[object] &= ~groups;
}

void exact_name(struct run *run, unsigned int dir, unsigned int name,
		uint32_t ttl_ms)
{
	if (run->exact)
		run->exact->name_until[dir][name] = end_of_life(run, ttl_ms);
}

void exact_complete(struct run *run, unsigned int dir, uint32_t ttl_ms)
{
	if (run->exact)
		run->exact->complete_until[dir] = end_of_life(run, ttl_ms);
}

void exact_check(struct actor *a, unsigned int object, uint32_t valid,
		 uint32_t left_ms, uint64_t asked_ms)
{
	struct exact *x = a->run->exact;

	if (!x || !valid)
		return;
	if (valid & ~x->known[object])
		wrong(a, "object %u: groups 0x%x are told, and cannot be known",
		      object, valid & ~x->known[object]);
	valid &= ~EXACT_BLOBS;
	if (!valid)
		return;
	if (asked_ms > x->until[object])
		wrong(a, "object %u: told %llu ms after the end of its life",
		      object,
		      (unsigned long long)(asked_ms - x->until[object]));
	else if (x->until[object] != UINT64_MAX &&
		 left_ms > x->until[object] - asked_ms)
		wrong(a, "object %u: %u ms are said to be left of %llu", object,
		      left_ms,
		      (unsigned long long)(x->until[object] - asked_ms));
}

void exact_check_blob(struct actor *a, unsigned int object, uint32_t which,
		      uint64_t asked_ms)
{
	struct exact *x = a->run->exact;

	if (!x)
		return;
	if (!(which & x->known[object]))
		wrong(a, "object %u: blob 0x%x is told, and cannot be known",
		      object, which);
	if (!x->remade[object] && asked_ms > x->until[object])
		wrong(a, "object %u: a blob is told after the end of its life",
		      object);
}

void exact_check_name(struct actor *a, unsigned int dir, unsigned int name,
		      uint64_t asked_ms)
{
	struct exact *x = a->run->exact;

	if (x && asked_ms > x->name_until[dir][name] &&
	    asked_ms > x->complete_until[dir])
		wrong(a,
		      "directory %u, name %u: told after the end of its life",
		      dir, name);
}

void exact_check_usage(struct actor *a, const struct mdx_usage *usage)
{
	struct run *run = a->run;
	uint64_t pinned = 0;

	if (!run->exact)
		return;
	for (unsigned int i = 0; i < KEYS; i++)
		pinned += a->pins[i] > 0;
	if (usage->pinned != pinned)
		wrong(a, "%llu entries are pinned, said to be %llu",
		      (unsigned long long)pinned,
		      (unsigned long long)usage->pinned);
	if (usage->files > run->limits.max_files + pinned)
		wrong(a,
		      "%llu file-tier entries, the limit is %llu (%llu pinned)",
		      (unsigned long long)usage->files,
		      (unsigned long long)run->limits.max_files,
		      (unsigned long long)pinned);
	if (usage->stats > run->limits.max_stats)
		wrong(a, "%llu stat-tier entries, the limit is %llu",
		      (unsigned long long)usage->stats,
		      (unsigned long long)run->limits.max_stats);
	if (usage->handles >
	    run->pool_limits.max_handles + load(&run->handles_in_use))
		wrong(a, "%llu handles, the limit is %u, %llu are in use",
		      (unsigned long long)usage->handles,
		      run->pool_limits.max_handles,
		      (unsigned long long)load(&run->handles_in_use));
}
