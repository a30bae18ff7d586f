// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * All open files: reclaimed or opened anew when the server has lost them,
 * closed at the end.
 */
#include "nfs4.h"

#include "protocol.h"

static void reclaim_next(struct sw_client *client);
static void reopen_next(struct sw_client *client);

static struct sw_file *next_stale(struct sw_client *client)
{
	struct sw_file *file;

	TAILQ_FOREACH(file, &client->files, link)
	{
		if (file->epoch != client->epoch && !file->lost)
			return file;
	}
	return NULL;
}

/*
 * What both ways of opening anew have in common: whether the reply settles
 * this file.  False: another try, or a wait, or the client begins over again.
 */
static bool settled(struct op *op, struct reply *reply,
		    void (*next)(struct sw_client *client))
{
	struct sw_client *client = op->client;
	struct sw_file *file = op->file;
	uint32_t status = reply->result.status;

	switch (status) {
	case 0:
		return true;
	case NFS4ERR_STALE_CLIENTID:
	case NFS4ERR_EXPIRED:
		client->counters.expired++;
		if (client->version == SW_V40)
			clientid40_renew(client);
		else
			session_renew(client);
		return false;
	case NFS4ERR_BADSESSION:
	case NFS4ERR_DEADSESSION:
	case NFS4ERR_BADSLOT:
	case NFS4ERR_SEQ_MISORDERED:
		session_renew(client);
		return false;
	case NFS4ERR_BAD_SEQID:
		client->counters.bad_seqids++;
		owners_retire(&client->owners, file->owner);
		file->owner = owners_take(&client->owners);
		next(client);
		return false;
	case NFS4ERR_DELAY:
	case NFS4ERR_GRACE:
		step_good(op, reply, "opening a file again");
		return false;
	default:
		return true;
	}
}

static void file_back(struct op *op)
{
	op->file->epoch = op->client->epoch;
	op->client->counters.reopened++;
}

static void on_confirm(struct op *op, struct reply *reply)
{
	if (!settled(op, reply, reopen_next))
		return;
	if (reply->result.status)
		op->file->lost = true;
	else
		file_back(op);
	reopen_next(op->client);
}

static void send_for(struct sw_client *client, struct sw_file *file,
		     const struct coding *coding,
		     void (*step)(struct op *op, struct reply *reply))
{
	struct op *op = system_op(client, client->protocol, coding, step);

	op->file = file;
	system_send(op, NULL);
}

static void on_reopen(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;

	if (!settled(op, reply, reopen_next))
		return;
	if (!reply->result.status && reply->confirm) {
		client->counters.confirms++;
		send_for(client, op->file, &nfs4_confirm, on_confirm);
		return;
	}
	if (reply->result.status) {
		op->file->lost = true;
		client->counters.reopens_failed++;
	} else {
		file_back(op);
	}
	reopen_next(client);
}

/* Second, and what could not be reclaimed: the ordinary way. */
static void reopen_next(struct sw_client *client)
{
	struct sw_file *file = next_stale(client);

	if (file)
		send_for(client, file, &nfs4_reopen, on_reopen);
	else
		client->reopened(client);
}

/* ---- first, the server's grace for those who were there before ---- */

static void put_complete(struct op *op, struct wire *w)
{
	(void)op;
	put_op(w, NFS4_OP_RECLAIM_COMPLETE);
	put_u32(w, 0); /* all file systems */
}

static uint32_t get_complete(struct op *op, struct wire *w, struct reply *reply)
{
	return next_op(op, w, reply, NFS4_OP_RECLAIM_COMPLETE);
}

static void on_complete(struct op *op, struct reply *reply)
{
	if (reply->result.status == NFS4ERR_COMPLETE_ALREADY)
		reply->result.status = 0;
	if (step_good(op, reply, "RECLAIM_COMPLETE"))
		reopen_next(op->client);
}

static void reclaimed(struct sw_client *client)
{
	static const struct coding complete = { NFS4_OP_RECLAIM_COMPLETE,
						.encode = put_complete,
						.decode = get_complete };

	for (struct sw_file *file = TAILQ_FIRST(&client->files); file;
	     file = TAILQ_NEXT(file, link))
		file->tried = false;
	if (client->version == SW_V40)
		reopen_next(client);
	else
		system_ask(client, &complete, on_complete);
}

static void on_reclaim(struct op *op, struct reply *reply)
{
	if (!settled(op, reply, reclaim_next))
		return;
	if (reply->result.status)
		op->file->tried = true;
	else
		file_back(op);
	reclaim_next(op->client);
}

static void reclaim_next(struct sw_client *client)
{
	struct sw_file *file;

	TAILQ_FOREACH(file, &client->files, link)
	{
		if (file->epoch != client->epoch && !file->lost &&
		    !file->tried) {
			send_for(client, file, &nfs4_reclaim, on_reclaim);
			return;
		}
	}
	reclaimed(client);
}

void reopen_all(struct sw_client *client, bool complete,
		void (*done)(struct sw_client *client))
{
	client->reopened = done;
	if (complete)
		reclaim_next(client);
	else
		reopen_next(client);
}

/* ---- closed ---- */

static void close_next(struct sw_client *client);

static void on_close(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;

	(void)reply;
	TAILQ_REMOVE(&client->files, op->file, link);
	op->file->open = false;
	close_next(client);
}

static void close_next(struct sw_client *client)
{
	struct sw_file *file = TAILQ_FIRST(&client->files);

	if (file)
		send_for(client, file, &nfs4_codings[OP_CLOSE], on_close);
	else
		client->reopened(client);
}

void close_all(struct sw_client *client, void (*done)(struct sw_client *client))
{
	client->reopened = done;
	close_next(client);
}
