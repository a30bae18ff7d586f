// SPDX-License-Identifier: LGPL-3.0-or-later
#include "changes.h"

#include <stddef.h>

#include "abstract_mem.h"
#include "common_utils.h"

#include "tree_number.h"

#define PLACES ((size_t)CHANGES_MAX * 2)

void changes_init(struct changes *changes)
{
	PTHREAD_RWLOCK_init(&changes->lock, NULL);
	atomic_init(&changes->used, 0);
	changes->table = NULL;
}

void changes_fini(struct changes *changes)
{
	PTHREAD_RWLOCK_destroy(&changes->lock);
	gsh_free(changes->table);
}

/* The object's place, or the free one where it would be. Under the lock. */
static struct change *place_of(struct changes *changes, uint64_t number)
{
	size_t i = tree_mix(number) % PLACES;

	while (changes->table[i].number != 0 &&
	       changes->table[i].number != number)
		i = (i + 1) % PLACES;
	return &changes->table[i];
}

struct change changes_get(struct changes *changes, uint64_t number)
{
	struct change change = { .number = number };

	if (atomic_load(&changes->used) == 0)
		return change;
	PTHREAD_RWLOCK_rdlock(&changes->lock);
	change = *place_of(changes, number);
	PTHREAD_RWLOCK_unlock(&changes->lock);
	return change;
}

/* The object's own place, made if need be; NULL when the table is full. */
static struct change *own_place(struct changes *changes, uint64_t number)
{
	struct change *change;

	if (changes->table == NULL)
		changes->table = gsh_calloc(PLACES, sizeof(*changes->table));
	change = place_of(changes, number);
	if (change->number == 0) {
		if (atomic_load(&changes->used) == CHANGES_MAX)
			return NULL;
		change->number = number;
		atomic_fetch_add(&changes->used, 1);
	}
	return change;
}

bool changes_bump(struct changes *changes, uint64_t number)
{
	struct change *change;

	PTHREAD_RWLOCK_wrlock(&changes->lock);
	change = own_place(changes, number);
	if (change != NULL)
		change->version++;
	PTHREAD_RWLOCK_unlock(&changes->lock);
	return change != NULL;
}

bool changes_hide(struct changes *changes, uint64_t number, bool hidden)
{
	struct change *change;

	PTHREAD_RWLOCK_wrlock(&changes->lock);
	change = own_place(changes, number);
	if (change != NULL)
		change->hidden = hidden;
	PTHREAD_RWLOCK_unlock(&changes->lock);
	return change != NULL;
}
