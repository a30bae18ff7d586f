/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file json_parts.h
 * @brief What the reports of all kinds of runs have in common
 */
#ifndef SWBUILD_JSON_PARTS_H
#define SWBUILD_JSON_PARTS_H

#include <jansson.h>
#include <time.h>

#include "client.h"
#include "options.h"
#include "tally.h"

/** An object with program, version, command, started, label and server. */
json_t *json_head(const struct options *options, time_t started);

/** Milliseconds: mean, p50, p99, max. */
json_t *json_summary(const struct summary *summary);

json_t *json_counters(const struct sw_counters *counters);

/** Writes it; false, after a message, if it cannot be written. */
bool json_write(json_t *json, const char *path);

#endif
