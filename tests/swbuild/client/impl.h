/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The client's inside: what its files share. */
#ifndef SWBUILD_IMPL_H
#define SWBUILD_IMPL_H

#include <netinet/in.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include "client.h"
#include "owners.h"
#include "slots.h"
#include "wire.h"

#define MS	     UINT64_C(1000000)
#define SECOND	     UINT64_C(1000000000)
#define REQUEST_SIZE 2048 /* the largest request without a WRITE's data */
#define CRED_SIZE    128
#define NO_SLOT	     (-1)
#define STATEID_SIZE 16

struct op;
struct conn;
TAILQ_HEAD(op_queue, op);

/* ---- what an operation is in a protocol ---- */

/* What a reply told. */
struct reply {
	struct sw_result result;
	struct sw_attrs attrs;
	struct sw_fh fh;
	bool sequenced; /* NFSv4.1: the server saw the SEQUENCE */
	bool reached;	/* NFSv4: the server got to the coding's operation */
	bool confirm;	/* NFSv4.0: the OPEN wants an OPEN_CONFIRM */
};

/* How one kind of operation is said in one protocol. */
struct coding {
	uint32_t procedure; /* RPC; NFSv4: the operation that matters */
	bool plain;	    /* NFSv4.1: a compound without SEQUENCE */
	bool cache;	    /* NFSv4.1: the server is to keep the reply */
	bool seqid;	    /* NFSv4.0: the owner's sequence counts it */
	void (*encode)(struct op *op, struct wire *w);
	/* Returns the status; 0: all of the reply was there. */
	uint32_t (*decode)(struct op *op, struct wire *w, struct reply *reply);
};

enum kind {
	OP_LOOKUP,
	OP_GETATTR,
	OP_ACCESS,
	OP_SETATTR,
	OP_MKDIR,
	OP_SYMLINK,
	OP_READLINK,
	OP_REMOVE,
	OP_RMDIR,
	OP_RENAME,
	OP_LINK,
	OP_READDIR,
	OP_READDIRPLUS,
	OP_OPEN,
	OP_CLOSE,
	OP_READ,
	OP_WRITE,
	OP_COMMIT,
	OP_KINDS,
};

/* What to do with an operation that was answered. */
enum verdict {
	VERDICT_DONE,
	VERDICT_LATER, /* send it anew after a pause */
	VERDICT_AGAIN, /* send it anew */
};

struct protocol {
	uint32_t program;
	uint32_t version;
	const struct coding *codings; /* by enum kind */
	void (*encode)(struct op *op, struct wire *w);
	uint32_t (*decode)(struct op *op, struct wire *w, struct reply *reply);
	enum verdict (*judge)(struct op *op, struct reply *reply);
	/* Goes on with the mount; the first connection is up, unless the
	 * protocol asks elsewhere first. */
	void (*mount)(struct sw_client *client);
	/* Ends it in order; nothing is in flight. */
	void (*unmount)(struct sw_client *client);
	/* Each second while it is mounted; or NULL. */
	void (*tick)(struct sw_client *client, uint64_t now);
	/* A connection came up again: what must go before the requests. */
	void (*rejoin)(struct sw_client *client, struct conn *conn);
	bool slots;  /* a request needs a slot, unless it is plain */
	bool resend; /* on the same connection, when no answer comes */
};

extern const struct coding nfs3_codings[OP_KINDS];
extern const struct coding nfs4_codings[OP_KINDS];
extern const struct protocol nfs3_protocol;
extern const struct protocol nfs40_protocol;
extern const struct protocol nfs41_protocol;

/* ---- an operation ---- */

struct op {
	TAILQ_ENTRY(op) link; /* of the queue that it is in */
	struct sw_client *client;
	const struct protocol *protocol;
	const struct coding *coding;

	/* What is asked. */
	struct sw_fh fh;
	struct sw_fh fh2;
	char name[SW_NAME_MAX + 1];
	char *text; /* a second name, a target; owned */
	uint64_t offset;
	const void *data; /* a WRITE's */
	uint32_t count;
	uint32_t flags; /* SW_READ...; ACCESS: wanted; READDIR: plus */
	uint32_t mode;
	bool stable;
	struct sw_setattr set;
	struct sw_cursor *cursor;
	sw_each each;
	void *each_arg;
	struct sw_file *file;

	/* Who is told. */
	sw_done done;
	void *arg;
	/* The client's own operations: instead of done(). */
	void (*step)(struct op *op, struct reply *reply);
	bool opens;  /* `file` is for the caller, or goes if it fails */
	bool closes; /* `file` goes */
	bool inner;  /* a part of another: not counted */
	bool preset; /* ends with `status`, nothing is sent */
	uint32_t status;

	/* How far it is. */
	uint64_t start;
	uint64_t sent;
	uint64_t sent_last;
	uint32_t rpcs;
	uint32_t tries;	 /* that ended in a wait; the pause's length */
	uint32_t faults; /* lost state and the like */
	uint32_t xid;
	int slot;
	uint32_t epoch;	  /* NFSv4: of the state it was sent with */
	uint32_t session; /* NFSv4.1: of which session the slot is */
	bool in_sent;	  /* on conn->sent, else on conn->out */
	bool joins;	  /* what a connection begins with: not sent again */
	struct conn *conn;
	struct sw_timer timer;
	struct sw_attrs attrs; /* an OPEN's, until it is confirmed */
	bool have_attrs;

	/* Its record: length bytes; a WRITE's data goes in at `split`. */
	uint32_t length;
	uint32_t split; /* 0: no data */
	uint8_t request[REQUEST_SIZE] __attribute__((aligned(8)));
};

/* ---- an open file ---- */

struct sw_file {
	TAILQ_ENTRY(sw_file) link; /* client->files, when it has a stateid */
	TAILQ_ENTRY(sw_file) any;  /* client->all_files */
	struct sw_file *next_free;
	struct sw_client *client;
	struct sw_fh fh;
	struct sw_fh dir; /* length 0: not opened by name */
	char name[SW_NAME_MAX + 1];
	uint32_t access; /* SW_READ, SW_WRITE */
	bool open;	 /* has a stateid */
	bool lost;	 /* its state could not be got back */
	bool tried;	 /* could not be reclaimed */
	uint32_t epoch;	 /* of client->epoch, when it was (re)opened */
	uint8_t stateid[STATEID_SIZE];
	struct owner *owner;
};
TAILQ_HEAD(file_list, sw_file);

/* ---- a connection ---- */

enum conn_state {
	CONN_DOWN,
	CONN_CONNECTING,
	CONN_JOINING,
	CONN_UP
};

struct conn {
	struct sw_client *client;
	struct sockaddr_storage address;
	socklen_t address_length;
	enum conn_state state;
	bool wanted; /* made anew when it is lost */
	bool was_up;
	struct sw_watch watch;
	bool watches_out;
	struct op_queue out;  /* to be written, in order */
	struct op_queue held; /* until the connection is joined */
	struct op_queue sent; /* written, not answered */
	size_t written;	      /* of the first of `out` */
	uint8_t *in;
	size_t in_size;
	size_t in_start;
	size_t in_end;
	struct sw_timer retry; /* a connect, or its end if it takes long */
	uint64_t pause;
	uint64_t down_since;
};

/* conn.c */
void conn_init(struct conn *conn, struct sw_client *client);
/* Connects, and goes on trying when that fails: conn_up(), conn_failed(). */
void conn_start(struct conn *conn);
/* Closes it; what it had in flight stays in its queues. */
void conn_stop(struct conn *conn);
void conn_free(struct conn *conn);
void conn_add(struct conn *conn, struct op *op);
/* Writes what is to be written, as much as the socket takes. */
void conn_flush(struct conn *conn);
/* It is joined: what was held goes out. */
void conn_joined(struct conn *conn);
/* Loses the connection on purpose, and makes it anew. */
void conn_drop(struct conn *conn);

/* ---- the client ---- */

enum client_state {
	CLIENT_NEW,
	CLIENT_MOUNTING,
	CLIENT_READY,
	CLIENT_RECOVERING, /* operations wait */
	CLIENT_CLOSING,
	CLIENT_CLOSED,
	CLIENT_FAILED,
};

struct sw_client {
	struct sw_loop *loop;
	enum sw_version version;
	const struct protocol *protocol;
	char *host;
	char *export;
	char name[64];
	uint16_t port;
	uint16_t mount_port;
	uint32_t uid;
	uint32_t gid;
	uint32_t rsize;
	uint32_t wsize;
	uint64_t patience;
	/* Makes a connected or connecting socket; -1 and errno.  Tests put
	 * their own here. */
	int (*dial)(struct conn *conn);
	void *dial_arg;

	enum client_state state;
	bool ending; /* unmount() of the protocol was called */
	char error[512];
	struct sw_counters counters;
	struct sw_fh root;
	struct sw_attrs root_attrs;
	sw_done done; /* of sw_mount() or sw_unmount() */
	void *done_arg;
	uint64_t done_start;

	struct conn *conns;
	uint32_t connections;
	uint32_t next_conn;
	struct conn aux; /* to the portmapper and the mount daemon */
	/* A connection is up for the first time; NULL: as any other time. */
	void (*on_up)(struct sw_client *client, struct conn *conn);
	/* A connection is joined; or NULL. */
	void (*on_joined)(struct sw_client *client);

	struct op_queue urgent;	 /* the client's own, to be sent */
	struct op_queue queue;	 /* to be sent */
	struct op_queue delayed; /* by their timers */
	struct op_queue presets; /* to be ended without being sent */
	struct sw_task pump;
	struct sw_timer tick;
	struct op_queue free;
	struct op **xids; /* in flight, by xid & xid_mask */
	uint32_t xid_mask;
	uint32_t xid;
	uint32_t in_flight; /* those that count against depth */
	uint32_t depth;
	uint64_t blocked; /* when the queue last had to wait */
	uint32_t pending;
	bool inner; /* what is submitted now is a part of an operation */
	/* Credential and verifier, encoded. */
	uint8_t credential[CRED_SIZE] __attribute__((aligned(8)));
	uint32_t credential_length;

	/* NFSv4 */
	uint64_t clientid;
	uint64_t new_clientid; /* not confirmed yet */
	uint8_t confirm[8];
	uint32_t epoch; /* of client ids: counts them */
	uint8_t verifier[8];
	uint32_t lease; /* seconds */
	uint64_t renewed;
	bool renewing;
	struct owners owners;
	struct file_list files;	    /* that have a stateid */
	struct file_list all_files; /* unused ones, too */
	struct sw_file *free_file;
	struct chain *free_chain;
	struct chain *all_chains;
	uint64_t recover_since;
	void (*reopened)(struct sw_client *client);
	/* NFSv4.1 */
	uint8_t sessionid[16];
	uint32_t session; /* counts sessions */
	uint32_t create_seq;
	uint32_t exchanges; /* since the last session was made */
	uint32_t wanted_slots;
	struct slots slots;
};

/* op.c */

/* A blank operation of this client; aborts if there is no memory. */
struct op *op_new(struct sw_client *client, sw_done done, void *arg);

/* Queues an operation that is filled in. */
void op_submit(struct op *op);

/* Ends an operation that nothing is sent for. */
void op_preset(struct op *op, uint32_t status);

/* An operation of the client's own. */
struct op *system_op(struct sw_client *client, const struct protocol *protocol,
		     const struct coding *coding,
		     void (*step)(struct op *op, struct reply *reply));
/* Sends it, at once on that connection, or (NULL) on any, before others. */
void system_send(struct op *op, struct conn *conn);
/* Both, by the client's own protocol and on any connection. */
void system_ask(struct sw_client *client, const struct coding *coding,
		void (*step)(struct op *op, struct reply *reply));
/* Sends it anew after a pause. */
void op_later(struct op *op);

/* Encodes it and hands it to the connection. */
void op_send(struct op *op, struct conn *conn);

/* Ends it: frees it and tells who submitted it. */
void op_end(struct op *op, struct reply *reply);

/* Frees one that is in no queue, and tells nobody. */
void op_forget(struct op *op);

/* Ends one that is in flight with SW_ERR_LOST. */
void op_give_up(struct op *op);

/* The client's queues: made, and freed with what is in them. */
void client_queues(struct sw_client *client);
void client_queues_free(struct sw_client *client);

/* Has what may be sent be sent at the end of the turn. */
void client_pump(struct sw_client *client);

/* A reply's record. */
void client_record(struct sw_client *client, struct conn *conn, uint8_t *record,
		   uint32_t length);

/* client.c */

/* Connects to that port of the host. */
void conn_dial(struct conn *conn, uint16_t port);

/* A connection came up, or could not be made or kept (errno). */
void client_up(struct sw_client *client, struct conn *conn);
void client_down(struct sw_client *client, struct conn *conn, int error);

/* The client is of no more use: all operations end with SW_ERR_LOST. */
void client_fail(struct sw_client *client, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The mount is done: connects the other connections, then tells. */
void client_mounted(struct sw_client *client);

/* The unmount is done. */
void client_unmounted(struct sw_client *client);

/* Operations may be sent again. */
void client_ready(struct sw_client *client);

/* Nothing is left in the queues of a client that failed or was closed. */
void client_ended(struct sw_client *client);

/* file.c, whole.c */
void files_free(struct sw_client *client);
void chains_free(struct sw_client *client);
/* Gives up an open file. */
void file_free(struct sw_file *file);
/* Cuts an open file to no bytes. */
void file_truncate(struct sw_client *client, struct sw_file *file, sw_done done,
		   void *arg);

/* rpc.c */
void rpc_credential(struct sw_client *client);
/* Puts record mark and header, all but the xid; the op's protocol's. */
void rpc_header(struct op *op, struct wire *w);
/* Reads a reply's header; SW_OK, or what the RPC layer refused. */
uint32_t rpc_reply(struct op *op, struct wire *w);
/* Fails the client with a text that says what was refused and the remedy. */
void fail_rpc(struct op *op, struct wire *w);
void fail_status(struct sw_client *client, const char *doing, uint32_t status);

#endif
