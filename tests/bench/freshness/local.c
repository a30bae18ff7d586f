/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <jansson.h>
#include <stdio.h>

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

static uint64_t all_files(void (*call)(const char *path))
{
	uint64_t began = now_ns();
	char path[NAME_SIZE];

	for (int i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "local/file%d", i);
		call(path);
	}
	return now_ns() - began;
}

int local_run(const char *directory, uint64_t duration)
{
	uint64_t began = now_ns(), spent[CALLS] = { 0 }, rounds = 0;
	json_t *report = json_object();

	files_open(directory);
	file_mkdir("local");
	for (; !rounds || now_ns() - began < duration; rounds++) {
		for (unsigned i = 0; i < CALLS; i++)
			spent[i] += all_files(calls[i].call);
	}
	file_rmdir("local");
	for (unsigned i = 0; i < CALLS; i++)
		json_object_set_new(report, calls[i].name,
				    json_real((double)(rounds * FILES) * 1e9 /
					      (double)spent[i]));
	json_dumpf(report, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(report);
	return 0;
}
