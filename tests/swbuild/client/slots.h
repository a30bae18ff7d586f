/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The slot table of an NFSv4.1 session: which requests may be in flight, and
 * each slot's sequence id.
 */
#ifndef SWBUILD_SLOTS_H
#define SWBUILD_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#define SLOTS_MAX 1024

struct slots {
	uint32_t granted; /* slots that the session has */
	uint32_t usable;  /* of them, by the server's last target */
	uint32_t busy;
	uint32_t sequence[SLOTS_MAX];  /* that the next request has */
	uint64_t used[SLOTS_MAX / 64]; /* a bit each */
};

/* A new session's table: sequence ids start at 1.  granted: as many are used
 * as the table has room for. */
void slots_init(struct slots *slots, uint32_t granted);

/* The lowest free slot, which is busy now; -1 if none is free. */
int slots_take(struct slots *slots);

/* Gives a slot back; `advance` if the server has seen its request. */
void slots_release(struct slots *slots, uint32_t slot, bool advance);

/*
 * The server's target: the highest slot it would have used.  Slots above are
 * not taken any more, those below may be taken again.
 */
void slots_target(struct slots *slots, uint32_t highest);

/* The highest busy slot; 0 if none is. */
uint32_t slots_highest(const struct slots *slots);

#endif
