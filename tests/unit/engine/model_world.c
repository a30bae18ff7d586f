/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "model_world.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define INDEX_SIZE 8192u

/* Names of the largest directory: several levels of a tree. */
#ifdef MODEL_TSAN
#define LARGE_DIR 300
#else
#define LARGE_DIR 1200
#endif

/* Ticks begin above 0, which means "never". */
_Atomic uint64_t model_ticks = 1;

static uint32_t hash_text(const uint8_t *text, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ text[i]) * 16777619u;
	return h ^ h >> 15;
}

int name_find(const struct world *w, const void *text, size_t len)
{
	uint32_t at = hash_text(text, len) % INDEX_SIZE;

	for (; w->name_index[at]; at = (at + 1) % INDEX_SIZE) {
		int number = w->name_index[at] - 1;
		const struct name *n = &w->names[number];

		if (n->len == len && memcmp(n->text, text, len) == 0)
			return number;
	}
	return -1;
}

static void make_names(struct world *w)
{
	uint64_t salt = w->seed;

	for (unsigned int i = 0; i < w->names_max; i++) {
		struct name *n = &w->names[i];
		uint32_t at;

		do {
			value_name(random_next(&salt), i, n);
		} while (name_find(w, n->text, n->len) >= 0);
		at = hash_text(n->text, n->len) % INDEX_SIZE;
		while (w->name_index[at])
			at = (at + 1) % INDEX_SIZE;
		w->name_index[at] = (uint16_t)(i + 1);
	}
}

static void make_objects(struct world *w)
{
	uint64_t salt = w->seed ^ 0x6b6579;

	for (unsigned int i = 0; i < KEYS; i++) {
		struct object *o = &w->objects[i];
		unsigned int j;

		do {
			value_key(random_next(&salt), i, o);
			for (j = 0; j < i; j++) {
				struct object *p = &w->objects[j];

				if (p->backend == o->backend &&
				    p->key_len == o->key_len &&
				    !memcmp(p->key, o->key, o->key_len))
					break;
			}
		} while (j < i);
	}
}

static struct version *make_cell(struct cell *c, struct version *v,
				 int32_t value)
{
	c->versions = v;
	atomic_init(&c->count, 1);
	atomic_init(&v[0].start, 0);
	atomic_init(&v[0].value, value);
	return v + CELL_MAX;
}

static bool make_cells(struct world *w)
{
	uint64_t rng = w->seed ^ 0x63656c6c;
	size_t cells = KEYS;
	struct version *v;

	for (unsigned int d = 0; d < DIRS; d++)
		cells += w->dirs[d].names;
	w->versions_size = cells * CELL_MAX * sizeof(*v);
	v = mmap(NULL, w->versions_size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (v == MAP_FAILED)
		return false;
	w->versions = v;
	for (unsigned int i = 0; i < KEYS; i++)
		v = make_cell(&w->objects[i].attrs, v, 0);
	for (unsigned int d = 0; d < DIRS; d++) {
		struct directory *dir = &w->dirs[d];

		for (unsigned int i = 0; i < dir->names; i++)
			v = make_cell(&dir->bindings[i].child, v,
				      one_in(&rng, 3) ? ABSENT :
							(int32_t)random_below(
								&rng, KEYS));
	}
	return true;
}

struct world *world_create(uint64_t seed)
{
	static const unsigned int sizes[DIRS] = { 1, 3, 24, 24, 80, LARGE_DIR };
	struct world *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->seed = seed;
	w->names_max = sizes[DIRS - 1];
	w->names = calloc(w->names_max, sizeof(*w->names));
	w->name_index = calloc(INDEX_SIZE, sizeof(*w->name_index));
	for (unsigned int d = 0; d < DIRS; d++) {
		w->dirs[d].names = sizes[d];
		w->dirs[d].bindings =
			calloc(sizes[d], sizeof(*w->dirs[d].bindings));
		if (!w->dirs[d].bindings)
			goto fail;
	}
	if (!w->names || !w->name_index)
		goto fail;
	make_names(w);
	make_objects(w);
	if (make_cells(w))
		return w;
fail:
	world_destroy(w);
	return NULL;
}

void world_destroy(struct world *w)
{
	if (!w)
		return;
	if (w->versions)
		munmap(w->versions, w->versions_size);
	for (unsigned int d = 0; d < DIRS; d++)
		free(w->dirs[d].bindings);
	free(w->name_index);
	free(w->names);
	free(w);
}

struct mdx_key object_key(const struct world *w, unsigned int object)
{
	const struct object *o = &w->objects[object];

	return (struct mdx_key){ o->key, o->key_len, o->backend };
}

/* The lock makes the tick of a version and its storing one step for those who
 * read; else one could read the old version after the new one's tick. */
struct reading cell_read(struct cell *c)
{
	struct reading r;

	spin_lock(&c->lock);
	r.version = atomic_load_explicit(&c->count, memory_order_relaxed) - 1;
	r.value = cell_value(c, r.version);
	spin_unlock(&c->lock);
	return r;
}

uint64_t cell_change(struct cell *c, int32_t value, uint32_t *version)
{
	uint64_t now = 0;
	uint32_t n;

	spin_lock(&c->lock);
	n = atomic_load_explicit(&c->count, memory_order_relaxed);
	if (n < CELL_MAX) {
		now = tick();
		atomic_store_explicit(&c->versions[n].start, now,
				      memory_order_relaxed);
		atomic_store_explicit(&c->versions[n].value, value,
				      memory_order_relaxed);
		atomic_store_explicit(&c->count, n + 1, MODEL_STORE);
		*version = n;
	}
	spin_unlock(&c->lock);
	return now;
}

struct window cell_window(const struct cell *c, uint64_t after, uint64_t until)
{
	struct window win;

	win.last = atomic_load_explicit(&c->count, MODEL_LOAD) - 1;
	while (win.last > 0 && load(&c->versions[win.last].start) > until)
		win.last--;
	win.first = win.last;
	/* The version before ended when this one started. */
	while (win.first > 0 && load(&c->versions[win.first].start) > after)
		win.first--;
	return win;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t wide_bound(const struct world *w, uint8_t backend)
{
	return later(load(&w->all_bound), load(&w->backend_bound[backend]));
}

void entry_bounds(const struct world *w, unsigned int object,
		  struct entry_bounds *bounds)
{
	const struct object *o = &w->objects[object];
	uint64_t wide = wide_bound(w, o->backend);

	for (unsigned int g = 0; g < GROUPS; g++)
		bounds->group[g] = later(wide, load(&o->bound[g]));
}

uint64_t name_bound(const struct world *w, unsigned int dir, unsigned int name)
{
	const struct directory *d = &w->dirs[dir];
	uint64_t wide = wide_bound(w, w->objects[dir].backend);

	return later(later(wide, load(&d->bound)),
		     load(&d->bindings[name].bound));
}

uint64_t entry_voided(const struct world *w, unsigned int object)
{
	const struct object *o = &w->objects[object];

	return later(wide_bound(w, o->backend), load(&o->voided));
}

uint64_t name_voided(const struct world *w, unsigned int dir, unsigned int name)
{
	return later(name_bound(w, dir, name),
		     load(&w->dirs[dir].bindings[name].voided));
}

uint64_t dir_foreign(const struct world *w, unsigned int dir)
{
	return later(wide_bound(w, w->objects[dir].backend),
		     load(&w->dirs[dir].foreign));
}

void bound_entry(struct world *w, unsigned int object, uint32_t mask,
		 uint64_t t)
{
	for (unsigned int g = 0; g < GROUPS; g++)
		if (mask & 1u << g)
			raise_to(&w->objects[object].bound[g], t);
}
