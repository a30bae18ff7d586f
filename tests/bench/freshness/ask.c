/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <err.h>
#include <stdio.h>
#include <string.h>
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-nfs.h>

#include "ask.h"
#include "nfsload.h"

enum {
	LISTING_BYTES = 65536
};

#define SILENCE_NS 30000000000

static const struct server server = { .address = "127.0.0.1",
				      .port = 2049,
				      .mount_port = 20048,
				      .connections = 1 };
static struct rpc_context *rpc;
static uint64_t count;

struct answer {
	bool done;
	nfsstat3 status;
	struct fattr3 *attributes;
	struct fh *found;
	/* of a listing */
	const char *name;
	unsigned named;
	unsigned entries;
	bool end;
	cookie3 cookie;
	cookieverf3 verifier;
};

static void keep_handle(struct fh *to, const nfs_fh3 *from)
{
	if (from->data.data_len > sizeof(to->bytes))
		errx(2, "the server gave a handle of %u bytes",
		     from->data.data_len);
	to->length = from->data.data_len;
	memcpy(to->bytes, from->data.data_val, to->length);
}

static nfs_fh3 handle_of(const struct fh *fh)
{
	/* libnfs only reads what is sent. */
	return (nfs_fh3){ .data = { .data_len = fh->length,
				    .data_val = (char *)fh->bytes } };
}

bool fh_same(const struct fh *a, const struct fh *b)
{
	return a->length == b->length &&
	       memcmp(a->bytes, b->bytes, a->length) == 0;
}

uint64_t ask_count(void)
{
	return count;
}

void ask_mount(const char *export, struct fh *root)
{
	struct set *set = set_new("root", 3);
	const char *error = session_mount(&server, 3, export, set);
	struct handle handle;

	if (error)
		errx(2, "mounting %s: %s", export, error);
	handle = set_handle(set, 0);
	root->length = handle.length;
	memcpy(root->bytes, handle.bytes, handle.length);
	rpc = session_context(&server, 3, 0, &error);
	if (!rpc)
		errx(2, "%s", error);
}

/* Waits for the answer to what has been sent, if `sent` says that it was. */
static nfsstat3 wait_answer(int sent, struct answer *answer)
{
	uint64_t began = now_ns();
	bool input;

	count++;
	if (sent < 0)
		errx(2, "a request could not be sent: %s", rpc_get_error(rpc));
	while (!answer->done) {
		const char *error = session_wait(SILENCE_NS, false, &input);

		if (error)
			errx(2, "the connection to the server: %s", error);
		if (!answer->done && now_ns() - began > SILENCE_NS)
			errx(2, "no answer from the server for 30 s");
	}
	return answer->status;
}

static bool usable(struct answer *answer, int rpc_status)
{
	if (rpc_status != RPC_STATUS_SUCCESS)
		errx(2, "a request failed: %s", rpc_get_error(rpc));
	answer->done = true;
	return answer->status == NFS3_OK;
}

static void getattr_reply(struct rpc_context *unused, int rpc_status,
			  void *data, void *private)
{
	struct answer *answer = private;
	GETATTR3res *res = data;

	(void)unused;
	answer->status = res ? res->status : NFS3_OK;
	if (usable(answer, rpc_status))
		*answer->attributes = res->GETATTR3res_u.resok.obj_attributes;
}

nfsstat3 ask_getattr(const struct fh *object, struct fattr3 *attributes)
{
	GETATTR3args args = { .object = handle_of(object) };
	struct answer answer = { .attributes = attributes };

	return wait_answer(rpc_nfs3_getattr_async(rpc, getattr_reply, &args,
						  &answer),
			   &answer);
}

static void lookup_reply(struct rpc_context *unused, int rpc_status, void *data,
			 void *private)
{
	struct answer *answer = private;
	LOOKUP3res *res = data;

	(void)unused;
	answer->status = res ? res->status : NFS3_OK;
	if (usable(answer, rpc_status) && answer->found)
		keep_handle(answer->found, &res->LOOKUP3res_u.resok.object);
}

nfsstat3 ask_lookup(const struct fh *directory, const char *name,
		    struct fh *found)
{
	LOOKUP3args args = { .what = { .dir = handle_of(directory),
				       .name = (char *)name } };
	struct answer answer = { .found = found };

	return wait_answer(rpc_nfs3_lookup_async(rpc, lookup_reply, &args,
						 &answer),
			   &answer);
}

static void listing_reply(struct rpc_context *unused, int rpc_status,
			  void *data, void *private)
{
	struct answer *answer = private;
	READDIRPLUS3res *res = data;
	READDIRPLUS3resok *page;

	(void)unused;
	answer->status = res ? res->status : NFS3_OK;
	if (!usable(answer, rpc_status))
		return;
	page = &res->READDIRPLUS3res_u.resok;
	for (entryplus3 *e = page->reply.entries; e; e = e->nextentry) {
		answer->entries++;
		answer->named += !strcmp(e->name, answer->name);
		answer->cookie = e->cookie;
	}
	answer->end = page->reply.eof || !page->reply.entries;
	memcpy(answer->verifier, page->cookieverf, sizeof(answer->verifier));
}

nfsstat3 ask_listing(const struct fh *directory, const char *name,
		     unsigned *found, unsigned *all)
{
	struct answer answer = { .name = name };
	nfsstat3 status = NFS3_OK;

	while (!answer.end && status == NFS3_OK) {
		READDIRPLUS3args args = { .dir = handle_of(directory),
					  .cookie = answer.cookie,
					  .dircount = LISTING_BYTES,
					  .maxcount = LISTING_BYTES };

		memcpy(args.cookieverf, answer.verifier,
		       sizeof(args.cookieverf));
		answer.done = false;
		status = wait_answer(rpc_nfs3_readdirplus_async(rpc,
								listing_reply,
								&args, &answer),
				     &answer);
	}
	*found = answer.named;
	*all = answer.entries;
	return status;
}

nfsstat3 ask_path(const struct fh *from, const char *path, struct fh *found)
{
	char copy[NAME_SIZE], *rest, *name;
	nfsstat3 status = NFS3_OK;

	snprintf(copy, sizeof(copy), "%s", path);
	*found = *from;
	for (name = strtok_r(copy, "/", &rest); name && status == NFS3_OK;
	     name = strtok_r(NULL, "/", &rest)) {
		struct fh directory = *found;

		status = ask_lookup(&directory, name, found);
	}
	return status;
}
