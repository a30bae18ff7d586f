// SPDX-License-Identifier: LGPL-3.0-or-later
#include "arguments.h"

#include <string.h>

#include "options.h"

#define GROUP 3

enum {
	KEY_REPLAY = 512,
	KEY_IN_FLIGHT,
	KEY_RATE,
	KEY_NAME_CACHE,
	KEY_NAME_TTL,
	KEY_TREE
};

static const struct argp_option table[] = {
	{ NULL, 0, NULL, 0, "Instead of the load, a recorded build:", GROUP },
	{ "replay", KEY_REPLAY, "TRACE", 0,
	  "Make the tree that the trace needs in --directory, then do its "
	  "operations; strace-to-trace makes traces",
	  GROUP },
	{ "tree", KEY_TREE, "HOW", 0,
	  "make (default), prepare: only make it, prepared: it was", GROUP },
	{ "in-flight", KEY_IN_FLIGHT, "N", 0,
	  "Operations at a time, of as many of the trace's processes (8)",
	  GROUP },
	{ "rate", KEY_RATE, "N", 0,
	  "Operations a second, at most (as fast as it can)", GROUP },
	{ "name-cache", KEY_NAME_CACHE, "on|off", 0,
	  "Remember names, found and missing, as a kernel does (on)", GROUP },
	{ "name-ttl", KEY_NAME_TTL, "SECONDS", 0, "For so long (30)", GROUP },
	{ NULL, 0, NULL, 0, NULL, 0 },
};

const struct replay_arguments replay_defaults = {
	.options = { .in_flight = 8,
		     .name_cache = true,
		     .name_life = UINT64_C(30000000000) },
};

static void tree(const struct argp_state *state, const char *text,
		 enum replay_tree *how)
{
	static const char *const names[] = { [REPLAY_MAKE] = "make",
					     [REPLAY_PREPARE] = "prepare",
					     [REPLAY_PREPARED] = "prepared" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(text, names[i]) == 0) {
			*how = (enum replay_tree)i;
			return;
		}
	}
	argp_error(state, "--tree is make, prepare or prepared, not \"%s\"",
		   text);
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct replay_arguments *arguments = state->input;
	struct replay_options *o = &arguments->options;

	switch (key) {
	case KEY_REPLAY:
		arguments->trace = arg;
		return 0;
	case KEY_TREE:
		tree(state, arg, &o->tree);
		return 0;
	case KEY_IN_FLIGHT:
		o->in_flight = (uint32_t)options_decimal(state, arg,
							 "in-flight", 1, 4096);
		return 0;
	case KEY_RATE:
		o->rate = options_decimal(state, arg, "rate", 0.001, 1e9);
		return 0;
	case KEY_NAME_CACHE:
		if (strcmp(arg, "on") != 0 && strcmp(arg, "off") != 0)
			argp_error(state,
				   "--name-cache is on or off, not \"%s\"",
				   arg);
		o->name_cache = strcmp(arg, "on") == 0;
		return 0;
	case KEY_NAME_TTL:
		o->name_life = (uint64_t)(options_decimal(state, arg,
							  "name-ttl", 0, 1e6) *
					  1e9);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp replay_argp = { .options = table, .parser = parse };
