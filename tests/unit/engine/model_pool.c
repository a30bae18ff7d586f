/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The handle pool and single flight. */
#include <errno.h>
#include <stdlib.h>

#include "model_run.h"

#define ALIVE	 0x616c6976u
#define RELEASED 0x64656164u

struct handle {
	uint32_t magic;
	uint32_t object;
	_Atomic uint64_t added; /* tick after it was added; UINT64_MAX before */
	_Atomic uint32_t in_use;
};

void handle_released(void *object, void *arg)
{
	struct run *run = arg;
	struct handle *h = object;

	if (h->magic != ALIVE ||
	    atomic_load_explicit(&h->in_use, MODEL_LOAD) != 0) {
		struct actor nobody = { .run = run };

		wrong(&nobody, "a handle in use was released, or twice");
		return;
	}
	h->magic = RELEASED;
	atomic_fetch_add_explicit(&run->handles_released, 1, MODEL_EXCHANGE);
	free(h);
}

static void use(struct actor *a, unsigned int object, struct mdx_handle *mh,
		uint64_t bound)
{
	struct run *run = a->run;
	struct handle *h = mdx_handle_object(mh);

	atomic_fetch_add_explicit(&h->in_use, 1, MODEL_EXCHANGE);
	atomic_fetch_add_explicit(&run->handles_in_use, 1, MODEL_EXCHANGE);
	if (h->magic != ALIVE)
		wrong(a, "a released handle is found");
	if (h->object != object)
		wrong(a, "the handle of object %u is given for %u", h->object,
		      object);
	if (load(&h->added) < bound)
		wrong(a, "a dropped handle of object %u is found", object);
	if (one_in(&a->rng, 4))
		mdx_pool_set_fds(run->engine.c, mh, random_below(&a->rng, 3));
	if (one_in(&a->rng, 4))
		sched_yield();
	atomic_fetch_sub_explicit(&h->in_use, 1, MODEL_EXCHANGE);
	mdx_pool_put(run->engine.c, mh);
	atomic_fetch_sub_explicit(&run->handles_in_use, 1, MODEL_EXCHANGE);
}

static uint64_t pool_bound(struct actor *a, unsigned int object)
{
	return load(&a->run->pool_bound[object]);
}

static struct handle *new_handle(unsigned int object)
{
	struct handle *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->magic = ALIVE;
	h->object = object;
	atomic_init(&h->added, UINT64_MAX);
	atomic_init(&h->in_use, 0);
	return h;
}

static void offer(struct actor *a, unsigned int object)
{
	struct run *run = a->run;
	struct handle *h = new_handle(object);
	struct mdx_usage before, after;
	int r;

	if (!h)
		return;
	mdx_usage(run->engine.c, &before);
	/* It may be gone before the call returns, so it is never stamped. */
	r = mdx_pool_offer(run->engine.c, key_of(a, object), h,
			   300 + random_below(&a->rng, 500),
			   random_below(&a->rng, 3));
	if (r == 0) {
		atomic_fetch_add_explicit(&run->handles_given, 1,
					  MODEL_EXCHANGE);
	} else {
		free(h);
		if (r != -EEXIST && r != -ENOSPC && r != -ENOMEM)
			wrong(a, "mdx_pool_offer of object %u: %d", object, r);
	}
	mdx_usage(run->engine.c, &after);
	if (run->exact && after.handles != before.handles + (r == 0))
		wrong(a, "an offer (%d) makes %u handles %u", r,
		      (unsigned int)before.handles,
		      (unsigned int)after.handles);
}

static void add(struct actor *a, unsigned int object)
{
	struct run *run = a->run;
	struct handle *h = new_handle(object);
	uint64_t bound = pool_bound(a, object);
	struct mdx_handle *mh;
	int r;

	if (!h)
		return;
	r = mdx_pool_add(run->engine.c, key_of(a, object), h,
			 300 + random_below(&a->rng, 500),
			 random_below(&a->rng, 3), &mh);
	if (r == 0) {
		atomic_fetch_add_explicit(&run->handles_given, 1,
					  MODEL_EXCHANGE);
		atomic_store_explicit(&h->added, tick(), MODEL_STORE);
		use(a, object, mh, 0);
		return;
	}
	free(h);
	if (r == -EEXIST)
		use(a, object, mh, bound);
	else if (r != -ENOMEM)
		wrong(a, "mdx_pool_add of object %u: %d", object, r);
}

static void drop(struct actor *a, unsigned int object)
{
	struct run *run = a->run;
	uint64_t before = tick();
	int r = engine_pool_drop(&run->engine, key_of(a, object));

	if (r && r != -ENOENT && r != -EBUSY)
		wrong(a, "mdx_pool_drop of object %u: %d", object, r);
	raise_to(&run->pool_bound[object], before);
}

static void drop_backend(struct actor *a)
{
	const struct object *o = a->run->world->objects;
	uint8_t backend = o[random_below(&a->rng, KEYS)].backend;
	uint64_t before = tick();

	mdx_pool_drop_backend(a->run->engine.c, backend);
	for (unsigned int i = 0; i < POOL_KEYS; i++)
		if (o[i].backend == backend)
			raise_to(&a->run->pool_bound[i], before);
}

static void limit(struct actor *a)
{
	struct run *run = a->run;
	struct mdx_pool_limits new = {
		.max_handles = 1 + random_below(&a->rng, 20),
		.max_fds = 1 + random_below(&a->rng, 20),
		.max_charge = 300 + random_below(&a->rng, 8000),
	};

	mdx_pool_set_limits(run->engine.c, &new);
	if (run->exact)
		run->pool_limits = new;
}

void do_pool(struct actor *a)
{
	unsigned int object = random_below(&a->rng, POOL_KEYS);
	uint32_t what = random_below(&a->rng, 200);
	struct mdx_handle *mh;
	uint64_t bound;
	int r;

	if (what == 0) {
		drop_backend(a);
	} else if (what == 1) {
		limit(a);
	} else if (what < 20) {
		drop(a, object);
	} else if (what < 60) {
		add(a, object);
	} else if (what < 90) {
		offer(a, object);
	} else {
		bound = pool_bound(a, object);
		r = mdx_pool_get(a->run->engine.c, key_of(a, object), &mh);
		if (r == 0)
			use(a, object, mh, bound);
		else if (r != -ENOENT)
			wrong(a, "mdx_pool_get of object %u: %d", object, r);
	}
}

/* Of those who want the same thing at the same time, one leads. */
void do_flight(struct actor *a)
{
	struct run *run = a->run;
	unsigned int thing = random_below(&a->rng, FLIGHT_KEYS);
	const struct name *n = name_of(a, thing);
	bool by_name = thing % 2;
	struct mdx_flight *flight;
	int r = engine_flight_join(&run->engine, key_of(a, thing / 2),
				   by_name ? (const char *)n->text : NULL,
				   by_name ? n->len : 0,
				   random_below(&a->rng, 40), &flight);

	if (r == 1) {
		if (!spin_trylock(&run->leads[thing]))
			wrong(a, "two lead the flight of object %u", thing / 2);
		sched_yield();
		if (one_in(&a->rng, 4))
			do_filler(a);
		spin_unlock(&run->leads[thing]);
		engine_flight_done(&run->engine, flight,
				   one_in(&a->rng, 4) ? -EIO : 0);
		return;
	}
	if (r != 0 && r != -ETIMEDOUT && r != -EIO && r != -ENOMEM)
		wrong(a, "mdx_flight_join: %d", r);
	if (run->exact && r != -ENOMEM)
		wrong(a, "mdx_flight_join waits for nobody: %d", r);
}
