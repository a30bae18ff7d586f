/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "nfsload.h"
#include "memory.h"

static struct set *sets;

struct set *set_find(const char *name)
{
	struct set *s = sets;

	while (s && strcmp(s->name, name) != 0)
		s = s->next;
	return s;
}

struct set *set_new(const char *name, int version)
{
	struct set *s = set_find(name);

	if (!s) {
		s = must_alloc(1, sizeof(*s));
		s->name = must_copy(name);
		s->next = sets;
		sets = s;
	}
	s->version = version;
	s->count = 0;
	return s;
}

void set_add(struct set *s, const void *bytes, uint32_t length)
{
	uint64_t start = s->count ? s->ends[s->count - 1] : 0;

	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 1024;
		s->ends = must_resize(s->ends, s->room, sizeof(*s->ends));
	}
	if (start + length > s->size) {
		s->size = 2 * (start + length);
		s->bytes = must_resize(s->bytes, s->size, 1);
	}
	memcpy(s->bytes + start, bytes, length);
	s->ends[s->count++] = start + length;
}

struct handle set_handle(const struct set *s, uint64_t i)
{
	uint64_t start = i ? s->ends[i - 1] : 0;

	return (struct handle){ .bytes = s->bytes + start,
				.length = (uint32_t)(s->ends[i] - start) };
}

void sets_free(void)
{
	while (sets) {
		struct set *s = sets;

		sets = s->next;
		free(s->name);
		free(s->ends);
		free(s->bytes);
		free(s);
	}
}
