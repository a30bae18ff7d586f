/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file notify_event.h
 * @brief What a fanotify event says, in the keys of FSAL VFS
 *
 * FSAL VFS makes an object's handle of the kernel's:
 *
 *     1 byte       type of the file system's id, and how long the next but one
 * is 0, 8 or 16   the file system's id 1, 2 or 4    the kernel's handle type
 * the rest     the kernel's handle
 *
 * and the handle is its key. An event (FAN_REPORT_DFID_NAME_TARGET) carries the
 * kernel's handles of the object and of the directory, of which the same keys
 * are made here.
 */
#ifndef SCALE_NOTIFY_EVENT_H
#define SCALE_NOTIFY_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/fanotify.h>

/** The longest handle that VFS makes. */
#define NOTIFY_KEY_MAX 59

/** What each key of a file system begins with. */
struct notify_prefix {
	uint8_t len;
	uint8_t bytes[1 + 16];
};

struct notify_key {
	uint8_t len; /**< 0: there is none */
	uint8_t bytes[NOTIFY_KEY_MAX];
};

struct notify_event {
	uint64_t mask;
	int32_t pid;
	/** what was changed, made, removed or moved */
	struct notify_key object;
	/** where; only with a name */
	struct notify_key dir;
	const char *name; /**< in the event; NULL if it is of no name */
	size_t name_len;
};

/** The mask of what the watcher wants to be told. */
#define NOTIFY_MASK                                                \
	(FAN_CREATE | FAN_DELETE | FAN_MOVED_FROM | FAN_MOVED_TO | \
	 FAN_ATTRIB | FAN_MODIFY | FAN_CLOSE_WRITE | FAN_ONDIR)

/** Of these the events are of a name in a directory. */
#define NOTIFY_NAMES (FAN_CREATE | FAN_DELETE | FAN_MOVED_FROM | FAN_MOVED_TO)

/** And of these, of an object's attributes or data. */
#define NOTIFY_OBJECT (FAN_ATTRIB | FAN_MODIFY | FAN_CLOSE_WRITE)

/**
 * @brief Read one event
 *
 * @param[in]  meta    Whole, as FAN_EVENT_OK() checks
 * @param[in]  prefix  Of the file system that the event is from
 * @param[out] event   Set in any case
 *
 * @return false when what it says cannot be made use of: a handle is missing,
 *         or too long, or the records are malformed.
 */
bool notify_event_read(const struct fanotify_event_metadata *meta,
		       const struct notify_prefix *prefix,
		       struct notify_event *event);

/**
 * @brief Make a key of one of the kernel's handles
 *
 * @return false when VFS would not make one: it is too long.
 */
bool notify_key_make(const struct notify_prefix *prefix, int type,
		     const void *bytes, size_t len, struct notify_key *key);

#endif /* SCALE_NOTIFY_EVENT_H */
