// SPDX-License-Identifier: LGPL-3.0-or-later
/* NFSv4.0: the client id and its lease. */
#include "nfs4.h"

#include "protocol.h"

static void setclientid(struct sw_client *client);

/* ---- SETCLIENTID, SETCLIENTID_CONFIRM ---- */

static void put_setclientid(struct op *op, struct wire *w)
{
	struct sw_client *client = op->client;
	/* No callback path, so no delegations. */
	char netid[] = "tcp";
	char address[] = "0.0.0.0.0.0";
	SETCLIENTID4args args = {
		.client.id = { .id_len = (u_int)strlen(client->name),
			       .id_val = client->name },
		.callback.cb_location = { .r_netid = netid, .r_addr = address },
	};

	memcpy(args.client.verifier, client->verifier, NFS4_VERIFIER_SIZE);
	put_op(w, NFS4_OP_SETCLIENTID);
	if (!xdr_SETCLIENTID4args(&w->xdr, &args))
		w->bad = true;
}

static uint32_t get_setclientid(struct op *op, struct wire *w,
				struct reply *reply)
{
	uint32_t status = next_op(op, w, reply, NFS4_OP_SETCLIENTID);
	SETCLIENTID4resok resok = { 0 };

	if (status)
		return status;
	if (!xdr_SETCLIENTID4resok(&w->xdr, &resok))
		return SW_ERR_REPLY;
	op->client->new_clientid = resok.clientid;
	memcpy(op->client->confirm, resok.setclientid_confirm,
	       NFS4_VERIFIER_SIZE);
	return 0;
}

static void put_confirm(struct op *op, struct wire *w)
{
	put_op(w, NFS4_OP_SETCLIENTID_CONFIRM);
	put_u64(w, op->client->new_clientid);
	put_bytes(w, op->client->confirm, NFS4_VERIFIER_SIZE);
}

static uint32_t get_confirm(struct op *op, struct wire *w, struct reply *reply)
{
	return next_op(op, w, reply, NFS4_OP_SETCLIENTID_CONFIRM);
}

static void on_confirm(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;
	bool first = !client->epoch;

	if (reply->result.status == NFS4ERR_STALE_CLIENTID) {
		setclientid(client);
		return;
	}
	if (!step_good(op, reply, "SETCLIENTID_CONFIRM"))
		return;
	if (client->new_clientid != client->clientid || first)
		client->epoch++;
	client->clientid = client->new_clientid;
	client->renewed = op->sent_last;
	if (first) {
		find_root(client);
		return;
	}
	client->counters.clientids++;
	files_stale(client);
	reopen_all(client, true, client_ready);
}

static void on_setclientid(struct op *op, struct reply *reply)
{
	static const struct coding confirm = { NFS4_OP_SETCLIENTID_CONFIRM,
					       .encode = put_confirm,
					       .decode = get_confirm };
	struct sw_client *client = op->client;

	if (step_good(op, reply, "SETCLIENTID"))
		system_ask(client, &confirm, on_confirm);
}

static void setclientid(struct sw_client *client)
{
	static const struct coding coding = { NFS4_OP_SETCLIENTID,
					      .encode = put_setclientid,
					      .decode = get_setclientid };

	system_ask(client, &coding, on_setclientid);
}

void clientid40_renew(struct sw_client *client)
{
	recover_begin(client);
	setclientid(client);
}

/* ---- RENEW ---- */

static void put_renew(struct op *op, struct wire *w)
{
	put_op(w, NFS4_OP_RENEW);
	put_u64(w, op->client->clientid);
}

static uint32_t get_renew(struct op *op, struct wire *w, struct reply *reply)
{
	return next_op(op, w, reply, NFS4_OP_RENEW);
}

static void on_renew(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;

	client->renewing = false;
	switch (reply->result.status) {
	case NFS4_OK:
	case NFS4ERR_CB_PATH_DOWN: /* it is renewed all the same */
		client->renewed = op->sent_last;
		break;
	case NFS4ERR_STALE_CLIENTID:
	case NFS4ERR_EXPIRED:
		client->counters.expired++;
		if (client->state == CLIENT_READY && op->epoch == client->epoch)
			clientid40_renew(client);
		break;
	default: /* at the next tick again */
		break;
	}
}

static void tick(struct sw_client *client, uint64_t now)
{
	static const struct coding renew = { NFS4_OP_RENEW, .encode = put_renew,
					     .decode = get_renew };

	if (client->state != CLIENT_READY || client->renewing ||
	    now - client->renewed < client->lease * SECOND / 3)
		return;
	client->renewing = true;
	client->counters.renews++;
	system_ask(client, &renew, on_renew);
}

/* ---- */

static void first_up(struct sw_client *client, struct conn *conn)
{
	client->on_up = NULL;
	conn_joined(conn);
	setclientid(client);
}

static void mount(struct sw_client *client)
{
	client->on_up = first_up;
	conn_dial(&client->conns[0], client->port);
}

static void unmount(struct sw_client *client)
{
	close_all(client, client_unmounted);
}

static void rejoin(struct sw_client *client, struct conn *conn)
{
	(void)client;
	conn_joined(conn);
}

const struct protocol nfs40_protocol = {
	.program = NFS_PROGRAM,
	.version = NFS_V4,
	.codings = nfs4_codings,
	.encode = nfs4_encode,
	.decode = nfs4_decode,
	.judge = judge4,
	.mount = mount,
	.unmount = unmount,
	.tick = tick,
	.rejoin = rejoin,
};
