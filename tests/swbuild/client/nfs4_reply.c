// SPDX-License-Identifier: LGPL-3.0-or-later
/* NFSv4's compounds: what is answered. */
#include "nfs4.h"

#include "attrs4.h"
#include "protocol.h"

/* ---- parts ---- */

/* PUTFH, and whatever else has a status alone. */
#define STATUS_ONLY(number)                                 \
	do {                                                \
		uint32_t s = next_op(op, w, reply, number); \
		if (s)                                      \
			return s;                           \
	} while (0)

static void skip_change_info(struct wire *w)
{
	get_bytes(w, 20);
}

/* A GETATTR that the operation is not about: it may fail. */
static void get_attrs_if(struct op *op, struct wire *w, struct reply *reply)
{
	if (next_op(op, w, reply, NFS4_OP_GETATTR))
		return;
	get_attrs4(w, &reply->attrs, NULL);
	reply->result.attrs = &reply->attrs;
}

static uint32_t get_getfh(struct op *op, struct wire *w, struct reply *reply)
{
	STATUS_ONLY(NFS4_OP_GETFH);
	get_fh(w, &reply->fh);
	reply->result.fh = &reply->fh;
	return 0;
}

/* ---- names and objects ---- */

uint32_t get_getattr4(struct op *op, struct wire *w, struct reply *reply)
{
	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_GETATTR);
	get_attrs4(w, &reply->attrs, NULL);
	reply->result.attrs = &reply->attrs;
	return 0;
}

uint32_t get_lookup4(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status;

	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_LOOKUP);
	status = get_getfh(op, w, reply);
	if (!status)
		get_attrs_if(op, w, reply);
	return status;
}

uint32_t get_access4(struct op *op, struct wire *w, struct reply *reply)
{
	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_ACCESS);
	get_u32(w); /* supported */
	reply->result.access = get_u32(w);
	return 0;
}

uint32_t get_setattr4(struct op *op, struct wire *w, struct reply *reply)
{
	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_SETATTR);
	skip_bitmap4(w);
	get_attrs_if(op, w, reply);
	return 0;
}

uint32_t get_create4(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status;

	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_CREATE);
	skip_change_info(w);
	skip_bitmap4(w);
	status = get_getfh(op, w, reply);
	if (!status)
		get_attrs_if(op, w, reply);
	return status;
}

uint32_t get_readlink4(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t length;

	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_READLINK);
	reply->result.data = get_opaque(w, &length);
	reply->result.count = length;
	return 0;
}

uint32_t get_remove4(struct op *op, struct wire *w, struct reply *reply)
{
	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_REMOVE);
	skip_change_info(w);
	return 0;
}

uint32_t get_rename4(struct op *op, struct wire *w, struct reply *reply)
{
	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_SAVEFH);
	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_RENAME);
	skip_change_info(w);
	skip_change_info(w);
	return 0;
}

uint32_t get_link4(struct op *op, struct wire *w, struct reply *reply)
{
	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_SAVEFH);
	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_LINK);
	skip_change_info(w);
	if (!next_op(op, w, reply, NFS4_OP_RESTOREFH))
		get_attrs_if(op, w, reply);
	return 0;
}

/* The entries of a page; false if they cannot be read. */
static bool get_entries(struct op *op, struct wire *w, struct reply *reply)
{
	struct sw_attrs attrs;
	struct sw_fh fh;
	struct sw_entry entry;

	while (get_u32(w)) {
		struct attrs4_more more = { .fh = &fh };

		entry.cookie = get_u64(w);
		entry.name = (const char *)get_opaque(w, &entry.length);
		get_attrs4(w, &attrs, &more);
		if (w->bad)
			return false;
		entry.fileid = attrs.fileid;
		entry.attrs = op->flags && !more.error ? &attrs : NULL;
		entry.fh = more.have_fh ? &fh : NULL;
		op->cursor->cookie = entry.cookie;
		reply->result.count++;
		if (op->each)
			op->each(op->each_arg, &entry);
	}
	return !w->bad;
}

uint32_t get_readdir4(struct op *op, struct wire *w, struct reply *reply)
{
	const uint8_t *verifier;

	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_READDIR);
	verifier = get_bytes(w, NFS4_VERIFIER_SIZE);
	if (verifier)
		memcpy(op->cursor->verifier, verifier, NFS4_VERIFIER_SIZE);
	if (!get_entries(op, w, reply))
		return SW_ERR_REPLY;
	reply->result.eof = get_u32(w);
	return 0;
}

/* ---- open files ---- */

static void get_stateid(struct wire *w, struct sw_file *file)
{
	const uint8_t *bytes = get_bytes(w, STATEID_SIZE);

	if (bytes)
		memcpy(file->stateid, bytes, STATEID_SIZE);
}

/* A delegation is not asked for, and without a back channel none is given. */
static void skip_delegation(struct wire *w)
{
	uint32_t why;

	switch (get_u32(w)) {
	case OPEN_DELEGATE_NONE:
		break;
	case OPEN_DELEGATE_NONE_EXT:
		why = get_u32(w);
		if (why == WND4_CONTENTION || why == WND4_RESOURCE)
			get_u32(w);
		break;
	case OPEN_DELEGATE_READ:
		get_bytes(w, STATEID_SIZE + 4 + 12);
		skip_opaque(w);
		break;
	case OPEN_DELEGATE_WRITE:
		get_bytes(w, STATEID_SIZE + 4 + 12 + 12);
		skip_opaque(w);
		break;
	default:
		w->bad = true;
	}
}

uint32_t get_reopen4(struct op *op, struct wire *w, struct reply *reply)
{
	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_OPEN);
	get_stateid(w, op->file);
	skip_change_info(w);
	reply->confirm = get_u32(w) & OPEN4_RESULT_CONFIRM;
	skip_bitmap4(w);
	skip_delegation(w);
	return 0;
}

uint32_t get_open4(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_reopen4(op, w, reply);

	if (status)
		return status;
	if (!open_by_handle(op)) {
		status = get_getfh(op, w, reply);
		if (status)
			return status;
		op->file->fh = reply->fh;
	}
	if (!next_op(op, w, reply, NFS4_OP_ACCESS)) {
		get_u32(w);
		reply->result.access = get_u32(w);
		get_attrs_if(op, w, reply);
	}
	return 0;
}

uint32_t get_confirm4(struct op *op, struct wire *w, struct reply *reply)
{
	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_OPEN_CONFIRM);
	get_stateid(w, op->file);
	return 0;
}

uint32_t get_close4(struct op *op, struct wire *w, struct reply *reply)
{
	struct sw_attrs attrs;

	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_GETATTR);
	get_attrs4(w, &attrs, NULL);
	STATUS_ONLY(NFS4_OP_CLOSE);
	get_bytes(w, STATEID_SIZE);
	return 0;
}

uint32_t get_read4(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t length;

	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_READ);
	reply->result.eof = get_u32(w);
	reply->result.data = get_opaque(w, &length);
	reply->result.count = length;
	return 0;
}

uint32_t get_write4(struct op *op, struct wire *w, struct reply *reply)
{
	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_WRITE);
	reply->result.count = get_u32(w);
	get_u32(w);
	reply->result.verifier = get_u64(w);
	return 0;
}

uint32_t get_commit4(struct op *op, struct wire *w, struct reply *reply)
{
	STATUS_ONLY(NFS4_OP_PUTFH);
	STATUS_ONLY(NFS4_OP_COMMIT);
	reply->result.verifier = get_u64(w);
	return 0;
}

/* ---- the export ---- */

uint32_t get_root4(struct op *op, struct wire *w, struct reply *reply)
{
	struct sw_client *client = op->client;
	struct attrs4_more more = { 0 };
	uint32_t status;

	STATUS_ONLY(NFS4_OP_PUTROOTFH);
	for (const char *at = client->export; *(at += strspn(at, "/"));
	     at += strcspn(at, "/"))
		STATUS_ONLY(NFS4_OP_LOOKUP);
	status = get_getfh(op, w, reply);
	if (status)
		return status;
	STATUS_ONLY(NFS4_OP_GETATTR);
	get_attrs4(w, &reply->attrs, &more);
	reply->result.attrs = &reply->attrs;
	client->lease = more.lease;
	if (more.maxread && more.maxread < client->rsize)
		client->rsize = (uint32_t)more.maxread;
	if (more.maxwrite && more.maxwrite < client->wsize)
		client->wsize = (uint32_t)more.maxwrite;
	return 0;
}
