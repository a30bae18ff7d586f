/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file stats.h
 * @brief What arrived at SCALE, what it asked of backends, and how long it took
 *
 * Counters only grow, from the start of the server on. Writing them takes no
 * lock and allocates nothing; reading them stops nobody, so that the counters
 * of one snapshot may be some events apart.
 *
 * A request is what MDCACHE asks of SCALE; it is counted once, with one
 * outcome. A call is what SCALE asks of the backend; one request may need
 * none, one or several, and some are made on behalf of no request.
 *
 * Nothing here depends on Ganesha.
 */
#ifndef SCALE_STATS_H
#define SCALE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** X(symbol, name): the operations, of requests and of calls alike. */
#define SCALE_OPS(X)                                   \
	X(GETATTRS, "getattrs")                        \
	X(LOOKUP, "lookup")                            \
	X(LOOKUP_PARENT, "lookup_parent")              \
	X(READDIR, "readdir")                          \
	X(READLINK, "readlink")                        \
	X(CREATE_HANDLE, "create_handle")              \
	X(WIRE_TO_HOST, "wire_to_host")                \
	X(SETATTR, "setattr")                          \
	X(CREATE, "create") /* an open that creates */ \
	X(OPEN, "open")                                \
	X(CLOSE, "close")                              \
	X(READ, "read")                                \
	X(WRITE, "write")                              \
	X(COMMIT, "commit")                            \
	X(MKDIR, "mkdir")                              \
	X(MKNODE, "mknode")                            \
	X(SYMLINK, "symlink")                          \
	X(LINK, "link")                                \
	X(RENAME, "rename")                            \
	X(UNLINK, "unlink")                            \
	X(LOCK, "lock")                                \
	X(XATTR, "xattr")                              \
	X(FSSTAT, "fsstat")                            \
	X(OTHER, "other")

/** X(symbol, name, meaning): what became of a request. */
#define SCALE_OUTCOMES(X)                                               \
	X(HIT, "hit", "answered from memory")                           \
	X(NEGATIVE, "negative", "answered from memory: does not exist") \
	X(MISS, "miss", "not known")                                    \
	X(EXPIRED, "expired", "known, but past its time to live")       \
	X(INVALID, "invalid", "known, but invalidated or incomplete")   \
	X(UNCACHED, "uncached",                                         \
	  "passed on by nature: changes, data, or freshness ask")       \
	X(SHARED, "shared", "waited for another's fetch")

/** X(symbol, name, meaning): where an invalidation came from. */
#define SCALE_SOURCES(X)                                               \
	X(OWN_CHANGE, "own_change", "a change through this server")    \
	X(UPCALL, "upcall", "an event that the backend sent")          \
	X(NOTIFY, "notify", "a notification from outside the backend") \
	X(STALE, "stale", "the backend said that an object is gone")   \
	X(UNEXPORT, "unexport", "an export was taken away")            \
	X(FOREIGN_SEEN, "foreign_seen",                                \
	  "a directory's change attribute told of a foreign change")

enum scale_op {
#define SCALE_OP_ENUM(symbol, name) SCALE_OP_##symbol,
	SCALE_OPS(SCALE_OP_ENUM)
#undef SCALE_OP_ENUM
	SCALE_OP_COUNT
};

enum scale_outcome {
#define SCALE_OUTCOME_ENUM(symbol, name, meaning) SCALE_OUTCOME_##symbol,
	SCALE_OUTCOMES(SCALE_OUTCOME_ENUM)
#undef SCALE_OUTCOME_ENUM
	SCALE_OUTCOME_COUNT
};

enum scale_source {
#define SCALE_SOURCE_ENUM(symbol, name, meaning) SCALE_SOURCE_##symbol,
	SCALE_SOURCES(SCALE_SOURCE_ENUM)
#undef SCALE_SOURCE_ENUM
	SCALE_SOURCE_COUNT
};

/** The counters of one export. */
struct scale_stats;

/* --- Counting ------------------------------------------------------------ */

/**
 * @brief Make the counters of an export, all 0
 *
 * They are never freed, as calls and up-calls may come late.
 *
 * @param[in] export_id  Ganesha's
 * @param[in] path       Of the export; copied
 * @param[in] backend    The backend's name; copied
 *
 * @return The counters, or NULL when there is no memory.
 */
struct scale_stats *scale_stats_new(uint16_t export_id, const char *path,
				    const char *backend);

/**
 * @brief The export is gone: show it no more
 *
 * What it counted, and what it may yet count, stays in the total. May be
 * called again. NULL is allowed.
 */
void scale_stats_retire(struct scale_stats *stats);

/**
 * @brief Count a request
 *
 * The hot path: one add to a line of this CPU's own.
 *
 * @param[in] stats  NULL counts nowhere: for the objects that Ganesha drops
 *                   without an export
 */
void scale_stats_request(struct scale_stats *stats, enum scale_op op,
			 enum scale_outcome outcome);

/** @brief When a call begins: CLOCK_MONOTONIC in nanoseconds. */
uint64_t scale_stats_begin(void);

/**
 * @brief Count a call to the backend that has returned
 *
 * @param[in] stats   NULL counts nowhere
 * @param[in] began   From scale_stats_begin()
 * @param[in] failed  The backend could not do it. That a name does not exist
 *                    is an answer of LOOKUP, not a failure
 */
void scale_stats_backend(struct scale_stats *stats, enum scale_op op,
			 uint64_t began, bool failed);

/**
 * @brief Count an invalidation
 *
 * @param[in] stats  NULL counts nowhere
 */
void scale_stats_invalidation(struct scale_stats *stats,
			      enum scale_source source);

/* --- Reading ------------------------------------------------------------- */

/**
 * A histogram of nanoseconds: SCALE_LATENCY_SUB buckets of equal width below
 * 2^SCALE_LATENCY_LOW ns (so 256 ns each), then as many to every power of two
 * up to 2^SCALE_LATENCY_HIGH (69 s); the last one also has what is longer.
 * What is read from it is the upper end of a bucket: at most a quarter (and
 * below 1024 ns, at most 256 ns) too much.
 */
#define SCALE_LATENCY_SUB  4
#define SCALE_LATENCY_LOW  10
#define SCALE_LATENCY_HIGH 36
#define SCALE_LATENCY_BUCKETS \
	(SCALE_LATENCY_SUB * (SCALE_LATENCY_HIGH - SCALE_LATENCY_LOW + 1))

/** Calls of one operation. */
struct scale_latency {
	uint64_t errors; /**< those that failed */
	uint64_t sum_ns;
	uint64_t max_ns;
	uint64_t buckets[SCALE_LATENCY_BUCKETS];
};

/** A snapshot of counters. */
struct scale_stats_values {
	uint64_t requests[SCALE_OP_COUNT][SCALE_OUTCOME_COUNT];
	struct scale_latency backend[SCALE_OP_COUNT];
	uint64_t invalidations[SCALE_SOURCE_COUNT];
};

/** What an export is. */
struct scale_stats_export {
	uint16_t id;
	const char *path;
	const char *backend;
};

/** @brief Read the counters of one export. */
void scale_stats_read(const struct scale_stats *stats,
		      struct scale_stats_values *values);

/** @brief Read the sum of all exports that are or were. */
void scale_stats_total(struct scale_stats_values *values);

/**
 * @brief Go through the exports that are there, in the order of their making
 *
 * @param[in] previous  NULL for the first one
 *
 * @return The next one, or NULL.
 */
struct scale_stats *scale_stats_next(const struct scale_stats *previous);

/** @brief What an export is. The strings are never freed. */
struct scale_stats_export scale_stats_about(const struct scale_stats *stats);

/** @brief The number of calls. */
uint64_t scale_latency_count(const struct scale_latency *latency);

/**
 * @brief The nanoseconds within which a share of the calls returned
 *
 * @param[in] share  From 0, the shortest, to 1, the longest; 0.5 is the median
 *
 * @return 0 when there was no call; never more than max_ns.
 */
uint64_t scale_latency_percentile(const struct scale_latency *latency,
				  double share);

/** @brief The name of an operation, an outcome, a source. */
const char *scale_op_name(enum scale_op op);
const char *scale_outcome_name(enum scale_outcome outcome);
const char *scale_source_name(enum scale_source source);

#endif /* SCALE_STATS_H */
