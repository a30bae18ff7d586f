/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file process.h
 * @brief A process of the load: it does one operation at a time
 */
#ifndef SWBUILD_PROCESS_H
#define SWBUILD_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "client.h"
#include "files.h"
#include "loop.h"
#include "pace.h"

/* Statuses of the load's own, beside those of client.h. */
#define LOAD_WRONG_SIZE 0xf0001001u /* a file is not as it was written */
#define LOAD_NOT_ABSENT 0xf0001002u /* a name is there that was never made */

struct worker;

struct process {
	struct worker *worker;
	struct files files;
	struct sw_fh home;
	struct sw_fh *directories;
	struct sw_fh last; /* the file that was used last; no length: none */
	uint32_t last_file;

	struct pace pace;
	struct sw_timer timer;
	uint64_t random; /* which operations; files has one of its own */

	/* The operation that goes on. */
	struct choice choice;
	uint64_t due;
	uint64_t begun;
	uint32_t requests;
	struct sw_cursor cursor;
	unsigned upkeep_left;
	bool upkeep; /* it is not the mix's, but upkeep */
	/* Called when it has ended. */
	void (*ended)(struct process *process, uint32_t status);
};

/** NULL if there is no memory. */
struct process *process_new(struct worker *worker, uint32_t number);

void process_free(struct process *process);

/**
 * @brief Send the requests of process->choice
 *
 * | operation                | NFSv3                | NFSv4              |
 * |--------------------------|----------------------|--------------------|
 * | stat, lookup and absent  | LOOKUP               | the same           |
 * | fstat                    | GETATTR              | the same           |
 * | access, chmod            | LOOKUP, then ACCESS or SETATTR            |
 * | open_negative            | LOOKUP               | OPEN               |
 * | read_file                | LOOKUP, READ         | OPEN, READ, CLOSE  |
 * | write_file               | LOOKUP, WRITE        | OPEN, WRITE, CLOSE |
 * | write_new                | CREATE, WRITE        | OPEN, WRITE, CLOSE |
 * | create                   | CREATE               | OPEN, CLOSE        |
 * | unlink, mkdir, rmdir     | REMOVE, MKDIR, RMDIR | REMOVE, CREATE     |
 * | readdir                  | READDIR to the end   | the same           |
 *
 * process->ended is called with SW_OK if it did what it should: of a name
 * that does not exist that is to be told so.
 */
void process_execute(struct process *process);

#endif
