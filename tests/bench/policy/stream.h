/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Request streams: what a replacement policy is fed.
 *
 * A stream is an array of requests over keys 0 .. nkeys-1.  A request uses a
 * key, for its attributes alone or for its data (a file that is opened, a
 * directory that is read), or removes it (it was unlinked or renamed over).
 * What is made again after its removal is a new key, so no policy, not even
 * the optimum, can profit from what it held of the old one.
 */
#ifndef POLICY_STREAM_H
#define POLICY_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_REMOVE	    0x80000000u /* set in a request that removes its key */
#define STREAM_DATA	    0x40000000u /* set in a request for data */
#define STREAM_KEY(request) ((request) & ~(STREAM_REMOVE | STREAM_DATA))

struct stream {
	char *name;
	uint32_t *requests;
	size_t nrequests; /* with the removals */
	size_t nuses;	  /* without them */
	size_t allocated;
	size_t ndata;	/* uses for data */
	uint32_t nkeys; /* the footprint */
};

/* A growing list of streams, in the order in which they were added. */
struct stream_list {
	struct stream *streams;
	size_t count;
};

/* An empty stream at the end of the list; name is copied.
 * Valid until the next is added; NULL: no memory. */
struct stream *stream_add(struct stream_list *list, const char *name);

/* Append a request.  Returns 0 or -ENOMEM. */
int stream_use(struct stream *s, uint32_t key);
int stream_use_data(struct stream *s, uint32_t key);
int stream_remove(struct stream *s, uint32_t key);

void stream_list_free(struct stream_list *list);

/* The synthetic streams; seed makes them repeatable.  scale divides their
 * sizes (1: full, 10: a quick run).  Returns 0 or -ENOMEM. */
int stream_generate(struct stream_list *list, uint64_t seed, unsigned scale);

/* Two streams of one trace file (NAME/objects and NAME/names), see trace.c.
 * Returns 0 or a negative errno; what is wrong is told on stderr. */
int stream_read_trace(struct stream_list *list, const char *path);

#endif
