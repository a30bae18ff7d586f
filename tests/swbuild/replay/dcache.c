// SPDX-License-Identifier: LGPL-3.0-or-later
#include "dcache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int dcache_init(struct dcache *dcache, const struct optrace *trace, bool on,
		uint64_t life)
{
	*dcache = (struct dcache){ .trace = trace, .life = life, .on = on };
	dcache->of = calloc(trace->npaths, sizeof(*dcache->of));
	return dcache->of != NULL ? 0 : -ENOMEM;
}

void dcache_free(struct dcache *dcache)
{
	free(dcache->of);
	dcache->of = NULL;
}

void dcache_clear(struct dcache *dcache)
{
	struct dentry root = dcache->of[OPTRACE_ROOT];

	memset(dcache->of, 0, dcache->trace->npaths * sizeof(*dcache->of));
	dcache->of[OPTRACE_ROOT].fh = root.fh;
	dcache->of[OPTRACE_ROOT].type = SW_DIR;
	dcache->of[OPTRACE_ROOT].state = DENTRY_FOUND;
}

static uint32_t generation_above(const struct dcache *dcache, uint32_t path)
{
	uint32_t parent = dcache->trace->paths[path].parent;

	return parent != OPTRACE_NONE ? dcache->of[parent].generation : 0;
}

enum dentry_state dcache_get(const struct dcache *dcache, uint32_t path,
			     uint64_t now)
{
	const struct dentry *dentry = &dcache->of[path];

	if (path == OPTRACE_ROOT)
		return DENTRY_FOUND;
	if (!dcache->on || now >= dentry->expires ||
	    dentry->above != generation_above(dcache, path))
		return DENTRY_UNKNOWN;
	return dentry->state;
}

static bool same_handle(const struct sw_fh *a, const struct sw_fh *b)
{
	return a->length == b->length &&
	       memcmp(a->data, b->data, a->length) == 0;
}

void dcache_found(struct dcache *dcache, uint32_t path, const struct sw_fh *fh,
		  enum sw_type type, uint64_t now)
{
	struct dentry *dentry = &dcache->of[path];

	if (dentry->state != DENTRY_FOUND || !same_handle(&dentry->fh, fh))
		dentry->generation++;
	dentry->fh.length = fh->length;
	memcpy(dentry->fh.data, fh->data, fh->length);
	dentry->type = type;
	dentry->state = DENTRY_FOUND;
	dentry->expires = now + dcache->life;
	dentry->above = generation_above(dcache, path);
}

void dcache_missing(struct dcache *dcache, uint32_t path, uint64_t now)
{
	struct dentry *dentry = &dcache->of[path];

	if (dentry->state == DENTRY_FOUND)
		dentry->generation++;
	dentry->fh.length = 0;
	dentry->state = DENTRY_MISSING;
	dentry->expires = now + dcache->life;
	dentry->above = generation_above(dcache, path);
}

void dcache_forget(struct dcache *dcache, uint32_t path)
{
	struct dentry *dentry = &dcache->of[path];

	dentry->generation++;
	dentry->fh.length = 0;
	dentry->state = DENTRY_UNKNOWN;
}

void dcache_change(struct dcache *dcache, uint32_t path, uint64_t now)
{
	dcache->of[path].changing++;
	dcache->of[path].changed = now;
}

void dcache_changed(struct dcache *dcache, uint32_t path, uint64_t now)
{
	dcache->of[path].changing--;
	dcache->of[path].changed = now;
}

void dcache_listed(struct dcache *dcache, uint32_t path,
		   const struct sw_entry *entry, uint64_t asked, uint64_t now)
{
	const struct dentry *dentry = &dcache->of[path];

	if (!dcache->on || entry->fh == NULL || entry->attrs == NULL ||
	    dentry->looking != NULL || dentry->changing != 0 ||
	    dentry->changed >= asked)
		return;
	dcache_found(dcache, path, entry->fh, entry->attrs->type, now);
}
