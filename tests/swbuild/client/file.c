// SPDX-License-Identifier: LGPL-3.0-or-later
/* Open files, and what is done with them. */
#include "impl.h"

#include <stdlib.h>

static struct sw_file *file_new(struct sw_client *client)
{
	struct sw_file *file = client->free_file;

	if (file) {
		client->free_file = file->next_free;
	} else {
		file = calloc(1, sizeof(*file));
		if (!file)
			abort();
		TAILQ_INSERT_TAIL(&client->all_files, file, any);
		file->client = client;
	}
	file->fh.length = 0;
	file->dir.length = 0;
	file->open = file->lost = file->tried = false;
	file->owner = NULL;
	return file;
}

void file_free(struct sw_file *file)
{
	struct sw_client *client = file->client;

	if (file->open)
		TAILQ_REMOVE(&client->files, file, link);
	file->open = false;
	if (file->owner)
		owners_give(&client->owners, file->owner);
	file->owner = NULL;
	file->next_free = client->free_file;
	client->free_file = file;
}

void files_free(struct sw_client *client)
{
	struct sw_file *file;

	if (!client->all_files.tqh_last)
		return;
	while ((file = TAILQ_FIRST(&client->all_files))) {
		TAILQ_REMOVE(&client->all_files, file, any);
		free(file);
	}
}

static void copy_fh(struct sw_fh *to, const struct sw_fh *from)
{
	to->length = from->length;
	memcpy(to->data, from->data, from->length);
}

/* Fills in who is to be opened; false if that cannot be. */
static bool take_target(struct op *op, struct sw_file *file,
			const struct sw_target *target)
{
	size_t length = target->dir && target->name ? strlen(target->name) : 0;

	if (target->fh)
		copy_fh(&file->fh, target->fh);
	if (!target->dir || !target->name)
		return target->fh && !(op->flags & SW_CREATE);
	if (!length || length > SW_NAME_MAX)
		return false;
	copy_fh(&file->dir, target->dir);
	memcpy(file->name, target->name, length + 1);
	copy_fh(&op->fh, target->dir);
	memcpy(op->name, target->name, length + 1);
	return true;
}

/* What opening is in the protocol; OP_KINDS: nothing is sent. */
static enum kind open_kind(const struct sw_client *client,
			   const struct sw_file *file, uint32_t flags)
{
	switch (client->version) {
	case SW_V3:
		if (flags & SW_CREATE)
			return OP_OPEN;
		return file->fh.length ? OP_KINDS : OP_LOOKUP;
	case SW_V40:
		return file->dir.length ? OP_OPEN : OP_KINDS;
	default:
		return OP_OPEN;
	}
}

void sw_open(struct sw_client *client, const struct sw_target *target,
	     uint32_t flags, uint32_t mode, sw_done done, void *arg)
{
	struct op *op = op_new(client, done, arg);
	struct sw_file *file = file_new(client);
	enum kind kind;

	op->flags = flags;
	op->mode = mode;
	op->opens = true;
	op->file = file;
	file->access = flags & (SW_READ | SW_WRITE);
	if (!file->access)
		file->access = SW_READ;
	if (!take_target(op, file, target)) {
		op_preset(op, SW_ERR_ARGUMENT);
		return;
	}
	kind = open_kind(client, file, flags);
	if (kind == OP_KINDS) {
		op_preset(op, SW_OK);
		return;
	}
	/* What is found by its name is not what a handle said it was. */
	if (flags & SW_CREATE)
		file->fh.length = 0;
	if (client->version != SW_V3) {
		file->owner = owners_take(&client->owners);
		if (!file->owner)
			abort();
	}
	op->coding = &client->protocol->codings[kind];
	op_submit(op);
}

void sw_close(struct sw_client *client, struct sw_file *file, sw_done done,
	      void *arg)
{
	struct op *op = op_new(client, done, arg);

	op->file = file;
	op->closes = true;
	if (!file->open) {
		op_preset(op, SW_OK);
		return;
	}
	copy_fh(&op->fh, &file->fh);
	op->coding = &client->protocol->codings[OP_CLOSE];
	op_submit(op);
}

const struct sw_fh *sw_file_handle(const struct sw_file *file)
{
	return &file->fh;
}

static struct op *make(struct sw_client *client, enum kind kind,
		       struct sw_file *file, sw_done done, void *arg)
{
	struct op *op = op_new(client, done, arg);

	op->coding = &client->protocol->codings[kind];
	copy_fh(&op->fh, &file->fh);
	op->file = file;
	return op;
}

void sw_read(struct sw_client *client, struct sw_file *file, uint64_t offset,
	     uint32_t count, sw_done done, void *arg)
{
	struct op *op = make(client, OP_READ, file, done, arg);

	op->offset = offset;
	op->count = count < client->rsize ? count : client->rsize;
	op_submit(op);
}

void sw_write(struct sw_client *client, struct sw_file *file, uint64_t offset,
	      const void *data, uint32_t count, bool stable, sw_done done,
	      void *arg)
{
	struct op *op = make(client, OP_WRITE, file, done, arg);

	op->offset = offset;
	op->data = data;
	op->count = count < client->wsize ? count : client->wsize;
	op->stable = stable;
	op_submit(op);
}

void sw_commit(struct sw_client *client, struct sw_file *file, sw_done done,
	       void *arg)
{
	op_submit(make(client, OP_COMMIT, file, done, arg));
}

void file_truncate(struct sw_client *client, struct sw_file *file, sw_done done,
		   void *arg)
{
	struct op *op = make(client, OP_SETATTR, file, done, arg);

	op->set.set = SW_SET_SIZE;
	op_submit(op);
}
