/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file notify_repeat.h
 * @brief Invalidations that MDCACHE is told of again, a moment later
 *
 * A queue has one delay, so that what comes first is due first. It belongs to
 * one thread. When it is full, what is new is not repeated.
 */
#ifndef SCALE_NOTIFY_REPEAT_H
#define SCALE_NOTIFY_REPEAT_H

#include "notify_event.h"

#define NOTIFY_REPEATS 4096

struct notify_repeat {
	uint64_t due_ns;
	uint32_t flags; /**< FSAL_UP_INVALIDATE_... */
	struct notify_key key;
};

struct notify_repeats {
	uint64_t delay_ns;
	unsigned int first;
	unsigned int count;
	struct notify_repeat items[NOTIFY_REPEATS];
};

/**
 * @brief Put one in
 *
 * The same key right again, before it was told the first time, is one.
 *
 * @return false when there is no room.
 */
static inline bool notify_repeat_put(struct notify_repeats *q, uint64_t now_ns,
				     const struct notify_key *key,
				     uint32_t flags)
{
	struct notify_repeat *item;

	if (q->count != 0) {
		item = &q->items[(q->first + q->count - 1) % NOTIFY_REPEATS];
		if (item->key.len == key->len &&
		    memcmp(item->key.bytes, key->bytes, key->len) == 0) {
			item->flags |= flags;
			item->due_ns = now_ns + q->delay_ns;
			return true;
		}
	}
	if (q->count == NOTIFY_REPEATS)
		return false;
	item = &q->items[(q->first + q->count++) % NOTIFY_REPEATS];
	item->due_ns = now_ns + q->delay_ns;
	item->flags = flags;
	item->key = *key;
	return true;
}

/** @brief When the first one is due; UINT64_MAX: there is none. */
static inline uint64_t notify_repeat_due(const struct notify_repeats *q)
{
	return q->count == 0 ? UINT64_MAX : q->items[q->first].due_ns;
}

/** @brief Take out the first one, which is there. */
static inline struct notify_repeat notify_repeat_take(struct notify_repeats *q)
{
	struct notify_repeat item = q->items[q->first];

	q->first = (q->first + 1) % NOTIFY_REPEATS;
	q->count--;
	return item;
}

#endif /* SCALE_NOTIFY_REPEAT_H */
