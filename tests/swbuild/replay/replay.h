/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file replay.h
 * @brief Replays a trace against a server, as a client would
 *
 * The tree that the trace needs is made first (plan.h), by the same protocol.
 * Then each process of the trace does its operations in its order, with those
 * of other processes that depend on each other in the trace's order
 * (order.h), so many at a time: of those that may begin, the earliest in the
 * trace goes first.
 *
 * What a client sends for an operation:
 *
 *   all       LOOKUP of each component that the name cache (dcache.h) does not
 *             know
 *   S l Q F   GETATTR, unless a LOOKUP has just told the attributes; F by the
 *             handle of the open file
 *   A H X     ACCESS; also O of a directory
 *   L         READLINK, of links only
 *   E Y       nothing more: these protocols have no extended attributes, and
 *             files are closed, so written, at once
 *   O W C     OPEN (by NFSv4 of the last component by its name, unknown or
 *             not; by NFSv3 a GETATTR if its name is known, and CREATE),
 *             READs or WRITEs of so many bytes as the trace says, COMMIT,
 *             CLOSE.  Nothing is truncated, for traces do not tell.
 *   D         READDIR with attributes and handles to the end, which the name
 *             cache takes over
 *   T         SETATTR of the modification time, to now
 *   M K U V R MKDIR, SYMLINK or LINK, REMOVE, RMDIR, RENAME; and nothing if
 *             the name cache knows that it must fail
 *
 * A symbolic link that is followed ends with its READLINK, for traces do not
 * tell where it leads; what failed for other reasons than a missing or an
 * existing name (outcome "!") ends with its lookups.
 *
 * An outcome other than the trace's is a mismatch: it is counted by operation
 * and the first ones are told.
 */
#ifndef SWBUILD_REPLAY_H
#define SWBUILD_REPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "client.h"
#include "latency.h"
#include "optrace.h"
#include "plan.h"
#include "requests.h"

#define REPLAY_MISMATCHES 10 /* that are told with their places */

enum replay_tree {
	REPLAY_MAKE,	/* make the tree, then replay */
	REPLAY_PREPARE, /* only make it */
	REPLAY_PREPARED /* it is there */
};

struct replay_options {
	const char *directory; /* in the export: the tree; must not exist */
	pid_t server; /* whose CPU is measured, on this machine; or 0 */
	enum replay_tree tree;
	enum sw_version version; /* the client's */
	uint32_t in_flight;	 /* operations at a time */
	double rate;		 /* operations a second at most; 0: no limit */
	bool name_cache;
	uint64_t name_life; /* ns */
};

struct replay_mismatch {
	uint32_t op;	 /* of the trace, from 0 */
	uint32_t status; /* the last answer's */
	char outcome;	 /* instead of the trace's */
};

/* Operations by letter, and whether the trace says that it succeeded. */
#define REPLAY_KINDS (2 * (sizeof(OPTRACE_OPS) - 1))

struct replay_kind {
	struct latency latency;
	uint64_t mismatches;
};

struct replay_result {
	struct optrace_ideal ideal;
	struct replay_kind kinds[REPLAY_KINDS];
	struct requests requests;
	uint64_t operations;	  /* replayed */
	uint64_t without_request; /* of them, by the name cache alone */
	uint64_t mismatches;
	struct replay_mismatch first[REPLAY_MISMATCHES];
	uint64_t bytes_read;
	uint64_t bytes_written;
	uint64_t hidden;   /* steps of processes that the trace left out */
	uint64_t nameless; /* not replayed: files without a name */
	uint64_t contradictions; /* of the trace */
	uint64_t tree_files;	 /* made beforehand */
	uint64_t tree_directories;
	uint64_t tree_links;
	uint64_t tree_bytes;
	double tree_seconds;
	double seconds;
	double client_cpu; /* s, while replaying */
	double server_cpu; /* negative: not known */
};

/** The kind of an operation, less than REPLAY_KINDS. */
unsigned replay_kind_of(const struct optrace_op *op);

/** "stat", "read", ...: the same for both outcomes. */
const char *replay_kind_name(unsigned kind);

/**
 * @brief Replay
 *
 * @param[in]  client  Mounted; on a loop that nobody else runs
 * @param[out] result  Zeroed
 * @param[out] error   Why it could not be done, and the remedy
 *
 * @return 0, or -1 with `error` set.
 */
int replay_run(struct sw_loop *loop, struct sw_client *client,
	       const struct optrace *trace,
	       const struct replay_options *options,
	       struct replay_result *result, char *error, size_t size);

#endif
