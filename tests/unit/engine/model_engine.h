/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Between the model and the engine: seeded faults, each an engine that is wrong
 * now and then. The model must catch every one of them, or its silence about
 * the real engine would mean nothing.
 */
#ifndef MODEL_ENGINE_H
#define MODEL_ENGINE_H

#include "model_world.h"

enum fault {
	FAULT_NONE,
	FAULT_DROP_INVALIDATE,	    /* an invalidation of an entry is lost */
	FAULT_DROP_INVALIDATE_NAME, /* of a name */
	FAULT_DROP_DOUBT,
	FAULT_DROP_INVALIDATE_NAMES,
	FAULT_DROP_INVALIDATE_ALL,
	FAULT_DROP_FORGET,
	FAULT_LATE_PUT,	     /* an answer is stored in spite of its ticket */
	FAULT_LATE_NAME_PUT, /* a name likewise */
	FAULT_LATE_ADD,	     /* likewise, in a population */
	FAULT_STALE_GET,     /* an entry is told of as it once was */
	FAULT_ONE_BIT,	     /* one bit of an attribute is wrong */
	FAULT_WRONG_CHILD,   /* a name points at another object */
	FAULT_LOST_CHANGE,   /* an entry is as before its change */
	FAULT_LOST_CHANGE_NAME,
	FAULT_MET_CHANGE,   /* a change that met another one is stored */
	FAULT_SKIP,	    /* an iteration skips a name */
	FAULT_TWICE,	    /* gives one twice */
	FAULT_NOT_COMPLETE, /* a directory is complete without a name */
	FAULT_OLD_BLOB,
	FAULT_LIFE,	    /* a time to live without end (one thread only) */
	FAULT_UNPIN,	    /* a pin that does not hold */
	FAULT_OVER_BUDGET,  /* a lowered limit is not heeded */
	FAULT_TWO_RELEASES, /* of one reference of an attachment */
	FAULT_OLD_PAGES,    /* pages that were taken away come back */
	FAULT_OLD_HANDLE,   /* a dropped handle is still found */
	FAULT_TWO_LEADERS,  /* of one flight */
	FAULT_COUNT
};

const char *fault_name(enum fault fault);

struct engine {
	struct mdx *c;
	enum fault fault;
	_Atomic uint64_t calls;
	struct engine_memory *memory; /* of FAULT_STALE_GET, FAULT_OLD_BLOB */
};

bool engine_init(struct engine *e, struct mdx *c, enum fault fault);
void engine_done(struct engine *e);

int engine_get(struct engine *e, unsigned int object, struct mdx_key key,
	       uint32_t want, struct mdx_answer *answer);
int engine_put(struct engine *e, uint64_t ticket, struct mdx_key key,
	       const struct mdx_attrs *attrs, uint32_t ttl_ms);
int engine_blob_get(struct engine *e, unsigned int object, struct mdx_key key,
		    uint32_t which, void *buf, size_t size);
int engine_lookup(struct engine *e, struct mdx_key dir, const struct name *n,
		  struct mdx_answer *child);
int engine_name_put(struct engine *e, uint64_t ticket, struct mdx_key dir,
		    const struct name *n, const struct mdx_key *child,
		    uint32_t ttl_ms);
int engine_readdir(struct engine *e, struct mdx_key dir, uint64_t cookie,
		   bool (*each)(const struct mdx_dirent *, void *), void *arg);
int engine_populate_add(struct engine *e, struct mdx_population *p,
			const struct name *n, const struct mdx_key *child);
int engine_changed_entry(struct engine *e, struct mdx_change *ch,
			 struct mdx_key key, const struct mdx_attrs *attrs,
			 uint32_t ttl_ms, unsigned int flags);
int engine_changed_name(struct engine *e, struct mdx_change *ch,
			struct mdx_key dir, const struct name *n,
			enum mdx_outcome outcome, const struct mdx_key *child,
			uint32_t ttl_ms);
void engine_invalidate(struct engine *e, struct mdx_key key, uint32_t mask);
void engine_forget(struct engine *e, struct mdx_key key);
void engine_invalidate_name(struct engine *e, struct mdx_key dir,
			    const struct name *n);
void engine_doubt_name(struct engine *e, struct mdx_key dir,
		       const struct name *n);
void engine_invalidate_names(struct engine *e, struct mdx_key dir);
void engine_invalidate_all(struct engine *e);
int engine_set_limits(struct engine *e, const struct mdx_limits *limits);
int engine_pin(struct engine *e, struct mdx_key key);
int engine_unpin(struct engine *e, struct mdx_key key);
struct mdx_attachment *engine_attach(struct engine *e, void *object,
				     size_t charge);
int engine_pages_set(struct engine *e, struct mdx_key key,
		     struct mdx_attachment *pages);
int engine_pool_drop(struct engine *e, struct mdx_key key);
int engine_flight_join(struct engine *e, struct mdx_key key, const char *name,
		       size_t len, uint32_t timeout_ms,
		       struct mdx_flight **flight);
void engine_flight_done(struct engine *e, struct mdx_flight *flight,
			int result);

#endif
