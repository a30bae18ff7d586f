/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Memory that is there, or the program ends: a load generator cannot do
 * anything useful without. */
#ifndef NFSLOAD_MEMORY_H
#define NFSLOAD_MEMORY_H

#include <err.h>
#include <stdlib.h>
#include <string.h>

static inline void *must_alloc(size_t count, size_t size)
{
	void *p = calloc(count, size);

	if (!p)
		err(2, "no memory");
	return p;
}

static inline void *must_resize(void *p, size_t count, size_t size)
{
	p = reallocarray(p, count, size);
	if (!p)
		err(2, "no memory for %zu items", count);
	return p;
}

static inline char *must_copy(const char *text)
{
	char *p = strdup(text);

	if (!p)
		err(2, "no memory");
	return p;
}

#endif
