/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file set.h
 * @brief The file set on the server: made, checked, restored, removed
 *
 * A file in the set's directory says of which shape it is, so that nothing is
 * taken for a set that is none, and a set is used again only for the same load.
 */
#ifndef SWBUILD_SET_H
#define SWBUILD_SET_H

#include <stdint.h>

#include "team.h"

/**
 * @brief Find the set's directory, or make it
 *
 * team->there says how many processes a set of the same shape has; 0 if there
 * is none or it is another's, which set_remove_job() then removes.  A directory
 * that is no set is an error.
 *
 * @return 0, or -1 with what is wrong and the remedy in `error`.
 */
int set_open(struct team *team, char error[TEAM_ERROR]);

/** Takes note in the set of how many processes it has; as set_open(). */
int set_note(struct team *team, uint32_t processes, char error[TEAM_ERROR]);

/**
 * Job: makes what is missing of the files of team->wanted processes, and finds
 * the handles of their directories; each file is a step.  With --trust an old
 * set's files are taken to be there.
 */
void set_make_job(struct worker *worker);

/** Job: makes again and removes what the load has left changed. */
void set_restore_job(struct worker *worker);

/** Job: removes all that is in the set's directory; each name is a step. */
void set_remove_job(struct worker *worker);

/** Removes the set's directory itself; as set_open(). */
int set_close(struct team *team, char error[TEAM_ERROR]);

#endif
