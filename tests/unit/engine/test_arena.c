/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The arena: blocks, budget, change of class. */
#include "arena.h"
#include "engine_test.h"
#include "entry.h"
#include "mem.h"

static uint32_t get(struct arena *a, unsigned int class)
{
	uint32_t ref = arena_alloc(a, class);

	while (!ref && arena_grow(a))
		ref = arena_alloc(a, class);
	return ref;
}

static void test_blocks(void)
{
	struct budget b = { .limit = 4 * MIB };
	struct arena a;

	CU_ASSERT_FATAL(arena_init(&a, &b));
	for (unsigned int class = 1; class < CLASS_COUNT; class ++) {
		static uint32_t refs[600];
		unsigned int n = class == CLASS_SEGMENT ? 20 : 600;

		for (unsigned int i = 0; i < n; i++) {
			refs[i] = get(&a, class);
			CU_ASSERT_FATAL(refs[i] != 0);
			CU_ASSERT(arena_is(&a, refs[i],
					   arena_classes[class].kind));
			CU_ASSERT_EQUAL(arena_class_of(&a, refs[i]), class);
			/* Nobody else's: write all of it, look later. */
			memset(arena_ptr(&a, refs[i]), (int)(i & 0x7f),
			       arena_classes[class].size);
		}
		for (unsigned int i = 0; i < n; i++) {
			const uint8_t *p = arena_ptr(&a, refs[i]);

			CU_ASSERT(p[0] == (i & 0x7f) &&
				  p[arena_classes[class].size - 1] ==
					  (i & 0x7f));
			arena_free(&a, refs[i]);
		}
		CU_ASSERT_EQUAL(atomic_load(&a.used_bytes), 0);
		arena_harvest(&a, CLASS_NONE);
	}
	CU_ASSERT(atomic_load(&b.held) <= 4 * MIB);
	arena_destroy(&a);
}

static void test_budget(void)
{
	struct budget b = { .limit = MIB };
	struct arena a;
	unsigned int n = 0;
	uint32_t ref, first = 0;

	CU_ASSERT_FATAL(arena_init(&a, &b));
	while ((ref = get(&a, CLASS_NODE))) {
		first = ref;
		n++;
		CU_ASSERT_FATAL(atomic_load(&b.held) <= MIB);
	}
	CU_ASSERT(n > MIB / 320 * 9 / 10);
	CU_ASSERT(!arena_has(&a, CLASS_NODE));
	arena_free(&a, first);
	CU_ASSERT_EQUAL(get(&a, CLASS_NODE), first); /* at once */
	CU_ASSERT_EQUAL(arena_harvest(&a, CLASS_NONE), 0);
	arena_destroy(&a);
}

static void test_generations(void)
{
	struct budget b = { .limit = MIB };
	struct arena a;
	uint32_t ref, last = 0;

	CU_ASSERT_FATAL(arena_init(&a, &b));
	for (unsigned int life = 1; life < 20; life++) {
		struct entry *e;

		ref = get(&a, CLASS_ENTRY_FIRST);
		e = arena_ptr(&a, ref);
		/* The slab was something else in between. */
		CU_ASSERT(life == 1 || block_generation(e) >= last);
		last = block_generation(e) + life;
		atomic_store(&e->gen, last);
		arena_free(&a, ref);
		CU_ASSERT_EQUAL(arena_harvest(&a, CLASS_NONE), 1);
		ref = get(&a, CLASS_NODE);
		memset(arena_ptr(&a, ref), 0xff, 320);
		CU_ASSERT(!arena_is(&a, ref, KIND_ENTRY));
		arena_free(&a, ref);
		CU_ASSERT_EQUAL(arena_harvest(&a, CLASS_NONE), 1);
	}
	arena_destroy(&a);
}

static void test_shrink(void)
{
	struct budget b = { .limit = 4 * MIB };
	struct arena a;
	static uint32_t refs[5000];
	unsigned int n = 0;
	uint64_t full;

	CU_ASSERT_FATAL(arena_init(&a, &b));
	while (n < 5000 && (refs[n] = get(&a, CLASS_BLOB_LAST)))
		n++;
	full = atomic_load(&b.held);
	while (n)
		arena_free(&a, refs[--n]);
	arena_harvest(&a, CLASS_NONE);
	while (arena_shrink(&a))
		;
	CU_ASSERT(full > 3 * MIB);
	CU_ASSERT_EQUAL(atomic_load(&b.held), 0);
	/* And again: what was given back reads as zero and is usable. */
	refs[0] = get(&a, CLASS_OVERFLOW);
	CU_ASSERT(refs[0] != 0);
	CU_ASSERT_EQUAL(*(uint64_t *)arena_ptr(&a, refs[0]), 0);
	arena_destroy(&a);
}

/* A slab that is being emptied does not fill up again meanwhile. */
static void test_drain(void)
{
	struct budget b = { .limit = MIB };
	uint32_t refs[SLAB_BLOCKS_MAX] = { 0 }, listed[SLAB_BLOCKS_MAX];
	uint32_t slab, other;
	unsigned int n = arena_classes[CLASS_BLOB_FIRST].count;
	struct arena a;

	CU_ASSERT_FATAL(arena_init(&a, &b));
	for (unsigned int i = 0; i < n; i++)
		refs[i] = get(&a, CLASS_BLOB_FIRST);
	slab = refs[0] / SLAB_UNITS;
	arena_free(&a, refs[--n]);
	CU_ASSERT_EQUAL(arena_drain(&a, slab, listed), n);
	CU_ASSERT(!memcmp(refs, listed, n * sizeof(refs[0])));
	CU_ASSERT_EQUAL(arena_drain(&a, slab, listed), 0);
	arena_free(&a, refs[--n]);
	other = get(&a, CLASS_BLOB_FIRST);
	CU_ASSERT(other && other / SLAB_UNITS != slab);
	arena_drained(&a, slab); /* blocks are left, and it is used again */
	CU_ASSERT_EQUAL(get(&a, CLASS_BLOB_FIRST), refs[n++]);
	CU_ASSERT_EQUAL(arena_drain(&a, slab, listed), n);
	while (n)
		arena_free(&a, refs[--n]);
	CU_ASSERT_EQUAL(arena_harvest(&a, CLASS_NONE), 0);
	arena_drained(&a, slab);
	CU_ASSERT_EQUAL(arena_drain(&a, slab, listed), 0);
	CU_ASSERT_EQUAL(arena_harvest(&a, CLASS_NONE), 1);
	/* What the hash table uses cannot be evicted. */
	other = get(&a, CLASS_OVERFLOW);
	CU_ASSERT_EQUAL(arena_drain(&a, other / SLAB_UNITS, listed), 0);
	arena_destroy(&a);
}

static void test_no_memory(void)
{
	struct budget b = { .limit = 4 * MIB };
	struct arena a;

	mem_fail_after(0);
	CU_ASSERT(!arena_init(&a, &b));
	mem_fail_after(-1);
	CU_ASSERT_FATAL(arena_init(&a, &b));
	mem_fail_after(0);
	CU_ASSERT(!arena_grow(&a));
	mem_fail_after(-1);
	CU_ASSERT_EQUAL(atomic_load(&b.held), 0);
	CU_ASSERT(arena_grow(&a));
	arena_destroy(&a);
}

int main(void)
{
	CU_TestInfo tests[] = { { "blocks of every class", test_blocks },
				{ "the budget holds", test_budget },
				{ "generations outlive a slab's other uses",
				  test_generations },
				{ "memory is given back", test_shrink },
				{ "a slab is emptied", test_drain },
				{ "the system has no memory", test_no_memory },
				CU_TEST_INFO_NULL };

	return cunit_main("arena", NULL, tests);
}
