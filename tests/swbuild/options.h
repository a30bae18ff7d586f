/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file options.h
 * @brief The command line
 */
#ifndef SWBUILD_OPTIONS_H
#define SWBUILD_OPTIONS_H

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client.h"
#include "ladder.h"
#include "mix.h"
#include "point.h"
#include "replay/arguments.h"

/* Exit statuses. */
#define EXIT_FINE    0
#define EXIT_INVALID 1 /* errors, or no valid point */
#define EXIT_CANNOT  2 /* nothing could be measured */
#define EXIT_USAGE   64

/** Which server, and how it is talked to. */
struct server_options {
	const char *host;
	const char *export;
	enum sw_version version;
	uint16_t port; /* 0: the client's choice */
	uint16_t mount_port;
	uint32_t connections; /* of each thread */
	uint32_t depth;	      /* requests in flight of a thread; 0: default */
	uint32_t uid;
	uint32_t gid;
	const char *directory; /* where the files are made, in the export */
	pid_t pid;	       /* the server's process, for its CPU; or 0 */
};

/** Which load. */
struct load_options {
	struct ladder ladder;
	struct mix mix;
	double scale;
	uint64_t seed;
	unsigned threads;
	double warmup;	/* seconds */
	double seconds; /* measured, of each point */
	struct limits limits;
	bool reuse;
	bool trust;
	bool remove;
};

enum progress {
	PROGRESS_AUTO, /* if the standard error is a terminal */
	PROGRESS_ON,
	PROGRESS_OFF
};

/** What is written, and where; NULL: not. */
struct output_options {
	const char *json;
	const char *csv;
	const char *plot;
	const char *label;
	enum progress progress;
};

struct options {
	struct server_options server;
	struct load_options load;
	struct output_options output;
	struct replay_arguments replay; /* instead of the load */
	char *command; /* the whole command line, for reports */
};

/**
 * @brief Read the command line
 *
 * Ends the program after --help and --version, and with EXIT_USAGE and a
 * message if something is wrong.
 */
void options_parse(struct options *options, int argc, char **argv);

void options_free(struct options *options);

/** What a client needs to know of the server; depth: if none was given. */
struct sw_settings options_client(const struct server_options *options,
				  uint32_t depth);

/** An option's decimal number, or the program's end with EXIT_USAGE. */
double options_decimal(const struct argp_state *state, const char *text,
		       const char *option, double least, double most);

#endif
