/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The longest time that a lock is held while a huge directory is filled,
 * iterated and dropped. Needs the engine built with MDX_LOCK_TIMING. */
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define ROOM ((uint64_t)4 << 30)

static void stage(json_t *results, const char *what, struct mdx *c,
		  uint64_t start, uint64_t names)
{
	double seconds = (double)(now_ns() - start) / 1e9;
	struct mdx_usage usage;
	char name[64];
	struct result r = { .name = name, .better = LOWER };

	mdx_usage(c, &usage);
	snprintf(name, sizeof(name), "%lluM names %s: longest lock",
		 (unsigned long long)(names / MILLION), what);
	r.unit = "us";
	report(results, &r, &(double){ (double)usage.lock_ns / 1e3 }, 1);
	snprintf(name, sizeof(name), "%s", what);
	r.unit = "s";
	report(results, &r, &seconds, 1);
}

static bool count_one(const struct mdx_dirent *d, void *arg)
{
	(void)d;
	++*(uint64_t *)arg;
	return true;
}

void part_locks(const struct options *o, json_t *results)
{
	uint64_t names = o->quick ? MILLION : 5 * MILLION;
	struct mdx *c = load_cache(1000, MILLION, ROOM);
	struct mdx_population p;
	struct load_key key, dir;
	struct mdx_key child;
	uint64_t start = now_ns(), seen = 0;
	char name[32];
	int r;

	load_key(~0ull, &dir);
	r = mdx_populate_begin(c, load_mdx_key(&dir), &p);
	for (uint64_t i = 0; i < names && !r; i++) {
		int len = snprintf(name, sizeof(name), "%llu.%llx",
				   (unsigned long long)i,
				   (unsigned long long)i * 2654435761u);

		load_key(i, &key);
		child = load_mdx_key(&key);
		r = mdx_populate_add(c, &p, name, (size_t)len, &child);
	}
	if (!r)
		r = mdx_populate_end(c, &p, true, MDX_FOREVER, MDX_FOREVER);
	if (r)
		die("a directory of %llu names: %s", (unsigned long long)names,
		    strerror(-r));
	stage(results, "filled", c, start, names);
	start = now_ns();
	r = mdx_readdir(c, load_mdx_key(&dir), 0, count_one, &seen);
	if (r || seen != names)
		die("iterated %llu names of %llu: %s", (unsigned long long)seen,
		    (unsigned long long)names, strerror(-r));
	stage(results, "iterated", c, start, names);
	start = now_ns();
	mdx_forget(c, load_mdx_key(&dir));
	while (!mdx_trim(c, 64))
		;
	stage(results, "dropped", c, start, names);
	mdx_destroy(c);
}
