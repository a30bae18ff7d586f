/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file mix.h
 * @brief Which operations a load is made of, and in which shares
 *
 * The mix `swbuild` is that of the SWBUILD workload.  `make` is what clean
 * builds of git and of a small Linux kernel ask of a file system, see mix.c.
 * A file gives another:
 *
 *	# A mix of one's own: an operation (see ops.h) and its share.
 *	stat       60
 *	read_file  39.5
 *	unlink      0.5
 *
 * Shares are relative: they need not add up to 100.  What a mix removes is
 * made again and what it makes is removed, see files.h.
 */
#ifndef SWBUILD_MIX_H
#define SWBUILD_MIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops.h"

struct mix {
	char name[64];
	double share[OP_COUNT]; /* adds up to 1 */
};

/** A mix that is built in; false if there is none of that name. */
bool mix_find(struct mix *mix, const char *name);

/**
 * @brief Read a mix from a file
 *
 * @param[out] wrong  What is wrong and what to do about it
 *
 * @return 0, or -1 with `wrong` set.
 */
int mix_read(struct mix *mix, const char *path, char *wrong, size_t room);

/** Draws an operation; *state is a random.h sequence. */
enum op mix_draw(const struct mix *mix, uint64_t *state);

/** True if the mix needs names whose files are away: it makes files. */
bool mix_makes_files(const struct mix *mix);

#endif
