/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file changes.h
 * @brief Which objects of a tree were changed, and how
 *
 * A table of bounded size, empty unless a test changes something; to look
 * into an empty one costs next to nothing.
 */
#ifndef FAULT_CHANGES_H
#define FAULT_CHANGES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/** The most objects that may be changed at a time. */
#define CHANGES_MAX 65536

struct change {
	/** of the object; 0: a free place */
	uint64_t number;
	/** how often it was changed */
	uint32_t version;
	bool hidden;
};

struct changes {
	pthread_rwlock_t lock;
	/** places taken */
	atomic_uint used;
	/** CHANGES_MAX * 2 places, allocated with the first change */
	struct change *table;
};

void changes_init(struct changes *changes);
void changes_fini(struct changes *changes);

/** @brief What was done to an object; version 0 if nothing. */
struct change changes_get(struct changes *changes, uint64_t number);

/** @brief Raise an object's version; false when the table is full. */
bool changes_bump(struct changes *changes, uint64_t number);

/** @brief Hide an object or show it; false when the table is full. */
bool changes_hide(struct changes *changes, uint64_t number, bool hidden);

#endif /* FAULT_CHANGES_H */
