/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file notify_notes.h
 * @brief What of a batch of events MDCACHE is yet to be told, each object once
 *
 * MDCACHE is told when all events of the batch have gone to the engine: told
 * between two of them, it might ask at once for the name that the second one is
 * of, and be given what was.
 */
#ifndef SCALE_NOTIFY_NOTES_H
#define SCALE_NOTIFY_NOTES_H

#include <string.h>

#include <xxhash.h>

#include "notify_event.h"

/** More than a batch usually has: what it is of comes several times. */
#define NOTIFY_NOTES 1024
#define NOTIFY_SLOTS 2048u

struct notify_note {
	struct notify_key key;
	uint32_t flags; /**< FSAL_UP_INVALIDATE_... */
};

struct notify_notes {
	unsigned int count;
	struct notify_note items[NOTIFY_NOTES];
	/** 1 + the place of an item, by the hash of its key; 0: none */
	uint16_t slots[NOTIFY_SLOTS];
};

enum notify_noted {
	NOTIFY_NEW,
	NOTIFY_SAID,
	NOTIFY_FULL
};

/**
 * @brief Note an object
 *
 * @return NOTIFY_SAID: all of it is noted already; NOTIFY_FULL: nothing was
 *         noted, tell of all and clear them first.
 */
static inline enum notify_noted notify_note(struct notify_notes *notes,
					    const struct notify_key *key,
					    uint32_t flags)
{
	uint64_t at = XXH3_64bits(key->bytes, key->len);
	struct notify_note *note;
	uint16_t *slot;

	for (;; at++) {
		slot = &notes->slots[at % NOTIFY_SLOTS];
		if (*slot == 0)
			break;
		note = &notes->items[*slot - 1];
		if (note->key.len != key->len ||
		    memcmp(note->key.bytes, key->bytes, key->len) != 0)
			continue;
		if ((note->flags & flags) == flags)
			return NOTIFY_SAID;
		note->flags |= flags;
		return NOTIFY_NEW;
	}
	if (notes->count == NOTIFY_NOTES)
		return NOTIFY_FULL;
	note = &notes->items[notes->count++];
	*slot = (uint16_t)notes->count;
	note->key = *key;
	note->flags = flags;
	return NOTIFY_NEW;
}

static inline void notify_notes_clear(struct notify_notes *notes)
{
	notes->count = 0;
	memset(notes->slots, 0, sizeof(notes->slots));
}

#endif /* SCALE_NOTIFY_NOTES_H */
