/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file notify_stats.h
 * @brief What the watcher (notify.h) watches, and what it counts
 *
 * Nothing here depends on Ganesha.
 */
#ifndef SCALE_NOTIFY_STATS_H
#define SCALE_NOTIFY_STATS_H

#include <stdint.h>

/** X(symbol, name, meaning): what the watcher counts. */
#define SCALE_NOTIFY_COUNTERS(X)                                               \
	X(EVENTS, "events", "events read")                                     \
	X(OWN, "own", "events of this server's own changes, dropped")          \
	X(UNREADABLE, "unreadable", "events without a usable handle")          \
	X(TOLD, "told", "objects that MDCACHE was told of")                    \
	X(REPEATED, "repeated", "times that it was told again")                \
	X(NOT_REPEATED, "not_repeated",                                        \
	  "times that it was not, for want of room")                           \
	X(OVERFLOWS, "overflows", "queues that overflowed: all was forgotten") \
	X(FLUSHES, "flushes", "times that all was forgotten, for any reason")

enum scale_notify_counter {
#define SCALE_NOTIFY_ENUM(symbol, name, meaning) SCALE_NOTIFY_##symbol,
	SCALE_NOTIFY_COUNTERS(SCALE_NOTIFY_ENUM)
#undef SCALE_NOTIFY_ENUM
	SCALE_NOTIFY_COUNT
};

uint64_t scale_notify_counter(enum scale_notify_counter counter);

/** A file system and how it is kept fresh. */
struct scale_notify_state {
	const char *path;
	/** NULL: it is watched; else why it is not */
	const char *why_not;
};

/**
 * @brief Tell of each file system that is to be watched
 *
 * The strings are good during the call only.
 */
void scale_notify_each(void (*each)(const struct scale_notify_state *state,
				    void *arg),
		       void *arg);

#endif /* SCALE_NOTIFY_STATS_H */
