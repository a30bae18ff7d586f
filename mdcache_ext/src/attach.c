/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "attach.h"

#include <string.h>

#include "cache.h"
#include "mem.h"

#define FIRST_BUCKETS 64u

static uint32_t bucket_of(const struct attachments *t, const void *object)
{
	return (uint32_t)(((uintptr_t)object >> 4) * 0x9e3779b97f4a7c15u >>
			  32) &
	       t->bucket_mask;
}

bool attach_init(struct mdx *c)
{
	struct attachments *t = &c->attachments;

	memset(t, 0, sizeof(*t));
	pthread_mutex_init(&t->lock, NULL);
	t->next_number = 1;
	t->bucket_mask = FIRST_BUCKETS - 1;
	t->buckets = mem_alloc(FIRST_BUCKETS * sizeof(struct mdx_attachment *));
	return t->buckets;
}

void attach_destroy(struct mdx *c)
{
	struct attachments *t = &c->attachments;

	for (unsigned int i = 0; i < ATTACH_SEGMENTS; i++)
		mem_free((void *)atomic_load(&t->segment[i]));
	mem_free(t->buckets);
	mem_free(t->free_numbers);
	pthread_mutex_destroy(&t->lock);
}

static _Atomic(struct mdx_attachment *) *place(const struct mdx *c,
					       uint32_t number)
{
	return atomic_load_explicit(
		       &c->attachments.segment[number / ATTACH_SEGMENT],
		       memory_order_acquire) +
	       number % ATTACH_SEGMENT;
}

static bool hold_unless_zero(struct mdx_attachment *a)
{
	uint32_t n = atomic_load_explicit(&a->refs, memory_order_relaxed);

	do {
		if (!n)
			return false;
	} while (!atomic_compare_exchange_weak_explicit(&a->refs, &n, n + 1,
							memory_order_acquire,
							memory_order_relaxed));
	return true;
}

struct mdx_attachment *attach_by_number(const struct mdx *c, uint32_t number)
{
	return atomic_load_explicit(place(c, number), memory_order_acquire);
}

struct mdx_attachment *attach_try(const struct mdx *c, uint32_t number)
{
	struct mdx_attachment *a = attach_by_number(c, number);

	return a && hold_unless_zero(a) ? a : NULL;
}

void attach_hold(struct mdx_attachment *a)
{
	atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
}

/* More buckets, if there is memory for them; chains grow longer otherwise. */
static void grow_buckets(struct attachments *t)
{
	uint32_t old = t->bucket_mask + 1;
	struct mdx_attachment **before = t->buckets;
	struct mdx_attachment **b =
		mem_alloc((size_t)old * 2 * sizeof(struct mdx_attachment *));

	if (!b)
		return;
	t->buckets = b;
	t->bucket_mask = 2 * old - 1;
	for (uint32_t i = 0; i < old; i++) {
		while (before[i]) {
			struct mdx_attachment *a = before[i];
			uint32_t to = bucket_of(t, a->release.object);

			before[i] = a->chain;
			a->chain = b[to];
			b[to] = a;
		}
	}
	mem_free(before);
}

/* A free number with its place in the table, 0: no memory. */
static uint32_t new_number(struct attachments *t)
{
	uint32_t s = t->next_number / ATTACH_SEGMENT;

	if (t->free_count)
		return t->free_numbers[--t->free_count];
	if (s == ATTACH_SEGMENTS)
		return 0;
	if (!atomic_load(&t->segment[s])) {
		_Atomic(struct mdx_attachment *) *segment =
			mem_alloc(ATTACH_SEGMENT * sizeof(*segment));

		if (!segment)
			return 0;
		atomic_store(&t->segment[s], segment);
	}
	/* Room to take every number back, now: later must not fail. */
	if (t->next_number >= t->free_room) {
		uint32_t room = t->free_room ? t->free_room * 2 : 64;
		uint32_t *numbers = mem_alloc(room * sizeof(*numbers));

		if (!numbers)
			return 0;
		mem_free(t->free_numbers); /* it is empty */
		t->free_numbers = numbers;
		t->free_room = room;
	}
	return t->next_number++;
}

static struct mdx_attachment *find(struct attachments *t, const void *object)
{
	struct mdx_attachment *a = t->buckets[bucket_of(t, object)];

	while (a && (a->release.object != object || !hold_unless_zero(a)))
		a = a->chain;
	return a;
}

struct mdx_attachment *mdx_attach(struct mdx *c, void *object, size_t charge)
{
	struct attachments *t = &c->attachments;
	struct mdx_attachment *a, *same;
	uint64_t cost = charge + sizeof(*a) + 2 * sizeof(void *);

	if (!object || charge > SIZE_MAX / 2)
		return NULL;
	a = mem_alloc(sizeof(*a));
	if (!a)
		return NULL;
	a->release.callback = c->params.attachment_release;
	a->release.object = object;
	pthread_mutex_lock(&t->lock);
	same = find(t, object);
	if (same) {
		/* The new block carries the surplus reference away. */
		pthread_mutex_unlock(&t->lock);
		release_surplus(c, &a->release);
		return same;
	}
	if (!budget_take(&c->budget, cost)) {
		pthread_mutex_unlock(&t->lock);
		mem_free(a);
		return NULL;
	}
	a->number = new_number(t);
	if (!a->number) {
		pthread_mutex_unlock(&t->lock);
		budget_give(&c->budget, cost);
		mem_free(a);
		return NULL;
	}
	a->release.charge = cost;
	atomic_store_explicit(&a->refs, 1, memory_order_relaxed);
	if (t->count++ > t->bucket_mask)
		grow_buckets(t);
	a->chain = t->buckets[bucket_of(t, object)];
	t->buckets[bucket_of(t, object)] = a;
	atomic_store_explicit(place(c, a->number), a, memory_order_release);
	pthread_mutex_unlock(&t->lock);
	return a;
}

void *mdx_attachment_object(const struct mdx_attachment *a)
{
	return a->release.object;
}

void mdx_detach(struct mdx *c, struct mdx_attachment *a)
{
	struct attachments *t = &c->attachments;
	struct mdx_attachment **at;

	if (!a ||
	    atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) > 1)
		return;
	pthread_mutex_lock(&t->lock);
	at = &t->buckets[bucket_of(t, a->release.object)];
	while (*at != a)
		at = &(*at)->chain;
	*at = a->chain;
	t->count--;
	atomic_store_explicit(place(c, a->number), NULL, memory_order_release);
	t->free_numbers[t->free_count++] = a->number;
	pthread_mutex_unlock(&t->lock);
	release_later(c, &a->release);
}

void attach_drop(struct mdx *c, uint32_t number)
{
	if (number)
		mdx_detach(c, attach_by_number(c, number));
}
