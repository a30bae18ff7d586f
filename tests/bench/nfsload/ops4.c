/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The compounds of version 4.0 that need no client id. */
#include <string.h>
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-nfs4.h>

#include "nfsload.h"

enum {
	ALL_ACCESS = 0x3f,
	MOST_PARTS = 8
};

/* What the Linux client asks for: type, change, size, fsid, fileid; mode,
 * numlinks, owners, rawdev, space_used, times, mounted_on_fileid. */
static uint32_t attributes[] = { 0x0010011a, 0x00b0a23a };
/* The same with rdattr_error and filehandle. */
static uint32_t entry_attributes[] = { 0x0018091a, 0x00b0a23a };

static nfs_argop4 putfh(struct request *r)
{
	nfs_argop4 op = { .argop = OP_PUTFH };
	nfs_fh4 *object = &op.nfs_argop4_u.opputfh.object;

	object->nfs_fh4_len = r->target.length;
	/* libnfs only reads what is sent. */
	object->nfs_fh4_val = (char *)r->target.bytes;
	return op;
}

static nfs_argop4 getattr(void)
{
	nfs_argop4 op = { .argop = OP_GETATTR };
	bitmap4 *wanted = &op.nfs_argop4_u.opgetattr.attr_request;

	wanted->bitmap4_len = 2;
	wanted->bitmap4_val = attributes;
	return op;
}

static void replied(struct request *r, const COMPOUND4res *res, bool more)
{
	request_replied(r, (int)res->status, nfsstat4_to_str((int)res->status),
			more);
}

static void plain_reply(struct rpc_context *rpc, int rpc_status, void *data,
			void *private)
{
	(void)rpc;
	if (rpc_status != RPC_STATUS_SUCCESS)
		request_failed(private, "a compound failed");
	else
		replied(private, data, false);
}

static int send_compound(struct request *r, rpc_cb reply, nfs_argop4 *ops,
			 unsigned count)
{
	COMPOUND4args args = { .argarray = { .argarray_len = count,
					     .argarray_val = ops } };

	return rpc_nfs4_compound_async(r->rpc, reply, &args, r);
}

static int send_getattr(struct request *r)
{
	nfs_argop4 ops[] = { putfh(r), getattr() };

	return send_compound(r, plain_reply, ops, 2);
}

static int send_access(struct request *r)
{
	nfs_argop4 ops[] = { putfh(r), { .argop = OP_ACCESS }, getattr() };

	ops[1].nfs_argop4_u.opaccess.access = ALL_ACCESS;
	return send_compound(r, plain_reply, ops, 3);
}

static int send_readlink(struct request *r)
{
	nfs_argop4 ops[] = { putfh(r), { .argop = OP_READLINK } };

	return send_compound(r, plain_reply, ops, 2);
}

static void lookup_reply(struct rpc_context *rpc, int rpc_status, void *data,
			 void *private)
{
	COMPOUND4res *res = data;
	nfs_fh4 *object;

	(void)rpc;
	if (rpc_status != RPC_STATUS_SUCCESS) {
		request_failed(private, "a LOOKUP failed");
		return;
	}
	/* The last two are GETFH and GETATTR. */
	if (res->status == NFS4_OK && res->resarray.resarray_len > 3) {
		object =
			&res->resarray
				 .resarray_val[res->resarray.resarray_len - 2]
				 .nfs_resop4_u.opgetfh.GETFH4res_u.resok4.object;
		request_keep(private, object->nfs_fh4_val, object->nfs_fh4_len);
	}
	replied(private, res, false);
}

/* A name with slashes is a path: one compound looks up all of it. */
static int send_lookup(struct request *r)
{
	nfs_argop4 ops[MOST_PARTS + 3];
	char path[NAME_SIZE], *rest, *name;
	unsigned n = 0;

	memset(ops, 0, sizeof(ops));
	ops[n++] = putfh(r);
	memcpy(path, r->name, sizeof(path));
	for (name = strtok_r(path, "/", &rest); name && n <= MOST_PARTS;
	     name = strtok_r(NULL, "/", &rest)) {
		component4 *to = &ops[n].nfs_argop4_u.oplookup.objname;

		ops[n++].argop = OP_LOOKUP;
		to->utf8string_val = name;
		to->utf8string_len = (u_int)strlen(name);
	}
	ops[n++].argop = OP_GETFH;
	ops[n++] = getattr();
	return send_compound(r, lookup_reply, ops, n);
}

static void readdir_reply(struct rpc_context *rpc, int rpc_status, void *data,
			  void *private)
{
	struct request *r = private;
	COMPOUND4res *res = data;
	READDIR4resok *ok;

	(void)rpc;
	if (rpc_status != RPC_STATUS_SUCCESS) {
		request_failed(r, "a READDIR failed");
		return;
	}
	if (res->status != NFS4_OK) {
		replied(r, res, false);
		return;
	}
	ok = &res->resarray.resarray_val[1]
		      .nfs_resop4_u.opreaddir.READDIR4res_u.resok4;
	memcpy(r->verifier, ok->cookieverf, sizeof(r->verifier));
	if (!ok->reply.entries && !ok->reply.eof) {
		request_failed(r, "a page of a directory is empty");
		return;
	}
	for (entry4 *e = ok->reply.entries; e; e = e->nextentry) {
		r->cookie = e->cookie;
		r->run->entries++;
	}
	replied(r, res, !ok->reply.eof);
}

static int send_readdir(struct request *r)
{
	nfs_argop4 ops[] = { putfh(r), { .argop = OP_READDIR } };
	READDIR4args *args = &ops[1].nfs_argop4_u.opreaddir;

	args->cookie = r->cookie;
	memcpy(args->cookieverf, r->verifier, sizeof(r->verifier));
	args->dircount = r->run->reply_bytes;
	args->maxcount = r->run->reply_bytes;
	args->attr_request.bitmap4_len = 2;
	args->attr_request.bitmap4_val = entry_attributes;
	return send_compound(r, readdir_reply, ops, 2);
}

static const struct operation operations[] = {
	{ "getattr", 0, send_getattr },
	{ "access", 0, send_access },
	{ "readlink", 0, send_readlink },
	{ "lookup", NEEDS_NAMES, send_lookup },
	{ "readdir", 0, send_readdir },
};

const struct operation *operation4(const char *name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		if (!strcmp(operations[i].name, name))
			return &operations[i];
	}
	return NULL;
}
