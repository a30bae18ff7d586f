/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * One round of the model: a world, a cache, and actors that use it.
 *
 * An actor is a thread. It has several activities in progress at once (fetches,
 * changes, populations, iterations), each a chain of steps, and goes on with
 * one of them at random: so even a single actor meets every overlap of
 * operations, and does so again with the same seed. Threads add the overlap of
 * single calls.
 */
#ifndef MODEL_RUN_H
#define MODEL_RUN_H

#include <pthread.h>

#include "model_engine.h"
#include "model_world.h"

#define ACTIVITIES  10
#define POOL_KEYS   24
#define FLIGHT_KEYS 8
#define ACTORS_MAX  16

/* An object of the caller's behind an attachment. */
struct shared_object {
	uint32_t number;
	_Atomic uint64_t given;	   /* references that the engine took over */
	_Atomic uint64_t released; /* of these */
};

/* Pages: an attachment that is set once. */
struct pages {
	uint32_t object;
	uint64_t set_begin;
	_Atomic uint64_t set_end; /* UINT64_MAX: not yet */
	_Atomic uint64_t released;
	struct pages *next; /* of all that were made */
};

/* Things that only a single actor knows exactly. */
struct exact {
	uint32_t known[KEYS]; /* groups that can be known */
	uint64_t until[KEYS]; /* ms, latest end of life */
	bool remade[KEYS];    /* perhaps, without attributes: blobs live on */
	uint64_t *name_until[DIRS];
	uint64_t complete_until[DIRS];
};

struct statistics {
	uint64_t steps;
	uint64_t gets, hits;
	uint64_t lookups, found, absent;
	uint64_t iterations, iterated, dirents;
	uint64_t puts, voided;
	uint64_t populations, populated;
	uint64_t changes, met;
	uint64_t unchecked; /* answers whose bounds were not known */
};

struct run {
	uint64_t seed;
	unsigned int actors;
	uint64_t steps;	  /* of each actor */
	uint64_t stop_ms; /* CLOCK_MONOTONIC */
	bool quiet;	  /* a failure is expected */
	bool fail_memory;
	bool collide; /* many names have equal hashes */
	struct world *world;
	struct engine engine;
	struct exact *exact;	   /* with one actor */
	_Atomic uint64_t clock_ms; /* the engine's */
	struct shared_object objects[ATTACHMENTS];
	_Atomic(struct pages *) pages;
	_Atomic uint64_t pages_bound[KEYS];
	_Atomic uint32_t pins[KEYS];
	atomic_bool limits_lock;
	_Atomic uint64_t limits_changes; /* odd: in progress */
	_Atomic uint64_t limit_bytes;
	struct mdx_limits limits;
	struct mdx_pool_limits pool_limits;
	_Atomic uint64_t pool_bound[POOL_KEYS];
	_Atomic uint64_t handles_given, handles_released, handles_in_use;
	atomic_bool leads[FLIGHT_KEYS];
	atomic_bool failed;
	char failure[512];
	struct statistics total;
};

struct actor;
struct activity;
/* The next step of an activity; true: that was the last one. */
typedef bool (*step_fn)(struct actor *a, struct activity *act);

#define TARGETS_MAX 6

/* A target of a change: a name, or an entry. */
struct target {
	bool is_name;
	unsigned int object; /* the directory of a name */
	unsigned int name;
	int32_t child;	   /* what the name is to be */
	uint64_t declared; /* tick after mdx_change_... */
	uint64_t happened; /* tick of the backend's operation, 0: it failed */
	uint32_t version;  /* that it made */
};

struct activity {
	step_fn step; /* NULL: free */
	unsigned int stage;
	unsigned int object, dir, name;
	uint64_t ticket;
	uint64_t begun; /* tick after the ticket was taken */
	uint32_t version;
	int32_t child;
	uint32_t ttl_ms;
	unsigned int target_count;
	struct target targets[TARGETS_MAX];
	struct mdx_change change;
	struct mdx_population population;
	struct iteration *iteration;
};

struct actor {
	struct run *run;
	unsigned int number;
	uint64_t rng;
	uint64_t step;
	struct activity activities[ACTIVITIES];
	uint16_t pins[KEYS];
	struct statistics stats;
	pthread_t thread;
};

/* Plays one round; false: a wrong answer, told in run->failure (and on stderr
 * unless run->quiet). */
bool run_round(struct run *run);

/* Reports a wrong answer; the first one counts, all actors stop. */
void wrong(struct actor *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

uint32_t random_ttl(struct actor *a);
/* Objects and names are drawn unevenly, so that some are used often. */
unsigned int random_object(struct actor *a);
unsigned int random_dir(struct actor *a);
unsigned int random_name(struct actor *a, unsigned int dir);
static inline uint64_t now_ms(struct run *run)
{
	return atomic_load_explicit(&run->clock_ms, memory_order_relaxed);
}
static inline struct mdx_key key_of(struct actor *a, unsigned int object)
{
	return object_key(a->run->world, object);
}
static inline const struct name *name_of(struct actor *a, unsigned int name)
{
	return &a->run->world->names[name];
}

/* --- What actors do ------------------------------------------------------ */

/* Begin an activity: act->step is set, the first step not yet made. */
void begin_fetch_entry(struct actor *a, struct activity *act);
void begin_fetch_name(struct actor *a, struct activity *act);
void begin_population(struct actor *a, struct activity *act);
void begin_iteration(struct actor *a, struct activity *act);
void begin_population_of(struct actor *a, struct activity *act,
			 unsigned int dir);
void begin_iteration_of(struct actor *a, struct activity *act,
			unsigned int dir);
void begin_setattr(struct actor *a, struct activity *act);
void begin_name_change(struct actor *a, struct activity *act);
void begin_rename(struct actor *a, struct activity *act);
void begin_foreign_entry(struct actor *a, struct activity *act);
void begin_foreign_name(struct actor *a, struct activity *act);
/* One question, or one act without a second step. */
void do_get(struct actor *a);
void do_blob_get(struct actor *a);
void do_lookup(struct actor *a);
void do_pin(struct actor *a);
void do_unpin(struct actor *a);
void do_pages(struct actor *a);
void do_promote(struct actor *a);
void do_clock(struct actor *a);
void do_limits(struct actor *a);
void do_usage(struct actor *a);
void do_filler(struct actor *a);
void do_invalidate(struct actor *a);
void do_pool(struct actor *a);
void do_flight(struct actor *a);
void do_cookie(struct actor *a);
void do_fail_memory(struct actor *a);
/* Random limits, at once. */
struct mdx_limits random_limits(uint64_t *rng);

/* Stores an object's attributes of one version, as after a fetch. */
int put_entry(struct actor *a, uint64_t ticket, uint64_t begun,
	      unsigned int object, uint32_t version, uint32_t ttl_ms);
/* Sets attrs->acl or other by the version, with a reference; no memory: the
 * group is taken out of attrs->valid. */
void attach(struct actor *a, unsigned int object, uint32_t version,
	    struct mdx_attrs *attrs);
void detach(struct actor *a, struct mdx_attrs *attrs);

/* Tell the engine of a foreign change, by one of the calls that cover it. */
void announce_entry(struct actor *a, unsigned int object);
void announce_name(struct actor *a, unsigned int dir, unsigned int name);

/* Callbacks of the cache. */
void attachment_released(void *object, void *arg);
void handle_released(void *object, void *arg);
/* When the cache is gone: was every reference released exactly once? */
void check_releases(struct actor *a);

/* --- Checks of answers (model_check.c) ----------------------------------- */

/* What was told of an object, asked at `asked` ms of the clock. */
void check_entry(struct actor *a, unsigned int object,
		 const struct entry_bounds *bounds,
		 const struct mdx_answer *answer, uint32_t want, uint64_t until,
		 uint64_t asked_ms, const char *where);
/* The result of a lookup or -ENOENT, -ESTALE; gives the child's number. */
int check_binding(struct actor *a, unsigned int dir, unsigned int name,
		  uint64_t bound, uint64_t until, int result,
		  const struct mdx_answer *child, const char *where);

/* --- What one actor knows exactly (model_exact.c) ------------------------- */

bool exact_create(struct run *run);
void exact_destroy(struct run *run);
/* The entry has these groups now; `others` of the groups are kept. */
void exact_put(struct run *run, unsigned int object, uint32_t groups,
	       uint32_t ttl_ms);
void exact_blob(struct run *run, unsigned int object, uint32_t which);
/* The call before makes the entry if it is not there. */
void exact_made(struct run *run, unsigned int object);
void exact_drop(struct run *run, unsigned int object, uint32_t groups);
void exact_name(struct run *run, unsigned int dir, unsigned int name,
		uint32_t ttl_ms);
void exact_complete(struct run *run, unsigned int dir, uint32_t ttl_ms);
void exact_check(struct actor *a, unsigned int object, uint32_t valid,
		 uint32_t left_ms, uint64_t asked_ms);
void exact_check_blob(struct actor *a, unsigned int object, uint32_t which,
		      uint64_t asked_ms);
void exact_check_name(struct actor *a, unsigned int dir, unsigned int name,
		      uint64_t asked_ms);
void exact_check_usage(struct actor *a, const struct mdx_usage *usage);

#endif
