/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define NAMES_PER_DIR 1000

void die(const char *format, ...)
{
	va_list args;

	fputs("bench engine: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

/* splitmix64 */
uint64_t load_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void load_key(uint64_t i, struct load_key *key)
{
	uint64_t state = i * 0xd1342543de82ef95, words[4];

	for (int w = 0; w < 4; w++)
		words[w] = load_random(&state);
	memcpy(key->bytes, words, KEY_LEN);
}

static struct timespec random_time(uint64_t *state)
{
	uint64_t r = load_random(state);

	return (struct timespec){
		.tv_sec = (time_t)(1400000000 + r % 400000000),
		.tv_nsec = (long)((r >> 32) % 1000000000),
	};
}

void load_attrs(uint64_t i, struct mdx_attrs *a)
{
	uint64_t state = ~i;

	memset(a, 0, sizeof(*a));
	a->valid = MDX_NUMBERS;
	a->type = 1;
	a->mode = 0644;
	a->nlink = 1;
	a->owner = 1000 + load_random(&state) % 200;
	a->group = 100 + a->owner % 10;
	a->size = load_random(&state) % (1 << 20);
	a->space = (a->size + 4095) / 4096 * 4096;
	a->fsid_major = 0xfd01;
	a->fileid = i + 12;
	a->atime = random_time(&state);
	a->mtime = random_time(&state);
	a->ctime = random_time(&state);
	/* As Ganesha's VFS: the later of the two, in nanoseconds. */
	a->change = (uint64_t)a->ctime.tv_sec * 1000000000 +
		    (uint64_t)a->ctime.tv_nsec;
	if (a->mtime.tv_sec > a->ctime.tv_sec ||
	    (a->mtime.tv_sec == a->ctime.tv_sec &&
	     a->mtime.tv_nsec > a->ctime.tv_nsec))
		a->change = (uint64_t)a->mtime.tv_sec * 1000000000 +
			    (uint64_t)a->mtime.tv_nsec;
}

size_t load_name(uint64_t i, char name[17])
{
	uint64_t state = i ^ 0x6e616d65;
	size_t len = 5 + load_random(&state) % 13;

	for (size_t n = 0; n < len; n++)
		name[n] = (char)('a' + load_random(&state) % 26);
	return len;
}

struct mdx *load_cache(uint64_t files, uint64_t stats, uint64_t bytes)
{
	struct mdx_params params;
	struct mdx *c;
	int r;

	mdx_params_init(&params);
	params.limits = (struct mdx_limits){ files, stats, bytes };
	r = mdx_create(&params, &c);
	if (r)
		die("mdx_create: %s", strerror(-r));
	return c;
}

void load_entries(struct mdx *c, uint64_t first, uint64_t count, bool promote)
{
	uint64_t ticket = mdx_ticket(c);
	struct mdx_attrs attrs;
	struct load_key key;
	int r;

	for (uint64_t i = first; i < first + count; i++) {
		load_key(i, &key);
		load_attrs(i, &attrs);
		r = mdx_put(c, ticket, load_mdx_key(&key), &attrs, MDX_FOREVER);
		if (!r && promote)
			r = mdx_promote(c, load_mdx_key(&key));
		if (r)
			die("entry %llu: %s", (unsigned long long)i,
			    strerror(-r));
	}
}

void load_names(struct mdx *c, uint64_t first, uint64_t count)
{
	uint64_t ticket = mdx_ticket(c);
	struct load_key key, dir;
	struct mdx_key child;
	char name[17];
	int r;

	for (uint64_t i = first; i < first + count; i++) {
		size_t len = load_name(i, name);

		load_key(i, &key);
		load_key(~(i / NAMES_PER_DIR), &dir);
		child = load_mdx_key(&key);
		r = mdx_name_put(c, ticket, load_mdx_key(&dir), name, len,
				 &child, MDX_FOREVER);
		if (r)
			die("name %llu: %s", (unsigned long long)i,
			    strerror(-r));
	}
}
