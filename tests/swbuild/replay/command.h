/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file command.h
 * @brief swbuild --replay, from the mount to the reports
 */
#ifndef SWBUILD_REPLAY_COMMAND_H
#define SWBUILD_REPLAY_COMMAND_H

#include <time.h>

#include "options.h"
#include "replay.h"

/** One replay, for the reports. */
struct replay_record {
	const struct options *options;
	const struct optrace *trace;
	const struct replay_result *result;
	const struct sw_counters *counters;
	time_t started;
};

/** Returns the program's exit status. */
int replay_main(const struct options *options);

/* report.c */

/** The tables on standard output. */
void replay_print(const struct replay_record *record);

/** Writes --json; false, after a message, if it cannot be written. */
bool replay_write(const struct replay_record *record);

#endif
