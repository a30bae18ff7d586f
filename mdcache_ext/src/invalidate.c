/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What is no longer known of one entry, or of its names. Each voids the tickets
 * on it, whether the entry is there or not. */
#include <errno.h>

#include "names.h"
#include "tier.h"

static void drop_groups(struct mdx *c, struct shard *sh, uint32_t ref,
			uint32_t mask)
{
	const struct entry *e = arena_ptr(&c->arena, ref);
	struct mdx_attrs attrs;
	const struct aside *a;
	struct snap s;
	uint8_t known;
	bool acl, other;

	if (mask & (MDX_LINK | MDX_PARENT))
		entry_drop_blobs(c, ref, mask);
	if (mask & MDX_PAGES && entry_in_file_tier(e))
		entry_set_pages(c, ref, NULL);
	entry_copy(c, ref, &s);
	a = arena_ptr(&c->arena, s.aside);
	snap_attrs(c, &s, &attrs);
	attrs.valid &= ~mask;
	acl = !(mask & MDX_ACL);
	other = !(mask & MDX_OTHER) && s.aside;
	known = snap_flags(&s) & ((acl ? PACKED_ACL : 0) |
				  (mask & MDX_OTHER ? 0 : PACKED_OTHER));
	if (!entry_store(c, sh, ref, &s, &attrs, known, acl ? snap_acl(&s) : 0,
			 other ? atomic_load(&a->other) : 0, snap_fresh(&s),
			 s.epoch))
		return;
	/* Less may need more memory (change without mtime). Without it, less
	 * still, which needs none. */
	attrs.valid = 0;
	entry_store(c, sh, ref, &s, &attrs, 0, 0, 0, snap_fresh(&s), s.epoch);
}

void mdx_invalidate(struct mdx *c, struct mdx_key key, uint32_t mask)
{
	struct shard *sh;
	uint64_t hash;
	uint32_t ref;

	if (!key_sane(key))
		return;
	count(&c->counters, MDX_C_INVALIDATE);
	hash = hash_of(c, key);
	sh = shard_of(c, hash);
	shard_lock(c, sh);
	ticket_void(c, stamp_of_entry(&sh->stamps, hash));
	ref = hash_find(c, &sh->hash, key, hash);
	if (ref)
		drop_groups(c, sh, ref, mask);
	shard_unlock(c, sh);
}

void mdx_forget(struct mdx *c, struct mdx_key key)
{
	struct shard *sh;
	uint64_t hash;
	uint32_t ref;

	if (!key_sane(key))
		return;
	count(&c->counters, MDX_C_FORGET);
	hash = hash_of(c, key);
	sh = shard_of(c, hash);
	shard_lock(c, sh);
	ticket_void(c, stamp_of_entry(&sh->stamps, hash));
	ticket_void(c, stamp_of_dir(&sh->stamps, hash));
	ref = hash_find(c, &sh->hash, key, hash);
	if (ref && entry_pinned(arena_ptr(&c->arena, ref))) {
		entry_new_generation(c, ref);
		tier_reset(c, sh, ref);
	} else if (ref) {
		tier_remove(c, sh, ref, hash);
	}
	shard_unlock(c, sh);
}
