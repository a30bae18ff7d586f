/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "model_engine.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct engine_memory {
	pthread_mutex_t lock;
	struct {
		struct mdx_answer answer; /* has no references */
		bool valid;
	} entries[KEYS];
	struct {
		uint8_t bytes[MDX_BLOB_MAX];
		int len;
	} links[KEYS];
};

const char *fault_name(enum fault fault)
{
	static const char *const names[FAULT_COUNT] = {
		"none",
		"an invalidation of an entry is lost",
		"an invalidation of a name is lost",
		"a doubt about a name is lost",
		"an invalidation of all names is lost",
		"an invalidation of everything is lost",
		"a forget is lost",
		"an entry is stored with a void ticket",
		"a name is stored with a void ticket",
		"a changed name is stored by a population",
		"an old answer is given again",
		"one bit is wrong",
		"a name points at another object",
		"an entry is as before its change",
		"a name is as before its change",
		"a change that met another is stored",
		"an iteration skips a name",
		"an iteration gives a name twice",
		"a directory is complete without a name",
		"an old symlink target is given again",
		"a time to live does not end",
		"a pin does not hold",
		"a lowered limit is not heeded",
		"a reference is released twice",
		"old pages come back",
		"a dropped handle is found",
		"two lead one flight",
	};

	return names[fault];
}

/* Is it time for this fault? */
static bool strike(struct engine *e, enum fault fault, unsigned int one_of)
{
	return e->fault == fault &&
	       atomic_fetch_add_explicit(&e->calls, 1, memory_order_relaxed) %
			       one_of ==
		       one_of - 1;
}

bool engine_init(struct engine *e, struct mdx *c, enum fault fault)
{
	e->c = c;
	e->fault = fault;
	atomic_init(&e->calls, 0);
	e->memory = NULL;
	if (fault != FAULT_STALE_GET && fault != FAULT_OLD_BLOB)
		return true;
	e->memory = calloc(1, sizeof(*e->memory));
	if (!e->memory)
		return false;
	pthread_mutex_init(&e->memory->lock, NULL);
	return true;
}

void engine_done(struct engine *e)
{
	if (e->memory)
		pthread_mutex_destroy(&e->memory->lock);
	free(e->memory);
	e->memory = NULL;
}

static void stale_get(struct engine *e, unsigned int object,
		      struct mdx_answer *answer)
{
	struct engine_memory *m = e->memory;

	pthread_mutex_lock(&m->lock);
	if (m->entries[object].valid && strike(e, FAULT_STALE_GET, 4))
		*answer = m->entries[object].answer;
	else
		m->entries[object].answer = *answer;
	m->entries[object].valid = true;
	pthread_mutex_unlock(&m->lock);
}

int engine_get(struct engine *e, unsigned int object, struct mdx_key key,
	       uint32_t want, struct mdx_answer *answer)
{
	int r = mdx_get(e->c, key, want, answer);

	if (r)
		return r;
	if (strike(e, FAULT_ONE_BIT, 1000))
		answer->attrs.size ^= 1;
	if (e->fault == FAULT_STALE_GET && !(want & (MDX_ACL | MDX_OTHER)))
		stale_get(e, object, answer);
	return r;
}

int engine_put(struct engine *e, uint64_t ticket, struct mdx_key key,
	       const struct mdx_attrs *attrs, uint32_t ttl_ms)
{
	int r = mdx_put(e->c, ticket, key, attrs,
			e->fault == FAULT_LIFE ? MDX_FOREVER : ttl_ms);

	/* Stored in secret: only answers can tell. */
	if (r == -ESTALE && e->fault == FAULT_LATE_PUT)
		mdx_put(e->c, mdx_ticket(e->c), key, attrs, ttl_ms);
	return r;
}

int engine_blob_get(struct engine *e, unsigned int object, struct mdx_key key,
		    uint32_t which, void *buf, size_t size)
{
	int r = mdx_blob_get(e->c, key, which, buf, size);
	struct engine_memory *m = e->memory;

	if (r < 0 || e->fault != FAULT_OLD_BLOB || which != MDX_LINK)
		return r;
	pthread_mutex_lock(&m->lock);
	if (m->links[object].len > 0) {
		r = m->links[object].len;
		memcpy(buf, m->links[object].bytes, (size_t)r);
	} else {
		m->links[object].len = r;
		memcpy(m->links[object].bytes, buf, (size_t)r);
	}
	pthread_mutex_unlock(&m->lock);
	return r;
}

int engine_lookup(struct engine *e, struct mdx_key dir, const struct name *n,
		  struct mdx_answer *child)
{
	return mdx_lookup(e->c, dir, (const char *)n->text, n->len, child);
}

int engine_name_put(struct engine *e, uint64_t ticket, struct mdx_key dir,
		    const struct name *n, const struct mdx_key *child,
		    uint32_t ttl_ms)
{
	const char *text = (const char *)n->text;
	int r;

	if (child && strike(e, FAULT_WRONG_CHILD, 100))
		child = &dir;
	r = mdx_name_put(e->c, ticket, dir, text, n->len, child, ttl_ms);
	if (r == -ESTALE && e->fault == FAULT_LATE_NAME_PUT)
		mdx_name_put(e->c, mdx_ticket(e->c), dir, text, n->len, child,
			     ttl_ms);
	return r;
}

struct faulty_iteration {
	struct engine *e;
	bool (*each)(const struct mdx_dirent *, void *);
	void *arg;
};

static bool faulty_each(const struct mdx_dirent *d, void *arg)
{
	struct faulty_iteration *it = arg;

	if (strike(it->e, FAULT_SKIP, 500))
		return true;
	if (strike(it->e, FAULT_TWICE, 500) && !it->each(d, it->arg))
		return false;
	return it->each(d, it->arg);
}

int engine_readdir(struct engine *e, struct mdx_key dir, uint64_t cookie,
		   bool (*each)(const struct mdx_dirent *, void *), void *arg)
{
	struct faulty_iteration it = { e, each, arg };

	if (e->fault == FAULT_SKIP || e->fault == FAULT_TWICE)
		return mdx_readdir(e->c, dir, cookie, faulty_each, &it);
	return mdx_readdir(e->c, dir, cookie, each, arg);
}

int engine_populate_add(struct engine *e, struct mdx_population *p,
			const struct name *n, const struct mdx_key *child)
{
	int r;

	if (strike(e, FAULT_NOT_COMPLETE, 200))
		return 0;
	r = mdx_populate_add(e->c, p, (const char *)n->text, n->len, child);
	if (r == -ESTALE && e->fault == FAULT_LATE_ADD)
		mdx_name_put(e->c, mdx_ticket(e->c),
			     (struct mdx_key){ p->key, p->key_len, p->backend },
			     (const char *)n->text, n->len, child, MDX_FOREVER);
	return r;
}

int engine_changed_entry(struct engine *e, struct mdx_change *ch,
			 struct mdx_key key, const struct mdx_attrs *attrs,
			 uint32_t ttl_ms, unsigned int flags)
{
	int r;

	if (attrs && strike(e, FAULT_LOST_CHANGE, 20)) {
		attrs = NULL;
		flags |= MDX_KEEP;
	}
	r = mdx_changed_entry(e->c, ch, key, attrs, ttl_ms, flags);
	if (r == -ESTALE && e->fault == FAULT_MET_CHANGE && attrs)
		mdx_put(e->c, mdx_ticket(e->c), key, attrs, ttl_ms);
	return r;
}

int engine_changed_name(struct engine *e, struct mdx_change *ch,
			struct mdx_key dir, const struct name *n,
			enum mdx_outcome outcome, const struct mdx_key *child,
			uint32_t ttl_ms)
{
	int r;

	if (outcome != MDX_NAME_KEEP && strike(e, FAULT_LOST_CHANGE_NAME, 20)) {
		outcome = MDX_NAME_KEEP;
		child = NULL;
	}
	r = mdx_changed_name(e->c, ch, dir, (const char *)n->text, n->len,
			     outcome, child, ttl_ms);
	if (r == -ESTALE && e->fault == FAULT_MET_CHANGE &&
	    outcome == MDX_NAME_PRESENT)
		mdx_name_put(e->c, mdx_ticket(e->c), dir, (const char *)n->text,
			     n->len, child, ttl_ms);
	return r;
}

void engine_invalidate(struct engine *e, struct mdx_key key, uint32_t mask)
{
	if (!strike(e, FAULT_DROP_INVALIDATE, 8))
		mdx_invalidate(e->c, key, mask);
}

void engine_forget(struct engine *e, struct mdx_key key)
{
	if (!strike(e, FAULT_DROP_FORGET, 4))
		mdx_forget(e->c, key);
}

void engine_invalidate_name(struct engine *e, struct mdx_key dir,
			    const struct name *n)
{
	if (!strike(e, FAULT_DROP_INVALIDATE_NAME, 8))
		mdx_invalidate_name(e->c, dir, (const char *)n->text, n->len);
}

void engine_doubt_name(struct engine *e, struct mdx_key dir,
		       const struct name *n)
{
	if (!strike(e, FAULT_DROP_DOUBT, 8))
		mdx_doubt_name(e->c, dir, (const char *)n->text, n->len);
}

void engine_invalidate_names(struct engine *e, struct mdx_key dir)
{
	if (!strike(e, FAULT_DROP_INVALIDATE_NAMES, 4))
		mdx_invalidate_names(e->c, dir);
}

void engine_invalidate_all(struct engine *e)
{
	if (!strike(e, FAULT_DROP_INVALIDATE_ALL, 2))
		mdx_invalidate_all(e->c);
}

int engine_set_limits(struct engine *e, const struct mdx_limits *limits)
{
	struct mdx_limits large = *limits;

	if (e->fault == FAULT_OVER_BUDGET)
		large.max_bytes *= 16;
	return mdx_set_limits(e->c, &large);
}

int engine_pin(struct engine *e, struct mdx_key key)
{
	int r = mdx_pin(e->c, key);

	if (r == 0 && e->fault == FAULT_UNPIN)
		mdx_unpin(e->c, key);
	return r;
}

int engine_unpin(struct engine *e, struct mdx_key key)
{
	return e->fault == FAULT_UNPIN ? 0 : mdx_unpin(e->c, key);
}

struct mdx_attachment *engine_attach(struct engine *e, void *object,
				     size_t charge)
{
	if (strike(e, FAULT_TWO_RELEASES, 100))
		mdx_detach(e->c, mdx_attach(e->c, object, charge));
	return mdx_attach(e->c, object, charge);
}

int engine_pages_set(struct engine *e, struct mdx_key key,
		     struct mdx_attachment *pages)
{
	if (strike(e, FAULT_OLD_PAGES, 4))
		return 0;
	return mdx_pages_set(e->c, key, pages);
}

int engine_pool_drop(struct engine *e, struct mdx_key key)
{
	return strike(e, FAULT_OLD_HANDLE, 2) ? 0 : mdx_pool_drop(e->c, key);
}

int engine_flight_join(struct engine *e, struct mdx_key key, const char *name,
		       size_t len, uint32_t timeout_ms,
		       struct mdx_flight **flight)
{
	if (e->fault == FAULT_TWO_LEADERS) {
		*flight = NULL;
		return 1;
	}
	return mdx_flight_join(e->c, key, name, len, timeout_ms, flight);
}

void engine_flight_done(struct engine *e, struct mdx_flight *flight, int result)
{
	if (flight)
		mdx_flight_done(e->c, flight, result);
}
