/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "get.h"

#include <errno.h>
#include <string.h>

/* As get_snap, of whatever epoch. */
static bool copy(struct mdx *c, struct mdx_key key, uint64_t hash,
		 struct snap *s)
{
	struct shard *sh = shard_of(c, hash);
	bool busy, found;

	found = hash_read(c, &sh->hash, key, hash, s, &busy);
	if (busy) {
		uint32_t ref;

		count(&c->counters, MDX_C_READ_LOCKED);
		/* Nobody waits for readers with the lock held, but a lock is
		 * not waited for in a read section all the same. */
		rcu_leave();
		shard_lock(c, sh);
		ref = hash_find(c, &sh->hash, key, hash);
		rcu_enter();
		if (ref)
			entry_copy(c, ref, s);
		shard_unlock(c, sh);
		found = ref;
	}
	return found;
}

bool get_snap(struct mdx *c, struct mdx_key key, uint64_t hash, struct snap *s)
{
	return copy(c, key, hash, s) &&
	       s->epoch == backend_epoch(c, s->backend);
}

/* As after tier_reset. */
static void empty(struct snap *s)
{
	s->w[W_FRESH_ASIDE] = TICK_FOREVER; /* and nothing aside */
	s->w[W_MODE_NLINK_SPACE_VALID] = 0;
	memset(snap_bytes(s) + BYTE_ACL, 0, BYTE_KEY - BYTE_ACL);
	s->aside = 0;
	s->wide = 0;
	s->blobs = 0;
}

/* The same, but an entry that is pinned is always there, and if it is of an
 * earlier epoch it is empty. */
static bool get_snap_or_pin(struct mdx *c, struct mdx_key key, uint64_t hash,
			    struct snap *s)
{
	if (!copy(c, key, hash, s))
		return false;
	if (s->epoch == backend_epoch(c, s->backend))
		return true;
	empty(s);
	return s->state & ENTRY_PINNED;
}

uint32_t get_fill(const struct mdx *c, const struct snap *s,
		  struct mdx_answer *answer)
{
	uint8_t flags = snap_flags(s);

	snap_attrs(c, s, &answer->attrs);
	if (flags & PACKED_ACL)
		answer->attrs.valid |= MDX_ACL;
	if (flags & PACKED_OTHER)
		answer->attrs.valid |= MDX_OTHER;
	answer->attrs.valid |= s->blobs;
	answer->left_ms = cache_left_ms(c, snap_fresh(s));
	answer->expired = 0;
	if (!answer->left_ms) {
		answer->expired = answer->attrs.valid;
		answer->attrs.valid = 0;
	}
	answer->file_tier = s->state & ENTRY_FILE;
	answer->pinned = s->state & ENTRY_PINNED;
	answer->backend = s->backend;
	answer->key_len = s->key_len;
	memcpy(answer->key, snap_key(s), s->key_len);
	return answer->attrs.valid;
}

static uint32_t other_of(const struct mdx *c, const struct snap *s)
{
	const struct aside *a = arena_ptr(&c->arena, s->aside);

	return s->aside ?
		       atomic_load_explicit(&a->other, memory_order_acquire) :
		       0;
}

/* References for the caller; false: the entry has changed meanwhile. */
static bool get_attachments(struct mdx *c, const struct snap *s, uint32_t want,
			    struct mdx_attrs *attrs)
{
	uint32_t acl = want & MDX_ACL ? snap_acl(s) : 0;
	uint32_t other = want & MDX_OTHER ? other_of(c, s) : 0;

	if (!entry_unchanged(c, s))
		return false;
	attrs->acl = acl ? attach_try(c, acl) : NULL;
	attrs->other = other ? attach_try(c, other) : NULL;
	if (entry_unchanged(c, s))
		return true;
	mdx_detach(c, attrs->acl);
	mdx_detach(c, attrs->other);
	attrs->acl = NULL;
	attrs->other = NULL;
	return false;
}

static int missed(struct mdx *c, const struct snap *s)
{
	count(&c->counters, cache_fresh(c, snap_fresh(s)) ? MDX_C_MISS_INVALID :
							    MDX_C_MISS_EXPIRED);
	return -ESTALE;
}

int mdx_get(struct mdx *c, struct mdx_key key, uint32_t want,
	    struct mdx_answer *answer)
{
	struct mdx_answer unwanted;
	struct snap s;
	uint64_t hash;
	bool found, again;

	if (!answer && want & (MDX_ACL | MDX_OTHER))
		return -EINVAL;
	if (!answer)
		answer = &unwanted;
	answer->attrs.acl = NULL;
	answer->attrs.other = NULL;
	if (!key_sane(key) || want & ~(uint32_t)MDX_ALL)
		return -EINVAL;
	hash = hash_of(c, key);
	rcu_enter();
	do {
		found = get_snap_or_pin(c, key, hash, &s);
		again = false;
		if (found && (get_fill(c, &s, answer) & want) == want)
			again = want & (MDX_ACL | MDX_OTHER) &&
				!get_attachments(c, &s, want, &answer->attrs);
		if (again)
			count(&c->counters, MDX_C_READ_RETRY);
	} while (again);
	if (found) {
		struct entry *e = arena_ptr(&c->arena, s.ref);

		policy_used(&e->uses);
	}
	rcu_leave();
	if (!found) {
		count(&c->counters, MDX_C_MISS);
		return -ENOENT;
	}
	if ((answer->attrs.valid & want) != want)
		return missed(c, &s);
	count(&c->counters, MDX_C_HIT);
	return 0;
}

int mdx_blob_get(struct mdx *c, struct mdx_key key, uint32_t which, void *buf,
		 size_t size)
{
	struct snap s;
	uint64_t hash;
	int rc;

	if (!key_sane(key) || (which != MDX_LINK && which != MDX_PARENT))
		return -EINVAL;
	hash = hash_of(c, key);
	rcu_enter();
	do {
		if (!get_snap(c, key, hash, &s))
			rc = -ENOENT;
		else if (!cache_fresh(c, snap_fresh(&s)))
			rc = -ESTALE;
		else
			rc = entry_read_blob(c, &s, which, buf, size);
	} while (rc == -EAGAIN);
	rcu_leave();
	count(&c->counters, rc >= 0	  ? MDX_C_HIT :
			    rc == -ESTALE ? MDX_C_MISS_EXPIRED :
					    MDX_C_MISS);
	return rc;
}

struct mdx_attachment *mdx_pages_get(struct mdx *c, struct mdx_key key)
{
	struct mdx_attachment *a = NULL;
	struct snap s;
	uint64_t hash;
	bool again;

	if (!key_sane(key))
		return NULL;
	hash = hash_of(c, key);
	rcu_enter();
	do {
		const struct ext *x;
		uint32_t number;

		if (!get_snap(c, key, hash, &s) || !(s.state & ENTRY_FILE))
			break;
		x = arena_ptr(&c->arena, snap_hang(&s));
		number = atomic_load_explicit(&x->pages, memory_order_acquire);
		again = !entry_unchanged(c, &s);
		if (again || !number)
			continue;
		a = attach_try(c, number);
		/* Setting pages changes the entry's sequence, too. */
		again = !entry_unchanged(c, &s);
		if (again) {
			mdx_detach(c, a);
			a = NULL;
		}
	} while (again);
	rcu_leave();
	return a;
}
