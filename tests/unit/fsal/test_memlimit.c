// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The memory limit, found in trees that look like /proc and /sys/fs/cgroup.
 */
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cunit_main.h"
#include "memlimit.h"

static char root[] = "/tmp/scale-memlimit-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* Write one file below the root, with the folders that lead to it. */
static void put(const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	f = fopen(path, "w");
	if (f == NULL)
		abort();
	fputs(text, f);
	fclose(f);
}

static struct memlimit get(void)
{
	char proc[64];
	char cgroup[64];
	struct memlimit limit;

	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(cgroup, sizeof(cgroup), "%s/cgroup", root);
	memlimit_get(proc, cgroup, &limit);
	return limit;
}

static void begin(const char *meminfo, const char *cgroup)
{
	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	if (meminfo != NULL)
		put("proc/meminfo", meminfo);
	if (cgroup != NULL)
		put("proc/self/cgroup", cgroup);
}

static const char mem_1g[] = "MemFree: 17 kB\nMemTotal:  1048576 kB\n";

static void test_machine(void)
{
	struct memlimit limit;

	begin(mem_1g, NULL);
	limit = get();
	CU_ASSERT_EQUAL(limit.bytes, 1ULL << 30);
	CU_ASSERT_STRING_EQUAL(limit.source, "the machine's memory");

	begin(NULL, NULL);
	CU_ASSERT_EQUAL(get().bytes, UINT64_MAX);
	begin("MemTotal: none\n", NULL);
	CU_ASSERT_EQUAL(get().bytes, UINT64_MAX);
}

static void test_v2(void)
{
	struct memlimit limit;

	begin(mem_1g, "0::/a/b\n");
	put("cgroup/a/b/memory.max", "max\n");
	CU_ASSERT_EQUAL(get().bytes, 1ULL << 30);

	/* On an ancestor, as a container's is. */
	put("cgroup/a/memory.max", "536870912\n");
	limit = get();
	CU_ASSERT_EQUAL(limit.bytes, 512ULL << 20);
	CU_ASSERT_STRING_EQUAL(limit.source, "the memory limit of cgroup /a");

	/* The smallest of them, wherever it stands. */
	put("cgroup/a/b/memory.max", "1048576\n");
	CU_ASSERT_EQUAL(get().bytes, 1ULL << 20);
	put("cgroup/memory.max", "4096\n");
	CU_ASSERT_EQUAL(get().bytes, 4096);

	/* More than the machine has is no limit. */
	begin(mem_1g, "0::/\n");
	put("cgroup/memory.max", "2147483648\n");
	CU_ASSERT_EQUAL(get().bytes, 1ULL << 30);
}

static void test_v1(void)
{
	struct memlimit limit;

	begin(mem_1g, "4:cpu,cpuacct:/x\n3:memory:/a/b\n1:name=systemd:/c\n");
	put("cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
	CU_ASSERT_EQUAL(get().bytes, 1ULL << 30);
	put("cgroup/memory/a/memory.limit_in_bytes", "268435456\n");
	limit = get();
	CU_ASSERT_EQUAL(limit.bytes, 256ULL << 20);
	CU_ASSERT_STRING_EQUAL(limit.source, "the memory limit of cgroup /a");
}

static void test_garbage(void)
{
	begin(mem_1g, "\n:\n0:\n0:x\n::::\n0::/a\n");
	put("cgroup/a/memory.max", "");
	CU_ASSERT_EQUAL(get().bytes, 1ULL << 30);
	put("cgroup/a/memory.max", "99999999999999999999999\n");
	CU_ASSERT_EQUAL(get().bytes, 1ULL << 30);
	put("cgroup/a/memory.max", "abc\n");
	CU_ASSERT_EQUAL(get().bytes, 1ULL << 30);
}

static void test_here(void)
{
	struct memlimit limit;

	memlimit_get("/proc", "/sys/fs/cgroup", &limit);
	CU_ASSERT(limit.bytes > (1 << 20) && limit.bytes < UINT64_MAX);
}

static int setup(void)
{
	return mkdtemp(root) == NULL;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "the machine's", test_machine }, { "cgroup v2", test_v2 },
		{ "cgroup v1", test_v1 },	   { "garbage", test_garbage },
		{ "this machine's", test_here },   CU_TEST_INFO_NULL,
	};
	int status = cunit_main("memlimit", setup, tests);

	nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return status;
}
