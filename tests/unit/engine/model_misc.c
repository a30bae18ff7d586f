/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What else can happen to a cache: pins, pages, time, limits, pressure. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mem.h"
#include "model_run.h"

#define MIB	 ((uint64_t)1 << 20)
#define TRIM_MAX 5000

void do_pin(struct actor *a)
{
	unsigned int object = random_object(a);
	int r;

	if (a->pins[object] >= 3)
		return;
	r = engine_pin(&a->run->engine, key_of(a, object));
	exact_made(a->run, object);
	if (r == 0)
		a->pins[object]++;
	else if (r != -ENOSPC)
		wrong(a, "mdx_pin of object %u: %d", object, r);
}

void do_unpin(struct actor *a)
{
	unsigned int object = random_below(&a->rng, KEYS);
	int r;

	for (unsigned int i = 0; i < KEYS && !a->pins[object]; i++)
		object = (object + 1) % KEYS;
	if (!a->pins[object] && !a->run->exact)
		return;
	r = engine_unpin(&a->run->engine, key_of(a, object));
	if (r != (a->pins[object] ? 0 : -EINVAL))
		wrong(a, "mdx_unpin of object %u, pinned %u times: %d", object,
		      a->pins[object], r);
	if (a->pins[object])
		a->pins[object]--;
}

void do_promote(struct actor *a)
{
	unsigned int object = random_object(a);
	int r = mdx_promote(a->run->engine.c, key_of(a, object));

	if (r && r != -ENOENT && r != -ENOSPC)
		wrong(a, "mdx_promote of object %u: %d", object, r);
}

/* --- Pages --------------------------------------------------------------- */

static struct pages *make_pages(struct run *run, unsigned int object)
{
	struct pages *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->object = object;
	p->set_begin = tick();
	atomic_init(&p->set_end, UINT64_MAX);
	p->next = atomic_load_explicit(&run->pages, memory_order_relaxed);
	while (!atomic_compare_exchange_weak_explicit(
		&run->pages, &p->next, p, MODEL_EXCHANGE, memory_order_relaxed))
		;
	return p;
}

static void set_pages(struct actor *a, unsigned int object, bool some)
{
	struct run *run = a->run;
	struct mdx_attachment *attachment = NULL;
	struct pages *p = NULL;
	uint64_t before;
	int r;

	if (some) {
		p = make_pages(run, object);
		if (!p)
			return;
		attachment = mdx_attach(run->engine.c, p, 4096);
		if (!attachment) {
			/* It is still ours: nobody else releases it. */
			attachment_released(p, run);
			return;
		}
	}
	before = tick();
	r = engine_pages_set(&run->engine, key_of(a, object), attachment);
	if (r == 0 || (r == -ENOENT && !some))
		raise_to(&run->pages_bound[object], before);
	else if (r != -ENOENT && r != -ENOSPC)
		wrong(a, "mdx_pages_set of object %u: %d", object, r);
	if (p)
		atomic_store_explicit(&p->set_end, r ? 0 : tick(), MODEL_STORE);
	mdx_detach(run->engine.c, attachment);
}

static void get_pages(struct actor *a, unsigned int object)
{
	struct run *run = a->run;
	const struct world *w = run->world;
	uint64_t bound = load(&run->pages_bound[object]);
	uint64_t wide = load(&w->all_bound);
	struct mdx_attachment *attachment;
	const struct pages *p;

	if (wide > bound)
		bound = wide;
	wide = load(&w->backend_bound[w->objects[object].backend]);
	if (wide > bound)
		bound = wide;
	attachment = mdx_pages_get(run->engine.c, key_of(a, object));
	if (!attachment)
		return;
	p = mdx_attachment_object(attachment);
	if (p->object != object)
		wrong(a, "object %u has the pages of %u", object, p->object);
	if (load(&p->released))
		wrong(a, "the pages of object %u were released", object);
	if (load(&p->set_end) < bound)
		wrong(a, "object %u has pages that were taken away", object);
	mdx_detach(run->engine.c, attachment);
}

void do_pages(struct actor *a)
{
	unsigned int object = random_object(a);

	if (one_in(&a->rng, 3))
		set_pages(a, object, !one_in(&a->rng, 4));
	else
		get_pages(a, object);
}

/* --- References ---------------------------------------------------------- */

void attachment_released(void *object, void *arg)
{
	struct run *run = arg;
	struct shared_object *o = object;
	struct pages *p = object;

	if (o >= run->objects && o < run->objects + ATTACHMENTS)
		atomic_fetch_add_explicit(&o->released, 1, MODEL_EXCHANGE);
	else
		atomic_fetch_add_explicit(&p->released, 1, MODEL_EXCHANGE);
}

void check_releases(struct actor *a)
{
	struct run *run = a->run;
	struct pages *p, *next;

	for (unsigned int i = 0; i < ATTACHMENTS; i++) {
		const struct shared_object *o = &run->objects[i];

		if (load(&o->given) != load(&o->released))
			wrong(a,
			      "attachment %u: %llu references, %llu releases",
			      i, (unsigned long long)load(&o->given),
			      (unsigned long long)load(&o->released));
	}
	for (p = atomic_load(&run->pages); p; p = next) {
		next = p->next;
		if (load(&p->released) != 1)
			wrong(a, "pages of object %u: %llu releases", p->object,
			      (unsigned long long)load(&p->released));
		free(p);
	}
	atomic_store(&run->pages, NULL);
	if (load(&run->handles_given) != load(&run->handles_released))
		wrong(a, "%llu handles were given, %llu released",
		      (unsigned long long)load(&run->handles_given),
		      (unsigned long long)load(&run->handles_released));
}

/* --- Time and limits ----------------------------------------------------- */

void do_clock(struct actor *a)
{
	uint64_t ms = random_below(&a->rng, 300);

	if (one_in(&a->rng, 100))
		ms = 100000;
	if (one_in(&a->rng, 5000))
		ms = (uint64_t)40 * 86400 * 1000;
	atomic_fetch_add_explicit(&a->run->clock_ms, ms, MODEL_EXCHANGE);
}

struct mdx_limits random_limits(uint64_t *rng)
{
	static const uint32_t files[] = { 1, 3, 10, 50, 1000, 100000 };
	static const uint32_t stats[] = { 0, 1, 20, 100, 1000, 1000000 };
	static const uint32_t quarters[] = { 4, 4, 5, 7, 12, 32, 256 };

	return (struct mdx_limits){
		.max_files = files[random_below(rng, 6)],
		.max_stats = stats[random_below(rng, 6)],
		.max_bytes = quarters[random_below(rng, 7)] * (MIB / 4),
	};
}

/* What was due for release is given back when its callback has run. */
static bool trim_all(struct mdx *c, uint64_t bytes, struct mdx_usage *usage)
{
	for (unsigned int i = 0; i < TRIM_MAX; i++) {
		if (!mdx_trim(c, 64))
			continue;
		mdx_usage(c, usage);
		if (usage->bytes <= bytes)
			return true;
		mdx_quiesce(c);
	}
	return false;
}

void do_limits(struct actor *a)
{
	struct run *run = a->run;
	struct mdx_limits new = random_limits(&a->rng);
	struct mdx_usage usage = { 0 };
	uint64_t reach;
	int r;

	if (!spin_trylock(&run->limits_lock))
		return;
	atomic_fetch_add_explicit(&run->limits_changes, 1, MODEL_EXCHANGE);
	r = engine_set_limits(&run->engine, &new);
	if (r == -EINVAL && new.max_bytes < run->limits.max_bytes)
		new = run->limits; /* too little for the cache's tables */
	else if (r && r != -EINPROGRESS)
		wrong(a, "mdx_set_limits: %d", r);
	reach = run->engine.fault == FAULT_OVER_BUDGET ? UINT64_MAX :
							 new.max_bytes;
	if (!trim_all(run->engine.c, reach, &usage))
		wrong(a,
		      "mdx_trim stops at %llu bytes (%llu used, %llu files, "
		      "%llu stats, %llu pinned, %llu names), the limit is %llu",
		      (unsigned long long)usage.bytes,
		      (unsigned long long)usage.used,
		      (unsigned long long)usage.files,
		      (unsigned long long)usage.stats,
		      (unsigned long long)usage.pinned,
		      (unsigned long long)usage.names,
		      (unsigned long long)new.max_bytes);
	run->limits = new;
	atomic_store_explicit(&run->limit_bytes, new.max_bytes, MODEL_STORE);
	atomic_fetch_add_explicit(&run->limits_changes, 1, MODEL_EXCHANGE);
	spin_unlock(&run->limits_lock);
}

void do_usage(struct actor *a)
{
	struct run *run = a->run;
	uint64_t changes = load(&run->limits_changes);
	uint64_t limit = load(&run->limit_bytes);
	struct mdx_usage usage;

	mdx_usage(run->engine.c, &usage);
	exact_check_usage(a, &usage);
	if (usage.used > usage.bytes)
		wrong(a, "%llu bytes of %llu are used",
		      (unsigned long long)usage.used,
		      (unsigned long long)usage.bytes);
	/* While limits are lowered, more may be held. */
	if (changes % 2 || load(&run->limits_changes) != changes)
		return;
	if (usage.bytes > limit)
		wrong(a, "%llu bytes are held, the limit is %llu",
		      (unsigned long long)usage.bytes,
		      (unsigned long long)limit);
}

/* Entries, names and blobs that nobody asks for, so that others have to go. */
void do_filler(struct actor *a)
{
	struct mdx *c = a->run->engine.c;
	uint64_t ticket = mdx_ticket(c);
	uint8_t bytes[MDX_BLOB_MAX];
	struct mdx_key key = { bytes, 27, 7 };
	struct mdx_attrs attrs;
	struct mdx_answer answer;

	value_attrs(a->run->world, 0, (uint32_t)random_next(&a->rng), &attrs);
	attrs.valid = MDX_NUMBERS;
	for (unsigned int i = 0; i < 8; i++) {
		uint32_t n = random_below(&a->rng, 40000);

		memset(bytes, 0, sizeof(bytes));
		memcpy(bytes, &n, sizeof(n));
		mdx_put(c, ticket, key, &attrs, MDX_FOREVER);
		if (one_in(&a->rng, 8))
			mdx_blob_put(c, ticket, key, MDX_LINK, bytes,
				     1 + n % MDX_BLOB_MAX);
		if (one_in(&a->rng, 2))
			mdx_get(c, key, MDX_SIZE, &answer);
		n = random_below(&a->rng, 8);
		memcpy(bytes, &n, sizeof(n));
		memset(bytes + 100, (int)random_below(&a->rng, 256), 255);
		mdx_name_put(c, ticket, key, (const char *)bytes + 100,
			     1 + random_below(&a->rng, 255), NULL, MDX_FOREVER);
	}
}

void do_fail_memory(struct actor *a)
{
	if (a->run->fail_memory)
		mem_fail_after(one_in(&a->rng, 3) ?
				       (long)random_below(&a->rng, 20) :
				       -1);
}
