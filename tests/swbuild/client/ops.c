// SPDX-License-Identifier: LGPL-3.0-or-later
/* The operations on names and objects: what they are given is copied here. */
#include "impl.h"

#include <stdlib.h>

#define PAGE_BYTES (32 * 1024)

static void copy_fh(struct sw_fh *to, const struct sw_fh *from)
{
	to->length = from->length;
	memcpy(to->data, from->data, from->length);
}

static struct op *make(struct sw_client *client, enum kind kind,
		       const struct sw_fh *fh, sw_done done, void *arg)
{
	struct op *op = op_new(client, done, arg);

	op->coding = &client->protocol->codings[kind];
	copy_fh(&op->fh, fh);
	return op;
}

/* Copies a name; false, and the operation ends, if it cannot be one. */
static bool take_name(struct op *op, const char *name)
{
	size_t length = strlen(name);

	if (!length || length > SW_NAME_MAX) {
		op_preset(op, SW_ERR_ARGUMENT);
		return false;
	}
	memcpy(op->name, name, length + 1);
	return true;
}

static bool take_text(struct op *op, const char *text, size_t most)
{
	size_t length = strlen(text);

	if (!length || length > most) {
		op_preset(op, SW_ERR_ARGUMENT);
		return false;
	}
	op->text = strdup(text);
	if (!op->text)
		abort();
	return true;
}

static void named(struct sw_client *client, enum kind kind,
		  const struct sw_fh *dir, const char *name, uint32_t mode,
		  sw_done done, void *arg)
{
	struct op *op = make(client, kind, dir, done, arg);

	op->mode = mode;
	if (take_name(op, name))
		op_submit(op);
}

void sw_lookup(struct sw_client *client, const struct sw_fh *dir,
	       const char *name, sw_done done, void *arg)
{
	named(client, OP_LOOKUP, dir, name, 0, done, arg);
}

void sw_mkdir(struct sw_client *client, const struct sw_fh *dir,
	      const char *name, uint32_t mode, sw_done done, void *arg)
{
	named(client, OP_MKDIR, dir, name, mode, done, arg);
}

void sw_remove(struct sw_client *client, const struct sw_fh *dir,
	       const char *name, sw_done done, void *arg)
{
	named(client, OP_REMOVE, dir, name, 0, done, arg);
}

void sw_rmdir(struct sw_client *client, const struct sw_fh *dir,
	      const char *name, sw_done done, void *arg)
{
	named(client, OP_RMDIR, dir, name, 0, done, arg);
}

void sw_getattr(struct sw_client *client, const struct sw_fh *fh, sw_done done,
		void *arg)
{
	op_submit(make(client, OP_GETATTR, fh, done, arg));
}

void sw_readlink(struct sw_client *client, const struct sw_fh *fh, sw_done done,
		 void *arg)
{
	op_submit(make(client, OP_READLINK, fh, done, arg));
}

void sw_access(struct sw_client *client, const struct sw_fh *fh,
	       uint32_t wanted, sw_done done, void *arg)
{
	struct op *op = make(client, OP_ACCESS, fh, done, arg);

	op->flags = wanted;
	op_submit(op);
}

void sw_setattr(struct sw_client *client, const struct sw_fh *fh,
		const struct sw_setattr *set, sw_done done, void *arg)
{
	struct op *op = make(client, OP_SETATTR, fh, done, arg);

	op->set = *set;
	op_submit(op);
}

void sw_symlink(struct sw_client *client, const struct sw_fh *dir,
		const char *name, const char *target, sw_done done, void *arg)
{
	struct op *op = make(client, OP_SYMLINK, dir, done, arg);

	op->mode = 0777;
	if (take_name(op, name) && take_text(op, target, SW_TARGET_MAX))
		op_submit(op);
}

void sw_rename(struct sw_client *client, const struct sw_fh *from_dir,
	       const char *from, const struct sw_fh *to_dir, const char *to,
	       sw_done done, void *arg)
{
	struct op *op = make(client, OP_RENAME, from_dir, done, arg);

	copy_fh(&op->fh2, to_dir);
	if (take_name(op, from) && take_text(op, to, SW_NAME_MAX))
		op_submit(op);
}

void sw_link(struct sw_client *client, const struct sw_fh *fh,
	     const struct sw_fh *dir, const char *name, sw_done done, void *arg)
{
	struct op *op = make(client, OP_LINK, dir, done, arg);

	copy_fh(&op->fh2, fh);
	if (take_name(op, name))
		op_submit(op);
}

void sw_readdir(struct sw_client *client, const struct sw_fh *dir,
		struct sw_cursor *at, bool plus, uint32_t bytes, sw_each each,
		sw_done done, void *arg)
{
	struct op *op = make(client, plus ? OP_READDIRPLUS : OP_READDIR, dir,
			     done, arg);

	op->cursor = at;
	op->flags = plus;
	op->count = bytes ? bytes : PAGE_BYTES;
	if (op->count > client->rsize)
		op->count = client->rsize;
	op->each = each;
	op->each_arg = arg;
	op_submit(op);
}
