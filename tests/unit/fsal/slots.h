/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file slots.h
 * @brief Method vectors seen as arrays of slots
 *
 * A vector of Ganesha is a structure of function pointers and nothing else, so
 * it can be walked. The names come from a list, whose length is checked
 * against the vector's size when it is compiled: a method that a new version
 * adds cannot be missed.
 */
#ifndef SLOTS_H
#define SLOTS_H

#include "config.h"

#include <string.h>

#include "fsal.h"
#include "fsal_up.h"

typedef void (*slot_fn)(void);

struct vector {
	const char *what;
	const char *const *names;
	size_t count;
};

extern const struct vector obj_vector;
extern const struct vector export_vector;
extern const struct vector module_vector;
extern const struct vector up_vector;

/** The methods of an up vector, without what stands before them. */
#define UP_METHODS offsetof(struct fsal_up_vector, invalidate)

/** @brief One method of a vector; @a ops is the vector. */
static inline slot_fn slot_get(const void *ops, size_t i)
{
	slot_fn fn;

	memcpy(&fn, (const char *)ops + i * sizeof(fn), sizeof(fn));
	return fn;
}

static inline void slot_set(void *ops, size_t i, slot_fn fn)
{
	memcpy((char *)ops + i * sizeof(fn), &fn, sizeof(fn));
}

/** @brief The number of a method; ends the program if there is none. */
size_t slot_find(const struct vector *v, const char *name);

#endif /* SLOTS_H */
