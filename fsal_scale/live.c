// SPDX-License-Identifier: LGPL-3.0-or-later
#include "live.h"

#include <pthread.h>

#include "object.h"

#define PARTS 64

/** Keys that are copied out of a part at a time. */
#define CHUNK 256

static struct part {
	pthread_mutex_t lock;
	struct glist_head objects;
} __attribute__((aligned(64))) parts[PARTS];

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void)
{
	for (unsigned int i = 0; i < PARTS; i++) {
		PTHREAD_MUTEX_init(&parts[i].lock, NULL);
		glist_init(&parts[i].objects);
	}
}

/* Objects are of 300 bytes and more. */
static struct part *part_of(const struct scale_obj *obj)
{
	return &parts[((uintptr_t)obj >> 8) * UINT64_C(0x9e3779b97f4a7c15) >>
		      (64 - 6)];
}

void scale_live_add(struct scale_obj *obj)
{
	struct part *part = part_of(obj);

	pthread_once(&once, init);
	PTHREAD_MUTEX_lock(&part->lock);
	glist_add_tail(&part->objects, &obj->live);
	PTHREAD_MUTEX_unlock(&part->lock);
}

void scale_live_remove(struct scale_obj *obj)
{
	struct part *part = part_of(obj);

	if (glist_null(&obj->live))
		return;
	PTHREAD_MUTEX_lock(&part->lock);
	glist_del(&obj->live);
	PTHREAD_MUTEX_unlock(&part->lock);
}

struct copy {
	int type;
	uint8_t len;
	char key[SCALE_KEY_MAX];
};

/*
 * Copy the next keys of a part, and put their objects at its end, so that what
 * comes next is at its beginning. *left counts those that are still to be seen.
 */
static size_t take(struct part *part, uint8_t slot, size_t *left,
		   struct copy *copies)
{
	size_t n = 0;

	PTHREAD_MUTEX_lock(&part->lock);
	if (glist_empty(&part->objects))
		*left = 0;
	while (*left > 0 && n < CHUNK) {
		struct scale_obj *obj = glist_first_entry(
			&part->objects, struct scale_obj, live);

		(*left)--;
		glist_del(&obj->live);
		glist_add_tail(&part->objects, &obj->live);
		if (obj->slot != slot)
			continue;
		copies[n].type = (int)obj->obj.type;
		copies[n].len = obj->key_len;
		memcpy(copies[n++].key, obj->key, obj->key_len);
	}
	PTHREAD_MUTEX_unlock(&part->lock);
	return n;
}

void scale_live_each(uint8_t slot,
		     void (*each)(const void *key, size_t len, int type,
				  void *arg),
		     void *arg)
{
	struct copy *copies = gsh_malloc(CHUNK * sizeof(*copies));

	pthread_once(&once, init);
	for (unsigned int i = 0; i < PARTS; i++) {
		size_t left;

		PTHREAD_MUTEX_lock(&parts[i].lock);
		left = glist_length(&parts[i].objects);
		PTHREAD_MUTEX_unlock(&parts[i].lock);
		while (left > 0) {
			size_t n = take(&parts[i], slot, &left, copies);

			for (size_t k = 0; k < n; k++)
				each(copies[k].key, copies[k].len,
				     copies[k].type, arg);
		}
	}
	gsh_free(copies);
}
