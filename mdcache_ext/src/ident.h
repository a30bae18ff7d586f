/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Owner, group and file system, which few files have all to themselves: stored
 * once in a table of at most 65,535 and named by 16 bits. Identities are never
 * taken out. When the table is full, new ones go into the entries' asides.
 * Reading takes no lock.
 */
#ifndef MDX_IDENT_H
#define MDX_IDENT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "budget.h"

struct ident {
	uint64_t owner;
	uint64_t group;
	uint64_t fsid_major;
	uint64_t fsid_minor;
};

struct idents {
	pthread_mutex_t lock;	 /* adding */
	struct ident *table;	 /* [0] is all zeros */
	_Atomic uint16_t *index; /* open addressing, 0: free */
	uint32_t capacity;
	uint32_t index_mask;
	uint32_t count;
	uint64_t charge;
	struct budget *budget;
};

/* Sized by the budget, which it is charged to. */
bool ident_init(struct idents *d, struct budget *budget);
void ident_destroy(struct idents *d);
/* The number of an identity, made if need be; -1: the table is full. */
int ident_number(struct idents *d, const struct ident *id);

static inline const struct ident *ident_get(const struct idents *d,
					    uint16_t number)
{
	return &d->table[number];
}

#endif
