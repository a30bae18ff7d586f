/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Storing what the backend said of an entry, by a fetch or after a change. */
#include <errno.h>

#include "reclaim.h"
#include "tier.h"

struct put {
	struct mdx_key key;
	uint64_t hash;
	uint64_t ticket;
	const struct mdx_attrs *attrs;
	uint32_t ttl_ms;
};

static uint32_t number_of(const struct mdx_attachment *a)
{
	return a ? a->number : 0;
}

/* Puts attributes on top of what the entry knows, or in its place. */
static int store(struct mdx *c, struct shard *sh, uint32_t ref,
		 const struct mdx_attrs *attrs, uint32_t ttl_ms, bool replace,
		 uint32_t epoch)
{
	struct mdx_attrs now = { 0 };
	struct snap s;
	uint8_t known = 0;
	uint32_t acl = 0, other = 0;

	entry_copy(c, ref, &s);
	if (!cache_fresh(c, snap_fresh(&s))) {
		/* Blobs must not get the new life. */
		entry_drop_blobs(c, ref, MDX_LINK | MDX_PARENT);
		entry_copy(c, ref, &s);
	}
	if (!replace && cache_fresh(c, snap_fresh(&s))) {
		const struct aside *a = arena_ptr(&c->arena, s.aside);

		snap_attrs(c, &s, &now);
		known = snap_flags(&s) & (PACKED_ACL | PACKED_OTHER);
		acl = snap_acl(&s);
		other = s.aside ? atomic_load(&a->other) : 0;
	}
	attrs_overlay(&now, attrs, attrs->valid);
	if (attrs->valid & MDX_ACL) {
		known |= PACKED_ACL;
		acl = number_of(attrs->acl);
	}
	if (attrs->valid & MDX_OTHER) {
		known |= PACKED_OTHER;
		other = number_of(attrs->other);
	}
	return entry_store(c, sh, ref, &s, &now, known, acl, other,
			   cache_until(c, ttl_ms), epoch);
}

static int put(struct mdx *c, struct shard *sh, void *arg)
{
	const struct put *p = arg;
	uint32_t epoch = backend_epoch(c, p->key.backend);
	uint32_t ref;
	int rc;

	if (!ticket_good(stamp_of_entry(&sh->stamps, p->hash), p->ticket) ||
	    !ticket_good_for_backend(c, p->key.backend, p->ticket))
		return -ESTALE;
	rc = tier_obtain(c, sh, p->key, p->hash, OBTAIN_ANY, &ref);
	return rc ? rc : store(c, sh, ref, p->attrs, p->ttl_ms, false, epoch);
}

static void count_put(struct mdx *c, int rc)
{
	count(&c->counters, rc == 0	  ? MDX_C_PUT :
			    rc == -ESTALE ? MDX_C_PUT_VOID :
					    MDX_C_PUT_NOSPACE);
}

int mdx_put(struct mdx *c, uint64_t ticket, struct mdx_key key,
	    const struct mdx_attrs *attrs, uint32_t ttl_ms)
{
	struct put p = {
		.key = key, .ticket = ticket, .attrs = attrs, .ttl_ms = ttl_ms
	};
	int rc;

	if (!key_sane(key) || !attrs_sane(attrs))
		return -EINVAL;
	p.hash = hash_of(c, key);
	rc = reclaim_run(c, shard_of(c, p.hash), put, &p);
	count_put(c, rc);
	return rc;
}

/* --- Blobs --------------------------------------------------------------- */

struct put_blob {
	struct put p;
	uint32_t which;
	const void *bytes;
	size_t len;
};

static int put_blob(struct mdx *c, struct shard *sh, void *arg)
{
	const struct put_blob *b = arg;
	const struct put *p = &b->p;
	uint32_t epoch = backend_epoch(c, p->key.backend);
	const struct entry *e;
	uint32_t ref;

	if (!ticket_good(stamp_of_entry(&sh->stamps, p->hash), p->ticket) ||
	    !ticket_good_for_backend(c, p->key.backend, p->ticket))
		return -ESTALE;
	ref = hash_find(c, &sh->hash, p->key, p->hash);
	e = arena_ptr(&c->arena, ref);
	if (!ref || atomic_load(&e->epoch) != epoch)
		return -ENOENT;
	return entry_set_blob(c, sh, ref, b->which, b->bytes, b->len);
}

int mdx_blob_put(struct mdx *c, uint64_t ticket, struct mdx_key key,
		 uint32_t which, const void *bytes, size_t len)
{
	struct put_blob b = { .p = { .key = key, .ticket = ticket },
			      .which = which,
			      .bytes = bytes,
			      .len = len };
	int rc;

	if (!key_sane(key) || (which != MDX_LINK && which != MDX_PARENT) ||
	    (len && !bytes))
		return -EINVAL;
	if (len > MDX_BLOB_MAX)
		return -E2BIG;
	b.p.hash = hash_of(c, key);
	rc = reclaim_run(c, shard_of(c, b.p.hash), put_blob, &b);
	count_put(c, rc);
	return rc;
}

/* --- Changes ------------------------------------------------------------- */

struct finish {
	struct put p;
	struct mdx_change *change;
	uint64_t stamp; /* of the finish, 0: not yet */
	bool alone;	/* it met no other */
	bool keep;
};

int mdx_change_entry(struct mdx *c, struct mdx_change *ch, struct mdx_key key)
{
	struct shard *sh;
	uint64_t hash;

	if (!key_sane(key))
		return -EINVAL;
	if (ch->count == MDX_CHANGE_MAX)
		return -E2BIG;
	hash = hash_of(c, key);
	sh = shard_of(c, hash);
	shard_lock(c, sh);
	change_begin(c, ch, stamp_of_entry(&sh->stamps, hash));
	shard_unlock(c, sh);
	return 0;
}

/* The attributes of an entry are no longer known. Its blobs are, for as long as
 * before. An entry of an earlier epoch is unknown already, and stays so with
 * all its names. */
static void forget_attrs(struct mdx *c, struct shard *sh, uint32_t ref,
			 uint32_t epoch)
{
	const struct mdx_attrs nothing = { 0 };
	struct snap s;

	entry_copy(c, ref, &s);
	if (s.epoch == epoch)
		entry_store(c, sh, ref, &s, &nothing, 0, 0, 0, snap_fresh(&s),
			    epoch);
}

static int finish(struct mdx *c, struct shard *sh, void *arg)
{
	struct finish *f = arg;
	const struct put *p = &f->p;
	uint64_t *stamp = stamp_of_entry(&sh->stamps, p->hash);
	uint32_t epoch = backend_epoch(c, p->key.backend);
	uint32_t ref;
	int rc;

	if (!f->stamp) {
		f->alone = change_finish(c, f->change, stamp) &&
			   ticket_good_for_backend(c, p->key.backend,
						   f->change->stamps[0]);
		f->stamp = *stamp;
	}
	/* Between two attempts the lock was open. */
	f->alone = f->alone && *stamp == f->stamp;
	if (f->alone && !p->attrs && f->keep)
		return 0;
	if (!f->alone || !p->attrs) {
		ref = hash_find(c, &sh->hash, p->key, p->hash);
		if (ref)
			forget_attrs(c, sh, ref, epoch);
		return f->alone ? 0 : -ESTALE;
	}
	rc = tier_obtain(c, sh, p->key, p->hash, OBTAIN_ANY, &ref);
	return rc ? rc : store(c, sh, ref, p->attrs, p->ttl_ms, true, epoch);
}

int mdx_changed_entry(struct mdx *c, struct mdx_change *ch, struct mdx_key key,
		      const struct mdx_attrs *attrs, uint32_t ttl_ms,
		      unsigned int flags)
{
	struct finish f = {
		.p = { .key = key, .attrs = attrs, .ttl_ms = ttl_ms },
		.change = ch,
		.keep = flags & MDX_KEEP
	};
	struct shard *sh;
	int rc;

	if (!key_sane(key))
		return -EINVAL;
	if (attrs && !attrs_sane(attrs)) /* better unknown than refused */
		f.p.attrs = NULL;
	f.p.hash = hash_of(c, key);
	sh = shard_of(c, f.p.hash);
	rc = reclaim_run(c, sh, finish, &f);
	if (rc == -ENOSPC) {
		f.p.attrs = NULL;
		f.keep = false;
		reclaim_run(c, sh, finish, &f);
	}
	count(&c->counters, rc == -ESTALE ? MDX_C_CHANGE_LOST : MDX_C_CHANGE);
	return rc;
}
