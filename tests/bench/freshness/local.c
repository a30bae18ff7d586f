/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <jansson.h>
#include <stdio.h>
#include <time.h>

#include "files.h"
#include "local.h"
#include "nfsload.h"

enum {
	FILES = 2000
};

static void create(const char *path)
{
	file_create(path, 0);
}

static void write_some(const char *path)
{
	file_append(path, 1024);
}

static void change_mode(const char *path)
{
	file_chmod(path, 0600);
}

static const struct {
	const char *name;
	void (*call)(const char *path);
} calls[] = {
	{ "create", create },
	{ "write", write_some },
	{ "chmod", change_mode },
	{ "unlink", file_unlink },
};

enum {
	CALLS = sizeof(calls) / sizeof(calls[0])
};

struct spent {
	uint64_t wall; /* ns */
	uint64_t cpu;
};

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void all_files(void (*call)(const char *path), struct spent *spent)
{
	uint64_t began = now_ns(), cpu_began = cpu_ns();
	char path[NAME_SIZE];

	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "local/file%d", i);
		call(path);
	}
	spent->wall += now_ns() - began;
	spent->cpu += cpu_ns() - cpu_began;
}

int local_run(const char *directory, uint64_t duration)
{
	json_t *report = json_object();
	struct spent spent[CALLS] = { 0 };
	uint64_t began = now_ns(), rounds = 0;

	files_open(directory);
	file_mkdir("local");
	for (; !rounds || now_ns() - began < duration; rounds++) {
		for (unsigned i = 0; i < CALLS; i++)
			all_files(calls[i].call, &spent[i]);
	}
	file_rmdir("local");
	for (unsigned i = 0; i < CALLS; i++)
		json_object_set_new(
			report, calls[i].name,
			json_pack("{s:f, s:f}", "rate",
				  (double)(rounds * FILES) * 1e9 /
					  (double)spent[i].wall,
				  "cpu_us",
				  (double)spent[i].cpu / 1e3 /
					  (double)(rounds * FILES)));
	json_dumpf(report, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(report);
	return 0;
}
