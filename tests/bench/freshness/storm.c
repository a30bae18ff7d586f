/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <err.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "files.h"
#include "memory.h"
#include "nfsload.h"
#include "storm.h"

enum {
	SLICE_NS = 1000000, /* the rate is held over such a time */
	PAUSE_NS = 500000,  /* between questions */
	SIZE = 1
};

static struct storm_directory *directories;
static atomic_bool over;

struct changer {
	pthread_t thread;
	const struct storm_options *options;
	unsigned number;
	uint64_t changes;
};

struct storm_path storm_path(const struct storm_directory *d, char sort,
			     unsigned number)
{
	struct storm_path path;

	snprintf(path.text, sizeof(path.text), "%s/%c%u", d->path, sort,
		 number);
	path.name = strlen(d->path) + 1;
	return path;
}

/* A mixing function (splitmix64). */
static uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

static void make_or_remove(struct storm_directory *d, unsigned number)
{
	struct storm_path name = storm_path(d, 'n', number);

	if (d->made[number])
		file_unlink(name.text);
	else
		file_create(name.text, 0);
	d->made[number] = !d->made[number];
}

static void move_name(struct storm_directory *d, unsigned number)
{
	struct storm_path a = storm_path(d, 'a', number);
	struct storm_path b = storm_path(d, 'b', number);

	if (d->moved[number])
		file_rename(b.text, a.text);
	else
		file_rename(a.text, b.text);
	d->moved[number] = !d->moved[number];
}

static void change(struct storm_directory *d, uint64_t random)
{
	unsigned number = (unsigned)(random >> 32);
	struct storm_path file = storm_path(d, 'f', number % STORM_FILES);

	switch (random % 10) {
	case 0:
	case 1:
	case 2:
	case 3:
		file_chmod(file.text, 0600 | (unsigned)(random >> 8 & 077));
		break;
	case 4:
	case 5:
		file_append(file.text, SIZE);
		break;
	case 6:
	case 7:
		file_utimes(file.text, (uint32_t)(random >> 9) & 0x7fffffff);
		break;
	case 8:
		make_or_remove(d, number % STORM_NAMES);
		break;
	default:
		move_name(d, number % STORM_MOVED);
	}
}

/* Changes this thread's share of the directories. */
static void *body(void *argument)
{
	struct changer *c = argument;
	const struct storm_options *options = c->options;
	uint64_t began = now_ns(), random = c->number, wanted;
	unsigned share = options->directories / options->threads;

	while (!atomic_load(&over)) {
		struct timespec slice = { .tv_nsec = SLICE_NS };

		wanted = (uint64_t)((double)(now_ns() - began) / 1e9 *
				    options->rate / options->threads);
		while (c->changes < wanted && !atomic_load(&over)) {
			uint64_t r = next_random(&random);
			unsigned d = (unsigned)(r >> 16) % share;

			change(&directories[d * options->threads + c->number],
			       next_random(&random));
			c->changes++;
		}
		nanosleep(&slice, NULL);
	}
	return NULL;
}

static void prepare(const struct storm_options *options)
{
	directories = must_alloc(options->directories, sizeof(*directories));
	for (unsigned i = 0; i < options->directories; i++) {
		struct storm_directory *d = &directories[i];

		snprintf(d->path, sizeof(d->path), "storm%u", i);
		file_mkdir(d->path);
		for (unsigned n = 0; n < STORM_FILES; n++)
			file_create(storm_path(d, 'f', n).text, SIZE);
		for (unsigned n = 0; n < STORM_MOVED; n++)
			file_create(storm_path(d, 'a', n).text, SIZE);
	}
}

/* Stops the server while the changes go on: more of them than are kept. */
static void freeze(int pid)
{
	struct timespec wait = { .tv_sec = 2 };

	if (kill(pid, SIGSTOP) < 0)
		err(2, "stopping the server, process %d", pid);
	nanosleep(&wait, NULL);
	kill(pid, SIGCONT);
}

/* Asks until the time is over; how many changes there were. */
static uint64_t storm(const struct storm_options *options)
{
	struct changer *changers =
		must_alloc(options->threads, sizeof(*changers));
	uint64_t half = now_ns() + options->duration / 2;
	uint64_t end = now_ns() + options->duration, changes = 0, random = 1;
	int pid = options->freeze;

	for (unsigned i = 0; i < options->threads; i++) {
		changers[i] =
			(struct changer){ .options = options, .number = i };
		if (pthread_create(&changers[i].thread, NULL, body,
				   &changers[i]))
			errx(2, "cannot start a thread");
	}
	while (now_ns() < end) {
		struct timespec pause = { .tv_nsec = PAUSE_NS };
		uint64_t r = next_random(&random);

		storm_ask(&directories[r % options->directories], r >> 16);
		nanosleep(&pause, NULL);
		if (pid && now_ns() > half) {
			freeze(pid);
			pid = 0;
		}
	}
	atomic_store(&over, true);
	for (unsigned i = 0; i < options->threads; i++) {
		pthread_join(changers[i].thread, NULL);
		changes += changers[i].changes;
	}
	free(changers);
	return changes;
}

int storm_run(const struct storm_options *options)
{
	struct storm_result result = { 0 };
	struct timespec grace = {
		.tv_sec = (time_t)(options->grace / 1000000000),
		.tv_nsec = (long)(options->grace % 1000000000)
	};
	uint64_t began, changes, asked;
	double seconds;
	struct fh root;
	json_t *report;

	files_open(options->directory);
	prepare(options);
	nanosleep(&grace, NULL);
	ask_mount(options->export, &root);
	for (unsigned i = 0; i < options->directories; i++)
		storm_find(&directories[i], &root);
	asked = ask_count();
	began = now_ns();
	changes = storm(options);
	seconds = (double)(now_ns() - began) / 1e9;
	asked = ask_count() - asked;
	nanosleep(&grace, NULL);
	for (unsigned i = 0; i < options->directories; i++)
		storm_check(&directories[i], &result);
	report = json_pack("{s:I, s:f, s:I, s:i, s:i, s:i, s:i}", "changes",
			   (json_int_t)changes, "seconds", seconds, "asked",
			   (json_int_t)asked, "checked", (int)result.checked,
			   "wrong_attributes", (int)result.attributes,
			   "wrong_names", (int)result.names, "wrong_listings",
			   (int)result.listings);
	json_dumpf(report, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(report);
	for (unsigned i = 0; i < options->directories; i++)
		file_remove_tree(directories[i].path);
	free(directories);
	session_close();
	sets_free();
	return 0;
}
