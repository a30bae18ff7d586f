// SPDX-License-Identifier: LGPL-3.0-or-later
#include "stream.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct stream *stream_add(struct stream_list *list, const char *name)
{
	struct stream *grown;
	struct stream *s;

	grown = realloc(list->streams, (list->count + 1) * sizeof(*grown));
	if (grown == NULL)
		return NULL;
	list->streams = grown;
	s = &grown[list->count];
	memset(s, 0, sizeof(*s));
	s->name = strdup(name);
	if (s->name == NULL)
		return NULL;
	list->count++;
	return s;
}

static int append(struct stream *s, uint32_t request)
{
	if (s->nrequests == s->allocated) {
		size_t size = s->allocated ? s->allocated * 2 : 4096;
		uint32_t *grown;

		grown = realloc(s->requests, size * sizeof(*grown));
		if (grown == NULL)
			return -ENOMEM;
		s->requests = grown;
		s->allocated = size;
	}
	s->requests[s->nrequests++] = request;
	if (STREAM_KEY(request) >= s->nkeys)
		s->nkeys = STREAM_KEY(request) + 1;
	return 0;
}

int stream_use(struct stream *s, uint32_t key)
{
	s->nuses++;
	return append(s, key);
}

int stream_use_data(struct stream *s, uint32_t key)
{
	s->nuses++;
	s->ndata++;
	return append(s, key | STREAM_DATA);
}

int stream_remove(struct stream *s, uint32_t key)
{
	return append(s, key | STREAM_REMOVE);
}

void stream_list_free(struct stream_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->streams[i].name);
		free(list->streams[i].requests);
	}
	free(list->streams);
	list->streams = NULL;
	list->count = 0;
}
