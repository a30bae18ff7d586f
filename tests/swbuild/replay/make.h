/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file make.h
 * @brief Makes the tree that a trace needs beforehand
 */
#ifndef SWBUILD_MAKE_H
#define SWBUILD_MAKE_H

#include <stddef.h>

#include "act.h"

/**
 * @brief Find or make the directory of the tree, and make the tree in it
 *
 * As options->tree says.  The root's name is known afterwards, no others.
 *
 * @return 0, or -1 with `error` set.
 */
int make_tree(struct replay *replay, char *error, size_t size);

#endif
