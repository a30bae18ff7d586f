/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "pool.h"

#include <errno.h>
#include <string.h>

#include "cache.h"
#include "mem.h"

#define FIRST_BUCKETS 256u

bool pool_init(struct pool *p, const struct mdx_pool_limits *limits)
{
	pthread_mutex_init(&p->lock, NULL);
	p->limits = *limits;
	p->bucket_mask = FIRST_BUCKETS - 1;
	p->buckets = mem_alloc(FIRST_BUCKETS * sizeof(struct mdx_handle *));
	return p->buckets;
}

void pool_destroy(struct pool *p)
{
	if (!p->buckets)
		return;
	mem_free(p->buckets);
	pthread_mutex_destroy(&p->lock);
}

static struct mdx_handle *new_handle(struct mdx *c, struct mdx_key key,
				     void *object, uint64_t charge,
				     uint32_t fds)
{
	struct mdx_handle *h = mem_alloc(sizeof(*h) + key.len);

	if (!h)
		return NULL;
	h->release.callback = c->params.handle_release;
	h->release.object = object;
	h->hash = hash_of(c, key);
	h->charge = charge;
	h->fds = fds;
	h->backend = key.backend;
	h->key_len = key.len;
	memcpy(h->key, key.bytes, key.len);
	return h;
}

/* --- Under the lock ------------------------------------------------------ */

static struct mdx_handle **bucket(struct pool *p, uint64_t hash)
{
	return &p->buckets[hash >> 8 & p->bucket_mask];
}

static struct mdx_handle *find(struct pool *p, struct mdx_key key,
			       uint64_t hash)
{
	struct mdx_handle *h = *bucket(p, hash);

	while (h && (h->hash != hash || h->backend != key.backend ||
		     h->key_len != key.len ||
		     memcmp(h->key, key.bytes, key.len) != 0))
		h = h->chain;
	return h;
}

static void unchain(struct pool *p, struct mdx_handle *h)
{
	struct mdx_handle **at = bucket(p, h->hash);

	while (*at != h)
		at = &(*at)->chain;
	*at = h->chain;
}

/* Unused handles are in one of two lists, each by the time of its last use. */
static struct unused *list_of(struct pool *p, const struct mdx_handle *h)
{
	return &p->unused[h->fds != 0];
}

static void list_add(struct pool *p, struct mdx_handle *h)
{
	struct unused *l = list_of(p, h);

	h->used = ++p->uses;
	h->newer = NULL;
	h->older = l->newest;
	if (l->newest)
		l->newest->newer = h;
	else
		l->oldest = h;
	l->newest = h;
	p->unused_fds += h->fds;
}

/* As if it had been used before all others. */
static void list_add_oldest(struct pool *p, struct mdx_handle *h)
{
	struct unused *l = list_of(p, h);

	h->used = 0;
	h->older = NULL;
	h->newer = l->oldest;
	if (l->oldest)
		l->oldest->older = h;
	else
		l->newest = h;
	l->oldest = h;
	p->unused_fds += h->fds;
}

static void list_take(struct pool *p, struct mdx_handle *h)
{
	struct unused *l = list_of(p, h);

	if (h->newer)
		h->newer->older = h->older;
	else
		l->newest = h->older;
	if (h->older)
		h->older->newer = h->newer;
	else
		l->oldest = h->newer;
	p->unused_fds -= h->fds;
}

static struct mdx_handle *oldest(struct pool *p)
{
	struct mdx_handle *a = p->unused[false].oldest;
	struct mdx_handle *b = p->unused[true].oldest;

	return !a || (b && b->used < a->used) ? b : a;
}

/* Gives up a handle that is in no list any more. */
static void give_up(struct mdx *c, struct mdx_handle *h)
{
	struct pool *p = &c->pool;

	p->count--;
	p->fds -= h->fds;
	p->charge -= h->charge;
	release_later(c, &h->release);
}

static void drop_unused(struct mdx *c, struct mdx_handle *h)
{
	list_take(&c->pool, h);
	unchain(&c->pool, h);
	give_up(c, h);
}

/* Evicts until the limits hold, or nothing is left that is not in use. */
static void trim(struct mdx *c)
{
	struct pool *p = &c->pool;

	for (;;) {
		struct mdx_handle *h = NULL;

		if (p->count > p->limits.max_handles ||
		    p->charge > p->limits.max_charge)
			h = oldest(p);
		/* If it is only descriptors, those without may stay. */
		if (!h && p->unused_fds > p->limits.max_fds)
			h = p->unused[true].oldest;
		if (!h)
			return;
		drop_unused(c, h);
		count(&c->counters, MDX_C_POOL_EVICT);
	}
}

static void grow_buckets(struct pool *p)
{
	uint32_t old = p->bucket_mask + 1;
	struct mdx_handle **before = p->buckets;
	struct mdx_handle **b =
		mem_alloc((size_t)old * 2 * sizeof(struct mdx_handle *));

	if (!b)
		return; /* longer chains, then */
	p->buckets = b;
	p->bucket_mask = 2 * old - 1;
	for (uint32_t i = 0; i < old; i++) {
		while (before[i]) {
			struct mdx_handle *h = before[i];

			before[i] = h->chain;
			h->chain = *bucket(p, h->hash);
			*bucket(p, h->hash) = h;
		}
	}
	mem_free(before);
}

static void use(struct pool *p, struct mdx_handle *h)
{
	if (h->users++ == 0)
		list_take(p, h);
}

static void enter(struct pool *p, struct mdx_handle *h)
{
	h->chain = *bucket(p, h->hash);
	*bucket(p, h->hash) = h;
	p->fds += h->fds;
	p->charge += h->charge;
	if (p->count++ > p->bucket_mask)
		grow_buckets(p);
}

/* --- Interface ----------------------------------------------------------- */

int mdx_pool_get(struct mdx *c, struct mdx_key key, struct mdx_handle **h)
{
	struct pool *p = &c->pool;
	uint64_t hash;

	if (!key_sane(key))
		return -EINVAL;
	hash = hash_of(c, key);
	pthread_mutex_lock(&p->lock);
	*h = find(p, key, hash);
	if (*h)
		use(p, *h);
	pthread_mutex_unlock(&p->lock);
	count(&c->counters, *h ? MDX_C_POOL_HIT : MDX_C_POOL_MISS);
	return *h ? 0 : -ENOENT;
}

int mdx_pool_add(struct mdx *c, struct mdx_key key, void *object,
		 uint64_t charge, uint32_t fds, struct mdx_handle **h)
{
	struct pool *p = &c->pool;
	struct mdx_handle *fresh;

	if (!key_sane(key))
		return -EINVAL;
	fresh = new_handle(c, key, object, charge, fds);
	if (!fresh)
		return -ENOMEM;
	fresh->users = 1;
	pthread_mutex_lock(&p->lock);
	*h = find(p, key, fresh->hash);
	if (*h) {
		use(p, *h);
		pthread_mutex_unlock(&p->lock);
		mem_free(fresh);
		count(&c->counters, MDX_C_POOL_MERGE);
		return -EEXIST;
	}
	enter(p, fresh);
	trim(c);
	pthread_mutex_unlock(&p->lock);
	*h = fresh;
	return 0;
}

int mdx_pool_offer(struct mdx *c, struct mdx_key key, void *object,
		   uint64_t charge, uint32_t fds)
{
	struct pool *p = &c->pool;
	struct mdx_handle *fresh;
	int rc = 0;

	if (!key_sane(key))
		return -EINVAL;
	pthread_mutex_lock(&p->lock);
	if (p->count >= p->limits.max_handles ||
	    p->charge + charge > p->limits.max_charge ||
	    p->unused_fds + fds > p->limits.max_fds) {
		rc = -ENOSPC;
	} else if (find(p, key, hash_of(c, key))) {
		rc = -EEXIST;
	} else {
		fresh = new_handle(c, key, object, charge, fds);
		if (fresh) {
			enter(p, fresh);
			list_add_oldest(p, fresh);
		} else {
			rc = -ENOMEM;
		}
	}
	pthread_mutex_unlock(&p->lock);
	if (rc == 0)
		count(&c->counters, MDX_C_POOL_OFFER);
	else if (rc == -ENOSPC)
		count(&c->counters, MDX_C_POOL_FULL);
	return rc;
}

void *mdx_handle_object(const struct mdx_handle *h)
{
	return h->release.object;
}

void mdx_pool_set_fds(struct mdx *c, struct mdx_handle *h, uint32_t fds)
{
	struct pool *p = &c->pool;

	pthread_mutex_lock(&p->lock);
	p->fds += (uint64_t)fds - h->fds;
	h->fds = fds;
	trim(c);
	pthread_mutex_unlock(&p->lock);
}

void mdx_pool_put(struct mdx *c, struct mdx_handle *h)
{
	struct pool *p = &c->pool;

	pthread_mutex_lock(&p->lock);
	if (--h->users == 0) {
		if (h->dropped) {
			give_up(c, h);
		} else {
			list_add(p, h);
			trim(c);
		}
	}
	pthread_mutex_unlock(&p->lock);
}

/* Nobody finds it any more; true: it is gone, false: it is in use. */
static bool drop(struct mdx *c, struct mdx_handle *h)
{
	if (!h->users) {
		drop_unused(c, h);
		return true;
	}
	unchain(&c->pool, h);
	h->dropped = true;
	return false;
}

static int drop_key(struct mdx *c, struct mdx_key key, bool if_unused)
{
	struct pool *p = &c->pool;
	struct mdx_handle *h;
	int rc = -ENOENT;

	if (!key_sane(key))
		return -EINVAL;
	pthread_mutex_lock(&p->lock);
	h = find(p, key, hash_of(c, key));
	if (h && h->users && if_unused)
		rc = -EBUSY;
	else if (h)
		rc = drop(c, h) ? 0 : -EBUSY;
	pthread_mutex_unlock(&p->lock);
	return rc;
}

int mdx_pool_drop(struct mdx *c, struct mdx_key key)
{
	return drop_key(c, key, false);
}

int mdx_pool_drop_unused(struct mdx *c, struct mdx_key key)
{
	return drop_key(c, key, true);
}

static void drop_some(struct mdx *c, bool all, uint8_t backend, bool if_unused)
{
	struct pool *p = &c->pool;

	pthread_mutex_lock(&p->lock);
	for (uint32_t i = 0; i <= p->bucket_mask; i++) {
		struct mdx_handle *h = p->buckets[i];

		while (h) {
			struct mdx_handle *next = h->chain;

			if ((all || h->backend == backend) &&
			    !(h->users && if_unused))
				drop(c, h);
			h = next;
		}
	}
	pthread_mutex_unlock(&p->lock);
}

void mdx_pool_drop_backend(struct mdx *c, uint8_t backend)
{
	drop_some(c, false, backend, false);
}

void mdx_pool_drop_backend_unused(struct mdx *c, uint8_t backend)
{
	drop_some(c, false, backend, true);
}

void pool_drop_all(struct mdx *c)
{
	drop_some(c, true, 0, false);
}

void mdx_pool_set_limits(struct mdx *c, const struct mdx_pool_limits *limits)
{
	struct pool *p = &c->pool;

	pthread_mutex_lock(&p->lock);
	p->limits = *limits;
	trim(c);
	pthread_mutex_unlock(&p->lock);
}

void pool_usage(struct pool *p, struct mdx_usage *u)
{
	pthread_mutex_lock(&p->lock);
	u->handles = p->count;
	u->fds = p->fds;
	u->charge = p->charge;
	pthread_mutex_unlock(&p->lock);
}
