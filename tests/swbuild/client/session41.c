// SPDX-License-Identifier: LGPL-3.0-or-later
/* NFSv4.1: client id, session, slots, and the connections' binding. */
#include "nfs4.h"

#include "protocol.h"

#define HEADERS	       4096 /* of a READ's reply or a WRITE's call */
#define CACHED	       4096
#define BACK_CHANNEL   4096 /* which is not used */
#define LEAST_HEADERS  1024
#define MOST_EXCHANGES 8 /* until a session can be made */

static void exchange_id(struct sw_client *client);
static void create_session(struct sw_client *client);

/* ---- SEQUENCE ---- */

void put_sequence(struct op *op, struct wire *w)
{
	struct sw_client *client = op->client;

	put_op(w, NFS4_OP_SEQUENCE);
	put_bytes(w, client->sessionid, NFS4_SESSIONID_SIZE);
	put_u32(w, client->slots.sequence[op->slot]);
	put_u32(w, (uint32_t)op->slot);
	put_u32(w, slots_highest(&client->slots));
	put_u32(w, op->coding->cache);
}

uint32_t get_sequence(struct op *op, struct wire *w, struct reply *reply)
{
	struct sw_client *client = op->client;
	uint32_t status = next_op(op, w, reply, NFS4_OP_SEQUENCE);
	bool current = op->session == client->session;
	uint32_t target;

	if (status == NFS4ERR_RETRY_UNCACHED_REP && current) {
		/* It was done, and the slot has moved on. */
		slots_release(&client->slots, (uint32_t)op->slot, true);
		op->slot = NO_SLOT;
	}
	if (status)
		return status;
	get_bytes(w, NFS4_SESSIONID_SIZE + 4);
	if (get_u32(w) != (uint32_t)op->slot)
		w->bad = true;
	get_u32(w);
	target = get_u32(w);
	get_u32(w);
	if (w->bad)
		return SW_ERR_REPLY;
	reply->sequenced = true;
	if (current) {
		slots_release(&client->slots, (uint32_t)op->slot, true);
		slots_target(&client->slots, target);
		client->renewed = op->sent_last;
	}
	op->slot = NO_SLOT;
	return 0;
}

/* ---- EXCHANGE_ID ---- */

static void put_exchange_id(struct op *op, struct wire *w)
{
	struct sw_client *client = op->client;
	EXCHANGE_ID4args args = {
		.eia_clientowner.co_ownerid = {
			.co_ownerid_len = (u_int)strlen(client->name),
			.co_ownerid_val = client->name,
		},
		.eia_state_protect.spa_how = SP4_NONE,
	};

	memcpy(args.eia_clientowner.co_verifier, client->verifier,
	       NFS4_VERIFIER_SIZE);
	put_op(w, NFS4_OP_EXCHANGE_ID);
	if (!xdr_EXCHANGE_ID4args(&w->xdr, &args))
		w->bad = true;
}

static uint32_t get_exchange_id(struct op *op, struct wire *w,
				struct reply *reply)
{
	uint32_t status = next_op(op, w, reply, NFS4_OP_EXCHANGE_ID);
	struct sw_client *client = op->client;

	if (status)
		return status;
	client->new_clientid = get_u64(w);
	client->create_seq = get_u32(w);
	return 0;
}

static void on_exchange_id(struct op *op, struct reply *reply)
{
	if (step_good(op, reply, "EXCHANGE_ID"))
		create_session(op->client);
}

static void exchange_id(struct sw_client *client)
{
	static const struct coding coding = { NFS4_OP_EXCHANGE_ID,
					      .plain = true,
					      .encode = put_exchange_id,
					      .decode = get_exchange_id };

	system_ask(client, &coding, on_exchange_id);
}

/* ---- CREATE_SESSION ---- */

static void put_create_session(struct op *op, struct wire *w)
{
	struct sw_client *client = op->client;
	callback_sec_parms4 none = { .cb_secflavor = AUTH_NONE };
	CREATE_SESSION4args args = {
		.csa_clientid = client->new_clientid,
		.csa_sequence = client->create_seq,
		.csa_fore_chan_attrs = {
			.ca_maxrequestsize = client->wsize + HEADERS,
			.ca_maxresponsesize = client->rsize + HEADERS,
			.ca_maxresponsesize_cached = CACHED,
			.ca_maxoperations = 64,
			.ca_maxrequests = client->wanted_slots < SLOTS_MAX ?
						  client->wanted_slots :
						  SLOTS_MAX,
		},
		.csa_back_chan_attrs = {
			.ca_maxrequestsize = BACK_CHANNEL,
			.ca_maxresponsesize = BACK_CHANNEL,
			.ca_maxoperations = 2,
			.ca_maxrequests = 1,
		},
		.csa_sec_parms = { .csa_sec_parms_len = 1,
				   .csa_sec_parms_val = &none },
	};

	put_op(w, NFS4_OP_CREATE_SESSION);
	if (!xdr_CREATE_SESSION4args(&w->xdr, &args))
		w->bad = true;
}

/* Takes over what the server granted. */
static void granted(struct sw_client *client, const channel_attrs4 *fore)
{
	uint32_t read = fore->ca_maxresponsesize;
	uint32_t write = fore->ca_maxrequestsize;

	read -= read > 2 * LEAST_HEADERS ? LEAST_HEADERS : 0;
	write -= write > 2 * LEAST_HEADERS ? LEAST_HEADERS : 0;
	if (client->rsize > read)
		client->rsize = read;
	if (client->wsize > write)
		client->wsize = write;
	slots_init(&client->slots, fore->ca_maxrequests);
	client->depth = client->wanted_slots;
	if (client->depth > client->slots.granted)
		client->depth = client->slots.granted;
}

static uint32_t get_create_session(struct op *op, struct wire *w,
				   struct reply *reply)
{
	uint32_t status = next_op(op, w, reply, NFS4_OP_CREATE_SESSION);
	struct sw_client *client = op->client;
	CREATE_SESSION4resok resok = { 0 };
	u_int fore_ird;
	u_int back_ird;

	if (status)
		return status;
	resok.csr_fore_chan_attrs.ca_rdma_ird.ca_rdma_ird_val = &fore_ird;
	resok.csr_back_chan_attrs.ca_rdma_ird.ca_rdma_ird_val = &back_ird;
	if (!xdr_CREATE_SESSION4resok(&w->xdr, &resok))
		return SW_ERR_REPLY;
	memcpy(client->sessionid, resok.csr_sessionid, NFS4_SESSIONID_SIZE);
	client->create_seq++;
	client->session++;
	granted(client, &resok.csr_fore_chan_attrs);
	return 0;
}

static void reclaimed_first(struct sw_client *client)
{
	find_root(client);
}

static void on_create_session(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;
	uint32_t status = reply->result.status;
	bool first = !client->epoch;

	if ((status == NFS4ERR_STALE_CLIENTID ||
	     status == NFS4ERR_SEQ_MISORDERED) &&
	    client->exchanges++ < MOST_EXCHANGES) {
		exchange_id(client);
		return;
	}
	if (!step_good(op, reply, "CREATE_SESSION"))
		return;
	client->exchanges = 0;
	client->renewed = op->sent_last;
	client->counters.sessions += !first;
	if (client->new_clientid == client->clientid && !first) {
		client_ready(client); /* its state is still there */
		return;
	}
	client->clientid = client->new_clientid;
	client->epoch++;
	client->counters.clientids += !first;
	files_stale(client);
	reopen_all(client, true, first ? reclaimed_first : client_ready);
}

static void create_session(struct sw_client *client)
{
	static const struct coding coding = { NFS4_OP_CREATE_SESSION,
					      .plain = true,
					      .encode = put_create_session,
					      .decode = get_create_session };

	system_ask(client, &coding, on_create_session);
}

void session_renew(struct sw_client *client)
{
	recover_begin(client);
	create_session(client);
}

/* ---- connections ---- */

static void put_bind(struct op *op, struct wire *w)
{
	put_op(w, NFS4_OP_BIND_CONN_TO_SESSION);
	put_bytes(w, op->client->sessionid, NFS4_SESSIONID_SIZE);
	put_u32(w, CDFC4_FORE);
	put_u32(w, 0); /* no RDMA */
}

static uint32_t get_bind(struct op *op, struct wire *w, struct reply *reply)
{
	return next_op(op, w, reply, NFS4_OP_BIND_CONN_TO_SESSION);
}

/* Where binding is refused, the first SEQUENCE binds, or tells what is wrong. */
static void on_bind(struct op *op, struct reply *reply)
{
	(void)reply;
	conn_joined(op->conn);
}

static void rejoin(struct sw_client *client, struct conn *conn)
{
	static const struct coding bind = { NFS4_OP_BIND_CONN_TO_SESSION,
					    .plain = true, .encode = put_bind,
					    .decode = get_bind };
	struct op *op;

	/* There is no session yet, or not any more. */
	if (!client->session || client->state == CLIENT_RECOVERING) {
		conn_joined(conn);
		return;
	}
	op = system_op(client, client->protocol, &bind, on_bind);
	op->joins = true;
	system_send(op, conn);
}

/* ---- the lease ---- */

static void put_nothing(struct op *op, struct wire *w)
{
	(void)op;
	(void)w;
}

static uint32_t get_nothing(struct op *op, struct wire *w, struct reply *reply)
{
	(void)op;
	(void)w;
	(void)reply;
	return 0;
}

static void on_renewed(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;

	client->renewing = false;
	switch (reply->result.status) {
	case NFS4ERR_BADSESSION:
	case NFS4ERR_DEADSESSION:
		if (client->state == CLIENT_READY &&
		    op->session == client->session)
			session_renew(client);
		break;
	default: /* if it was no success: at the next tick again */
		break;
	}
}

static void tick(struct sw_client *client, uint64_t now)
{
	static const struct coding alone = { NFS4_OP_SEQUENCE,
					     .encode = put_nothing,
					     .decode = get_nothing };

	if (client->state != CLIENT_READY || client->renewing ||
	    now - client->renewed < client->lease * SECOND / 3)
		return;
	client->renewing = true;
	client->counters.renews++;
	system_ask(client, &alone, on_renewed);
}

/* ---- the end ---- */

static void put_destroy_clientid(struct op *op, struct wire *w)
{
	put_op(w, NFS4_OP_DESTROY_CLIENTID);
	put_u64(w, op->client->clientid);
}

static uint32_t get_destroy_clientid(struct op *op, struct wire *w,
				     struct reply *reply)
{
	return next_op(op, w, reply, NFS4_OP_DESTROY_CLIENTID);
}

static void on_destroy_clientid(struct op *op, struct reply *reply)
{
	(void)reply;
	client_unmounted(op->client);
}

static void put_destroy_session(struct op *op, struct wire *w)
{
	put_op(w, NFS4_OP_DESTROY_SESSION);
	put_bytes(w, op->client->sessionid, NFS4_SESSIONID_SIZE);
}

static uint32_t get_destroy_session(struct op *op, struct wire *w,
				    struct reply *reply)
{
	return next_op(op, w, reply, NFS4_OP_DESTROY_SESSION);
}

static void on_destroy_session(struct op *op, struct reply *reply)
{
	static const struct coding coding = { NFS4_OP_DESTROY_CLIENTID,
					      .plain = true,
					      .encode = put_destroy_clientid,
					      .decode = get_destroy_clientid };

	(void)reply;
	system_send(system_op(op->client, op->protocol, &coding,
			      on_destroy_clientid),
		    NULL);
}

static void destroy_session(struct sw_client *client)
{
	static const struct coding coding = { NFS4_OP_DESTROY_SESSION,
					      .plain = true,
					      .encode = put_destroy_session,
					      .decode = get_destroy_session };

	system_ask(client, &coding, on_destroy_session);
}

static void unmount(struct sw_client *client)
{
	close_all(client, destroy_session);
}

/* ---- */

static void first_up(struct sw_client *client, struct conn *conn)
{
	client->on_up = NULL;
	conn_joined(conn);
	exchange_id(client);
}

static void mount(struct sw_client *client)
{
	client->on_up = first_up;
	conn_dial(&client->conns[0], client->port);
}

const struct protocol nfs41_protocol = {
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
	.slots = true,
};
