/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A cache as one would write it at first: a hash table, and an allocation for
 * each entry and each name. It is what the engine's figures are held against. */
#include <stdlib.h>
#include <string.h>

#include "bench.h"

struct plain_entry {
	struct plain_entry *next, *older, *newer;
	uint64_t until_ms;
	struct mdx_attrs attrs;
	uint8_t backend, key_len;
	uint8_t key[MDX_KEY_MAX];
};

struct plain_name {
	struct plain_name *next, *sibling;
	struct plain_entry *child;
	uint64_t until_ms;
	uint8_t len;
	char text[];
};

struct plain {
	uint64_t mask;
	struct plain_entry **entries;
	struct plain_name **names;
	uint64_t count;
};

static void *must(void *p)
{
	if (!p)
		die("no memory for the control");
	return p;
}

struct plain *plain_create(uint64_t entries)
{
	struct plain *p = must(calloc(1, sizeof(*p)));

	for (p->mask = 1; p->mask < entries; p->mask *= 2)
		;
	p->entries = must(calloc(p->mask, sizeof(struct plain_entry *)));
	p->names = must(calloc(p->mask, sizeof(struct plain_name *)));
	p->mask--;
	return p;
}

void plain_put(struct plain *p, const struct load_key *key,
	       const struct mdx_attrs *attrs)
{
	struct plain_entry *e = must(calloc(1, sizeof(*e)));
	uint64_t hash;

	memcpy(&hash, key->bytes, sizeof(hash));
	e->attrs = *attrs;
	e->key_len = KEY_LEN;
	memcpy(e->key, key->bytes, KEY_LEN);
	e->next = p->entries[hash & p->mask];
	p->entries[hash & p->mask] = e;
}

void plain_name_put(struct plain *p, const char *name, size_t len)
{
	struct plain_name *n = must(malloc(sizeof(*n) + len + 1));
	uint64_t hash = ++p->count;

	memset(n, 0, sizeof(*n));
	n->len = (uint8_t)len;
	memcpy(n->text, name, len);
	n->text[len] = '\0';
	hash = load_random(&hash);
	n->next = p->names[hash & p->mask];
	p->names[hash & p->mask] = n;
}
