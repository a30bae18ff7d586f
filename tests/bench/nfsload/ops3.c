/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The requests of version 3. */
#include <string.h>
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-nfs.h>

#include "nfsload.h"

enum {
	ALL_ACCESS = 0x3f,
	WRITTEN = 4096
};

static nfs_fh3 fh(struct handle h)
{
	/* libnfs only reads what is sent. */
	return (nfs_fh3){ .data = { .data_len = h.length,
				    .data_val = (char *)h.bytes } };
}

static diropargs3 where(struct request *r)
{
	return (diropargs3){ .dir = fh(r->target), .name = r->name };
}

static void replied(struct request *r, nfsstat3 status)
{
	request_replied(r, (int)status, nfsstat3_to_str((int)status), false);
}

/* A result begins with its status, whatever the operation. */
static void plain_reply(struct rpc_context *rpc, int rpc_status, void *data,
			void *private)
{
	(void)rpc;
	if (rpc_status != RPC_STATUS_SUCCESS)
		request_failed(private, "a request failed");
	else
		replied(private, *(nfsstat3 *)data);
}

static int send_getattr(struct request *r)
{
	GETATTR3args args = { .object = fh(r->target) };

	return rpc_nfs3_getattr_async(r->rpc, plain_reply, &args, r);
}

static int send_access(struct request *r)
{
	ACCESS3args args = { .object = fh(r->target), .access = ALL_ACCESS };

	return rpc_nfs3_access_async(r->rpc, plain_reply, &args, r);
}

static int send_readlink(struct request *r)
{
	READLINK3args args = { .symlink = fh(r->target) };

	return rpc_nfs3_readlink_async(r->rpc, plain_reply, &args, r);
}

static int send_fsstat(struct request *r)
{
	FSSTAT3args args = { .fsroot = fh(r->target) };

	return rpc_nfs3_fsstat_async(r->rpc, plain_reply, &args, r);
}

/* From the beginning; what comes is not looked at. */
static int send_read(struct request *r)
{
	READ3args args = { .file = fh(r->target),
			   .count = r->run->reply_bytes };

	return rpc_nfs3_read_async(r->rpc, plain_reply, &args, r);
}

static void lookup_reply(struct rpc_context *rpc, int rpc_status, void *data,
			 void *private)
{
	LOOKUP3res *res = data;
	nfs_fh3 *object;

	(void)rpc;
	if (rpc_status != RPC_STATUS_SUCCESS) {
		request_failed(private, "a LOOKUP failed");
		return;
	}
	object = &res->LOOKUP3res_u.resok.object;
	if (res->status == NFS3_OK)
		request_keep(private, object->data.data_val,
			     object->data.data_len);
	replied(private, res->status);
}

static int send_lookup(struct request *r)
{
	LOOKUP3args args = { .what = where(r) };

	return rpc_nfs3_lookup_async(r->rpc, lookup_reply, &args, r);
}

static void keep_new(struct request *r, nfsstat3 status,
		     const post_op_fh3 *object)
{
	const nfs_fh3 *handle = &object->post_op_fh3_u.handle;

	if (status == NFS3_OK && object->handle_follows)
		request_keep(r, handle->data.data_val, handle->data.data_len);
}

static void keep_made(struct request *r, nfsstat3 status,
		      const post_op_fh3 *object)
{
	const nfs_fh3 *handle = &object->post_op_fh3_u.handle;

	if (status != NFS3_OK || !object->handle_follows ||
	    handle->data.data_len > sizeof(r->made))
		return;
	memcpy(r->made, handle->data.data_val, handle->data.data_len);
	r->made_length = handle->data.data_len;
}

static void create_reply(struct rpc_context *rpc, int rpc_status, void *data,
			 void *private)
{
	struct request *r = private;
	CREATE3res *res = data;

	(void)rpc;
	if (rpc_status != RPC_STATUS_SUCCESS) {
		request_failed(r, "a CREATE failed");
		return;
	}
	keep_new(r, res->status, &res->CREATE3res_u.resok.obj);
	keep_made(r, res->status, &res->CREATE3res_u.resok.obj);
	/* Of a churn a WRITE or REMOVE follows. */
	request_replied(r, (int)res->status, nfsstat3_to_str((int)res->status),
			res->status == NFS3_OK && r->step == 1);
}

static sattr3 mode_only(mode3 mode)
{
	sattr3 attributes;

	memset(&attributes, 0, sizeof(attributes));
	attributes.mode.set_it = 1;
	attributes.mode.set_mode3_u.mode = mode;
	return attributes;
}

static int send_create(struct request *r)
{
	CREATE3args args = { .where = where(r) };

	args.how.mode = GUARDED;
	args.how.createhow3_u.g_obj_attributes = mode_only(0644);
	return rpc_nfs3_create_async(r->rpc, create_reply, &args, r);
}

static int send_remove(struct request *r)
{
	REMOVE3args args = { .object = where(r) };

	return rpc_nfs3_remove_async(r->rpc, plain_reply, &args, r);
}

static int send_churn(struct request *r)
{
	if (r->step++ == 0)
		return send_create(r);
	return send_remove(r);
}

static void write_reply(struct rpc_context *rpc, int rpc_status, void *data,
			void *private)
{
	WRITE3res *res = data;

	(void)rpc;
	if (rpc_status != RPC_STATUS_SUCCESS)
		request_failed(private, "a WRITE failed");
	else
		request_replied(private, (int)res->status,
				nfsstat3_to_str((int)res->status),
				res->status == NFS3_OK);
}

static int send_write(struct request *r)
{
	static char bytes[WRITTEN];
	struct handle made = { .bytes = r->made, .length = r->made_length };
	WRITE3args args = { .file = fh(made),
			    .count = WRITTEN,
			    .stable = UNSTABLE,
			    .data = { .data_len = WRITTEN,
				      .data_val = bytes } };

	return rpc_nfs3_write_async(r->rpc, write_reply, &args, r);
}

static int send_write_churn(struct request *r)
{
	switch (r->step++) {
	case 0:
		return send_create(r);
	case 1:
		return send_write(r);
	default:
		return send_remove(r);
	}
}

static void mkdir_reply(struct rpc_context *rpc, int rpc_status, void *data,
			void *private)
{
	MKDIR3res *res = data;

	(void)rpc;
	if (rpc_status != RPC_STATUS_SUCCESS) {
		request_failed(private, "a MKDIR failed");
		return;
	}
	keep_new(private, res->status, &res->MKDIR3res_u.resok.obj);
	replied(private, res->status);
}

static int send_mkdir(struct request *r)
{
	MKDIR3args args = { .where = where(r), .attributes = mode_only(0755) };

	return rpc_nfs3_mkdir_async(r->rpc, mkdir_reply, &args, r);
}

static int send_rmdir(struct request *r)
{
	RMDIR3args args = { .object = where(r) };

	return rpc_nfs3_rmdir_async(r->rpc, plain_reply, &args, r);
}

static void symlink_reply(struct rpc_context *rpc, int rpc_status, void *data,
			  void *private)
{
	SYMLINK3res *res = data;

	(void)rpc;
	if (rpc_status != RPC_STATUS_SUCCESS) {
		request_failed(private, "a SYMLINK failed");
		return;
	}
	keep_new(private, res->status, &res->SYMLINK3res_u.resok.obj);
	replied(private, res->status);
}

static int send_symlink(struct request *r)
{
	char target[] = "../where/it/leads";
	SYMLINK3args args = { .where = where(r) };

	args.symlink.symlink_attributes = mode_only(0777);
	args.symlink.symlink_data = target;
	return rpc_nfs3_symlink_async(r->rpc, symlink_reply, &args, r);
}

static int send_link(struct request *r)
{
	struct set *targets = r->run->targets;
	LINK3args args = {
		.file = fh(set_handle(targets, r->number % targets->count)),
		.link = where(r),
	};

	return rpc_nfs3_link_async(r->rpc, plain_reply, &args, r);
}

static int send_rename(struct request *r)
{
	RENAME3args args = {
		.from = where(r),
		.to = { .dir = fh(r->target), .name = r->new_name },
	};

	return rpc_nfs3_rename_async(r->rpc, plain_reply, &args, r);
}

static void readdir_reply(struct rpc_context *rpc, int rpc_status, void *data,
			  void *private)
{
	struct request *r = private;
	READDIR3res *res = data;
	READDIR3resok *ok;

	(void)rpc;
	if (rpc_status != RPC_STATUS_SUCCESS) {
		request_failed(r, "a READDIR failed");
		return;
	}
	if (res->status != NFS3_OK) {
		replied(r, res->status);
		return;
	}
	ok = &res->READDIR3res_u.resok;
	memcpy(r->verifier, ok->cookieverf, sizeof(r->verifier));
	if (!ok->reply.entries && !ok->reply.eof) {
		request_failed(r, "a page of a directory is empty");
		return;
	}
	for (entry3 *e = ok->reply.entries; e; e = e->nextentry) {
		r->cookie = e->cookie;
		r->run->entries++;
	}
	request_replied(r, 0, nfsstat3_to_str(0), !ok->reply.eof);
}

static int send_readdir(struct request *r)
{
	READDIR3args args = { .dir = fh(r->target),
			      .cookie = r->cookie,
			      .count = r->run->reply_bytes };

	memcpy(args.cookieverf, r->verifier, sizeof(r->verifier));
	return rpc_nfs3_readdir_async(r->rpc, readdir_reply, &args, r);
}

static bool dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static void readdirplus_reply(struct rpc_context *rpc, int rpc_status,
			      void *data, void *private)
{
	struct request *r = private;
	READDIRPLUS3res *res = data;
	READDIRPLUS3resok *ok;

	(void)rpc;
	if (rpc_status != RPC_STATUS_SUCCESS) {
		request_failed(r, "a READDIRPLUS failed");
		return;
	}
	if (res->status != NFS3_OK) {
		replied(r, res->status);
		return;
	}
	ok = &res->READDIRPLUS3res_u.resok;
	memcpy(r->verifier, ok->cookieverf, sizeof(r->verifier));
	if (!ok->reply.entries && !ok->reply.eof) {
		request_failed(r, "a page of a directory is empty");
		return;
	}
	for (entryplus3 *e = ok->reply.entries; e; e = e->nextentry) {
		r->cookie = e->cookie;
		r->run->entries++;
		if (!dots(e->name))
			keep_new(r, NFS3_OK, &e->name_handle);
	}
	request_replied(r, 0, nfsstat3_to_str(0), !ok->reply.eof);
}

static int send_readdirplus(struct request *r)
{
	READDIRPLUS3args args = { .dir = fh(r->target),
				  .cookie = r->cookie,
				  .dircount = r->run->reply_bytes,
				  .maxcount = r->run->reply_bytes };

	memcpy(args.cookieverf, r->verifier, sizeof(r->verifier));
	return rpc_nfs3_readdirplus_async(r->rpc, readdirplus_reply, &args, r);
}

static const struct operation operations[] = {
	{ "getattr", 0, send_getattr },
	{ "access", 0, send_access },
	{ "readlink", 0, send_readlink },
	{ "fsstat", 0, send_fsstat },
	{ "read", 0, send_read },
	{ "lookup", NEEDS_NAMES, send_lookup },
	{ "create", NEEDS_NAMES, send_create },
	{ "remove", NEEDS_NAMES, send_remove },
	{ "churn", NEEDS_NAMES, send_churn },
	{ "write_churn", NEEDS_NAMES, send_write_churn },
	{ "mkdir", NEEDS_NAMES, send_mkdir },
	{ "rmdir", NEEDS_NAMES, send_rmdir },
	{ "symlink", NEEDS_NAMES, send_symlink },
	{ "link", NEEDS_NAMES | NEEDS_TARGETS, send_link },
	{ "rename", NEEDS_NAMES | NEEDS_NEW_NAMES, send_rename },
	{ "readdir", 0, send_readdir },
	{ "readdirplus", 0, send_readdirplus },
};

const struct operation *operation3(const char *name)
{
	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		if (!strcmp(operations[i].name, name))
			return &operations[i];
	}
	return NULL;
}
