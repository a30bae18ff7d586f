/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "mem.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_ALIGN ((size_t)2 << 20)

static atomic_long fail_countdown = -1;

static bool must_fail(void)
{
	if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) < 0)
		return false;
	if (atomic_fetch_sub_explicit(&fail_countdown, 1,
				      memory_order_relaxed) > 0)
		return false;
	atomic_store_explicit(&fail_countdown, 0, memory_order_relaxed);
	return true;
}

void mem_fail_after(long count)
{
	atomic_store_explicit(&fail_countdown, count, memory_order_relaxed);
}

void *mem_alloc(size_t size)
{
	return must_fail() ? NULL : calloc(1, size);
}

void mem_free(void *p)
{
	free(p);
}

void *mem_reserve(size_t size)
{
	char *start, *p;
	size_t whole = size + HUGE_ALIGN;
	size_t before;

	if (must_fail())
		return NULL;
	start = mmap(NULL, whole, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (start == MAP_FAILED)
		return NULL;
	before = -(uintptr_t)start & (HUGE_ALIGN - 1);
	p = start + before;
	if (before)
		munmap(start, before);
	munmap(p + size, HUGE_ALIGN - before);
	return p;
}

void mem_unreserve(void *p, size_t size)
{
	if (p)
		munmap(p, size);
}

bool mem_commit(void *p, size_t size, bool huge)
{
	if (must_fail() || mprotect(p, size, PROT_READ | PROT_WRITE))
		return false;
	/* Advice only: where it is not taken, pages are small. Without it,
	 * small ones are asked for, lest the system's default of huge pages
	 * hold more memory than the budget counts. */
	madvise(p, size, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return true;
}

void mem_release(void *p, size_t size)
{
	madvise(p, size, MADV_DONTNEED);
}
