/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "model_run.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "leaf.h"
#include "mem.h"

void wrong(struct actor *a, const char *format, ...)
{
	struct run *run = a->run;
	va_list args;
	int n;

	if (!spin_trylock(&run->failed))
		return;
	n = snprintf(run->failure, sizeof(run->failure),
		     "seed %llu, %u actors, actor %u, step %llu: ",
		     (unsigned long long)run->seed, run->actors, a->number,
		     (unsigned long long)a->step);
	va_start(args, format);
	vsnprintf(run->failure + n, sizeof(run->failure) - (size_t)n, format,
		  args);
	va_end(args);
	if (!run->quiet)
		fprintf(stderr, "\nwrong answer: %s\n", run->failure);
}

uint32_t random_ttl(struct actor *a)
{
	static const uint32_t lives[] = {
		0, 300, 1000, 5000, 5000, 60000, MDX_FOREVER, MDX_FOREVER
	};

	return lives[random_below(&a->rng, 8)];
}

unsigned int random_object(struct actor *a)
{
	return random_below(&a->rng, one_in(&a->rng, 2) ? 24 : KEYS);
}

unsigned int random_dir(struct actor *a)
{
	return random_below(&a->rng, DIRS);
}

unsigned int random_name(struct actor *a, unsigned int dir)
{
	unsigned int names = a->run->world->dirs[dir].names;

	return random_below(&a->rng,
			    names > 16 && one_in(&a->rng, 2) ? 16 : names);
}

static uint64_t cache_clock(void *arg)
{
	return now_ms(arg);
}

static uint64_t monotonic_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void begin(struct actor *a, struct activity *act)
{
	static void (*const begins[])(struct actor *, struct activity *) = {
		begin_fetch_entry,  begin_fetch_entry, begin_fetch_entry,
		begin_fetch_name,   begin_fetch_name,  begin_population,
		begin_population,   begin_iteration,   begin_setattr,
		begin_name_change,  begin_rename,      begin_foreign_entry,
		begin_foreign_name,
	};

	memset(act, 0, sizeof(*act));
	begins[random_below(&a->rng, sizeof(begins) / sizeof(begins[0]))](a,
									  act);
}

static void do_rare(struct actor *a)
{
	static void (*const acts[])(struct actor *) = {
		do_clock,  do_clock,   do_clock,      do_usage,	 do_usage,
		do_filler, do_promote, do_invalidate, do_flight, do_cookie,
		do_pool,   do_pool,    do_pool,	      do_pool,
	};

	if (one_in(&a->rng, 500))
		do_limits(a);
	else if (one_in(&a->rng, 200))
		do_fail_memory(a);
	else
		acts[random_below(&a->rng, sizeof(acts) / sizeof(acts[0]))](a);
}

static void do_once(struct actor *a)
{
	static void (*const acts[])(struct actor *) = {
		do_get,	     do_get, do_get,   do_lookup, do_lookup, do_lookup,
		do_blob_get, do_pin, do_unpin, do_unpin,  do_pages,
	};

	acts[random_below(&a->rng, sizeof(acts) / sizeof(acts[0]))](a);
}

static void step(struct actor *a)
{
	struct activity *act =
		&a->activities[random_below(&a->rng, ACTIVITIES)];

	a->step++;
	if (!one_in(&a->rng, 3)) {
		do_once(a);
	} else if (one_in(&a->rng, 4)) {
		do_rare(a);
	} else {
		if (!act->step)
			begin(a, act);
		if (act->step && act->step(a, act))
			act->step = NULL;
	}
}

static bool stopped(struct actor *a)
{
	if (atomic_load_explicit(&a->run->failed, memory_order_relaxed))
		return true;
	return a->step % 256 == 0 && a->run->stop_ms &&
	       monotonic_ms() > a->run->stop_ms;
}

static void *act(void *arg)
{
	struct actor *a = arg;

	while (a->step < a->run->steps && !stopped(a))
		step(a);
	/* Every change needs its end, every iteration its memory back. */
	for (unsigned int i = 0; i < ACTIVITIES; i++) {
		struct activity *open = &a->activities[i];

		while (open->step && !open->step(a, open))
			;
	}
	for (unsigned int i = 0; i < KEYS; i++)
		for (; a->pins[i]; a->pins[i]--)
			engine_unpin(&a->run->engine, key_of(a, i));
	return NULL;
}

/* All steps of an activity in a row. */
static void complete(struct actor *a, struct activity *todo)
{
	while (todo->step && !todo->step(a, todo))
		;
}

/* With room, and nobody else about, a cache must know what it is told: else it
 * could pass by never answering. */
static void check_calm(struct actor *a)
{
	static const struct mdx_limits wide = { 10000, 100000, 64 << 20 };
	struct run *run = a->run;
	struct activity todo;

	mem_fail_after(-1);
	mdx_set_limits(run->engine.c, &wide);
	for (unsigned int d = 0; d < DIRS && !stopped(a); d++) {
		uint64_t populated = a->stats.populated;
		uint64_t iterated = a->stats.iterated;

		for (int i = 0; i < 10 && a->stats.populated == populated;
		     i++) {
			memset(&todo, 0, sizeof(todo));
			begin_population_of(a, &todo, d);
			todo.ttl_ms = MDX_FOREVER;
			complete(a, &todo);
		}
		if (a->stats.populated == populated ||
		    !mdx_is_complete(run->engine.c, key_of(a, d)))
			wrong(a, "directory %u does not become complete", d);
		memset(&todo, 0, sizeof(todo));
		begin_iteration_of(a, &todo, d);
		complete(a, &todo);
		if (a->stats.iterated == iterated)
			wrong(a, "directory %u is complete, and not iterated",
			      d);
	}
}

static bool start(struct run *run, struct mdx **cache)
{
	static const unsigned int shards[] = { 0, 1, 1, 2, 8 };
	uint64_t rng = run->seed ^ 0x72756e;
	struct mdx_params params;

	mdx_params_init(&params);
	run->limits = params.limits = random_limits(&rng);
	params.pool = (struct mdx_pool_limits){ 10, 12, 5000 };
	run->pool_limits = params.pool;
	params.shards = shards[random_below(&rng, 5)];
	params.attachment_release = attachment_released;
	params.handle_release = handle_released;
	params.now_ms = cache_clock;
	params.arg = run;
	atomic_store(&run->clock_ms, 1 + random_below(&rng, 1000000));
	atomic_store(&run->limit_bytes, params.limits.max_bytes);
	for (unsigned int i = 0; i < ATTACHMENTS; i++)
		run->objects[i].number = i;
	return mdx_create(&params, cache) == 0;
}

static void add_statistics(struct statistics *to, const struct statistics *from)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *f = (const uint64_t *)from;

	for (size_t i = 0; i < sizeof(*to) / sizeof(*t); i++)
		t[i] += f[i];
}

static void play(struct run *run, struct actor *actors)
{
	unsigned int started = 0;

	for (unsigned int i = 0; i < run->actors; i++) {
		actors[i].run = run;
		actors[i].number = i;
		actors[i].rng = run->seed * ACTORS_MAX + i;
	}
	if (run->actors == 1) {
		act(&actors[0]);
	} else {
		while (started < run->actors &&
		       !pthread_create(&actors[started].thread, NULL, act,
				       &actors[started]))
			started++;
		for (unsigned int i = 0; i < started; i++)
			pthread_join(actors[i].thread, NULL);
		if (started < run->actors)
			wrong(&actors[0], "no thread");
	}
	if (!atomic_load(&run->failed))
		check_calm(&actors[0]);
	for (unsigned int i = 0; i < run->actors; i++) {
		actors[i].stats.steps = actors[i].step;
		add_statistics(&run->total, &actors[i].stats);
	}
}

bool run_round(struct run *run)
{
	static struct actor actors[ACTORS_MAX];
	struct mdx *c = NULL;
	bool ok = false;

	memset(actors, 0, sizeof(actors));
	actors[0].run = run;
	run->collide = run->seed % 4 == 0;
	cookie_mask = run->collide ? (uint64_t)0x3ff << 40 : UINT64_MAX;
	run->world = world_create(run->seed);
	if (!run->world || !exact_create(run) || !start(run, &c) ||
	    !engine_init(&run->engine, c, run->engine.fault)) {
		wrong(&actors[0], "the round could not be set up");
	} else {
		play(run, actors);
		ok = true;
	}
	mem_fail_after(-1);
	mdx_destroy(c);
	if (ok)
		check_releases(&actors[0]);
	engine_done(&run->engine);
	exact_destroy(run);
	world_destroy(run->world);
	return !atomic_load(&run->failed);
}
