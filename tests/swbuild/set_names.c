// SPDX-License-Identifier: LGPL-3.0-or-later
#include "set_names.h"

#include <stdlib.h>
#include <string.h>

#define DIRECTORY_MODE 0755
#define FILE_MODE      0644

/* The same numbers in both protocols. */
#define STATUS_PERM  1
#define STATUS_ACCES 13
#define STATUS_NOSPC 28
#define STATUS_ROFS  30
#define STATUS_DQUOT 69

/* Where a request's end is awaited. */
struct wait {
	uint32_t pending;
	uint32_t status;
	struct sw_fh *fh;
	struct names *names;
	bool no_memory;
	bool eof;
	unsigned char *data;
	size_t room;
	size_t size;
};

void names_free(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->list[i].text);
	free(names->list);
	*names = (struct names){ 0 };
}

static void ended(void *arg, const struct sw_result *result)
{
	struct wait *wait = arg;

	wait->pending = 0;
	wait->status = result->status;
	wait->eof = result->eof;
	if (result->status == SW_OK && result->fh && wait->fh) {
		wait->fh->length = result->fh->length;
		memcpy(wait->fh->data, result->fh->data, result->fh->length);
	}
}

uint32_t wait_lookup(struct worker *worker, const struct sw_fh *dir,
		     const char *name, struct sw_fh *fh)
{
	struct wait wait = { .pending = 1, .fh = fh };

	sw_lookup(worker->client, dir, name, ended, &wait);
	worker_await(worker, &wait.pending);
	return wait.status;
}

uint32_t wait_directory(struct worker *worker, const struct sw_fh *dir,
			const char *name, struct sw_fh *fh)
{
	uint32_t status = wait_lookup(worker, dir, name, fh);
	struct wait wait = { .pending = 1, .fh = fh };

	if (status != STATUS_NOENT)
		return status;
	sw_mkdir(worker->client, dir, name, DIRECTORY_MODE, ended, &wait);
	worker_await(worker, &wait.pending);
	return wait.status;
}

static void add_name(void *arg, const struct sw_entry *entry)
{
	struct wait *wait = arg;
	struct names *names = wait->names;
	struct name name = { .text = strndup(entry->name, entry->length) };

	if (entry->attrs) {
		name.size = entry->attrs->size;
		name.directory = entry->attrs->type == SW_DIR;
	}
	if (names->count == names->room) {
		size_t room = names->room ? 2 * names->room : 128;
		struct name *list =
			reallocarray(names->list, room, sizeof(*list));

		if (!list) {
			free(name.text);
			wait->no_memory = true;
			return;
		}
		names->list = list;
		names->room = room;
	}
	if (!name.text)
		wait->no_memory = true;
	else
		names->list[names->count++] = name;
}

uint32_t wait_list(struct worker *worker, const struct sw_fh *dir,
		   struct names *names)
{
	struct sw_cursor cursor = { 0 };
	struct wait wait = { .names = names };

	do {
		wait.pending = 1;
		sw_readdir(worker->client, dir, &cursor, true, 0, add_name,
			   ended, &wait);
		worker_await(worker, &wait.pending);
	} while (wait.status == SW_OK && !wait.eof && !wait.no_memory);
	return wait.no_memory ? SW_ERR_ARGUMENT : wait.status;
}

uint32_t wait_remove(struct worker *worker, const struct sw_fh *dir,
		     const char *name, bool directory)
{
	struct wait wait = { .pending = 1 };

	if (directory)
		sw_rmdir(worker->client, dir, name, ended, &wait);
	else
		sw_remove(worker->client, dir, name, ended, &wait);
	worker_await(worker, &wait.pending);
	return wait.status == STATUS_NOENT ? SW_OK : wait.status;
}

uint32_t wait_write(struct worker *worker, const struct sw_fh *dir,
		    const char *name, const void *data, size_t size)
{
	struct sw_target target = { .dir = dir, .name = name };
	struct wait wait = { .pending = 1 };

	sw_write_file(worker->client, &target, SW_CREATE | SW_TRUNCATE,
		      FILE_MODE, data, size, ended, &wait);
	worker_await(worker, &wait.pending);
	return wait.status;
}

static void piece(void *arg, uint64_t offset, const void *data, uint64_t count)
{
	struct wait *wait = arg;

	if (offset >= wait->room)
		return;
	if (count > wait->room - offset)
		count = wait->room - offset;
	memcpy(wait->data + offset, data, count);
	if (offset + count > wait->size)
		wait->size = offset + count;
}

uint32_t wait_read(struct worker *worker, const struct sw_fh *dir,
		   const char *name, void *data, size_t room, size_t *size)
{
	struct sw_target target = { .dir = dir, .name = name };
	struct wait wait = { .pending = 1, .data = data, .room = room };

	sw_read_file(worker->client, &target, room, piece, ended, &wait);
	worker_await(worker, &wait.pending);
	*size = wait.size;
	return wait.status;
}

/* What to do about a status, if there is something. */
static const char *remedy(uint32_t status)
{
	switch (status) {
	case STATUS_PERM:
	case STATUS_ACCES:
		return ": give --uid and --gid of a user that may write there";
	case STATUS_ROFS:
		return ": the export is read only, make it writable";
	case STATUS_NOSPC:
	case STATUS_DQUOT:
		return ": make room on the server, or give a smaller --scale";
	default:
		return "";
	}
}

void worker_fail_status(struct worker *worker, const char *what,
			const char *name, uint32_t status)
{
	const char *why = sw_client_error(worker->client);
	enum sw_version version = worker->team->options->server.version;

	worker_fail(worker, "cannot %s %s: %s%s%s%s", what, name,
		    sw_status_name(version, status), *why ? ": " : "", why,
		    remedy(status));
}
