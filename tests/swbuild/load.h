/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file load.h
 * @brief A run: the file set, the points one after the other, the reports
 */
#ifndef SWBUILD_LOAD_H
#define SWBUILD_LOAD_H

#include "options.h"

/** Returns the program's exit status. */
int load_main(const struct options *options);

#endif
