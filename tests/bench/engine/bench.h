/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The engine's benchmark. Each part is a process of its own, so that it begins
 * with clean memory; it leaves results, which the parent collects.
 */
#ifndef BENCH_H
#define BENCH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mdcache_ext.h"

#define MILLION 1000000ull

struct options {
	bool quick;
	uint64_t entries; /* of this part */
	bool control;	  /* the feature off */
};

/* --- Results (report.c) -------------------------------------------------- */

enum better {
	LOWER,
	HIGHER
};

struct result {
	const char *name;
	const char *unit;
	bool has_target;
	double target;
	enum better better;
	bool control; /* must miss the target */
};

/* Adds a result whose value is the median of the samples. */
void report(json_t *results, const struct result *r, const double *samples,
	    size_t count);
/* A table of results for people. */
void report_table(const json_t *results);
/* Whether no target was missed; controls do not count. */
bool report_ok(const json_t *results);
/* What this machine is. */
json_t *machine(void);

/* --- Measuring (measure.c) ----------------------------------------------- */

uint64_t now_ns(void);
/* Resident memory of this process, huge pages included, in bytes. */
uint64_t resident(void);
/* Memory that the system could give, in bytes. */
uint64_t available(void);
double median(double *samples, size_t count); /* sorts them */

/* --- The load (load.c) --------------------------------------------------- */

#define KEY_LEN 27 /* of a file handle as NFS servers have them */

/* The key of entry i: 27 random bytes of one export, always the same. */
struct load_key {
	uint8_t bytes[KEY_LEN];
};
void load_key(uint64_t i, struct load_key *key);
static inline struct mdx_key load_mdx_key(const struct load_key *key)
{
	return (struct mdx_key){ key->bytes, KEY_LEN, 1 };
}
/* Attributes of an ordinary file: random times, some of 200 owners. */
void load_attrs(uint64_t i, struct mdx_attrs *attrs);
/* 5 to 17 letters; returns how many. */
size_t load_name(uint64_t i, char name[17]);
uint64_t load_random(uint64_t *state);

/* A cache with room for so many entries and bytes. */
struct mdx *load_cache(uint64_t files, uint64_t stats, uint64_t bytes);
/* Puts entries first..first+count-1; dies when one does not fit. */
void load_entries(struct mdx *c, uint64_t first, uint64_t count, bool promote);
/* A name for each of them, a thousand in a directory. */
void load_names(struct mdx *c, uint64_t first, uint64_t count);
/* Ends the process with a message. */
void die(const char *format, ...)
	__attribute__((format(printf, 1, 2), noreturn));

/* --- The control: entries and names as one would write them (plain.c) ----- */

struct plain;
struct plain *plain_create(uint64_t entries);
void plain_put(struct plain *p, const struct load_key *key,
	       const struct mdx_attrs *attrs);
void plain_name_put(struct plain *p, const char *name, size_t len);

/* --- Parts --------------------------------------------------------------- */

typedef void (*part_fn)(const struct options *o, json_t *results);
void part_bytes(const struct options *o, json_t *results);
void part_bytes_control(const struct options *o, json_t *results);
void part_whole(const struct options *o, json_t *results);
void part_latency(const struct options *o, json_t *results);
void part_threads(const struct options *o, json_t *results);
void part_budget(const struct options *o, json_t *results);
void part_locks(const struct options *o, json_t *results);

#endif
