/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file set_names.h
 * @brief Single requests that a job waits for
 */
#ifndef SWBUILD_SET_NAMES_H
#define SWBUILD_SET_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "team.h"

#define STATUS_NOENT 2 /* in both protocols, like the next */
#define STATUS_EXIST 17

/** A directory's names; zeroed before its first use. */
struct names {
	struct name {
		char *text;
		uint64_t size;
		bool directory;
	} * list;
	size_t count;
	size_t room;
};

void names_free(struct names *names);

/** Looks a name up; its status, and the handle if that is SW_OK. */
uint32_t wait_lookup(struct worker *worker, const struct sw_fh *dir,
		     const char *name, struct sw_fh *fh);

/** Finds a directory or makes it; the status. */
uint32_t wait_directory(struct worker *worker, const struct sw_fh *dir,
			const char *name, struct sw_fh *fh);

/** Lists a directory into `names`; the status. */
uint32_t wait_list(struct worker *worker, const struct sw_fh *dir,
		   struct names *names);

/** Removes a file or an empty directory; NOENT is SW_OK. */
uint32_t wait_remove(struct worker *worker, const struct sw_fh *dir,
		     const char *name, bool directory);

/** Writes a file that may be there already; the status. */
uint32_t wait_write(struct worker *worker, const struct sw_fh *dir,
		    const char *name, const void *data, size_t size);

/** Reads a file of at most `room` bytes; the status. */
uint32_t wait_read(struct worker *worker, const struct sw_fh *dir,
		   const char *name, void *data, size_t room, size_t *size);

/** Fails the worker: "cannot WHAT NAME: STATUS", and why if it is known. */
void worker_fail_status(struct worker *worker, const char *what,
			const char *name, uint32_t status);

#endif
