/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file notify_watch.h
 * @brief The file systems that are watched: their fanotify groups and marks
 *
 * All of it belongs to the watcher (notify.c), but for what others look up,
 * which is under the lock that notify_watch_lock() takes.
 */
#ifndef SCALE_NOTIFY_WATCH_H
#define SCALE_NOTIFY_WATCH_H

#include "notify_event.h"
#include "scale.h"

struct notify_watch {
	struct glist_head node;
	fsal_fsid_t fsid;
	enum fsid_type fsid_type;
	dev_t dev;
	char *path;
	struct notify_prefix prefix;
	/** the group; -1: not watched */
	int fd;
	/** an export has it */
	bool wanted;
	/** of it may be stored what was not watched all the time */
	bool tainted;
	/** of it may be stored what does not expire */
	bool lasting;
	/** it was not wanted for a while, and may be another device now */
	bool gone;
	/** Ganesha keeps its state of clients there; see notify.c */
	bool holds_state;
	/** its handles are not those of the events */
	bool unlike;
	/** why it is not watched; empty: it is, or need not be */
	char why_not[128];
	/** own events are not dropped before (CLOCK_MONOTONIC, ns) */
	uint64_t beside_until;
};

void notify_watch_lock(void);
void notify_watch_unlock(void);
/** The lock itself, to wait on a condition with. */
pthread_mutex_t *notify_watch_mutex(void);

/* Under the lock: */

/** The list of struct notify_watch, in no order. */
struct glist_head *notify_watches(void);

/** @return NULL when there is none, watched or not. */
struct notify_watch *notify_watch_find(const fsal_fsid_t *fsid);

/**
 * @brief Note the file systems that exports have
 *
 * @param[in] exports  Of struct scale_export, by notify_node
 */
void notify_watch_collect(struct glist_head *exports);

/**
 * @brief Set marks where they are wanted, and see whether those set still hold
 *
 * @param[in] epoll  Where groups are added, with the watch as data
 *
 * @return true when everything that is stored has to be forgotten.
 */
bool notify_watch_update(int epoll);

/** @brief Stop watching one. All that is stored has to be forgotten. */
void notify_watch_lose(struct notify_watch *watch, const char *why);

/** @brief Stop watching all, and forget about them. */
void notify_watch_clear(void);

/**
 * @brief A number for the mounts at and below the paths of exports
 *
 * It is another one when one was added or taken away.
 */
uint64_t notify_watch_mounts(const struct glist_head *exports);

/* Without the lock, by the watcher: */

/**
 * @brief Is an export without SCALE of the same file system?
 *
 * It is said to be for some seconds after it has gone, for its events come
 * late.
 */
bool notify_watch_beside(struct notify_watch *watch, uint64_t now_ns);

#endif /* SCALE_NOTIFY_WATCH_H */
