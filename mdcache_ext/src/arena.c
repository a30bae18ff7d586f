/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "arena.h"

#include <string.h>

#include "entry.h"
#include "mem.h"
#include "rcu.h"

enum {
	LIST_NONE,
	LIST_FREE,
	LIST_GONE,
	LIST_PARTIAL,
	LIST_EMPTY,
	LIST_DRAIN /* in none, but being emptied */
};

#define META	   ((uint64_t)sizeof(struct slab))
#define SLAB_COST  (SLAB_SIZE + META)
#define HUGE_LEAST ((uint64_t)512 << 20) /* budgets that get huge pages */

#define BLOCKS(bytes, what)                      \
	{                                        \
		bytes, SLAB_SIZE / (bytes), what \
	}

const struct class_info arena_classes[CLASS_COUNT] = {
	[CLASS_NONE] = { SLAB_SIZE, 1, KIND_NONE },
	[CLASS_SEGMENT] = BLOCKS(SLAB_SIZE, KIND_SEGMENT),
	[CLASS_OVERFLOW] = BLOCKS(64, KIND_OVERFLOW),
	[CLASS_ENTRY_FIRST] = BLOCKS(96, KIND_ENTRY),
	[CLASS_ENTRY_FIRST + 1] = BLOCKS(112, KIND_ENTRY),
	[CLASS_ENTRY_FIRST + 2] = BLOCKS(128, KIND_ENTRY),
	[CLASS_ENTRY_FIRST + 3] = BLOCKS(144, KIND_ENTRY),
	[CLASS_ENTRY_FIRST + 4] = BLOCKS(160, KIND_ENTRY),
	[CLASS_ENTRY_FIRST + 5] = BLOCKS(176, KIND_ENTRY),
	[CLASS_ENTRY_FIRST + 6] = BLOCKS(192, KIND_ENTRY),
	[CLASS_ENTRY_FIRST + 7] = BLOCKS(208, KIND_ENTRY),
	[CLASS_ENTRY_FIRST + 8] = BLOCKS(224, KIND_ENTRY),
	[CLASS_EXT] = BLOCKS(96, KIND_EXT),
	[CLASS_ASIDE_FIRST] = BLOCKS(64, KIND_ASIDE),
	[CLASS_ASIDE_FIRST + 1] = BLOCKS(112, KIND_ASIDE),
	[CLASS_ASIDE_FIRST + 2] = BLOCKS(160, KIND_ASIDE),
	[CLASS_BLOB_FIRST] = BLOCKS(64, KIND_BLOB),
	[CLASS_BLOB_FIRST + 1] = BLOCKS(128, KIND_BLOB),
	[CLASS_BLOB_FIRST + 2] = BLOCKS(256, KIND_BLOB),
	[CLASS_BLOB_FIRST + 3] = BLOCKS(640, KIND_BLOB),
	[CLASS_LEAF_FIRST] = BLOCKS(64, KIND_LEAF),
	[CLASS_LEAF_FIRST + 1] = BLOCKS(128, KIND_LEAF),
	[CLASS_LEAF_FIRST + 2] = BLOCKS(192, KIND_LEAF),
	[CLASS_LEAF_FIRST + 3] = BLOCKS(256, KIND_LEAF),
	[CLASS_LEAF_FIRST + 4] = BLOCKS(320, KIND_LEAF),
	[CLASS_LEAF_FIRST + 5] = BLOCKS(384, KIND_LEAF),
	[CLASS_LEAF_FIRST + 6] = BLOCKS(448, KIND_LEAF),
	[CLASS_LEAF_FIRST + 7] = BLOCKS(512, KIND_LEAF),
	[CLASS_LEAF_FIRST + 8] = BLOCKS(576, KIND_LEAF),
	[CLASS_LEAF_FIRST + 9] = BLOCKS(640, KIND_LEAF),
	[CLASS_NODE] = BLOCKS(320, KIND_NODE),
};

static void push(struct arena *a, struct slab_list *l, uint32_t s, uint8_t name)
{
	struct slab *slab = &a->slabs[s];

	slab->list = name;
	slab->prev = 0;
	slab->next = l->head;
	if (l->head)
		a->slabs[l->head].prev = s;
	l->head = s;
	l->count++;
}

static void unlink_slab(struct arena *a, struct slab_list *l, uint32_t s)
{
	struct slab *slab = &a->slabs[s];

	if (slab->prev)
		a->slabs[slab->prev].next = slab->next;
	else
		l->head = slab->next;
	if (slab->next)
		a->slabs[slab->next].prev = slab->prev;
	slab->list = LIST_NONE;
	l->count--;
}

bool arena_init(struct arena *a, struct budget *budget)
{
	memset(a, 0, sizeof(*a));
	/* Where address space is limited (ulimit -v), less has to do. */
	for (size_t size = (size_t)64 << 30; size >= (size_t)64 << 20;
	     size /= 2) {
		a->base = mem_reserve(size);
		if (a->base) {
			a->size = size;
			break;
		}
	}
	if (!a->base)
		return false;
	a->slab_count = (uint32_t)(a->size / SLAB_SIZE);
	a->slabs = mem_reserve(a->slab_count * sizeof(struct slab));
	if (!a->slabs || !mem_commit(a->slabs, a->slab_count * META, false)) {
		mem_unreserve(a->slabs, a->slab_count * META);
		mem_unreserve(a->base, a->size);
		a->base = NULL;
		return false;
	}
	a->frontier = 1; /* so that no reference is 0 */
	a->budget = budget;
	pthread_mutex_init(&a->lock, NULL);
	return true;
}

void arena_destroy(struct arena *a)
{
	if (!a->base)
		return;
	mem_unreserve(a->base, a->size);
	mem_unreserve(a->slabs, a->slab_count * META);
	pthread_mutex_destroy(&a->lock);
}

/* A slab that gets a new class. Blocks start as free: an odd sequence number,
 * and for entries a generation that no block here ever had. */
static void new_slab(struct arena *a, uint32_t s, unsigned int class)
{
	struct slab *slab = &a->slabs[s];
	const struct class_info *info = &arena_classes[class];
	char *p = arena_ptr(a, s * SLAB_UNITS);

	memset(p, 0, SLAB_SIZE);
	memset(slab->map, 0, sizeof(slab->map));
	slab->used = 0;
	if (info->kind == KIND_ENTRY || info->kind == KIND_LEAF ||
	    info->kind == KIND_NODE)
		for (unsigned int i = 0; i < info->count; i++)
			block_init_free(
				p + (size_t)i * info->size,
				info->kind == KIND_ENTRY ? slab->gen_base : 0);
	a->slabs_of[class]++;
	atomic_store_explicit(&slab->class, (uint8_t) class,
			      memory_order_release);
}

/* Puts a slab in the list that its use calls for, a full one in none. */
static void file_slab(struct arena *a, uint32_t s)
{
	struct slab *slab = &a->slabs[s];
	unsigned int class =
		atomic_load_explicit(&slab->class, memory_order_relaxed);

	slab->list = LIST_NONE;
	if (!slab->used)
		push(a, &a->empty[class], s, LIST_EMPTY);
	else if (slab->used < arena_classes[class].count)
		push(a, &a->partial[class], s, LIST_PARTIAL);
}

/* Takes a block of a slab that has some left. */
static uint32_t take_block(struct arena *a, uint32_t s, unsigned int class)
{
	const struct class_info *info = &arena_classes[class];
	struct slab *slab = &a->slabs[s];
	unsigned int w = 0, bit;

	while (!~slab->map[w])
		w++;
	bit = (unsigned int)__builtin_ctzll(~slab->map[w]);
	slab->map[w] |= (uint64_t)1 << bit;
	if (++slab->used == info->count)
		unlink_slab(a, &a->partial[class], s);
	atomic_fetch_add_explicit(&a->used_bytes, info->size,
				  memory_order_relaxed);
	return s * SLAB_UNITS + (w * 64 + bit) * (info->size / 16u);
}

static uint32_t alloc(struct arena *a, unsigned int class, bool new)
{
	uint32_t ref = 0;

	pthread_mutex_lock(&a->lock);
	if (!a->partial[class].head) {
		uint32_t s = a->empty[class].head;

		if (s) {
			unlink_slab(a, &a->empty[class], s);
		} else if (new && a->free.head) {
			s = a->free.head;
			unlink_slab(a, &a->free, s);
			new_slab(a, s, class);
		}
		if (s)
			push(a, &a->partial[class], s, LIST_PARTIAL);
	}
	if (a->partial[class].head)
		ref = take_block(a, a->partial[class].head, class);
	pthread_mutex_unlock(&a->lock);
	return ref;
}

uint32_t arena_alloc(struct arena *a, unsigned int class)
{
	return alloc(a, class, true);
}

uint32_t arena_alloc_old(struct arena *a, unsigned int class)
{
	return alloc(a, class, false);
}

void arena_free(struct arena *a, uint32_t ref)
{
	uint32_t s = ref / SLAB_UNITS;
	struct slab *slab = &a->slabs[s];
	unsigned int class = arena_class_of(a, ref);
	const struct class_info *info = &arena_classes[class];
	unsigned int i = ref % SLAB_UNITS / (info->size / 16u);

	pthread_mutex_lock(&a->lock);
	slab->map[i / 64] &= ~((uint64_t)1 << i % 64);
	slab->used--;
	if (slab->list == LIST_PARTIAL && !slab->used)
		unlink_slab(a, &a->partial[class], s);
	if (slab->list == LIST_NONE)
		file_slab(a, s);
	atomic_fetch_sub_explicit(&a->used_bytes, info->size,
				  memory_order_relaxed);
	pthread_mutex_unlock(&a->lock);
}

bool arena_has(struct arena *a, unsigned int class)
{
	uint32_t s;
	bool has;

	pthread_mutex_lock(&a->lock);
	s = a->partial[class].head;
	has = a->empty[class].head || a->free.head ||
	      (s && (a->slabs[s].next ||
		     a->slabs[s].used + 2 <= arena_classes[class].count));
	pthread_mutex_unlock(&a->lock);
	return has;
}

/* Chooses the slabs to commit: [*first, *first + n), or one that was given
 * back. Returns n, 0 if the budget or the address space is at its end. */
static uint32_t choose(struct arena *a, uint32_t *first, bool *huge)
{
	uint32_t start = (a->frontier + CHUNK_SLABS - 1) & ~(CHUNK_SLABS - 1);

	*huge = false;
	if (a->gone.head) {
		if (!budget_take(a->budget, SLAB_COST))
			return 0;
		*first = a->gone.head;
		unlink_slab(a, &a->gone, *first);
		return 1;
	}
	if (atomic_load_explicit(&a->budget->limit, memory_order_relaxed) >=
		    HUGE_LEAST &&
	    start + CHUNK_SLABS <= a->slab_count &&
	    budget_take(a->budget, CHUNK_SLABS * SLAB_COST)) {
		/* The rest of a chunk that was begun slab by slab. */
		for (uint32_t s = a->frontier; s < start; s++)
			push(a, &a->gone, s, LIST_GONE);
		a->frontier = start + CHUNK_SLABS;
		*first = start;
		*huge = true;
		return CHUNK_SLABS;
	}
	if (a->frontier >= a->slab_count || !budget_take(a->budget, SLAB_COST))
		return 0;
	*first = a->frontier++;
	return 1;
}

bool arena_grow(struct arena *a)
{
	uint32_t first, n;
	bool huge, ok;
	char *p;

	pthread_mutex_lock(&a->lock);
	n = choose(a, &first, &huge);
	ok = n && a->slabs[first].usable;
	pthread_mutex_unlock(&a->lock);
	if (!n)
		return false;
	p = arena_ptr(a, first * SLAB_UNITS);
	if (!ok)
		ok = mem_commit(p, (size_t)n * SLAB_SIZE, huge);
	if (ok) /* fault the pages in here, not under somebody's lock */
		for (size_t i = 0; i < (size_t)n * SLAB_SIZE; i += 4096)
			*(volatile char *)(p + i) = 0;
	pthread_mutex_lock(&a->lock);
	for (uint32_t s = first + n; s-- > first;) {
		a->slabs[s].usable = ok;
		push(a, ok ? &a->free : &a->gone, s,
		     ok ? LIST_FREE : LIST_GONE);
	}
	pthread_mutex_unlock(&a->lock);
	if (!ok)
		budget_give(a->budget, n * SLAB_COST);
	return ok;
}

/* The highest generation of a slab's entries, lest one be used again. */
static void save_generations(struct arena *a, uint32_t s)
{
	struct slab *slab = &a->slabs[s];
	const struct class_info *info = &arena_classes[atomic_load_explicit(
		&slab->class, memory_order_relaxed)];
	const char *p = arena_ptr(a, s * SLAB_UNITS);

	if (info->kind != KIND_ENTRY)
		return;
	for (unsigned int i = 0; i < info->count; i++) {
		uint32_t gen = block_generation(p + (size_t)i * info->size);

		if ((int32_t)(gen - slab->gen_base) > 0)
			slab->gen_base = gen;
	}
}

unsigned int arena_harvest(struct arena *a, unsigned int keep)
{
	struct slab_list limbo = { 0, 0 };
	unsigned int found;
	uint32_t s;

	pthread_mutex_lock(&a->lock);
	for (unsigned int class = 1; class < CLASS_COUNT; class ++) {
		while (class != keep && a->empty[class].head) {
			s = a->empty[class].head;
			unlink_slab(a, &a->empty[class], s);
			save_generations(a, s);
			a->slabs_of[class]--;
			atomic_store_explicit(&a->slabs[s].class, CLASS_NONE,
					      memory_order_release);
			push(a, &limbo, s, LIST_NONE);
		}
	}
	pthread_mutex_unlock(&a->lock);
	found = limbo.count;
	if (!found)
		return 0;
	rcu_wait();
	pthread_mutex_lock(&a->lock);
	while (limbo.head) {
		s = limbo.head;
		unlink_slab(a, &limbo, s);
		push(a, &a->free, s, LIST_FREE);
	}
	pthread_mutex_unlock(&a->lock);
	return found;
}

bool arena_shrink(struct arena *a)
{
	uint32_t s;

	pthread_mutex_lock(&a->lock);
	s = a->free.head;
	if (s)
		unlink_slab(a, &a->free, s);
	pthread_mutex_unlock(&a->lock);
	if (!s)
		return false;
	mem_release(arena_ptr(a, s * SLAB_UNITS), SLAB_SIZE);
	budget_give(a->budget, SLAB_COST);
	pthread_mutex_lock(&a->lock);
	push(a, &a->gone, s, LIST_GONE);
	pthread_mutex_unlock(&a->lock);
	return true;
}

static bool evictable(enum block_kind kind)
{
	return kind >= KIND_ENTRY && kind != KIND_NODE;
}

unsigned int arena_drain(struct arena *a, uint32_t s,
			 uint32_t refs[SLAB_BLOCKS_MAX])
{
	struct slab *slab = &a->slabs[s];
	const struct class_info *info;
	unsigned int class, n = 0;

	pthread_mutex_lock(&a->lock);
	class = atomic_load_explicit(&slab->class, memory_order_relaxed);
	info = &arena_classes[class];
	if (slab->used && slab->list != LIST_DRAIN && evictable(info->kind)) {
		if (slab->list == LIST_PARTIAL)
			unlink_slab(a, &a->partial[class], s);
		slab->list = LIST_DRAIN;
		for (unsigned int i = 0; i < info->count; i++)
			if (slab->map[i / 64] >> i % 64 & 1)
				refs[n++] =
					s * SLAB_UNITS + i * (info->size / 16u);
	}
	pthread_mutex_unlock(&a->lock);
	return n;
}

void arena_drained(struct arena *a, uint32_t s)
{
	pthread_mutex_lock(&a->lock);
	file_slab(a, s);
	pthread_mutex_unlock(&a->lock);
}

/* Not the one that its class is filling up just now. */
static bool is_sparse(const struct arena *a, uint32_t s)
{
	const struct slab *slab = &a->slabs[s];
	unsigned int class =
		atomic_load_explicit(&slab->class, memory_order_relaxed);
	const struct class_info *info = &arena_classes[class];

	return evictable(info->kind) && slab->used * 2 < info->count &&
	       a->partial[class].head != s;
}

uint32_t arena_next_slab(struct arena *a, bool sparse)
{
	uint32_t *hand = &a->sweep_hand[sparse];
	uint32_t s = 0;

	pthread_mutex_lock(&a->lock);
	for (uint32_t i = 0; i < 4096 && i < a->frontier; i++) {
		/* Downwards, so that whole chunks at the end fall empty. */
		*hand = *hand > 1 ? *hand - 1 : a->frontier - 1;
		if (a->slabs[*hand].used && (!sparse || is_sparse(a, *hand))) {
			s = *hand;
			break;
		}
	}
	pthread_mutex_unlock(&a->lock);
	return s;
}

uint32_t arena_free_slabs(struct arena *a)
{
	uint32_t n;

	pthread_mutex_lock(&a->lock);
	n = a->free.count;
	pthread_mutex_unlock(&a->lock);
	return n;
}

uint32_t arena_round(struct arena *a)
{
	uint32_t n;

	pthread_mutex_lock(&a->lock);
	n = a->frontier;
	pthread_mutex_unlock(&a->lock);
	return n;
}
