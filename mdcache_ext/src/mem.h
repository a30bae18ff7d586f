/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * All memory of the engine is obtained here, so that a test can make it fail.
 * Two kinds: small blocks from the C library for what is few (structures,
 * attachments, handles, flights), and address space for the arena, of which
 * pieces are made usable ("committed") and given back.
 */
#ifndef MDX_MEM_H
#define MDX_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory, or NULL. */
void *mem_alloc(size_t size);
void mem_free(void *p);

/* Reserves address space without memory, aligned to 2 MiB, or NULL. */
void *mem_reserve(size_t size);
void mem_unreserve(void *p, size_t size);
/* Makes a reserved piece usable (page-aligned); it reads as zero. */
bool mem_commit(void *p, size_t size, bool huge);
/* Gives the memory of a committed piece back; it stays usable, as zero. */
void mem_release(void *p, size_t size);

/* For tests: after `count` more successes everything fails, until called with
 * a negative number. */
void mem_fail_after(long count);

#endif
