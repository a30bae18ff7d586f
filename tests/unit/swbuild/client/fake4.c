// SPDX-License-Identifier: LGPL-3.0-or-later
/* The fake server's NFSv4.0 and 4.1. */
#include "fake4.h"

#include <stdlib.h>

#define ARG(op) arg->nfs_argop4_u.op
#define RES(op) res->nfs_resop4_u.op

/* ---- client ids and sessions ---- */

static void drop_state(struct fake *fake)
{
	fake->owners = 0;
	fake->complete = false;
	memset(fake->owner, 0, sizeof(fake->owner));
}

void fake_expire(struct fake *fake)
{
	drop_state(fake);
	fake->clientid++;
	fake->confirmed = false;
	fake->session = 0;
}

void fake_reboot(struct fake *fake)
{
	fake->boot++;
	fake->clientid = 0;
	fake->confirmed = false;
	fake->session = 0;
	fake->verifier = 0;
	fake->grace = true;
	drop_state(fake);
	fake_cut(fake);
	memset(fake->reply, 0, sizeof(fake->reply));
}

void fake_end_session(struct fake *fake)
{
	fake->session = 0;
}

static uint64_t clientid_for(struct fake *fake, const char *verifier)
{
	uint64_t v;

	memcpy(&v, verifier, sizeof(v));
	if (v != fake->verifier || !fake->confirmed) {
		fake->verifier = v;
		fake->clientid = ((uint64_t)fake->boot << 32) +
				 (fake->clientid & UINT32_MAX) + 1;
		fake->create_seq = 1;
		drop_state(fake);
	}
	return fake->clientid;
}

static void new_session(struct fake *fake, nfs_argop4 *arg, nfs_resop4 *res)
{
	CREATE_SESSION4args *a = &ARG(opcreate_session);
	CREATE_SESSION4resok *ok =
		&RES(opcreate_session).CREATE_SESSION4res_u.csr_resok4;

	if (a->csa_clientid != fake->clientid || !fake->clientid) {
		RES(opcreate_session).csr_status = NFS4ERR_STALE_CLIENTID;
		return;
	}
	if (a->csa_sequence != fake->create_seq) {
		RES(opcreate_session).csr_status = NFS4ERR_SEQ_MISORDERED;
		return;
	}
	fake->create_seq++;
	fake->confirmed = true;
	fake->session = fake->clientid * 1000 + fake->create_seq;
	memset(fake->slot, 0, sizeof(fake->slot));
	memcpy(ok->csr_sessionid, &fake->session, sizeof(fake->session));
	ok->csr_sequence = a->csa_sequence;
	ok->csr_fore_chan_attrs = a->csa_fore_chan_attrs;
	ok->csr_back_chan_attrs = a->csa_back_chan_attrs;
	if (ok->csr_fore_chan_attrs.ca_maxrequests > fake->granted)
		ok->csr_fore_chan_attrs.ca_maxrequests = fake->granted;
}

/* Status of a SEQUENCE; *again: the request was answered before. */
static nfsstat4 sequence(struct fake *fake, SEQUENCE4args *a, SEQUENCE4res *r,
			 struct fake_reply **again)
{
	struct fake_reply *slot;
	uint64_t session;

	memcpy(&session, a->sa_sessionid, sizeof(session));
	if (!fake->session || session != fake->session)
		return NFS4ERR_BADSESSION;
	if (a->sa_slotid >= fake->granted)
		return NFS4ERR_BADSLOT;
	slot = &fake->slot[a->sa_slotid];
	if (slot->length && a->sa_sequenceid == slot->key) {
		*again = slot;
		return NFS4_OK;
	}
	if (a->sa_sequenceid != slot->key + 1)
		return NFS4ERR_SEQ_MISORDERED;
	if (a->sa_highest_slotid < a->sa_slotid)
		fake->wrong = true;
	if (a->sa_slotid > fake->highest_slot)
		fake->highest_slot = a->sa_slotid;
	slot->key = a->sa_sequenceid;
	slot->uncached = !a->sa_cachethis;
	memcpy(r->SEQUENCE4res_u.sr_resok4.sr_sessionid, a->sa_sessionid,
	       NFS4_SESSIONID_SIZE);
	r->SEQUENCE4res_u.sr_resok4.sr_sequenceid = a->sa_sequenceid;
	r->SEQUENCE4res_u.sr_resok4.sr_slotid = a->sa_slotid;
	r->SEQUENCE4res_u.sr_resok4.sr_highest_slotid = fake->granted - 1;
	r->SEQUENCE4res_u.sr_resok4.sr_target_highest_slotid = fake->target;
	return NFS4_OK;
}

/* ---- files ---- */

static void write_file(struct fake *fake, WRITE4args *a, WRITE4res *r)
{
	struct fake_owner *owner;
	uint32_t count = a->data.data_len;

	r->status = fake4_find_stateid(fake, &a->stateid, &owner);
	if (r->status)
		return;
	if (fake->short_io && count > fake->short_io)
		count = fake->short_io;
	if (a->offset + count > FAKE_FILE) {
		r->status = NFS4ERR_FBIG;
		return;
	}
	memcpy(fake->file + a->offset, a->data.data_val, count);
	if (a->offset + count > fake->size)
		fake->size = (uint32_t)a->offset + count;
	r->WRITE4res_u.resok4.count = count;
	r->WRITE4res_u.resok4.committed = a->stable;
	memcpy(r->WRITE4res_u.resok4.writeverf, &fake->boot, 4);
}

/* The SDK's codec has READ's data elsewhere: by hand. */
static nfsstat4 read_file(struct fake *fake, READ4args *a, struct wire *w)
{
	struct fake_owner *owner;
	nfsstat4 status = fake4_find_stateid(fake, &a->stateid, &owner);
	uint32_t count = 0;

	put_u32(w, NFS4_OP_READ);
	put_u32(w, status);
	if (status)
		return status;
	if (a->offset < fake->size)
		count = fake->size - (uint32_t)a->offset;
	if (count > a->count)
		count = a->count;
	if (fake->short_io && count > fake->short_io)
		count = fake->short_io;
	put_u32(w, a->offset + count >= fake->size);
	put_opaque(w, fake->file + a->offset, count);
	return NFS4_OK;
}

/* Of what is asked: type, change, size; lease, maxread, maxwrite. */
static void get_attributes(struct fake *fake, GETATTR4args *a, GETATTR4res *r)
{
	static uint64_t room[16];
	fattr4 *attrs = &r->GETATTR4res_u.resok4.obj_attributes;
	uint32_t word = a->attr_request.bitmap4_len ? a->attr_request.map[0] :
						      0;
	uint32_t have = word & (1u << FATTR4_TYPE | 1u << FATTR4_CHANGE |
				1u << FATTR4_SIZE | 1u << FATTR4_LEASE_TIME |
				1u << FATTR4_MAXREAD | 1u << FATTR4_MAXWRITE);
	struct wire w;

	wire_encode(&w, room, sizeof(room));
	if (have & 1u << FATTR4_TYPE)
		put_u32(&w, NF4REG);
	if (have & 1u << FATTR4_CHANGE)
		put_u64(&w, 7);
	if (have & 1u << FATTR4_SIZE)
		put_u64(&w, fake->size);
	if (have & 1u << FATTR4_LEASE_TIME)
		put_u32(&w, fake->lease);
	if (have & 1u << FATTR4_MAXREAD)
		put_u64(&w, 1024);
	if (have & 1u << FATTR4_MAXWRITE)
		put_u64(&w, 1024);
	attrs->attrmask.bitmap4_len = 1;
	attrs->attrmask.map[0] = have;
	attrs->attr_vals.attrlist4_val = (char *)room;
	attrs->attr_vals.attrlist4_len = (u_int)(wire_at(&w) - (uint8_t *)room);
}

/* ---- compounds ---- */

static void run_setup(struct fake_conn *conn, nfs_argop4 *arg, nfs_resop4 *res)
{
	struct fake *fake = conn->fake;
	SETCLIENTID4resok *id = &RES(opsetclientid).SETCLIENTID4res_u.resok4;
	EXCHANGE_ID4resok *ex =
		&RES(opexchange_id).EXCHANGE_ID4res_u.eir_resok4;
	uint64_t session;

	switch (arg->argop) {
	case NFS4_OP_SETCLIENTID:
		id->clientid =
			clientid_for(fake, ARG(opsetclientid).client.verifier);
		break;
	case NFS4_OP_SETCLIENTID_CONFIRM:
		if (ARG(opsetclientid_confirm).clientid != fake->clientid)
			RES(opsetclientid_confirm).status =
				NFS4ERR_STALE_CLIENTID;
		fake->confirmed = true;
		break;
	case NFS4_OP_RENEW:
		if (ARG(oprenew).clientid != fake->clientid || !fake->confirmed)
			RES(oprenew).status = NFS4ERR_STALE_CLIENTID;
		break;
	case NFS4_OP_EXCHANGE_ID:
		ex->eir_clientid = clientid_for(
			fake, ARG(opexchange_id).eia_clientowner.co_verifier);
		ex->eir_sequenceid = fake->create_seq;
		break;
	case NFS4_OP_CREATE_SESSION:
		new_session(fake, arg, res);
		break;
	case NFS4_OP_BIND_CONN_TO_SESSION:
		memcpy(&session, ARG(opbind_conn_to_session).bctsa_sessid,
		       sizeof(session));
		if (!fake->session || session != fake->session) {
			RES(opbind_conn_to_session).bctsr_status =
				NFS4ERR_BADSESSION;
			break;
		}
		conn->bound = true;
		fake->bound++;
		break;
	case NFS4_OP_DESTROY_SESSION:
		fake->session = 0;
		break;
	case NFS4_OP_RECLAIM_COMPLETE:
		fake->complete = true;
		fake->grace = false;
		break;
	default:
		break;
	}
}

static void run_op(struct fake_conn *conn, nfs_argop4 *arg, nfs_resop4 *res)
{
	struct fake *fake = conn->fake;

	switch (arg->argop) {
	case NFS4_OP_OPEN:
		fake4_open_file(fake, &ARG(opopen), &RES(opopen));
		break;
	case NFS4_OP_OPEN_CONFIRM:
		fake4_confirm_open(fake, &ARG(opopen_confirm),
				   &RES(opopen_confirm));
		break;
	case NFS4_OP_CLOSE:
		fake4_close_file(fake, &ARG(opclose), &RES(opclose));
		break;
	case NFS4_OP_WRITE:
		write_file(fake, &ARG(opwrite), &RES(opwrite));
		break;
	case NFS4_OP_COMMIT:
		memcpy(RES(opcommit).COMMIT4res_u.resok4.writeverf, &fake->boot,
		       4);
		break;
	case NFS4_OP_GETATTR:
		get_attributes(fake, &ARG(opgetattr), &RES(opgetattr));
		break;
	case NFS4_OP_GETFH:
		RES(opgetfh).GETFH4res_u.resok4.object.nfs_fh4_len =
			fake_fh.length;
		RES(opgetfh).GETFH4res_u.resok4.object.nfs_fh4_val =
			(char *)fake_fh.data;
		break;
	default:
		run_setup(conn, arg, res);
	}
}

/* Runs one operation and writes its result; its status. */
static nfsstat4 one(struct fake_conn *conn, nfs_argop4 *arg, struct wire *w)
{
	struct fake *fake = conn->fake;
	/* Its status is the first word of each result. */
	nfs_resop4 res = { .resop = arg->argop };
	nfsstat4 *status = (nfsstat4 *)&res.nfs_resop4_u;

	if (arg->argop == fake->fail_op && fake->fail_times) {
		fake->fail_times--;
		*status = fake->fail_status;
	} else if (arg->argop == NFS4_OP_READ) {
		fake->done[NFS4_OP_READ]++;
		return read_file(fake, &arg->nfs_argop4_u.opread, w);
	} else {
		run_op(conn, arg, &res);
		fake->done[arg->argop] += !*status;
	}
	if (arg->argop == fake->cut_op && fake->cut_times) {
		fake->cut_times--;
		fake->cut = true;
	}
	if (!xdr_nfs_resop4(&w->xdr, &res))
		abort();
	return *status;
}

static void patch(uint8_t *at, uint32_t value)
{
	value = htonl(value);
	memcpy(at, &value, sizeof(value));
}

/* Answers from the slot's memory. */
static struct fake_reply *again(struct fake *fake, struct fake_reply *slot,
				uint32_t xid, struct fake_reply *reply,
				struct wire *w)
{
	fake->replays++;
	if (!slot->uncached) {
		patch(slot->bytes + 4, xid);
		return slot;
	}
	put_u32(w, NFS4ERR_RETRY_UNCACHED_REP);
	put_u32(w, 0);
	put_u32(w, 1);
	put_u32(w, NFS4_OP_SEQUENCE);
	put_u32(w, NFS4ERR_RETRY_UNCACHED_REP);
	fake_end(reply, w);
	return reply;
}

struct fake_reply *fake4_compound(struct fake_conn *conn, uint32_t xid,
				  struct wire *in, struct fake_reply *reply,
				  struct wire *w)
{
	struct fake *fake = conn->fake;
	COMPOUND4args args = { 0 };
	struct fake_reply *slot = NULL;
	uint8_t *head = wire_at(w);
	nfsstat4 status = NFS4_OK;
	uint32_t done = 0;

	if (!xdr_COMPOUND4args(&in->xdr, &args) ||
	    in->xdr.x_data != in->xdr.x_v.vio_tail)
		fake->wrong = true;
	fake->compounds++;
	put_u32(w, 0);
	put_u32(w, 0);
	put_u32(w, 0);
	if (args.minorversion != fake->minor_served)
		status = NFS4ERR_MINOR_VERS_MISMATCH;
	while (!status && done < args.argarray.argarray_len) {
		nfs_argop4 *arg = &args.argarray.argarray_val[done++];
		nfs_resop4 res = { .resop = NFS4_OP_SEQUENCE };
		struct fake_reply *known = NULL;

		if (arg->argop != NFS4_OP_SEQUENCE) {
			status = one(conn, arg, w);
			continue;
		}
		if (fake->fail_op == NFS4_OP_SEQUENCE && fake->fail_times) {
			fake->fail_times--;
			status = fake->fail_status;
		} else {
			status = sequence(fake, &arg->nfs_argop4_u.opsequence,
					  &res.nfs_resop4_u.opsequence, &known);
		}
		if (known) {
			wire_encode(w, reply->bytes, sizeof(reply->bytes));
			reply = again(fake, known, xid,
				      fake_begin(reply, w, xid), w);
			xdr_nfree((xdrproc_t)xdr_COMPOUND4args, &args);
			return reply;
		}
		res.nfs_resop4_u.opsequence.sr_status = status;
		if (!xdr_nfs_resop4(&w->xdr, &res))
			abort();
		if (!status)
			slot = &fake->slot[arg->nfs_argop4_u.opsequence
						   .sa_slotid];
	}
	patch(head, status);
	patch(head + 8, done);
	fake_end(reply, w);
	if (slot) {
		slot->length = reply->length;
		memcpy(slot->bytes, reply->bytes, reply->length);
	}
	xdr_nfree((xdrproc_t)xdr_COMPOUND4args, &args);
	return reply;
}
