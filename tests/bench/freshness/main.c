/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "changes.h"
#include "local.h"
#include "storm.h"

static const char help[] =
	"usage: freshprobe WHAT --directory DIR [OPTION...]\n"
	"\n"
	"Changes files in DIR and asks an NFSv3 server on this machine for them.\n"
	"Prints a line of JSON.\n"
	"\n"
	"  changes   changes one file or directory after the other, and asks for\n"
	"            it until the answer is right: the time of each kind\n"
	"  storm     very many changes, then a comparison of everything\n"
	"  local     the rates of create, write, chmod, unlink; asks nobody\n"
	"\n"
	"  --directory DIR    the export's directory, or another mount of it\n"
	"  --export PATH      its pseudo path; not for local\n"
	"  --seconds S        how long a storm or local goes on, default 2\n"
	"of changes:\n"
	"  --count N          changes of each kind, default 50\n"
	"  --first N          a number for the batch, default 0\n"
	"  --kinds A,B        only these\n"
	"  --askers N         more clients that ask the same at the same time,\n"
	"                     default 0\n"
	"  --spacing-us N     time between questions, default 0\n"
	"  --patience-ms N    how long a change is waited for before the next is\n"
	"                     made and it is asked for less often, default 2500;\n"
	"                     0: many changes at once\n"
	"  --limit S          after so many seconds an answer stays wrong,\n"
	"                     default 130\n"
	"  --settle-ms N      time between making files and asking for them,\n"
	"                     default 1500\n"
	"of a storm:\n"
	"  --rate N           changes a second, default 100000\n"
	"  --threads N        that make them, default 2\n"
	"  --directories N    of 250 files and 150 changing names, default 40\n"
	"  --freeze PID       the server, to be stopped for 2 s meanwhile\n"
	"  --grace-ms N       time from the last change to the comparison,\n"
	"                     default 2000\n"
	"\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0 done, 2 it could not be measured, 64 wrong usage.\n";

enum {
	WRONG_USAGE = 64,
	THREADS = 2,
	DIRECTORIES = 40,
	MS = 1000000
};

#define SECOND 1000000000.0

struct options {
	struct changes_options changes;
	struct storm_options storm;
};

static double number(const char *text, const char *option, double least)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= least && value <= 1e9))
		errx(WRONG_USAGE,
		     "--%s needs a number of at least %g, not "
		     "\"%s\"",
		     option, least, text);
	return value;
}

static void set_option(struct options *o, const char *name, const char *value)
{
	struct changes_options *c = &o->changes;
	struct storm_options *s = &o->storm;

	if (!strcmp(name, "directory"))
		c->directory = s->directory = value;
	else if (!strcmp(name, "export"))
		c->export = s->export = value;
	else if (!strcmp(name, "seconds"))
		s->duration = (uint64_t)(number(value, name, 0) * SECOND);
	else if (!strcmp(name, "count"))
		c->count = (unsigned)number(value, name, 1);
	else if (!strcmp(name, "askers"))
		c->askers = (unsigned)number(value, name, 0);
	else if (!strcmp(name, "first"))
		c->first = (unsigned)number(value, name, 0);
	else if (!strcmp(name, "kinds"))
		c->only = value;
	else if (!strcmp(name, "spacing-us"))
		c->spacing = (uint64_t)number(value, name, 0) * 1000;
	else if (!strcmp(name, "patience-ms"))
		c->patience = (uint64_t)number(value, name, 0) * MS;
	else if (!strcmp(name, "limit"))
		c->limit = (uint64_t)(number(value, name, 0) * SECOND);
	else if (!strcmp(name, "settle-ms"))
		c->settle = (uint64_t)number(value, name, 0) * MS;
	else if (!strcmp(name, "rate"))
		s->rate = number(value, name, 1);
	else if (!strcmp(name, "threads"))
		s->threads = (unsigned)number(value, name, 1);
	else if (!strcmp(name, "freeze"))
		s->freeze = (int)number(value, name, 1);
	else if (!strcmp(name, "directories"))
		s->directories = (unsigned)number(value, name, 1);
	else
		s->grace = (uint64_t)number(value, name, 0) * MS;
}

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option options[] = {
		{ "directory", required_argument, NULL, 'o' },
		{ "export", required_argument, NULL, 'o' },
		{ "seconds", required_argument, NULL, 'o' },
		{ "count", required_argument, NULL, 'o' },
		{ "askers", required_argument, NULL, 'o' },
		{ "first", required_argument, NULL, 'o' },
		{ "kinds", required_argument, NULL, 'o' },
		{ "spacing-us", required_argument, NULL, 'o' },
		{ "patience-ms", required_argument, NULL, 'o' },
		{ "limit", required_argument, NULL, 'o' },
		{ "settle-ms", required_argument, NULL, 'o' },
		{ "rate", required_argument, NULL, 'o' },
		{ "threads", required_argument, NULL, 'o' },
		{ "directories", required_argument, NULL, 'o' },
		{ "freeze", required_argument, NULL, 'o' },
		{ "grace-ms", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int c, which = 0;

	while ((c = getopt_long(argc, argv, "", options, &which)) != -1) {
		switch (c) {
		case 'o':
			set_option(o, options[which].name, optarg);
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		case 'V':
			puts("freshprobe " FRESHPROBE_VERSION);
			exit(0);
		default:
			exit(WRONG_USAGE);
		}
	}
	if (argc != optind + 1)
		errx(WRONG_USAGE, "one of changes, storm, local is needed: "
				  "see --help");
	if (o->storm.directories % o->storm.threads)
		errx(WRONG_USAGE,
		     "--directories must be a multiple of "
		     "--threads, %u",
		     o->storm.threads);
}

int main(int argc, char **argv)
{
	struct options o = {
		.changes = { .count = 50,
			     .patience = 2500ULL * MS,
			     .limit = (uint64_t)(130 * SECOND),
			     .settle = 1500ULL * MS },
		.storm = { .duration = (uint64_t)(2 * SECOND),
			   .rate = 100000,
			   .threads = THREADS,
			   .directories = DIRECTORIES,
			   .grace = 2000ULL * MS },
	};
	const char *what;

	parse(argc, argv, &o);
	what = argv[optind];
	if (!o.changes.directory)
		errx(WRONG_USAGE, "--directory is needed");
	if (strcmp(what, "local") && !o.changes.export)
		errx(WRONG_USAGE, "--export is needed");
	/* Waits of 1 ms must not take longer. */
	prctl(PR_SET_TIMERSLACK, 1);
	if (!strcmp(what, "changes"))
		return changes_run(&o.changes);
	if (!strcmp(what, "storm"))
		return storm_run(&o.storm);
	if (!strcmp(what, "local"))
		return local_run(o.changes.directory, o.storm.duration);
	errx(WRONG_USAGE, "there is no \"%s\": changes, storm or local", what);
}
