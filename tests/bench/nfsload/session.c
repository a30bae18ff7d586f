/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>
#include <nfsc/libnfs-raw-mount.h>
#include <nfsc/libnfs-raw-nfs.h>
#include <nfsc/libnfs-raw-nfs4.h>

#include "nfsload.h"
#include "memory.h"

enum {
	MOST_CONTEXTS = 64
};

struct context {
	struct rpc_context *rpc;
	int version;
	unsigned number;
};

static struct context contexts[MOST_CONTEXTS];
static unsigned context_count;

struct waiting {
	bool done;
	int status;
	struct set *keep;
	const char *error;
};

/* One round of a context that is not among the others yet. */
static const char *wait_one(struct rpc_context *rpc)
{
	struct pollfd fd = { .fd = rpc_get_fd(rpc),
			     .events = (short)rpc_which_events(rpc) };

	if (poll(&fd, 1, 5000) < 1)
		return "the server does not answer";
	if (rpc_service(rpc, fd.revents) < 0)
		return rpc_get_error(rpc);
	return NULL;
}

static const char *wait_done(struct rpc_context *rpc, struct waiting *w)
{
	const char *error = NULL;

	while (!w->done && !error)
		error = wait_one(rpc);
	if (!error && w->error)
		error = w->error;
	return error;
}

static void connected(struct rpc_context *rpc, int status, void *data,
		      void *private)
{
	struct waiting *w = private;

	(void)rpc;
	(void)data;
	w->done = true;
	if (status != RPC_STATUS_SUCCESS)
		w->error = "cannot connect to the server";
}

static const char *connect_to(const struct server *server, int port,
			      int program, int version, struct rpc_context **to)
{
	struct waiting w = { .done = false };
	struct rpc_context *rpc = rpc_init_context();
	const char *error;

	if (!rpc)
		return "no memory for a connection";
	if (rpc_connect_port_async(rpc, server->address, port, program, version,
				   connected, &w) < 0)
		error = "cannot connect to the server";
	else
		error = wait_done(rpc, &w);
	if (error) {
		/* What it owes calls back into w, so it ends here. */
		rpc_destroy_context(rpc);
		return error;
	}
	*to = rpc;
	return NULL;
}

struct rpc_context *session_context(const struct server *server, int version,
				    unsigned i, const char **error)
{
	struct context *c;

	for (unsigned k = 0; k < context_count; k++) {
		if (contexts[k].version == version && contexts[k].number == i)
			return contexts[k].rpc;
	}
	if (context_count == MOST_CONTEXTS) {
		*error = "too many connections";
		return NULL;
	}
	c = &contexts[context_count];
	*error = connect_to(server, server->port,
			    version == 3 ? NFS_PROGRAM : NFS4_PROGRAM, version,
			    &c->rpc);
	if (*error)
		return NULL;
	c->version = version;
	c->number = i;
	context_count++;
	return c->rpc;
}

static void mounted(struct rpc_context *rpc, int status, void *data,
		    void *private)
{
	struct waiting *w = private;
	mountres3 *res = data;

	(void)rpc;
	w->done = true;
	if (status != RPC_STATUS_SUCCESS)
		w->error = "the MOUNT request failed";
	else if (res->fhs_status != MNT3_OK)
		w->error = "the server refused to mount the export";
	else
		set_add(w->keep,
			res->mountres3_u.mountinfo.fhandle.fhandle3_val,
			res->mountres3_u.mountinfo.fhandle.fhandle3_len);
}

static const char *mount3(const struct server *server, const char *export,
			  struct set *keep)
{
	struct waiting w = { .keep = keep };
	struct rpc_context *rpc;
	const char *error = connect_to(server, server->mount_port,
				       MOUNT_PROGRAM, MOUNT_V3, &rpc);

	if (error)
		return error;
	if (rpc_mount3_mnt_async(rpc, mounted, (char *)export, &w) < 0)
		error = "the MOUNT request could not be sent";
	else
		error = wait_done(rpc, &w);
	rpc_destroy_context(rpc);
	return error;
}

static void rooted(struct rpc_context *rpc, int status, void *data,
		   void *private)
{
	struct waiting *w = private;
	COMPOUND4res *res = data;
	GETFH4resok *got;

	(void)rpc;
	w->done = true;
	if (status != RPC_STATUS_SUCCESS || res->status != NFS4_OK) {
		w->error = "the server did not find the export's root";
		return;
	}
	got = &res->resarray.resarray_val[res->resarray.resarray_len - 1]
		       .nfs_resop4_u.opgetfh.GETFH4res_u.resok4;
	set_add(w->keep, got->object.nfs_fh4_val, got->object.nfs_fh4_len);
}

static const char *mount4(const struct server *server, const char *export,
			  struct set *keep)
{
	struct waiting w = { .keep = keep };
	nfs_argop4 ops[16];
	COMPOUND4args args = { .argarray.argarray_val = ops };
	const char *error = NULL;
	struct rpc_context *rpc = session_context(server, 4, 0, &error);
	char path[1024], *rest, *name;
	unsigned n = 0;

	if (!rpc)
		return error;
	if (strlen(export) >= sizeof(path))
		return "the export's path is too long";
	snprintf(path, sizeof(path), "%s", export);
	memset(ops, 0, sizeof(ops));
	ops[n++].argop = OP_PUTROOTFH;
	for (name = strtok_r(path, "/", &rest); name;
	     name = strtok_r(NULL, "/", &rest)) {
		component4 *to = &ops[n].nfs_argop4_u.oplookup.objname;

		if (n > 14)
			return "the export's path has too many parts";
		ops[n++].argop = OP_LOOKUP;
		to->utf8string_val = name;
		to->utf8string_len = (u_int)strlen(name);
	}
	ops[n++].argop = OP_GETFH;
	args.argarray.argarray_len = n;
	if (rpc_nfs4_compound_async(rpc, rooted, &args, &w) < 0)
		return "the request could not be sent";
	return wait_done(rpc, &w);
}

const char *session_mount(const struct server *server, int version,
			  const char *export, struct set *keep)
{
	return version == 3 ? mount3(server, export, keep) :
			      mount4(server, export, keep);
}

const char *session_wait(int64_t timeout_ns, bool input, bool *input_came)
{
	struct pollfd fds[MOST_CONTEXTS + 1];
	struct timespec t = { .tv_sec = timeout_ns / 1000000000,
			      .tv_nsec = timeout_ns % 1000000000 };
	nfds_t count = context_count;

	for (unsigned i = 0; i < context_count; i++)
		fds[i] = (struct pollfd){
			.fd = rpc_get_fd(contexts[i].rpc),
			.events = (short)rpc_which_events(contexts[i].rpc),
		};
	if (input)
		fds[count++] = (struct pollfd){ .fd = 0, .events = POLLIN };
	if (ppoll(fds, count, timeout_ns < 0 ? NULL : &t, NULL) < 0)
		return errno == EINTR ? NULL : strerror(errno);
	for (unsigned i = 0; i < context_count; i++) {
		if (fds[i].revents &&
		    rpc_service(contexts[i].rpc, fds[i].revents) < 0)
			return rpc_get_error(contexts[i].rpc);
	}
	*input_came = input && fds[count - 1].revents;
	return NULL;
}

void session_close(void)
{
	while (context_count > 0)
		rpc_destroy_context(contexts[--context_count].rpc);
}
