/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "ident.h"

#include <string.h>
#include <xxhash.h>

#include "mem.h"

#define IDENT_MAX   65535u
#define IDENT_SHARE 2048u /* one identity for so many bytes of budget */

bool ident_init(struct idents *d, struct budget *budget)
{
	uint64_t limit = atomic_load(&budget->limit);
	uint64_t wanted = limit / IDENT_SHARE;
	uint32_t slots = 16;

	memset(d, 0, sizeof(*d));
	d->capacity = wanted > IDENT_MAX ? IDENT_MAX : (uint32_t)wanted;
	while (slots < 2 * d->capacity)
		slots *= 2;
	d->index_mask = slots - 1;
	d->charge = (d->capacity + 1) * sizeof(struct ident) +
		    slots * sizeof(uint16_t);
	if (!budget_take(budget, d->charge))
		return false;
	d->budget = budget;
	d->table = mem_alloc((d->capacity + 1) * sizeof(struct ident));
	d->index = mem_alloc(slots * sizeof(uint16_t));
	pthread_mutex_init(&d->lock, NULL);
	if (!d->table || !d->index) {
		ident_destroy(d);
		return false;
	}
	d->count = 1;
	return true;
}

void ident_destroy(struct idents *d)
{
	if (!d->budget)
		return;
	mem_free(d->table);
	mem_free((void *)d->index);
	pthread_mutex_destroy(&d->lock);
	budget_give(d->budget, d->charge);
	d->budget = NULL;
}

/* The number, or 0 and the slot at which it would stand. */
static uint16_t find(const struct idents *d, const struct ident *id,
		     uint32_t *slot)
{
	uint32_t i = (uint32_t)XXH3_64bits(id, sizeof(*id)) & d->index_mask;

	for (;; i = (i + 1) & d->index_mask) {
		uint16_t n = atomic_load_explicit(&d->index[i],
						  memory_order_acquire);

		if (n && memcmp(&d->table[n], id, sizeof(*id)) != 0)
			continue;
		*slot = i;
		return n;
	}
}

int ident_number(struct idents *d, const struct ident *id)
{
	uint32_t slot;
	uint16_t n;

	if (!(id->owner | id->group | id->fsid_major | id->fsid_minor))
		return 0;
	n = find(d, id, &slot);
	if (n)
		return n;
	pthread_mutex_lock(&d->lock);
	n = find(d, id, &slot);
	if (!n && d->count <= d->capacity) {
		n = (uint16_t)d->count++;
		d->table[n] = *id;
		atomic_store_explicit(&d->index[slot], n, memory_order_release);
	}
	pthread_mutex_unlock(&d->lock);
	return n ? n : -1;
}
