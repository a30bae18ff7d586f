// SPDX-License-Identifier: LGPL-3.0-or-later
/* What NFSv4's error statuses ask of the client. */
#include "nfs4.h"

#include "protocol.h"

void recover_begin(struct sw_client *client)
{
	client->state = CLIENT_RECOVERING;
	client->recover_since = sw_now();
}

void files_stale(struct sw_client *client)
{
	struct sw_file *file;

	TAILQ_FOREACH(file, &client->files, link)
	{
		file->epoch = 0;
	}
}

/* ---- the client's own steps ---- */

static void again_later(struct op *op)
{
	struct op *next =
		system_op(op->client, op->protocol, op->coding, op->step);

	next->file = op->file;
	next->tries = op->tries;
	next->start = op->start;
	op_later(next);
}

bool step_good(struct op *op, const struct reply *reply, const char *doing)
{
	struct sw_client *client = op->client;
	uint32_t status = reply->result.status;

	if (!status)
		return true;
	if ((status == NFS4ERR_DELAY || status == NFS4ERR_GRACE) &&
	    sw_now() - op->start < client->patience) {
		if (status == NFS4ERR_DELAY)
			client->counters.delays++;
		else
			client->counters.graces++;
		again_later(op);
	} else {
		fail_status(client, doing, status);
	}
	return false;
}

static void on_root(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;
	char doing[256];

	snprintf(doing, sizeof(doing), "the export %.200s", client->export);
	if (!step_good(op, reply, doing))
		return;
	client->root = reply->fh;
	client->root_attrs = reply->attrs;
	client->renewed = sw_now();
	client_mounted(client);
}

void find_root(struct sw_client *client)
{
	system_ask(client, &nfs4_root, on_root);
}

/* ---- operations ---- */

/* The server knows nothing of this client id or session any more. */
static enum verdict state_lost(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;
	bool current = op->epoch == client->epoch &&
		       op->session == client->session;

	if (op->file && op->file->lost && !op->closes)
		return VERDICT_DONE;
	client->counters.expired++;
	if (current && client->state == CLIENT_READY) {
		if (client->version == SW_V40)
			clientid40_renew(client);
		else
			session_renew(client);
	}
	if (op->coding == &nfs4_confirm)
		op->coding = &nfs4_codings[OP_OPEN];
	if (op->closes) { /* there is nothing left to close */
		reply->result.status = 0;
		return VERDICT_DONE;
	}
	return VERDICT_AGAIN;
}

static enum verdict session_lost(struct op *op)
{
	struct sw_client *client = op->client;

	if (op->session == client->session && client->state == CLIENT_READY)
		session_renew(client);
	return VERDICT_AGAIN;
}

/* The state of one file is gone. */
static enum verdict file_lost(struct op *op)
{
	struct sw_client *client = op->client;
	struct sw_file *file = op->file;

	if (!file || !file->open || file->lost || op->closes)
		return VERDICT_DONE;
	client->counters.expired++;
	if (op->epoch == client->epoch && file->epoch == client->epoch &&
	    client->state == CLIENT_READY) {
		file->epoch = 0;
		recover_begin(client);
		reopen_all(client, false, client_ready);
	}
	return VERDICT_AGAIN;
}

/* The server counts this owner's requests otherwise: another owner. */
static enum verdict bad_seqid(struct op *op)
{
	struct sw_client *client = op->client;
	struct sw_file *file = op->file;

	client->counters.bad_seqids++;
	owners_retire(&client->owners, file->owner);
	file->owner = owners_take(&client->owners);
	if (!op->opens)
		return VERDICT_DONE;
	op->coding = &nfs4_codings[OP_OPEN];
	return VERDICT_AGAIN;
}

/* An OPEN has succeeded; it may have to be confirmed. */
static enum verdict opened(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;
	struct sw_file *file = op->file;

	if (reply->confirm) {
		client->counters.confirms++;
		op->have_attrs = reply->result.attrs;
		op->attrs = reply->attrs;
		op->coding = &nfs4_confirm;
		return VERDICT_AGAIN;
	}
	if (op->coding == &nfs4_confirm && op->have_attrs) {
		reply->attrs = op->attrs;
		reply->result.attrs = &reply->attrs;
	}
	file->open = true;
	file->epoch = op->epoch;
	TAILQ_INSERT_TAIL(&client->files, file, link);
	return VERDICT_DONE;
}

static enum verdict judge_error(struct op *op, struct reply *reply)
{
	struct sw_counters *counters = &op->client->counters;

	switch (reply->result.status) {
	case NFS4ERR_DELAY:
		counters->delays++;
		return VERDICT_LATER;
	case NFS4ERR_GRACE:
		counters->graces++;
		return VERDICT_LATER;
	case NFS4ERR_STALE_CLIENTID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_EXPIRED:
		return state_lost(op, reply);
	case NFS4ERR_BADSESSION:
	case NFS4ERR_DEADSESSION:
		return session_lost(op);
	case NFS4ERR_BADSLOT:
	case NFS4ERR_BAD_HIGH_SLOT:
	case NFS4ERR_SEQ_MISORDERED:
	case NFS4ERR_SEQ_FALSE_RETRY:
		counters->bad_slots++;
		return session_lost(op);
	case NFS4ERR_RETRY_UNCACHED_REP:
		counters->bad_slots++;
		return VERDICT_AGAIN;
	case NFS4ERR_CONN_NOT_BOUND_TO_SESSION:
		conn_drop(op->conn);
		return VERDICT_AGAIN;
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_OLD_STATEID:
	case NFS4ERR_ADMIN_REVOKED:
		return file_lost(op);
	case NFS4ERR_BAD_SEQID:
		return op->coding->seqid ? bad_seqid(op) : VERDICT_DONE;
	default:
		return VERDICT_DONE;
	}
}

enum verdict judge4(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;
	uint32_t status = reply->result.status;

	if (client->version == SW_V40 && op->coding->seqid &&
	    status != SW_ERR_REPLY && status != SW_ERR_RPC &&
	    op->epoch == client->epoch)
		owner_answered(op->file->owner, status, reply->reached);
	if (op->step) /* looks after itself */
		return VERDICT_DONE;
	if (!status)
		return op->opens ? opened(op, reply) : VERDICT_DONE;
	if (client->state == CLIENT_CLOSING)
		return VERDICT_DONE;
	return judge_error(op, reply);
}
