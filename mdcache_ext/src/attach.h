/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Attachments: objects of the caller's that many entries share (ACLs).
 *
 * An entry holds the number of an attachment, not a pointer. A reader copies
 * the number, raises the attachment's count unless it is zero, and then looks
 * whether the entry is still what it was: if so, the entry held a reference all
 * the time. Attachments are freed by the engine's thread after a grace period.
 */
#ifndef MDX_ATTACH_H
#define MDX_ATTACH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "release.h"

#define ATTACH_SEGMENT	1024u /* numbers */
#define ATTACH_SEGMENTS 1024u

struct mdx_attachment {
	struct release release; /* first: what is freed */
	_Atomic uint32_t refs;
	uint32_t number;
	struct mdx_attachment *chain; /* of the object's hash */
};

struct attachments {
	pthread_mutex_t lock;
	/* By number; [n / ATTACH_SEGMENT] is made when needed. */
	_Atomic(_Atomic(struct mdx_attachment *) *) segment[ATTACH_SEGMENTS];
	uint32_t *free_numbers; /* a stack */
	uint32_t free_count, free_room;
	uint32_t next_number;
	struct mdx_attachment **buckets; /* by object */
	uint32_t bucket_mask;
	uint32_t count;
};

struct mdx;

bool attach_init(struct mdx *c);
void attach_destroy(struct mdx *c);

/* The attachment with this number, or NULL. */
struct mdx_attachment *attach_by_number(const struct mdx *c, uint32_t number);
/* Raises the count of the attachment with this number, in an RCU read section;
 * NULL: it is gone. Whether it is the one meant, the caller must verify. */
struct mdx_attachment *attach_try(const struct mdx *c, uint32_t number);
/* Another reference of an attachment of which one is held. */
void attach_hold(struct mdx_attachment *a);
/* Drops the reference that an entry held; 0 is nothing. */
void attach_drop(struct mdx *c, uint32_t number);

#endif
