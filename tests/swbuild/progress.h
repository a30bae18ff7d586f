/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file progress.h
 * @brief The line that shows what goes on
 *
 * On a terminal it is written over; elsewhere a new one comes each second.
 */
#ifndef SWBUILD_PROGRESS_H
#define SWBUILD_PROGRESS_H

#include "options.h"

/** Says whether lines are shown at all. */
void progress_init(enum progress progress);

/** Shows a line, if the last one is old enough. */
__attribute__((format(printf, 1, 2))) void progress_show(const char *format,
							 ...);

/** Takes the line away, before something else is written. */
void progress_clear(void);

#endif
