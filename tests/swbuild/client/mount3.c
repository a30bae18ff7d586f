// SPDX-License-Identifier: LGPL-3.0-or-later
/* NFSv3's mount: portmapper, MOUNT, FSINFO; and the protocol as a whole. */
#include "impl.h"

#include <rpc/pmap_prot.h>

#include "protocol.h"

static const struct protocol portmap;
static const struct protocol mountd;

static void plain_encode(struct op *op, struct wire *w)
{
	op->coding->encode(op, w);
}

static uint32_t plain_decode(struct op *op, struct wire *w, struct reply *reply)
{
	return op->coding->decode(op, w, reply);
}

static enum verdict plain_judge(struct op *op, struct reply *reply)
{
	(void)op;
	(void)reply;
	return VERDICT_DONE;
}

static enum verdict judge3(struct op *op, struct reply *reply)
{
	if (reply->result.status != NFS3ERR_JUKEBOX)
		return VERDICT_DONE;
	op->client->counters.delays++;
	return VERDICT_LATER;
}

/* Whether a step's reply is good; if not, the client has failed. */
static bool good(struct sw_client *client, const char *doing,
		 const struct reply *reply)
{
	if (!reply->result.status)
		return true;
	/* An RPC refusal has said so already. */
	fail_status(client, doing, reply->result.status);
	return false;
}

/* ---- the file system ---- */

static void on_root(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;

	if (!good(client, "attributes of the export", reply))
		return;
	client->root_attrs = reply->attrs;
	client_mounted(client);
}

static void put_root(struct op *op, struct wire *w)
{
	put_fh(w, &op->client->root);
}

static uint32_t get_fsinfo(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);
	struct sw_client *client = op->client;
	uint32_t rtmax;
	uint32_t wtmax;

	(void)reply;
	if (get_u32(w))
		get_bytes(w, 84); /* fattr3 */
	if (status)
		return status;
	rtmax = get_u32(w);
	get_bytes(w, 8);
	wtmax = get_u32(w);
	if (rtmax && rtmax < client->rsize)
		client->rsize = rtmax;
	if (wtmax && wtmax < client->wsize)
		client->wsize = wtmax;
	return 0;
}

static void on_fsinfo(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;
	struct op *next;

	if (!good(client, "FSINFO of the export", reply))
		return;
	next = system_op(client, client->protocol, &nfs3_codings[OP_GETATTR],
			 on_root);
	next->fh = client->root;
	system_send(next, &client->conns[0]);
}

static void nfs_up(struct sw_client *client, struct conn *conn)
{
	static const struct coding fsinfo = { NFSPROC3_FSINFO,
					      .encode = put_root,
					      .decode = get_fsinfo };

	client->on_up = NULL;
	conn_joined(conn);
	system_send(system_op(client, client->protocol, &fsinfo, on_fsinfo),
		    conn);
}

/* ---- MOUNT ---- */

static void put_path(struct op *op, struct wire *w)
{
	put_string(w, op->client->export);
}

static uint32_t get_mnt(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);
	uint32_t flavors;
	bool sys = false;

	if (status)
		return status;
	get_fh(w, &op->client->root);
	flavors = get_u32(w);
	reply->result.access = flavors;
	for (uint32_t i = 0; i < flavors && !w->bad; i++)
		sys |= get_u32(w) == AUTH_SYS;
	/* No flavors at all: an old server's way to leave it open. */
	return sys || !flavors ? 0 : NFS4ERR_WRONGSEC;
}

static const char *mount_status(uint32_t status)
{
	switch (status) {
	case MNT3ERR_PERM:
		return "MNT3ERR_PERM";
	case MNT3ERR_NOENT:
		return "MNT3ERR_NOENT";
	case MNT3ERR_IO:
		return "MNT3ERR_IO";
	case MNT3ERR_ACCES:
		return "MNT3ERR_ACCES";
	case MNT3ERR_NOTDIR:
		return "MNT3ERR_NOTDIR";
	case MNT3ERR_INVAL:
		return "MNT3ERR_INVAL";
	case MNT3ERR_NAMETOOLONG:
		return "MNT3ERR_NAMETOOLONG";
	case MNT3ERR_NOTSUPP:
		return "MNT3ERR_NOTSUPP";
	case MNT3ERR_SERVERFAULT:
		return "MNT3ERR_SERVERFAULT";
	case NFS4ERR_WRONGSEC:
		return "sec=sys is not among its flavours";
	default:
		return "a status that MOUNT does not have";
	}
}

static void on_mnt(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;
	uint32_t status = reply->result.status;

	if (status) {
		client_fail(
			client,
			"%s, MOUNT on port %u, refuses the export %s by "
			"NFSv3: %s; %s",
			client->host, client->mount_port, client->export,
			mount_status(status),
			status == MNT3ERR_NOENT || status == MNT3ERR_NOTDIR ?
				"'showmount -e' lists the exports, give one's "
				"path" :
				"let this client in by sec=sys (Ganesha: "
				"Access_Type, CLIENT, SecType = sys), and see "
				"by 'showmount -e' whether there is such an "
				"export");
		return;
	}
	conn_stop(&client->aux);
	client->on_up = nfs_up;
	conn_dial(&client->conns[0], client->port);
}

static void mountd_up(struct sw_client *client, struct conn *conn)
{
	static const struct coding mnt = { MOUNTPROC3_MNT, .encode = put_path,
					   .decode = get_mnt };

	conn_joined(conn);
	system_send(system_op(client, &mountd, &mnt, on_mnt), conn);
}

/* ---- the portmapper ---- */

static void ask_ports(struct sw_client *client);

static void put_getport(struct op *op, struct wire *w)
{
	struct pmap what = { .pm_prot = IPPROTO_TCP };

	if (op->client->mount_port) {
		what.pm_prog = NFS_PROGRAM;
		what.pm_vers = NFS_V3;
	} else {
		what.pm_prog = MOUNTPROG;
		what.pm_vers = MOUNT_V3;
	}
	if (!xdr_pmap(&w->xdr, &what))
		w->bad = true;
}

static uint32_t get_getport(struct op *op, struct wire *w, struct reply *reply)
{
	(void)op;
	reply->result.count = get_u32(w);
	return 0;
}

static void on_getport(struct op *op, struct reply *reply)
{
	struct sw_client *client = op->client;
	uint16_t port = (uint16_t)reply->result.count;

	if (!good(client, "asking the portmapper", reply))
		return;
	if (!port) {
		client_fail(client,
			    "%s's portmapper knows no %s version 3 over TCP; "
			    "does it serve NFSv3 (Ganesha: Protocols = 3)?  "
			    "If so, give --port and --mount-port",
			    client->host, client->mount_port ? "NFS" : "MOUNT");
		return;
	}
	if (client->mount_port)
		client->port = port;
	else
		client->mount_port = port;
	ask_ports(client);
}

static void portmap_up(struct sw_client *client, struct conn *conn)
{
	conn_joined(conn);
	ask_ports(client);
}

/* The next port that is not known; then the mount. */
static void ask_ports(struct sw_client *client)
{
	static const struct coding getport = { PMAPPROC_GETPORT,
					       .encode = put_getport,
					       .decode = get_getport };

	if (client->port && client->mount_port) {
		client->on_up = mountd_up;
		conn_dial(&client->aux, client->mount_port);
	} else if (client->aux.state == CONN_UP) {
		system_send(system_op(client, &portmap, &getport, on_getport),
			    &client->aux);
	} else {
		client->on_up = portmap_up;
		conn_dial(&client->aux, PORTMAP_PORT);
	}
}

/* ---- its end ---- */

static uint32_t get_void(struct op *op, struct wire *w, struct reply *reply)
{
	(void)op;
	(void)w;
	(void)reply;
	return 0;
}

static void on_umnt(struct op *op, struct reply *reply)
{
	(void)reply;
	client_unmounted(op->client);
}

static void mountd_up_again(struct sw_client *client, struct conn *conn)
{
	static const struct coding umnt = { MOUNTPROC3_UMNT, .encode = put_path,
					    .decode = get_void };

	conn_joined(conn);
	system_send(system_op(client, &mountd, &umnt, on_umnt), conn);
}

static void unmount(struct sw_client *client)
{
	client->on_up = mountd_up_again;
	conn_dial(&client->aux, client->mount_port);
}

static void rejoin(struct sw_client *client, struct conn *conn)
{
	(void)client;
	conn_joined(conn);
}

static const struct protocol portmap = {
	.program = PMAPPROG,
	.version = PMAPVERS,
	.encode = plain_encode,
	.decode = plain_decode,
	.judge = plain_judge,
};

static const struct protocol mountd = {
	.program = MOUNTPROG,
	.version = MOUNT_V3,
	.encode = plain_encode,
	.decode = plain_decode,
	.judge = plain_judge,
};

const struct protocol nfs3_protocol = {
	.program = NFS_PROGRAM,
	.version = NFS_V3,
	.codings = nfs3_codings,
	.encode = plain_encode,
	.decode = plain_decode,
	.judge = judge3,
	.mount = ask_ports,
	.unmount = unmount,
	.rejoin = rejoin,
	.resend = true,
};
