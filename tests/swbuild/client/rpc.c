// SPDX-License-Identifier: LGPL-3.0-or-later
/* The RPC header of calls and replies, and what a refusal means. */
#include "impl.h"

#include <rpc/rpc.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "protocol.h"

void rpc_credential(struct sw_client *client)
{
	char host[64] = "";
	struct authunix_parms who = { .aup_machname = host,
				      .aup_uid = client->uid,
				      .aup_gid = client->gid };
	struct wire w;
	uint8_t *length;
	uint32_t size;

	gethostname(host, sizeof(host) - 1);
	wire_encode(&w, client->credential, sizeof(client->credential));
	put_u32(&w, AUTH_SYS);
	length = wire_at(&w);
	put_u32(&w, 0);
	if (!xdr_authunix_parms(&w.xdr, &who))
		w.bad = true;
	size = htonl((uint32_t)(wire_at(&w) - length) - 4);
	memcpy(length, &size, sizeof(size));
	put_u32(&w, AUTH_NONE);
	put_u32(&w, 0);
	client->credential_length =
		(uint32_t)(wire_at(&w) - client->credential);
}

void rpc_header(struct op *op, struct wire *w)
{
	const struct sw_client *client = op->client;
	const struct protocol *protocol = op->protocol;

	put_u32(w, 0); /* the record's mark: op_send() */
	put_u32(w, op->xid);
	put_u32(w, CALL);
	put_u32(w, RPC_MSG_VERSION);
	put_u32(w, protocol->program);
	put_u32(w, protocol->version);
	/* NFSv4's only procedure besides NULL. */
	put_u32(w, protocol->version == NFS_V4 ? NFSPROC4_COMPOUND :
						 op->coding->procedure);
	put_bytes(w, client->credential, client->credential_length);
}

uint32_t rpc_reply(struct op *op, struct wire *w)
{
	uint32_t direction = get_u32(w);
	uint32_t denied = get_u32(w);

	if (w->bad || direction != REPLY || denied > MSG_DENIED)
		return SW_ERR_REPLY;
	if (denied == MSG_ACCEPTED) {
		get_u32(w);
		skip_opaque(w);
		if (get_u32(w) == SUCCESS && !w->bad)
			return SW_OK;
	}
	(void)op;
	return SW_ERR_RPC;
}

/* ---- what to say ---- */

static const char *program_name(const struct protocol *protocol)
{
	switch (protocol->program) {
	case NFS_PROGRAM:
		return "NFS";
	case MOUNTPROG:
		return "MOUNT";
	default:
		return "the portmapper";
	}
}

static void fail_denied(struct op *op, uint32_t why)
{
	struct sw_client *client = op->client;

	client_fail(client,
		    "%s port %u refuses AUTH_SYS, uid %u gid %u, for NFSv%s "
		    "(AUTH_ERROR %u); let sec=sys in for this client "
		    "(Ganesha: SecType = sys), or use another --uid and --gid",
		    client->host, client->port, client->uid, client->gid,
		    sw_version_name(client->version), why);
}

static void fail_mismatch(struct op *op, uint32_t low, uint32_t high)
{
	struct sw_client *client = op->client;

	client_fail(client,
		    "%s port %u does not serve NFSv%s: of %s it has versions "
		    "%u to %u; use another --version, or have the server "
		    "serve this one (Ganesha: Protocols)",
		    client->host, client->port,
		    sw_version_name(client->version),
		    program_name(op->protocol), low, high);
}

void fail_rpc(struct op *op, struct wire *w)
{
	static const char *const stats[] = { "SUCCESS",	      "PROG_UNAVAIL",
					     "PROG_MISMATCH", "PROC_UNAVAIL",
					     "GARBAGE_ARGS",  "SYSTEM_ERR" };
	struct sw_client *client = op->client;
	uint32_t direction = get_u32(w);
	uint32_t denied = get_u32(w);
	uint32_t stat;

	if (direction == REPLY && denied == MSG_DENIED) {
		stat = get_u32(w);
		fail_denied(op, stat == AUTH_ERROR ? get_u32(w) : 0);
		return;
	}
	get_u32(w);
	skip_opaque(w);
	stat = get_u32(w);
	if (!w->bad && stat == PROG_MISMATCH) {
		uint32_t low = get_u32(w);

		fail_mismatch(op, low, get_u32(w));
		return;
	}
	client_fail(client,
		    "%s port %u does not answer NFSv%s as it should: %s says "
		    "%s; is this an NFS server's port (--port, --mount-port)?",
		    client->host, client->port,
		    sw_version_name(client->version),
		    program_name(op->protocol),
		    w->bad ? "nothing that can be read" :
		    stat < sizeof(stats) / sizeof(*stats) ? stats[stat] :
							    "nonsense");
}

/* What to do about a status that ends a mount; "" if nothing is known. */
static const char *remedy(const struct sw_client *client, uint32_t status)
{
	switch (status) {
	case NFS4ERR_MINOR_VERS_MISMATCH:
		return "; use another --version, or have the server serve "
		       "this one (Ganesha: NFSv4 { Minor_Versions })";
	case NFS4ERR_WRONGSEC:
		return "; let sec=sys in for this export (Ganesha: SecType = "
		       "sys)";
	case NFS4ERR_NOENT:
		return client->version == SW_V3 ?
			       "; 'showmount -e' lists the exports, give one's "
			       "Path" :
			       "; give the export's pseudo path (Ganesha: "
			       "Pseudo), and let NFSv4 have it (Protocols)";
	case NFS4ERR_ACCESS:
	case NFS4ERR_PERM:
		return "; let this client's address and uid in (Ganesha: "
		       "Access_Type, CLIENT, Squash)";
	case NFS4ERR_CLID_INUSE:
		return "; another client has this name, use another --name";
	default:
		return "";
	}
}

void fail_status(struct sw_client *client, const char *doing, uint32_t status)
{
	client_fail(client, "%s port %u, NFSv%s, %s: %s%s", client->host,
		    client->port, sw_version_name(client->version), doing,
		    sw_status_name(client->version, status),
		    remedy(client, status));
}
