/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <err.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "askers.h"
#include "changes.h"
#include "files.h"
#include "memory.h"
#include "nfsload.h"

enum {
	WARMING = 3,   /* questions before a change */
	IMPATIENT = 5, /* late changes in a row: it is not waited any more */
	AUDIT_NS = 200000000
};

struct batch {
	const struct changes_options *options;
	char path[32]; /* of its directory */
	struct fh directory;
	unsigned kinds;
	const struct kind *kind[MOST_KINDS];
	unsigned late[MOST_KINDS]; /* changes in a row */
	struct object *objects;	   /* those of one number after the other */
	unsigned count;
	struct pending pending;
};

static void sleep_until(uint64_t when)
{
	struct timespec t = { .tv_sec = (time_t)(when / 1000000000),
			      .tv_nsec = (long)(when % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		continue;
}

/* Whether a name is one of those in a list "a,b". */
static bool in_list(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (!strncmp(at, name, length) &&
		    (at[length] == ',' || !at[length]))
			return true;
	}
	return false;
}

static void choose_kinds(struct batch *b)
{
	const char *only = b->options->only;

	for (const struct kind *k = kinds; k->name; k++) {
		if (!only || in_list(only, k->name))
			b->kind[b->kinds++] = k;
	}
	if (!b->kinds)
		errx(64, "no kind of change is called \"%s\"", only);
}

static void prepare(struct batch *b)
{
	const struct changes_options *options = b->options;

	choose_kinds(b);
	snprintf(b->path, sizeof(b->path), "batch%u", options->first);
	file_mkdir(b->path);
	b->count = b->kinds * options->count;
	b->objects = askers_memory(b->count * sizeof(*b->objects));
	askers_start(options->export, options->askers);
	b->pending.objects = must_alloc(b->count, sizeof(struct object *));
	b->pending.options = options;
	for (unsigned i = 0; i < b->count; i++) {
		struct object *o = &b->objects[i];

		o->kind = b->kind[i % b->kinds];
		snprintf(o->path, sizeof(o->path), "%s/%s-%u", b->path,
			 o->kind->name, i / b->kinds);
		file_mkdir(o->path);
		o->kind->prepare(o);
	}
	sleep_until(now_ns() + options->settle);
}

static void find(struct batch *b)
{
	struct fh root;

	ask_mount(b->options->export, &root);
	if (ask_path(&root, b->path, &b->directory) != NFS3_OK)
		errx(2,
		     "%s/%s is not in %s as NFS shows it: is it the "
		     "export's directory?",
		     b->options->directory, b->path, b->options->export);
	for (unsigned i = 0; i < b->count; i++) {
		struct object *o = &b->objects[i];

		if (ask_path(&b->directory, strrchr(o->path, '/'),
			     &o->directory) != NFS3_OK)
			errx(2, "%s is not there", o->path);
		o->kind->find(o);
	}
}

/* Has the server know what will be wrong. */
static bool warm(struct object *o)
{
	bool ready = true;

	for (int i = 0; i < WARMING && ready; i++)
		ready = o->kind->before(o);
	o->unready = !ready;
	return ready;
}

/* Changes one object and asks for it until it is right or out of patience. */
static void measure(struct batch *b, struct object *o, uint64_t patience)
{
	changer_begin(o);
	for (;;) {
		bool changed = changer_done();
		uint64_t sent = now_ns(), now;
		bool right = o->kind->after(o);

		now = now_ns();
		if (right) {
			while (!changer_done())
				continue;
			o->right = now > o->changed ? now : o->changed;
			return;
		}
		o->asked = now;
		if (changed && now - o->changed >= patience) {
			pending_add(&b->pending, o);
			return;
		}
		if (b->options->spacing)
			sleep_until(sent + b->options->spacing);
	}
}

static void change_all(struct batch *b)
{
	changer_start();
	for (unsigned i = 0; i < b->count; i++) {
		struct object *o = &b->objects[i];
		unsigned *late = &b->late[i % b->kinds];

		pending_round(&b->pending);
		if (!warm(o))
			continue;
		askers_ask(o);
		measure(b, o, *late < IMPATIENT ? b->options->patience : 0);
		*late = o->right ? 0 : *late + 1;
	}
	askers_ask(NULL);
	askers_stop();
	changer_stop();
	while (b->pending.count) {
		uint64_t next = pending_round(&b->pending);

		if (next != UINT64_MAX)
			sleep_until(next);
	}
}

/* Of how many objects an answer was wrong again, or is now. */
static unsigned wrong_later(const struct batch *b, unsigned kind)
{
	unsigned wrong = 0;

	for (unsigned i = kind; i < b->count; i += b->kinds) {
		struct object *o = &b->objects[i];

		if (o->right && !o->kind->after(o))
			atomic_store(&o->again, true);
		wrong += atomic_load(&o->again);
	}
	return wrong;
}

static void append(json_t *array, uint64_t ns)
{
	json_array_append_new(array, json_integer((json_int_t)ns));
}

static json_t *report_kind(const struct batch *b, unsigned kind)
{
	json_t *delays = json_array(), *gaps = json_array();
	unsigned unseen = 0, unready = 0;

	for (unsigned i = kind; i < b->count; i += b->kinds) {
		struct object *o = &b->objects[i];
		uint64_t right = atomic_load(&o->right);
		uint64_t before = o->asked > o->changed ? o->asked : o->changed;

		unready += o->unready;
		unseen += !o->unready && !right;
		if (!right)
			continue;
		append(delays, right - o->changed);
		append(gaps, right > before ? right - before : 0);
	}
	return json_pack("{s:o, s:o, s:i, s:i, s:i}", "delays_ns", delays,
			 "gaps_ns", gaps, "unseen", (int)unseen, "unready",
			 (int)unready, "wrong_later",
			 (int)wrong_later(b, kind));
}

int changes_run(const struct changes_options *options)
{
	struct batch batch = { .options = options };
	json_t *report = json_object(), *of = json_object();

	files_open(options->directory);
	prepare(&batch);
	find(&batch);
	change_all(&batch);
	sleep_until(now_ns() + AUDIT_NS);
	for (unsigned k = 0; k < batch.kinds; k++)
		json_object_set_new(of, batch.kind[k]->name,
				    report_kind(&batch, k));
	json_object_set_new(report, "kinds", of);
	json_object_set_new(report, "asked",
			    json_integer((json_int_t)ask_count()));
	json_dumpf(report, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(report);
	file_remove_tree(batch.path);
	free(batch.pending.objects);
	munmap(batch.objects, batch.count * sizeof(*batch.objects));
	session_close();
	sets_free();
	return 0;
}
