/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file plot.h
 * @brief The curve: response time over achieved ops/s, drawn by gnuplot
 */
#ifndef SWBUILD_PLOT_H
#define SWBUILD_PLOT_H

#include <jansson.h>
#include <stddef.h>

/**
 * @brief Draw runs into one picture
 *
 * @param[in] runs   report_json()'s objects
 * @param[in] path   Ends in .png or .svg
 * @param[out] wrong What is wrong and what to do about it
 *
 * @return 0, or -1 with `wrong` set.
 */
int plot_runs(json_t *const *runs, size_t count, const char *path, char *wrong,
	      size_t room);

/** The command `swbuild plot`; returns the program's exit status. */
int plot_main(int argc, char **argv);

#endif
