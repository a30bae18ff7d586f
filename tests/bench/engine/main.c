/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

#define GB 1000000000ull

/* What is run, in this order; the timed library is for locks only. */
static const struct part {
	const char *name;
	part_fn run;
	uint64_t entries;
	bool control;
	bool quick;	 /* also in a quick run */
	bool timed;	 /* by the program with MDX_LOCK_TIMING */
	uint64_t memory; /* that has to be available */
} parts[] = {
	{ "bytes", part_bytes, MILLION, false, true, false, GB },
	{ "bytes-control", part_bytes_control, MILLION, true, true, false, GB },
	{ "whole", part_whole, 18 * MILLION, false, false, false, 8 * GB },
	{ "budget", part_budget, 0, false, true, false, GB },
	{ "budget-control", part_budget, 0, true, true, false, GB },
	{ "latency-100k", part_latency, 100000, false, true, false, GB },
	{ "latency-1m", part_latency, MILLION, false, true, false, GB },
	{ "latency-1m-control", part_latency, MILLION, true, true, false, GB },
	{ "latency-18m", part_latency, 18 * MILLION, false, false, false,
	  6 * GB },
	{ "latency-18m-control", part_latency, 18 * MILLION, true, false, false,
	  6 * GB },
	{ "threads", part_threads, MILLION, false, true, false, GB },
	{ "threads-control", part_threads, MILLION, true, true, false, GB },
	{ "locks", part_locks, 0, false, true, true, 2 * GB },
};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

static void usage(FILE *to)
{
	fputs("usage: bench-engine [--quick] [--json FILE] [PART...]\n"
	      "\n"
	      "Measures the cache engine: memory, latency, scaling, locks.\n"
	      "\n"
	      "  --quick      a million entries at most, in less than a minute\n"
	      "  --json FILE  results for programs, with all samples\n"
	      "  --help       this text\n"
	      "  --version    the version\n"
	      "\n"
	      "Parts:",
	      to);
	for (size_t i = 0; i < PARTS; i++)
		fprintf(to, " %s", parts[i].name);
	fputs("\nExit status: 0 all targets reached, 1 one was missed, 2 it "
	      "could not be measured, 64 wrong usage.\n",
	      to);
}

static int run_here(const struct part *p, bool quick)
{
	struct options o = { .quick = quick,
			     .entries = p->entries,
			     .control = p->control };
	json_t *results = json_array();

	p->run(&o, results);
	json_dumpf(results, stdout, JSON_COMPACT);
	json_decref(results);
	return fflush(stdout) ? 2 : 0;
}

/* The program that has the lock times lies beside this one. */
static void program_of(const struct part *p, char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 8);

	if (n < 0)
		die("/proc/self/exe cannot be read: is /proc mounted?");
	snprintf(path + n, size - (size_t)n, "%s", p->timed ? "-timed" : "");
}

/* Runs a part in a process of its own and adds what it found. */
static bool run_part(const struct part *p, bool quick, json_t *results)
{
	char path[4096];
	json_t *found;
	int ends[2], status;
	FILE *from;
	pid_t pid;

	fprintf(stderr, "  %s ...\n", p->name);
	program_of(p, path, sizeof(path));
	if (pipe(ends))
		die("no pipe");
	pid = fork();
	if (pid < 0)
		die("no process");
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(path, path, "--part", p->name, quick ? "--quick" : NULL,
		      (char *)NULL);
		die("%s cannot be run: build it", path);
	}
	close(ends[1]);
	from = fdopen(ends[0], "r");
	found = from ? json_loadf(from, 0, NULL) : NULL;
	if (from)
		fclose(from);
	if (waitpid(pid, &status, 0) != pid || status ||
	    !json_is_array(found)) {
		fprintf(stderr, "bench engine: %s was not measured\n", p->name);
		json_decref(found);
		return false;
	}
	json_array_extend(results, found);
	json_decref(found);
	return true;
}

static bool write_json(const char *file, json_t *results, const char *command)
{
	json_t *all = json_pack("{s:s, s:o, s:s, s:O}", "bench", "engine",
				"machine", machine(), "command", command,
				"results", results);
	int r = json_dump_file(all, file, JSON_INDENT(1));

	json_decref(all);
	if (r)
		fprintf(stderr, "bench engine: %s cannot be written\n", file);
	return r == 0;
}

static const struct part *find_part(const char *name)
{
	for (size_t i = 0; i < PARTS; i++)
		if (!strcmp(parts[i].name, name))
			return &parts[i];
	return NULL;
}

static bool wanted(const struct part *p, bool quick, char **names, int count)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(p->name, names[i]))
			return true;
	return count == 0 && (p->quick || !quick);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "quick", no_argument, NULL, 'q' },
		{ "json", required_argument, NULL, 'j' },
		{ "part", required_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	const char *json = NULL, *part = NULL;
	bool quick = false, measured = true;
	char command[512] = "bench-engine";
	json_t *results;
	bool ok;
	int c;

	for (int i = 1; i < argc; i++) {
		size_t at = strlen(command);

		snprintf(command + at, sizeof(command) - at, " %s", argv[i]);
	}
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'q':
			quick = true;
			break;
		case 'j':
			json = optarg;
			break;
		case 'p':
			part = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		case 'v':
			puts("bench-engine " BENCH_VERSION);
			return 0;
		default:
			usage(stderr);
			return 64;
		}
	}
	for (int i = optind; i < argc; i++) {
		if (find_part(argv[i]))
			continue;
		fprintf(stderr, "bench engine: no part \"%s\"\n", argv[i]);
		usage(stderr);
		return 64;
	}
	if (part)
		return find_part(part) ? run_here(find_part(part), quick) : 64;
	results = json_array();
	for (size_t i = 0; i < PARTS; i++) {
		const struct part *p = &parts[i];

		if (!wanted(p, quick, argv + optind, argc - optind))
			continue;
		if (available() < p->memory) {
			fprintf(stderr,
				"bench engine: %s needs %llu GB of free "
				"memory: not measured\n",
				p->name, (unsigned long long)(p->memory / GB));
			measured = false;
			continue;
		}
		if (!run_part(p, quick, results))
			measured = false;
	}
	report_table(results);
	ok = report_ok(results);
	if (json && !write_json(json, results, command))
		measured = false;
	json_decref(results);
	if (!ok)
		return 1;
	return measured ? 0 : 2;
}
