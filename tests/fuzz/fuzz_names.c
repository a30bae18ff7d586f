/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The names of a directory against an array: a sequence of operations that the
 * input spells. The cache may say that it does not know, and nothing else that
 * is not so. The first byte chooses how many hashes are equal.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "leaf.h"
#include "mdcache_ext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NAMES 64

enum state {
	ABSENT,
	PRESENT
};

static struct mdx *cache;
static const uint8_t dir_bytes[] = "directory";
static const uint8_t child_bytes[] = "child";
static const struct mdx_key dir = { dir_bytes, sizeof(dir_bytes), 0 };
static const struct mdx_key child = { child_bytes, sizeof(child_bytes), 0 };

struct reference {
	enum state state[NAMES];
	bool given[NAMES];
	uint64_t last;
	unsigned int stop;
};

static void check(bool ok)
{
	if (!ok)
		abort();
}

/* Of 1 to 255 bytes, the first of which is the number. */
static size_t make_name(uint8_t number, char *name)
{
	size_t len = number % 7 ? 1 + number % 16 : 1 + number % 255;

	memset(name, 'x', len);
	name[0] = (char)number;
	return len;
}

static void lookup(const struct reference *ref, uint8_t number)
{
	char name[MDX_NAME_MAX];
	struct mdx_answer answer;
	size_t len = make_name(number, name);
	int r = mdx_lookup(cache, dir, name, len, &answer);

	check(r == -ENODATA ||
	      (ref->state[number] == PRESENT ? r == 0 || r == -ESTALE :
					       r == -ENOENT));
	check(r || (answer.key_len == child.len &&
		    !memcmp(answer.key, child.bytes, child.len)));
}

static bool each(const struct mdx_dirent *d, void *arg)
{
	struct reference *ref = arg;
	uint8_t number = (uint8_t)d->name[0];
	char name[MDX_NAME_MAX];

	check(number < NAMES && d->len == make_name(number, name) &&
	      !memcmp(d->name, name, d->len));
	check(d->cookie > ref->last && d->cookie <= MDX_COOKIE_LAST);
	check(!ref->given[number] && !(d->doubtful && d->known));
	check(ref->state[number] == PRESENT || d->doubtful);
	ref->last = d->cookie;
	ref->given[number] = ref->state[number] == PRESENT;
	return ref->stop-- > 0;
}

/* All names, in calls of a few each. */
static void iterate(struct reference *ref, uint8_t stop)
{
	int r;

	memset(ref->given, 0, sizeof(ref->given));
	ref->last = 0;
	do {
		ref->stop = stop;
		r = mdx_readdir(cache, dir, ref->last, each, ref);
	} while (r == 1);
	check(r == 0 || r == -ENODATA);
	for (unsigned int i = 0; i < NAMES && r == 0; i++)
		check(ref->given[i] == (ref->state[i] == PRESENT));
}

static void change(struct reference *ref, uint8_t number, uint8_t how)
{
	char name[MDX_NAME_MAX];
	size_t len = make_name(number, name);
	enum mdx_outcome outcome = how & 3;
	struct mdx_change ch;
	int r;

	mdx_change_init(&ch);
	check(mdx_change_name(cache, &ch, dir, name, len) == 0);
	if (outcome == MDX_NAME_ABSENT || outcome == MDX_NAME_UNKNOWN)
		ref->state[number] = ABSENT;
	else if (outcome == MDX_NAME_PRESENT)
		ref->state[number] = PRESENT;
	r = mdx_changed_name(cache, &ch, dir, name, len, outcome,
			     outcome == MDX_NAME_PRESENT ? &child : NULL,
			     MDX_FOREVER);
	check(r == 0 || r == -ENOSPC || r == -ESTALE);
}

static void put(const struct reference *ref, uint8_t number)
{
	char name[MDX_NAME_MAX];
	size_t len = make_name(number, name);
	int r = mdx_name_put(cache, mdx_ticket(cache), dir, name, len,
			     ref->state[number] == PRESENT ? &child : NULL,
			     MDX_FOREVER);

	check(r == 0 || r == -ENOSPC);
}

/* Something else changes a name, and tells. */
static void foreign(struct reference *ref, uint8_t number, uint8_t how)
{
	char name[MDX_NAME_MAX];
	size_t len = make_name(number, name);

	ref->state[number] = how & 1 ? PRESENT : ABSENT;
	if (how & 0x80)
		mdx_invalidate_names(cache, dir);
	else if (how & 0x40)
		mdx_doubt_name(cache, dir, name, len);
	else
		mdx_invalidate_name(cache, dir, name, len);
}

static void populate(const struct reference *ref, const uint8_t *data,
		     size_t size)
{
	struct mdx_population p;
	char name[MDX_NAME_MAX];

	check(mdx_populate_begin(cache, dir, &p) == 0);
	for (unsigned int i = 0; i < NAMES; i++) {
		size_t len = make_name((uint8_t)i, name);

		if (ref->state[i] == PRESENT)
			mdx_populate_add(cache, &p, name, len, &child);
	}
	mdx_populate_end(cache, &p, size == 0 || data[0] % 8, MDX_FOREVER,
			 MDX_FOREVER);
}

static void create(void)
{
	struct mdx_params params;

	mdx_params_init(&params);
	params.limits.max_bytes = 4 << 20;
	params.limits.max_files = 10;
	check(mdx_create(&params, &cache) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct mdx_attrs none;
	struct reference ref = { 0 };

	if (size < 1)
		return 0;
	if (!cache)
		create();
	mdx_forget(cache, dir);
	cookie_mask = data[0] % 4 ? UINT64_MAX : (uint64_t)data[0] << 34 | 0xff;
	mdx_put(cache, mdx_ticket(cache), child, &none, MDX_FOREVER);
	for (size_t i = 1; i + 2 < size; i += 3) {
		uint8_t number = data[i + 1] % NAMES, how = data[i + 2];

		switch (data[i] % 8) {
		case 0:
		case 1:
			change(&ref, number, how);
			break;
		case 2:
			put(&ref, number);
			break;
		case 3:
			foreign(&ref, number, how);
			break;
		case 4:
			populate(&ref, data + i, size - i);
			break;
		case 5:
			iterate(&ref, how);
			break;
		default:
			lookup(&ref, number);
			break;
		}
	}
	for (unsigned int i = 0; i < NAMES; i++)
		lookup(&ref, (uint8_t)i);
	iterate(&ref, 255);
	return 0;
}
