/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file arguments.h
 * @brief The part of the command line that is about replays
 */
#ifndef SWBUILD_REPLAY_ARGUMENTS_H
#define SWBUILD_REPLAY_ARGUMENTS_H

#include <argp.h>

#include "replay.h"

struct replay_arguments {
	const char *trace; /* a file; NULL: no replay is asked for */
	struct replay_options options;
};

extern const struct replay_arguments replay_defaults;

/** A child parser; its input is a struct replay_arguments. */
extern const struct argp replay_argp;

#endif
