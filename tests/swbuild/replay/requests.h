/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file requests.h
 * @brief What a replay sends, by procedure
 */
#ifndef SWBUILD_REQUESTS_H
#define SWBUILD_REQUESTS_H

#include <stdint.h>

#include "client.h"
#include "latency.h"

enum procedure {
	PROC_LOOKUP,
	PROC_GETATTR,
	PROC_ACCESS,
	PROC_READLINK,
	PROC_READDIR,
	PROC_OPEN,
	PROC_CLOSE,
	PROC_READ,
	PROC_WRITE,
	PROC_COMMIT,
	PROC_SETATTR,
	PROC_MKDIR,
	PROC_SYMLINK,
	PROC_LINK,
	PROC_REMOVE,
	PROC_RMDIR,
	PROC_RENAME,
	PROC_COUNT
};

struct requests {
	struct latency latency[PROC_COUNT];
	uint64_t rpcs[PROC_COUNT]; /* with those sent again */
};

/** "LOOKUP", ... */
const char *procedure_name(enum procedure procedure);

/** Counts an answer; what took no RPC (an open by NFSv3) is not counted. */
void requests_add(struct requests *requests, enum procedure procedure,
		  const struct sw_result *result);

#endif
