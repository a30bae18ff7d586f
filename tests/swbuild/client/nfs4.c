// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * NFSv4's compounds: what is asked, in the Linux client's order of operations.
 */
#include "nfs4.h"

#include "attrs4.h"
#include "protocol.h"

static const uint8_t anonymous[STATEID_SIZE];

/* ---- parts ---- */

void put_op(struct wire *w, uint32_t number)
{
	put_u32(w, number);
	w->ops++;
}

static void put_putfh(struct wire *w, const struct sw_fh *fh)
{
	put_op(w, NFS4_OP_PUTFH);
	put_fh(w, fh);
}

static void put_getattr(struct wire *w, enum attrs4_set set)
{
	put_op(w, NFS4_OP_GETATTR);
	put_attrs4(w, set);
}

static void put_getfh_getattr(struct wire *w)
{
	put_op(w, NFS4_OP_GETFH);
	put_getattr(w, ATTRS4_ALL);
}

/* That of the open file; the anonymous one if nothing is open. */
static void put_stateid(struct op *op, struct wire *w)
{
	const struct sw_file *file = op->file;

	put_bytes(w, file && file->open ? file->stateid : anonymous,
		  STATEID_SIZE);
}

/* ---- names and objects ---- */

static void put_lookup4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->fh);
	put_op(w, NFS4_OP_LOOKUP);
	put_string(w, op->name);
	put_getfh_getattr(w);
}

static void put_getattr4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->fh);
	put_getattr(w, ATTRS4_ALL);
}

static void put_access4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->fh);
	put_op(w, NFS4_OP_ACCESS);
	put_u32(w, op->flags);
	put_getattr(w, ATTRS4_FRESH);
}

static void put_set4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->fh);
	put_op(w, NFS4_OP_SETATTR);
	put_stateid(op, w);
	put_setattr4(w, &op->set);
	put_getattr(w, ATTRS4_ALL);
}

static void put_new(struct op *op, struct wire *w, uint32_t type)
{
	struct sw_setattr set = { .set = SW_SET_MODE, .mode = op->mode };

	put_putfh(w, &op->fh);
	put_op(w, NFS4_OP_CREATE);
	put_u32(w, type);
	if (type == NF4LNK)
		put_string(w, op->text);
	put_string(w, op->name);
	put_setattr4(w, &set);
	put_getfh_getattr(w);
}

static void put_mkdir4(struct op *op, struct wire *w)
{
	put_new(op, w, NF4DIR);
}

static void put_symlink4(struct op *op, struct wire *w)
{
	put_new(op, w, NF4LNK);
}

static void put_readlink4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->fh);
	put_op(w, NFS4_OP_READLINK);
}

static void put_remove4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->fh);
	put_op(w, NFS4_OP_REMOVE);
	put_string(w, op->name);
}

static void put_rename4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->fh);
	put_op(w, NFS4_OP_SAVEFH);
	put_putfh(w, &op->fh2);
	put_op(w, NFS4_OP_RENAME);
	put_string(w, op->name);
	put_string(w, op->text);
}

static void put_link4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->fh2);
	put_op(w, NFS4_OP_SAVEFH);
	put_putfh(w, &op->fh);
	put_op(w, NFS4_OP_LINK);
	put_string(w, op->name);
	put_op(w, NFS4_OP_RESTOREFH);
	put_getattr(w, ATTRS4_ALL);
}

static void put_readdir4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->fh);
	put_op(w, NFS4_OP_READDIR);
	put_u64(w, op->cursor->cookie);
	put_bytes(w, op->cursor->verifier, NFS4_VERIFIER_SIZE);
	put_u32(w, op->count / 2); /* of names alone: a hint */
	put_u32(w, op->count);
	put_attrs4(w, op->flags ? ATTRS4_ENTRIES : ATTRS4_NAMES);
}

/* ---- open files ---- */

static void put_open(struct op *op, struct wire *w)
{
	const struct sw_file *file = op->file;
	struct sw_client *client = op->client;
	uint32_t share = 0;

	if (file->access & SW_READ)
		share |= OPEN4_SHARE_ACCESS_READ;
	if (file->access & SW_WRITE)
		share |= OPEN4_SHARE_ACCESS_WRITE;
	put_op(w, NFS4_OP_OPEN);
	if (client->version == SW_V40) {
		put_u32(w, owner_seqid(file->owner, client->epoch));
	} else {
		put_u32(w, 0);
		share |= OPEN4_SHARE_ACCESS_WANT_NO_DELEG;
	}
	put_u32(w, share);
	put_u32(w, OPEN4_SHARE_DENY_NONE);
	put_u64(w, client->clientid);
	put_opaque(w, &file->owner->id, sizeof(file->owner->id));
}

static void put_how(struct op *op, struct wire *w)
{
	struct sw_setattr set = { .set = SW_SET_MODE, .mode = op->mode };

	if (!(op->flags & SW_CREATE)) {
		put_u32(w, OPEN4_NOCREATE);
		return;
	}
	if (op->flags & SW_TRUNCATE)
		set.set |= SW_SET_SIZE;
	put_u32(w, OPEN4_CREATE);
	put_u32(w, op->flags & SW_EXCL ? GUARDED4 : UNCHECKED4);
	put_setattr4(w, &set);
}

bool open_by_handle(const struct op *op)
{
	const struct sw_file *file = op->file;

	return op->client->version != SW_V40 && file->fh.length &&
	       !(op->flags & SW_CREATE);
}

static void put_open4(struct op *op, struct wire *w)
{
	bool handle = open_by_handle(op);

	put_putfh(w, handle ? &op->file->fh : &op->file->dir);
	put_open(op, w);
	put_how(op, w);
	put_u32(w, handle ? CLAIM_FH : CLAIM_NULL);
	if (!handle) {
		put_string(w, op->file->name);
		put_op(w, NFS4_OP_GETFH);
	}
	put_op(w, NFS4_OP_ACCESS);
	put_u32(w, SW_ACCESS_READ | SW_ACCESS_MODIFY | SW_ACCESS_EXTEND |
			   SW_ACCESS_EXECUTE);
	put_getattr(w, ATTRS4_ALL);
}

static void put_reclaim4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->file->fh);
	put_open(op, w);
	put_u32(w, OPEN4_NOCREATE);
	put_u32(w, CLAIM_PREVIOUS);
	put_u32(w, OPEN_DELEGATE_NONE);
}

static void put_reopen4(struct op *op, struct wire *w)
{
	bool handle = open_by_handle(op);

	put_putfh(w, handle ? &op->file->fh : &op->file->dir);
	put_open(op, w);
	put_u32(w, OPEN4_NOCREATE);
	put_u32(w, handle ? CLAIM_FH : CLAIM_NULL);
	if (!handle)
		put_string(w, op->file->name);
}

static void put_confirm4(struct op *op, struct wire *w)
{
	const struct sw_file *file = op->file;

	put_putfh(w, &file->fh);
	put_op(w, NFS4_OP_OPEN_CONFIRM);
	put_bytes(w, file->stateid, STATEID_SIZE);
	put_u32(w, owner_seqid(file->owner, op->client->epoch));
}

static void put_close4(struct op *op, struct wire *w)
{
	const struct sw_file *file = op->file;

	put_putfh(w, &file->fh);
	put_getattr(w, ATTRS4_FRESH);
	put_op(w, NFS4_OP_CLOSE);
	put_u32(w, op->client->version == SW_V40 ?
			   owner_seqid(file->owner, op->client->epoch) :
			   0);
	put_bytes(w, file->stateid, STATEID_SIZE);
}

static void put_read4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->fh);
	put_op(w, NFS4_OP_READ);
	put_stateid(op, w);
	put_u64(w, op->offset);
	put_u32(w, op->count);
}

static void put_write4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->fh);
	put_op(w, NFS4_OP_WRITE);
	put_stateid(op, w);
	put_u64(w, op->offset);
	put_u32(w, op->stable ? FILE_SYNC4 : UNSTABLE4);
	put_u32(w, op->count);
	op->split = (uint32_t)(wire_at(w) - op->request);
	put_getattr(w, ATTRS4_CHANGED);
}

static void put_commit4(struct op *op, struct wire *w)
{
	put_putfh(w, &op->fh);
	put_op(w, NFS4_OP_COMMIT);
	put_u64(w, 0);
	put_u32(w, 0);
}

static void put_root4(struct op *op, struct wire *w)
{
	const char *at = op->client->export;

	put_op(w, NFS4_OP_PUTROOTFH);
	for (;;) {
		size_t length;

		at += strspn(at, "/");
		length = strcspn(at, "/");
		if (!length)
			break;
		put_op(w, NFS4_OP_LOOKUP);
		put_opaque(w, at, (uint32_t)length);
		at += length;
	}
	put_op(w, NFS4_OP_GETFH);
	put_getattr(w, ATTRS4_ROOT);
}

/* ---- the compound ---- */

void nfs4_encode(struct op *op, struct wire *w)
{
	uint8_t *at;
	uint32_t count;

	put_u32(w, 0); /* tag */
	put_u32(w, op->client->version == SW_V40 ? 0 : 1);
	at = wire_at(w);
	put_u32(w, 0);
	if (op->protocol->slots && !op->coding->plain)
		put_sequence(op, w);
	op->coding->encode(op, w);
	count = htonl(w->ops);
	memcpy(at, &count, sizeof(count));
}

uint32_t nfs4_decode(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);

	skip_opaque(w);
	if (!get_u32(w)) /* refused as a whole: a minor version, say */
		return status ? status : SW_ERR_REPLY;
	if (op->protocol->slots && !op->coding->plain) {
		status = get_sequence(op, w, reply);
		if (status)
			return status;
	}
	status = op->coding->decode(op, w, reply);
	return w->bad ? SW_ERR_REPLY : status;
}

uint32_t next_op(struct op *op, struct wire *w, struct reply *reply,
		 uint32_t number)
{
	uint32_t got = get_u32(w);
	uint32_t status = get_u32(w);

	if (got != number && got != NFS4_OP_ILLEGAL)
		w->bad = true;
	if (got == op->coding->procedure)
		reply->reached = true;
	return w->bad ? SW_ERR_REPLY : status;
}

/* ---- */

const struct coding nfs4_codings[OP_KINDS] = {
	[OP_LOOKUP] = { NFS4_OP_LOOKUP, .encode = put_lookup4,
			.decode = get_lookup4 },
	[OP_GETATTR] = { NFS4_OP_GETATTR, .encode = put_getattr4,
			 .decode = get_getattr4 },
	[OP_ACCESS] = { NFS4_OP_ACCESS, .encode = put_access4,
			.decode = get_access4 },
	[OP_SETATTR] = { NFS4_OP_SETATTR, .cache = true, .encode = put_set4,
			 .decode = get_setattr4 },
	[OP_MKDIR] = { NFS4_OP_CREATE, .cache = true, .encode = put_mkdir4,
		       .decode = get_create4 },
	[OP_SYMLINK] = { NFS4_OP_CREATE, .cache = true, .encode = put_symlink4,
			 .decode = get_create4 },
	[OP_READLINK] = { NFS4_OP_READLINK, .encode = put_readlink4,
			  .decode = get_readlink4 },
	[OP_REMOVE] = { NFS4_OP_REMOVE, .cache = true, .encode = put_remove4,
			.decode = get_remove4 },
	[OP_RMDIR] = { NFS4_OP_REMOVE, .cache = true, .encode = put_remove4,
		       .decode = get_remove4 },
	[OP_RENAME] = { NFS4_OP_RENAME, .cache = true, .encode = put_rename4,
			.decode = get_rename4 },
	[OP_LINK] = { NFS4_OP_LINK, .cache = true, .encode = put_link4,
		      .decode = get_link4 },
	[OP_READDIR] = { NFS4_OP_READDIR, .encode = put_readdir4,
			 .decode = get_readdir4 },
	[OP_READDIRPLUS] = { NFS4_OP_READDIR, .encode = put_readdir4,
			     .decode = get_readdir4 },
	[OP_OPEN] = { NFS4_OP_OPEN, .cache = true, .seqid = true,
		      .encode = put_open4, .decode = get_open4 },
	[OP_CLOSE] = { NFS4_OP_CLOSE, .cache = true, .seqid = true,
		       .encode = put_close4, .decode = get_close4 },
	[OP_READ] = { NFS4_OP_READ, .encode = put_read4, .decode = get_read4 },
	[OP_WRITE] = { NFS4_OP_WRITE, .encode = put_write4,
		       .decode = get_write4 },
	[OP_COMMIT] = { NFS4_OP_COMMIT, .encode = put_commit4,
			.decode = get_commit4 },
};

const struct coding nfs4_root = { NFS4_OP_GETATTR, .encode = put_root4,
				  .decode = get_root4 };
const struct coding nfs4_confirm = { NFS4_OP_OPEN_CONFIRM, .seqid = true,
				     .encode = put_confirm4,
				     .decode = get_confirm4 };
const struct coding nfs4_reclaim = { NFS4_OP_OPEN, .seqid = true,
				     .encode = put_reclaim4,
				     .decode = get_reopen4 };
const struct coding nfs4_reopen = { NFS4_OP_OPEN, .seqid = true,
				    .encode = put_reopen4,
				    .decode = get_reopen4 };
