// SPDX-License-Identifier: LGPL-3.0-or-later
#include "memlimit.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void lower(struct memlimit *limit, uint64_t bytes, const char *what,
		  const char *cgroup)
{
	if (bytes >= limit->bytes)
		return;
	limit->bytes = bytes;
	snprintf(limit->source, sizeof(limit->source), "%s%s", what, cgroup);
}

static void look_at_machine(const char *proc, struct memlimit *limit)
{
	char path[PATH_MAX];
	char line[256];
	uint64_t kib;
	FILE *f;

	snprintf(path, sizeof(path), "%s/meminfo", proc);
	f = fopen(path, "re");
	if (f == NULL)
		return;
	while (fgets(line, sizeof(line), f) != NULL) {
		if (strncmp(line, "MemTotal:", 9) != 0)
			continue;
		kib = strtoull(line + 9, NULL, 10);
		if (kib != 0)
			lower(limit, kib * 1024, "the machine's memory", "");
		break;
	}
	fclose(f);
}

/* One limit file. "max" (v2) and a number near 2^63 (v1) mean no limit. */
static void look_at_file(const char *root, const char *group, const char *name,
			 struct memlimit *limit)
{
	char path[PATH_MAX];
	char line[64];
	uint64_t bytes;
	char *end;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s%s/%s", root, group, name) >=
	    (int)sizeof(path))
		return;
	f = fopen(path, "re");
	if (f == NULL)
		return;
	if (fgets(line, sizeof(line), f) != NULL) {
		errno = 0;
		bytes = strtoull(line, &end, 10);
		if (end != line && errno == 0)
			lower(limit, bytes, "the memory limit of cgroup ",
			      group[0] ? group : "/");
	}
	fclose(f);
}

/* From a cgroup up to the root: every ancestor's limit holds. */
static void look_at_groups(const char *root, char *group, const char *name,
			   struct memlimit *limit)
{
	char *slash;

	for (;;) {
		look_at_file(root, group, name, limit);
		slash = strrchr(group, '/');
		if (slash == NULL)
			return;
		*slash = '\0';
	}
}

void memlimit_get(const char *proc, const char *cgroup, struct memlimit *limit)
{
	char path[PATH_MAX];
	char line[PATH_MAX];
	char *controllers;
	char *group;
	FILE *f;

	limit->bytes = UINT64_MAX;
	snprintf(limit->source, sizeof(limit->source), "nothing");
	look_at_machine(proc, limit);

	snprintf(path, sizeof(path), "%s/self/cgroup", proc);
	f = fopen(path, "re");
	if (f == NULL)
		return;
	/* Lines are ID:CONTROLLERS:PATH; v2's is 0::PATH. */
	while (fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		controllers = strchr(line, ':');
		if (controllers == NULL)
			continue;
		group = strchr(++controllers, ':');
		if (group == NULL)
			continue;
		*group++ = '\0';
		if (controllers[0] == '\0') {
			look_at_groups(cgroup, group, "memory.max", limit);
		} else if (strstr(controllers, "memory") != NULL) {
			snprintf(path, sizeof(path), "%s/memory", cgroup);
			look_at_groups(path, group, "memory.limit_in_bytes",
				       limit);
		}
	}
	fclose(f);
}
