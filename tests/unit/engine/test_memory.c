/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Memory: the budget holds, is shared by use, and is given back; and where
 * there is none, the cache caches less. */
#include <pthread.h>
#include <unistd.h>

#include "engine_test.h"
#include "mem.h"

/* ThreadSanitizer takes its time; a share of the load will do. */
#ifdef __SANITIZE_THREAD__
#define SHARE 10
#else
#define SHARE 1
#endif

static atomic_bool stop;

static struct mdx_usage usage(struct mdx *c)
{
	struct mdx_usage u;

	mdx_usage(c, &u);
	return u;
}

static uint64_t resident(void)
{
	unsigned long size, pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%lu %lu", &size, &pages) != 2)
		pages = 0;
	if (f)
		fclose(f);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A name of 255 bytes. */
static const char *long_name(unsigned int n)
{
	static char name[256];

	memset(name, 'n', 255);
	memcpy(name + 200, &n, sizeof(n));
	return name;
}

static void test_long_names(void)
{
	uint64_t limit = 16 * MIB / SHARE;
	struct mdx *c = test_cache(1000, 100000, limit, 1);
	struct mdx_key key = test_key(1), dir = test_key(1000000);
	struct mdx_answer a;
	unsigned int recent = 0;

	test_put(c, 1, MDX_FOREVER);
	/* 100 MB into one directory. */
	for (unsigned int i = 0; i < 400000 / SHARE; i++) {
		int rc = mdx_name_put(c, mdx_ticket(c), dir, long_name(i), 255,
				      &key, MDX_FOREVER);

		CU_ASSERT_FATAL(rc == 0);
		if (i % 100 == 0)
			CU_ASSERT_FATAL(usage(c).bytes <= limit);
	}
	CU_ASSERT(usage(c).names > 20000 / SHARE);
	/* The child is never used, and has gone; the names are there. */
	for (unsigned int i = 399000 / SHARE; i < 400000 / SHARE; i++) {
		int rc = mdx_lookup(c, dir, long_name(i), 255, &a);

		recent += rc == 0 || rc == -ESTALE;
	}
	CU_ASSERT(recent > 900 / SHARE);
	mdx_destroy(c);
}

/* Entries and names in turn: whichever is in demand gets the memory. */
static void test_shared_by_use(void)
{
	uint64_t limit = 12 * MIB / (SHARE > 1 ? 6 : 1);
	struct mdx *c = test_cache(100000, 1000000, limit, 1);
	struct mdx_key key = test_key(0);
	struct mdx_usage u;

	for (unsigned int round = 0; round < (SHARE > 1 ? 1 : 3); round++) {
		for (unsigned int i = 0; i < 150000 / SHARE; i++)
			CU_ASSERT_FATAL(test_put(c, i, MDX_FOREVER) == 0);
		u = usage(c);
		CU_ASSERT(u.bytes <= limit);
		CU_ASSERT(u.stats > 60000 / SHARE);
		for (unsigned int i = 0; i < 450000 / SHARE; i++) {
			struct mdx_key dir = test_key(1000000 + i / 1000);
			char name[16];
			int len = sprintf(name, "name%u", i);

			CU_ASSERT_FATAL(mdx_name_put(c, mdx_ticket(c), dir,
						     name, (size_t)len, &key,
						     MDX_FOREVER) == 0);
		}
		u = usage(c);
		CU_ASSERT(u.bytes <= limit);
		CU_ASSERT(u.names > 120000 / SHARE);
	}
	CU_ASSERT(test_counter(c, MDX_C_STEAL) > 0);
	mdx_destroy(c);
}

static void test_shrink(void)
{
	struct mdx *c = test_cache(100000, 1000000, 128 * MIB / SHARE, 4);
	struct mdx_limits l;
	uint64_t full, before;

	for (unsigned int i = 0; i < 600000 / SHARE; i++)
		test_put(c, i, MDX_FOREVER);
	CU_ASSERT_EQUAL(usage(c).stats, 600000 / SHARE);
	full = usage(c).bytes;
	before = resident();
	mdx_get_limits(c, &l);
	l.max_bytes = 32 * MIB / SHARE;
	CU_ASSERT_EQUAL(mdx_set_limits(c, &l), -EINPROGRESS);
	while (!mdx_trim(c, 16))
		;
	CU_ASSERT(full > 70 * MIB / SHARE);
	CU_ASSERT(usage(c).bytes <= 32 * MIB / SHARE);
	CU_ASSERT(usage(c).stats > 150000 / SHARE); /* what has room stays */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	CU_ASSERT(before - resident() > 30 * MIB);
#endif
	(void)before;
	for (unsigned int i = 0; i < 600000 / SHARE; i++)
		CU_ASSERT_FATAL(test_put(c, i, MDX_FOREVER) == 0);
	CU_ASSERT(usage(c).bytes <= 32 * MIB / SHARE);
	l.max_bytes = 128 * MIB / SHARE;
	CU_ASSERT_EQUAL(mdx_set_limits(c, &l), 0);
	for (unsigned int i = 0; i < 600000 / SHARE; i++)
		test_put(c, i, MDX_FOREVER);
	CU_ASSERT(usage(c).stats > 550000 / SHARE);
	mdx_destroy(c);
}

/* Puts entries of all sizes, so that memory changes its use all the time. */
static void *put_all_sizes(void *arg)
{
	struct mdx *c = arg;
	char key[MDX_KEY_MAX] = { 0 };

	for (unsigned int i = 0; !atomic_load(&stop); i++) {
		struct mdx_key k = { key, (uint8_t)(8 + i / 3000 % 120), 0 };
		struct mdx_attrs attrs = test_attrs(i);

		memcpy(key, &i, sizeof(i));
		mdx_put(c, mdx_ticket(c), k, &attrs, MDX_FOREVER);
	}
	return NULL;
}

/* The engine's thread has no deadline, so this only ends a test that fails. */
static bool falls_to(struct mdx *c, uint64_t limit)
{
	for (unsigned int i = 0; i < 60000 && usage(c).bytes > limit; i++)
		usleep(1000);
	return usage(c).bytes <= limit;
}

/* The engine's thread does not give up while others take what it empties. */
static void test_shrink_in_use(void)
{
	for (unsigned int round = 0; round < (SHARE > 1 ? 2 : 8); round++) {
		struct mdx *c = test_cache(100000, 1000000, 32 * MIB, 4);
		struct mdx_limits l;
		pthread_t thread;

		for (unsigned int i = 0; i < 60000; i++)
			test_put(c, i, MDX_FOREVER);
		atomic_store(&stop, false);
		CU_ASSERT_FATAL(
			pthread_create(&thread, NULL, put_all_sizes, c) == 0);
		usleep(20000);
		mdx_get_limits(c, &l);
		l.max_bytes = usage(c).bytes / 2;
		CU_ASSERT_EQUAL(mdx_set_limits(c, &l), -EINPROGRESS);
		for (unsigned int i = 0;
		     i < 500 && usage(c).bytes > l.max_bytes; i++)
			usleep(1000);
		atomic_store(&stop, true);
		pthread_join(thread, NULL);
		CU_ASSERT(falls_to(c, l.max_bytes));
		mdx_destroy(c);
	}
}

/* Pins keep their memory, and no longer than they are there. */
static void test_shrink_pinned(void)
{
	const unsigned int share = SHARE > 1 ? 4 : 1;
	struct mdx *c = test_cache(100000, 200000, 40 * MIB / share, 1);
	struct mdx_limits l;
	unsigned int n = 60000 / share, pinned = 0;

	for (unsigned int i = n; i < 3 * n; i++)
		test_put(c, i, MDX_FOREVER);
	for (unsigned int i = 0; i < n; i++)
		CU_ASSERT_FATAL(mdx_pin(c, test_key(i)) == 0);
	mdx_get_limits(c, &l);
	/* What is not pinned is enough, though none of it is near the pins. */
	l.max_bytes = 20 * MIB / share;
	CU_ASSERT_EQUAL(mdx_set_limits(c, &l), -EINPROGRESS);
	while (!mdx_trim(c, 16))
		;
	CU_ASSERT(usage(c).bytes <= l.max_bytes);
	l.max_bytes = 6 * MIB / share;
	CU_ASSERT_EQUAL(mdx_set_limits(c, &l), -EINPROGRESS);
	while (!mdx_trim(c, 16))
		;
	CU_ASSERT(usage(c).bytes > l.max_bytes);
	CU_ASSERT_EQUAL(usage(c).pinned, n);
	usleep(100000); /* by now its thread has most likely found the same */
	for (unsigned int i = 0; i < n; i++)
		pinned += mdx_unpin(c, test_key(i)) == 0;
	CU_ASSERT_EQUAL(pinned, n);
	CU_ASSERT(falls_to(c, l.max_bytes));
	mdx_destroy(c);
}

/* A large directory is dropped at once, and its memory comes back. */
static void test_drop(void)
{
	struct mdx *c = test_cache(100, 1000, 64 * MIB, 1);
	struct mdx_key key = test_key(1), dir = test_key(1000000);
	uint64_t used;

	test_put(c, 1, MDX_FOREVER);
	used = usage(c).used;
	for (unsigned int i = 0; i < 300000 / SHARE; i++) {
		char name[16];
		int len = sprintf(name, "file%u", i);

		mdx_name_put(c, mdx_ticket(c), dir, name, (size_t)len, &key,
			     MDX_FOREVER);
	}
	CU_ASSERT_EQUAL(usage(c).names, 300000 / SHARE);
	CU_ASSERT(usage(c).used - used < 300000 / SHARE * 40);
	mdx_invalidate_names(c, dir);
	CU_ASSERT_EQUAL(usage(c).names, 0);
	while (!mdx_trim(c, 16))
		;
	CU_ASSERT(usage(c).used < used + 1000);
	mdx_destroy(c);
}

/* Every allocation fails once; nothing is wrong, nothing is lost. */
static void test_failures(void)
{
	struct mdx_params p;
	struct mdx *c = NULL;
	unsigned int failed = 0;

	mdx_params_init(&p);
	p.limits.max_bytes = 4 * MIB;
	for (long n = 0; !c; n++) {
		mem_fail_after(n);
		if (mdx_create(&p, &c))
			failed++;
		mem_fail_after(-1);
	}
	CU_ASSERT(failed > 10);
	mdx_destroy(c);

	c = test_cache(1000, 10000, 64 * MIB, 1);
	for (unsigned int i = 0; i < 1000; i++) {
		struct mdx_key key = test_key(i);

		test_put(c, i, MDX_FOREVER);
		mdx_name_put(c, mdx_ticket(c), test_key(2000000), (char *)&i, 4,
			     &key, MDX_FOREVER);
	}
	mem_fail_after(0);
	failed = 0;
	for (unsigned int i = 0; i < 2000 / SHARE; i++) {
		struct mdx_key dir = test_key(1000000), key = test_key(i);
		struct mdx_attrs attrs = test_attrs(i);
		struct mdx_flight *f;
		struct mdx_handle *h;
		struct mdx_answer a;
		int object, rc;

		attrs.generation = i;
		rc = mdx_put(c, mdx_ticket(c), key, &attrs, MDX_FOREVER);
		CU_ASSERT_FATAL(rc == 0 || rc == -ENOSPC);
		failed += rc != 0;
		if (mdx_get(c, key, MDX_GENERATION, &a) == 0)
			CU_ASSERT_EQUAL_FATAL(a.attrs.generation, i);
		rc = mdx_name_put(c, mdx_ticket(c), dir, (char *)&i, 4, &key,
				  MDX_FOREVER);
		CU_ASSERT_FATAL(rc == 0 || rc == -ENOSPC);
		CU_ASSERT_FATAL(mdx_flight_join(c, key, NULL, 0, 1, &f) ==
				-ENOMEM);
		CU_ASSERT_FATAL(mdx_attach(c, &object, 1) == NULL);
		CU_ASSERT_FATAL(mdx_pool_add(c, key, &object, 1, 1, &h) ==
				-ENOMEM);
	}
	mem_fail_after(-1);
	CU_ASSERT(failed < 2000 / SHARE); /* what there was has been used */
	CU_ASSERT_EQUAL(test_put(c, 20000, MDX_FOREVER), 0);
	mdx_destroy(c);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "names of 255 bytes", test_long_names },
		{ "memory is shared by use", test_shared_by_use },
		{ "a lower limit", test_shrink },
		{ "a lower limit in use", test_shrink_in_use },
		{ "a lower limit and pins", test_shrink_pinned },
		{ "a large directory is dropped", test_drop },
		{ "allocations fail", test_failures },
		CU_TEST_INFO_NULL
	};

	return cunit_main("memory", NULL, tests);
}
