// SPDX-License-Identifier: LGPL-3.0-or-later
#include <stdlib.h>
#include <string.h>

#include "set.h"
#include "set_names.h"

/* Files of one directory that are written at the same time. */
struct writing {
	struct worker *worker;
	uint32_t pending;
	uint32_t status; /* of the first that failed */
};

static void written(void *arg, const struct sw_result *result)
{
	struct writing *writing = arg;

	writing->pending--;
	if (result->status != SW_OK && writing->status == SW_OK)
		writing->status = result->status;
	atomic_fetch_add_explicit(&writing->worker->steps, 1,
				  memory_order_relaxed);
}

/* Which file of its directory a name is; NO_FILE if it is none of the set. */
static uint32_t file_of(const struct shape *shape, const char *text)
{
	char name[NAME_ROOM];
	unsigned long file;

	if (text[0] != 'f')
		return NO_FILE;
	file = strtoul(text + 1, NULL, 10);
	if (file >= shape->files)
		return NO_FILE;
	name_file(name, shape, (uint32_t)file);
	return strcmp(name, text) == 0 ? (uint32_t)file : NO_FILE;
}

/* Marks the files that are as they should be, and removes what is none. */
static bool check_names(struct worker *worker, const struct process *p,
			uint32_t directory, bool *good)
{
	const struct shape *shape = &worker->team->shape;
	const struct sw_fh *fh = &p->directories[directory];
	struct names names = { 0 };
	uint32_t status = wait_list(worker, fh, &names);

	for (size_t i = 0; i < names.count && status == SW_OK; i++) {
		const struct name *name = &names.list[i];
		uint32_t file = file_of(shape, name->text);

		if (file == NO_FILE)
			status = wait_remove(worker, fh, name->text,
					     name->directory);
		else
			good[file] =
				name->size ==
				shape_size(shape, p->files.process,
					   directory * shape->files + file);
	}
	names_free(&names);
	if (status != SW_OK)
		worker_fail_status(worker, "read",
				   "a directory of the file set", status);
	return status == SW_OK;
}

/* Writes the files of a directory that are not good. */
static void write_files(struct worker *worker, const struct process *p,
			uint32_t directory, const bool *good)
{
	const struct shape *shape = &worker->team->shape;
	struct writing writing = { .worker = worker };

	for (uint32_t i = 0; i < shape->files; i++) {
		uint32_t file = directory * shape->files + i;
		char name[NAME_ROOM];
		struct sw_target target = { .dir = &p->directories[directory],
					    .name = name };

		if (good[i]) {
			atomic_fetch_add_explicit(&worker->steps, 1,
						  memory_order_relaxed);
			continue;
		}
		name_file(name, shape, file);
		writing.pending++;
		sw_write_file(worker->client, &target, SW_CREATE | SW_TRUNCATE,
			      0644, worker->team->data,
			      shape_size(shape, p->files.process, file),
			      written, &writing);
	}
	worker_await(worker, &writing.pending);
	if (writing.status != SW_OK)
		worker_fail_status(worker, "write", "a file of the file set",
				   writing.status);
}

static void make_process(struct worker *worker, struct process *p, bool *good)
{
	const struct team *team = worker->team;
	const struct shape *shape = &team->shape;
	bool trusted = team->options->load.trust &&
		       p->files.process < team->there;
	char name[NAME_ROOM];
	uint32_t status;

	name_process(name, p->files.process);
	status = wait_directory(worker, &team->root, name, &p->home);
	if (status != SW_OK)
		worker_fail_status(worker, "make the directory", name, status);
	for (uint32_t d = 0; d < shape->directories && !worker->error[0] &&
			     !atomic_load(&team->stop);
	     d++) {
		name_directory(name, d);
		status = wait_directory(worker, &p->home, name,
					&p->directories[d]);
		if (status != SW_OK) {
			worker_fail_status(worker, "make the directory", name,
					   status);
			return;
		}
		if (trusted) {
			atomic_fetch_add_explicit(&worker->steps, shape->files,
						  memory_order_relaxed);
			continue;
		}
		memset(good, 0, shape->files * sizeof(*good));
		if (check_names(worker, p, d, good))
			write_files(worker, p, d, good);
	}
}

/* A new process in the worker's list; NULL if there is no memory. */
static struct process *add_process(struct worker *worker, uint32_t number)
{
	if (worker->count == worker->room) {
		uint32_t room = worker->room ? 2 * worker->room : 16;
		struct process **list = reallocarray(worker->processes, room,
						     sizeof(struct process *));

		if (!list)
			return NULL;
		worker->processes = list;
		worker->room = room;
	}
	worker->processes[worker->count] = process_new(worker, number);
	if (!worker->processes[worker->count])
		return NULL;
	return worker->processes[worker->count++];
}

void set_make_job(struct worker *worker)
{
	const struct team *team = worker->team;
	bool *good = calloc(team->shape.files, sizeof(*good));

	if (!good) {
		worker_fail(worker, "there is no memory for the file set");
		return;
	}
	for (uint32_t number = worker->number + worker->count * team->size;
	     number < team->wanted && !worker->error[0] &&
	     !atomic_load(&team->stop);
	     number += team->size) {
		struct process *p = add_process(worker, number);

		if (p)
			make_process(worker, p, good);
		else
			worker_fail(worker, "there is no memory for process %u",
				    number);
	}
	free(good);
}

static void restored(struct process *p, uint32_t status)
{
	files_done(&p->files, &p->choice, status == SW_OK);
	p->requests = status;
	p->worker->running--;
}

void set_restore_job(struct worker *worker)
{
	for (uint32_t i = 0; i < worker->count; i++) {
		struct process *p = worker->processes[i];
		enum op op;

		p->ended = restored;
		while ((op = files_restore(&p->files)) != OP_NONE) {
			files_choose(&p->files, op, &p->choice);
			worker->running = 1;
			process_execute(p);
			worker_await(worker, &worker->running);
			if (p->requests == SW_OK)
				continue;
			worker_fail_status(worker, "restore", p->choice.name,
					   p->requests);
			return;
		}
	}
}
