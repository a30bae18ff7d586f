// SPDX-License-Identifier: LGPL-3.0-or-later
#include "process.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "team.h"

#define STATUS_NOENT   2 /* in both protocols */
#define FILE_MODE      0644
#define DIRECTORY_MODE 0755

struct process *process_new(struct worker *worker, uint32_t number)
{
	const struct shape *shape = &worker->team->shape;
	struct process *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->directories = calloc(shape->directories, sizeof(*p->directories));
	if (!p->directories) {
		free(p);
		return NULL;
	}
	p->worker = worker;
	p->last_file = NO_FILE;
	p->random = ~shape->seed - number;
	random_next(&p->random);
	files_init(&p->files, shape, number);
	return p;
}

void process_free(struct process *process)
{
	if (process)
		free(process->directories);
	free(process);
}

static const struct sw_fh *directory(const struct process *p)
{
	return &p->directories[p->choice.directory];
}

static void remember(struct process *p, const struct sw_fh *fh)
{
	if (!fh || p->choice.file == NO_FILE)
		return;
	p->last.length = fh->length;
	memcpy(p->last.data, fh->data, fh->length);
	p->last_file = p->choice.file;
}

static void end(struct process *p, const struct sw_result *result)
{
	p->requests += result->rpcs;
	if (result->status == SW_OK)
		remember(p, result->fh);
	p->ended(p, result->status);
}

static void done(void *arg, const struct sw_result *result)
{
	end(arg, result);
}

/* The name must not be there. */
static void absent_done(void *arg, const struct sw_result *result)
{
	struct process *p = arg;

	p->requests += result->rpcs;
	p->ended(p, result->status == STATUS_NOENT ? SW_OK :
		    result->status == SW_OK	   ? LOAD_NOT_ABSENT :
						     result->status);
}

static void open_absent_done(void *arg, const struct sw_result *result)
{
	struct process *p = arg;

	if (result->status == SW_OK)
		sw_close(p->worker->client, result->file, absent_done, p);
	else
		absent_done(p, result);
}

static void read_done(void *arg, const struct sw_result *result)
{
	struct process *p = arg;
	struct sw_result checked = *result;

	if (result->status == SW_OK && result->count != p->choice.size)
		checked.status = LOAD_WRONG_SIZE;
	end(p, &checked);
}

static void unlinked(void *arg, const struct sw_result *result)
{
	struct process *p = arg;

	if (p->last_file == p->choice.file) {
		p->last_file = NO_FILE;
		p->last.length = 0;
	}
	done(arg, result);
}

/* The second request of access and chmod. */
static void found(void *arg, const struct sw_result *result)
{
	struct process *p = arg;
	struct sw_client *client = p->worker->client;
	struct sw_setattr mode = { .set = SW_SET_MODE };

	if (result->status != SW_OK) {
		end(p, result);
		return;
	}
	p->requests += result->rpcs;
	remember(p, result->fh);
	if (p->choice.op == OP_ACCESS) {
		sw_access(client, result->fh,
			  SW_ACCESS_READ | SW_ACCESS_MODIFY | SW_ACCESS_EXTEND,
			  done, p);
		return;
	}
	/* A change to what it is already might be left undone. */
	mode.mode = FILE_MODE | (random_below(&p->random, 2) ? 0020 : 0);
	sw_setattr(client, result->fh, &mode, done, p);
}

static void page_done(void *arg, const struct sw_result *result)
{
	struct process *p = arg;

	if (result->status != SW_OK || result->eof) {
		end(p, result);
		return;
	}
	p->requests += result->rpcs;
	sw_readdir(p->worker->client, directory(p), &p->cursor, false, 0, NULL,
		   page_done, p);
}

static void write_whole(struct process *p, struct sw_client *client,
			uint32_t size)
{
	struct sw_target target = { .dir = directory(p),
				    .name = p->choice.name };

	sw_write_file(client, &target, p->choice.absent ? SW_CREATE : 0,
		      FILE_MODE, p->worker->team->data, size, done, p);
}

void process_execute(struct process *p)
{
	struct sw_client *client = p->worker->client;
	const struct choice *c = &p->choice;
	struct sw_target target = { .dir = directory(p), .name = c->name };

	p->requests = 0;
	switch (c->op) {
	case OP_STAT_NEGATIVE:
		sw_lookup(client, directory(p), c->name, absent_done, p);
		break;
	case OP_FSTAT:
		sw_getattr(client, p->last.length ? &p->last : directory(p),
			   done, p);
		break;
	case OP_ACCESS:
	case OP_CHMOD:
		sw_lookup(client, directory(p), c->name, found, p);
		break;
	case OP_READ_FILE:
		sw_read_file(client, &target, c->size, NULL, read_done, p);
		break;
	case OP_OPEN_NEGATIVE:
		sw_open(client, &target, SW_READ, 0, open_absent_done, p);
		break;
	case OP_WRITE_FILE:
	case OP_WRITE_NEW:
		write_whole(p, client, c->size);
		break;
	case OP_CREATE:
		write_whole(p, client, 0);
		break;
	case OP_UNLINK:
		sw_remove(client, directory(p), c->name, unlinked, p);
		break;
	case OP_MKDIR:
		sw_mkdir(client, directory(p), c->name, DIRECTORY_MODE, done,
			 p);
		break;
	case OP_RMDIR:
		sw_rmdir(client, directory(p), c->name, done, p);
		break;
	case OP_READDIR:
		memset(&p->cursor, 0, sizeof(p->cursor));
		sw_readdir(client, directory(p), &p->cursor, false, 0, NULL,
			   page_done, p);
		break;
	default:
		sw_lookup(client, directory(p), c->name, done, p);
		break;
	}
}
