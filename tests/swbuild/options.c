// SPDX-License-Identifier: LGPL-3.0-or-later
#include "options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	KEY_VERSION = 256,
	KEY_NFS,
	KEY_PORT,
	KEY_MOUNT_PORT,
	KEY_UID,
	KEY_GID,
	KEY_DEPTH,
	KEY_SERVER_PID,
	KEY_SCALE,
	KEY_SEED,
	KEY_WARMUP,
	KEY_PAST,
	KEY_BISECT,
	KEY_LIMIT,
	KEY_RATE,
	KEY_REUSE,
	KEY_TRUST,
	KEY_REMOVE,
	KEY_JSON,
	KEY_CSV,
	KEY_PLOT,
	KEY_LABEL,
	KEY_PROGRESS,
	KEY_QUIET
};

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "The server:", 1 },
	{ "server", 's', "HOST", 0, "Its name or address", 1 },
	{ "export", 'e', "PATH", 0, "The export's path (NFSv4: pseudo path)",
	  1 },
	{ "nfs", KEY_NFS, "VERSION", 0, "3 (default), 4.0 or 4.1", 1 },
	{ "port", KEY_PORT, "N", 0,
	  "Default: NFSv3 asks the portmapper, NFSv4 takes 2049", 1 },
	{ "mount-port", KEY_MOUNT_PORT, "N", 0,
	  "NFSv3 only; default: the portmapper's word", 1 },
	{ "connections", 'c', "N", 0, "TCP connections a thread (1)", 1 },
	{ "depth", KEY_DEPTH, "N", 0,
	  "Requests in flight a thread, at most (1024); NFSv4.1: "
	  "slots asked for",
	  1 },
	{ "uid", KEY_UID, "N", 0, "AUTH_SYS user (one's own)", 1 },
	{ "gid", KEY_GID, "N", 0, "AUTH_SYS group (one's own)", 1 },
	{ "server-pid", KEY_SERVER_PID, "PID", 0,
	  "The server's process on this machine: its CPU time is reported", 1 },

	{ NULL, 0, NULL, 0, "The load:", 2 },
	{ "builds", 'b', "FROM[-[TO]][:[x]STEP]", 0,
	  "BUILDs (500 ops/s each): 4, 1-8, 1-8:0.5, 1-64:x2 (doubling), or "
	  "1- (until it is too much); default 1-",
	  2 },
	{ "mix", 'm', "NAME|FILE", 0,
	  "swbuild (default), make, or a file with lines \"OPERATION SHARE\"",
	  2 },
	{ "scale", KEY_SCALE, "F", 0,
	  "Size of the file set: 1 (default) has 25,000 files a BUILD", 2 },
	{ "directory", 'd', "NAME", 0,
	  "The directory in the export that holds the set (swbuild)", 2 },
	{ "reuse", KEY_REUSE, NULL, 0,
	  "Use the set that is there, if it is one of this scale and seed; "
	  "else an old set is replaced",
	  2 },
	{ "trust", KEY_TRUST, NULL, 0,
	  "The same, without listing its directories to see whether all is "
	  "there",
	  2 },
	{ "remove", KEY_REMOVE, NULL, 0, "Remove the set at the end", 2 },
	{ "warmup", KEY_WARMUP, "SECONDS", 0, "Before each point (5)", 2 },
	{ "time", 't', "SECONDS", 0, "Measured of each point (20)", 2 },
	{ "past", KEY_PAST, "N", 0,
	  "Invalid points in a row that end the climb (2); 0: go to the end",
	  2 },
	{ "bisect", KEY_BISECT, "N", 0,
	  "Then halve the distance to the first invalid point N times (0)", 2 },
	{ "limit", KEY_LIMIT, "MS", 0,
	  "A valid point's average response time, at most (10)", 2 },
	{ "least-rate", KEY_RATE, "PERCENT", 0,
	  "What a valid point achieves of the asked rate (95)", 2 },
	{ "threads", 'j', "N", 0, "Threads of the client (1)", 2 },
	{ "seed", KEY_SEED, "N", 0, "Of sizes and choices (1)", 2 },

	{ NULL, 0, NULL, 0, "The results:", 4 },
	{ "json", KEY_JSON, "FILE", 0, "Write all figures as JSON", 4 },
	{ "csv", KEY_CSV, "FILE", 0, "Write a line a point and operation", 4 },
	{ "plot", KEY_PLOT, "FILE", 0,
	  "Draw response time over ops/s: FILE.png or FILE.svg", 4 },
	{ "label", KEY_LABEL, "TEXT", 0, "This run's name in pictures", 4 },
	{ "progress", KEY_PROGRESS, NULL, 0,
	  "Show what goes on, even if that is no terminal", 4 },
	{ "quiet", KEY_QUIET, NULL, 0, "Do not show what goes on", 4 },

	{ NULL, 0, NULL, 0, "Help:", -1 },
	{ "version", KEY_VERSION, "VERSION", OPTION_ARG_OPTIONAL,
	  "Print the program's version; with 3, 4.0 or 4.1 it is --nfs", -1 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static const char doc[] =
	"An NFS client that puts the load of software builds on a server, "
	"raises it step by step, and finds the last valid point: average "
	"response time at most 10 ms and 95% of the asked rate."
	"\v"
	"One BUILD is 5 processes of 100 operations a second, paced: what is "
	"begun late counts its waiting time.  Each process owns 50 directories "
	"of 100 files of 16 KiB on average.\n"
	"\n"
	"Operations of a mix: stat stat_negative fstat lookup access chmod "
	"read_file open_negative write_file write_new create unlink mkdir "
	"readdir.\n"
	"\n"
	"Exit status: 0 fine, 1 a point had errors or none was valid, 2 "
	"nothing could be measured, 64 wrong usage.\n"
	"\n"
	"  swbuild --server nas --export /data --nfs 4.1 --builds 1-20 "
	"--scale 0.1\n"
	"  swbuild --server nas --export /data --replay build.tsv.gz\n"
	"  swbuild plot RUN.json... -o FILE.png";

static uint32_t number(const struct argp_state *state, const char *text,
		       const char *option, uint32_t least, uint32_t most)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || value < least ||
	    value > most)
		argp_error(state,
			   "--%s needs a number from %u to %u, not \"%s\"",
			   option, least, most, text);
	return (uint32_t)value;
}

double options_decimal(const struct argp_state *state, const char *text,
		       const char *option, double least, double most)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= least && value <= most))
		argp_error(state,
			   "--%s needs a number from %g to %g, not \"%s\"",
			   option, least, most, text);
	return value;
}

static void version(const struct argp_state *state, const char *text,
		    enum sw_version *version)
{
	if (!sw_version_parse(text, version))
		argp_error(state,
			   "there is no NFS version \"%s\" here: use 3, 4.0 "
			   "or 4.1",
			   text);
}

static void read_mix(const struct argp_state *state, const char *name,
		     struct mix *mix)
{
	char wrong[512];

	if (mix_find(mix, name))
		return;
	if (mix_read(mix, name, wrong, sizeof(wrong)) < 0)
		argp_error(state, "%s", wrong);
}

static void check_picture(const struct argp_state *state, const char *file)
{
	const char *end = strrchr(file, '.');

	if (!end || (strcmp(end, ".png") != 0 && strcmp(end, ".svg") != 0))
		argp_error(state,
			   "--plot draws PNG or SVG, not \"%s\": end its name "
			   "in .png or .svg",
			   file);
}

static void check(const struct argp_state *state, const struct options *o)
{
	if (!o->server.host)
		argp_error(state, "which server? give --server HOST");
	if (!o->server.export || o->server.export[0] != '/')
		argp_error(state, "which export? give --export /PATH");
	if (*o->server.directory == '\0' || strchr(o->server.directory, '/') ||
	    o->server.directory[0] == '.' ||
	    strlen(o->server.directory) > SW_NAME_MAX)
		argp_error(state,
			   "--directory is a plain name in the export, not "
			   "\"%s\"",
			   o->server.directory);
	if (o->replay.trace && (o->output.csv || o->output.plot))
		argp_error(state,
			   "--csv and --plot are of the load; a replay has "
			   "--json");
}

static error_t parse_server(int key, char *arg, struct argp_state *state,
			    struct server_options *o)
{
	switch (key) {
	case 's':
		o->host = arg;
		return 0;
	case 'e':
		o->export = arg;
		return 0;
	case KEY_NFS:
		version(state, arg, &o->version);
		return 0;
	case KEY_PORT:
		o->port = (uint16_t)number(state, arg, "port", 1, 65535);
		return 0;
	case KEY_MOUNT_PORT:
		o->mount_port =
			(uint16_t)number(state, arg, "mount-port", 1, 65535);
		return 0;
	case 'c':
		o->connections = number(state, arg, "connections", 1, 64);
		return 0;
	case KEY_DEPTH:
		o->depth = number(state, arg, "depth", 1, 4096);
		return 0;
	case KEY_UID:
		o->uid = number(state, arg, "uid", 0, UINT32_MAX);
		return 0;
	case KEY_GID:
		o->gid = number(state, arg, "gid", 0, UINT32_MAX);
		return 0;
	case 'd':
		o->directory = arg;
		return 0;
	case KEY_SERVER_PID:
		o->pid = (pid_t)number(state, arg, "server-pid", 1, 1 << 22);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_load(int key, char *arg, struct argp_state *state,
			  struct load_options *o)
{
	const char *wrong;

	switch (key) {
	case 'b':
		wrong = ladder_parse(&o->ladder, arg);
		if (wrong)
			argp_error(state, "--builds %s: %s", arg, wrong);
		return 0;
	case 'm':
		read_mix(state, arg, &o->mix);
		return 0;
	case KEY_SCALE:
		o->scale = options_decimal(state, arg, "scale", 0.0001, 10);
		return 0;
	case KEY_SEED:
		o->seed = number(state, arg, "seed", 0, UINT32_MAX);
		return 0;
	case KEY_REUSE:
		o->reuse = true;
		return 0;
	case KEY_TRUST:
		o->reuse = true;
		o->trust = true;
		return 0;
	case KEY_REMOVE:
		o->remove = true;
		return 0;
	case KEY_WARMUP:
		o->warmup = options_decimal(state, arg, "warmup", 0, 86400);
		return 0;
	case 't':
		o->seconds = options_decimal(state, arg, "time", 0.1, 86400);
		return 0;
	case KEY_PAST:
		o->ladder.past = number(state, arg, "past", 0, 100);
		return 0;
	case KEY_BISECT:
		o->ladder.bisect = number(state, arg, "bisect", 0, 20);
		return 0;
	case KEY_LIMIT:
		o->limits.response_ms =
			options_decimal(state, arg, "limit", 0.001, 1e6);
		return 0;
	case KEY_RATE:
		o->limits.rate_share =
			options_decimal(state, arg, "least-rate", 0, 100) / 100;
		return 0;
	case 'j':
		o->threads = number(state, arg, "threads", 1, 64);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_output(int key, char *arg, struct argp_state *state,
			    struct output_options *o)
{
	switch (key) {
	case KEY_JSON:
		o->json = arg;
		return 0;
	case KEY_CSV:
		o->csv = arg;
		return 0;
	case KEY_PLOT:
		check_picture(state, arg);
		o->plot = arg;
		return 0;
	case KEY_LABEL:
		o->label = arg;
		return 0;
	case KEY_PROGRESS:
		o->progress = PROGRESS_ON;
		return 0;
	case KEY_QUIET:
		o->progress = PROGRESS_OFF;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;

	switch (key) {
	case KEY_VERSION:
		if (arg) {
			version(state, arg, &o->server.version);
			return 0;
		}
		puts("swbuild " SWBUILD_VERSION);
		exit(EXIT_FINE);
	case ARGP_KEY_ARG:
		argp_error(state, "what is \"%s\" for? All is given by options",
			   arg);
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->replay;
		return 0;
	case ARGP_KEY_END:
		check(state, o);
		return 0;
	default:
		break;
	}
	if (parse_server(key, arg, state, &o->server) == 0 ||
	    parse_load(key, arg, state, &o->load) == 0)
		return 0;
	return parse_output(key, arg, state, &o->output);
}

/*
 * getopt knows an optional argument only as --version=4.1: where a version
 * stands apart, --nfs is meant.
 */
static void replace_version(int argc, char **argv)
{
	static char nfs[] = "--nfs";
	enum sw_version unused;

	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], "--version") == 0 &&
		    sw_version_parse(argv[i + 1], &unused))
			argv[i] = nfs;
}

/* The command line as a shell would take it. */
static char *command_line(int argc, char **argv)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (int i = 0; i < argc; i++) {
		bool plain = argv[i][0] &&
			     !argv[i][strcspn(argv[i], " \t\n\"'\\$&|;<>()"
						       "*?[]#~`!{}")];

		fprintf(out, plain ? "%s%s" : "%s'%s'", i ? " " : "", argv[i]);
	}
	fclose(out);
	return text;
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct argp_child children[] = {
		{ .argp = &replay_argp },
		{ 0 },
	};
	static const struct argp argp = { .options = table,
					  .parser = parse,
					  .doc = doc,
					  .children = children };

	*options = (struct options){
		.server = { .version = SW_V3,
			    .connections = 1,
			    .uid = geteuid(),
			    .gid = getegid(),
			    .directory = "swbuild" },
		.load = { .ladder = { .from = 1,
				      .to = HUGE_VAL,
				      .step = 1,
				      .past = 2 },
			  .scale = 1,
			  .seed = 1,
			  .threads = 1,
			  .warmup = 5,
			  .seconds = 20,
			  .limits = { .response_ms = 10, .rate_share = 0.95 } },
		.replay = replay_defaults,
		.command = command_line(argc, argv),
	};
	mix_find(&options->load.mix, "swbuild");
	argp_err_exit_status = EX_USAGE;
	replace_version(argc, argv);
	argp_parse(&argp, argc, argv, 0, NULL, options);
}

void options_free(struct options *options)
{
	free(options->command);
}

struct sw_settings options_client(const struct server_options *options,
				  uint32_t depth)
{
	return (struct sw_settings){
		.host = options->host,
		.export = options->export,
		.version = options->version,
		.port = options->port,
		.mount_port = options->mount_port,
		.connections = options->connections,
		.depth = options->depth ? options->depth : depth,
		.uid = options->uid,
		.gid = options->gid,
	};
}
