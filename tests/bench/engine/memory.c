/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Memory: bytes per entry and name, of everything at once, and against the
 * budget. It is the growth of resident memory, tables and waste included. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

#define GIB   ((uint64_t)1 << 30)
#define MIB   ((uint64_t)1 << 20)
#define ROOM  (16 * GIB)
#define FILES (8 * MILLION)
#define STATS (10 * MILLION)

static void per_piece(json_t *results, const char *name, double target,
		      bool control, uint64_t before, uint64_t count)
{
	uint64_t now = resident();
	double value = ((double)now - (double)before) / (double)count;
	struct result r = { .name = name,
			    .unit = "bytes",
			    .has_target = true,
			    .target = target,
			    .better = LOWER,
			    .control = control };

	report(results, &r, &value, 1);
}

void part_bytes(const struct options *o, json_t *results)
{
	uint64_t n = o->entries, before;
	struct mdx *c;

	/* Sized for what it holds: a tier's tables grow with its limit. */
	before = resident();
	c = load_cache(n / 100, n, ROOM);
	load_entries(c, 0, n, false);
	per_piece(results, "bytes per stat entry, 1M", 128, false, before, n);
	before = resident();
	load_names(c, 0, n);
	per_piece(results, "bytes per name, 1M", 40, false, before, n);
	mdx_destroy(c);
	before = resident();
	c = load_cache(n, 0, ROOM);
	load_entries(c, 0, n, true);
	per_piece(results, "bytes per file-tier entry, 1M", 320, false, before,
		  n);
	mdx_destroy(c);
}

void part_bytes_control(const struct options *o, json_t *results)
{
	uint64_t n = o->entries, before = resident();
	struct plain *p = plain_create(n);
	struct mdx_attrs attrs;
	struct load_key key;
	char name[17];

	for (uint64_t i = 0; i < n; i++) {
		load_key(i, &key);
		load_attrs(i, &attrs);
		plain_put(p, &key, &attrs);
	}
	per_piece(results, "control: a plain entry (stat target)", 128, true,
		  before, n);
	per_piece(results, "control: a plain entry (file target)", 320, true,
		  before, n);
	before = resident();
	for (uint64_t i = 0; i < n; i++) {
		size_t len = load_name(i, name);

		plain_name_put(p, name, len);
	}
	per_piece(results, "control: a plain name", 40, true, before, n);
}

/* All that the design promises, in one cache. */
void part_whole(const struct options *o, json_t *results)
{
	uint64_t begin = resident(), before = begin, start = now_ns();
	struct mdx *c = load_cache(FILES + MILLION, STATS, ROOM);
	struct result r = { .name = "8M file + 10M stat entries, named",
			    .unit = "GB",
			    .has_target = true,
			    .target = 4.6,
			    .better = LOWER };
	double value;

	if (o->quick)
		die("18 million entries are not quick");
	load_entries(c, 0, STATS, false);
	per_piece(results, "bytes per stat entry, 10M of 18M", 128, false,
		  before, STATS);
	before = resident();
	load_entries(c, STATS, FILES, true);
	per_piece(results, "bytes per file-tier entry, 8M of 18M", 320, false,
		  before, FILES);
	before = resident();
	load_names(c, 0, FILES + STATS);
	per_piece(results, "bytes per name, 18M", 40, false, before,
		  FILES + STATS);
	value = (double)(resident() - begin) / 1e9;
	report(results, &r, &value, 1);
	value = (double)(now_ns() - start) / 1e9;
	report(results,
	       &(struct result){
		       .name = "filling it", .unit = "s", .better = LOWER },
	       &value, 1);
	mdx_destroy(c);
}

/* --- Against the budget -------------------------------------------------- */

#define LONG_NAME 255

static size_t long_name(uint64_t i, char *name)
{
	memset(name, 'n', LONG_NAME);
	memcpy(name, &i, sizeof(i));
	return LONG_NAME;
}

static void ratio(json_t *results, const char *name, bool control, double value)
{
	struct result r = { .name = name,
			    .unit = "x",
			    .has_target = true,
			    .target = 1,
			    .better = LOWER,
			    .control = control };

	report(results, &r, &value, 1);
}

static void budget_control(uint64_t names, uint64_t budget, json_t *results)
{
	uint64_t before = resident(), most = 0;
	struct plain *p = plain_create(1024);
	char name[LONG_NAME];

	for (uint64_t i = 0; i < names && most <= budget; i++) {
		plain_name_put(p, name, long_name(i, name));
		if (i % 10000 == 0)
			most = resident() - before;
	}
	ratio(results, "control: plain names, resident / budget", true,
	      (double)most / (double)budget);
}

void part_budget(const struct options *o, json_t *results)
{
	uint64_t names = o->quick ? MILLION : 10 * MILLION;
	uint64_t budget = o->quick ? 64 * MIB : 512 * MIB;
	uint64_t before = resident(), most = 0, most_resident = 0, stored = 0;
	uint64_t ticket;
	struct mdx_usage usage;
	struct load_key dir;
	char name[LONG_NAME];
	struct mdx *c;
	int r;

	if (o->control) {
		budget_control(names, budget, results);
		return;
	}
	c = load_cache(100000, MILLION, budget);
	ticket = mdx_ticket(c);
	for (uint64_t i = 0; i < names; i++) {
		load_key(i / 1000000, &dir); /* huge directories */
		r = mdx_name_put(c, ticket, load_mdx_key(&dir), name,
				 long_name(i, name), NULL, MDX_FOREVER);
		if (r && r != -ENOSPC)
			die("name %llu: %s", (unsigned long long)i,
			    strerror(-r));
		stored += r == 0;
		if (i % 100 == 0) {
			mdx_usage(c, &usage);
			if (usage.bytes > most)
				most = usage.bytes;
		}
		if (i % 20000 == 0 && resident() - before > most_resident)
			most_resident = resident() - before;
	}
	ratio(results, "long names: most held / budget", false,
	      (double)most / (double)budget);
	ratio(results, "long names: most resident / budget", false,
	      (double)most_resident / (double)budget);
	report(results,
	       &(struct result){ .name = "names stored when they came",
				 .unit = "%",
				 .better = HIGHER },
	       &(double){ 100.0 * (double)stored / (double)names }, 1);
	mdx_destroy(c);
}
