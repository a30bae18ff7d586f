// SPDX-License-Identifier: LGPL-3.0-or-later
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "options.h"
#include "plot.h"

#define MOST_RUNS 32

struct plot_options {
	const char *path;
	const char *files[MOST_RUNS];
	size_t count;
};

static const struct argp_option table[] = {
	{ "output", 'o', "FILE", 0, "The picture: FILE.png or FILE.svg", 0 },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct plot_options *o = state->input;
	const char *end;

	switch (key) {
	case 'o':
		end = strrchr(arg, '.');
		if (!end ||
		    (strcmp(end, ".png") != 0 && strcmp(end, ".svg") != 0))
			argp_error(state,
				   "it draws PNG or SVG, not \"%s\": end the "
				   "name in .png or .svg",
				   arg);
		o->path = arg;
		return 0;
	case ARGP_KEY_ARG:
		if (o->count == MOST_RUNS)
			argp_error(state,
				   "no more than %d runs fit into a "
				   "picture",
				   MOST_RUNS);
		o->files[o->count++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (o->count == 0)
			argp_error(state, "which runs? name their files of "
					  "swbuild --json");
		if (!o->path)
			argp_error(state, "where to? give -o FILE.png or "
					  "FILE.svg");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* A run's file; NULL, with a message, if it is none. */
static json_t *load(const char *file)
{
	json_error_t wrong;
	json_t *run = json_load_file(file, 0, &wrong);

	if (!run) {
		fprintf(stderr, "swbuild plot: %s: %s\n", file, wrong.text);
		return NULL;
	}
	if (!json_is_array(json_object_get(run, "points")) ||
	    !json_is_object(json_object_get(run, "load"))) {
		fprintf(stderr,
			"swbuild plot: %s is no result of a load: it takes "
			"what swbuild --json FILE wrote\n",
			file);
		json_decref(run);
		return NULL;
	}
	return run;
}

int plot_main(int argc, char **argv)
{
	static const struct argp argp = {
		.options = table,
		.parser = parse,
		.args_doc = "RUN.json...",
		.doc = "Draw the curves of several runs into one picture: "
		       "response time over achieved ops/s.",
	};
	struct plot_options o = { 0 };
	json_t *runs[MOST_RUNS] = { NULL };
	char wrong[512];
	int status = EXIT_FINE;

	argp_err_exit_status = EX_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &o);
	for (size_t i = 0; i < o.count && status == EXIT_FINE; i++) {
		runs[i] = load(o.files[i]);
		if (!runs[i])
			status = EXIT_CANNOT;
	}
	if (status == EXIT_FINE &&
	    plot_runs(runs, o.count, o.path, wrong, sizeof(wrong)) < 0) {
		fprintf(stderr, "swbuild plot: %s\n", wrong);
		status = EXIT_CANNOT;
	}
	for (size_t i = 0; i < o.count; i++)
		json_decref(runs[i]);
	return status;
}
