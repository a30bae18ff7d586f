/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * A server of one directory and one file for the tests of swbuild's client: it
 * keeps client ids, sessions, slots, owners and stateids as the RFCs say, and
 * has the faults that a test asks for.  It reads and writes by the SDK's
 * codecs, so that the client's own are compared with them.
 *
 * It lives on the client's loop; a connection is a socket pair.
 */
#ifndef FAKE_H
#define FAKE_H

#include "impl.h"
#include "protocol.h"

#define FAKE_CONNS   16
#define FAKE_SLOTS   64
#define FAKE_OWNERS  64
#define FAKE_REPLIES 256
#define FAKE_OPS     128
#define FAKE_FILE    4096 /* bytes, at most */

struct fake;

struct fake_conn {
	struct fake *fake;
	struct sw_watch watch;
	bool used;
	bool bound; /* by BIND_CONN_TO_SESSION */
	size_t length;
	uint8_t in[64 * 1024];
};

/* What was answered once is answered alike if it is asked again. */
struct fake_reply {
	uint32_t key; /* slot's sequence id; or the xid */
	uint32_t length;
	bool uncached;
	uint8_t bytes[2048] __attribute__((aligned(8)));
};

struct fake_owner {
	uint64_t id;
	uint32_t seqid; /* that the next request must have */
	bool confirmed;
	bool open;
	uint32_t state; /* its stateid's seqid */
};

struct fake {
	struct sw_loop *loop;
	struct sw_client *client;
	struct fake_conn conn[FAKE_CONNS];
	uint32_t minor;

	/* What tests set. */
	uint32_t fail_op; /* this operation ... */
	uint32_t fail_status;
	uint32_t fail_times; /* ... fails so often */
	uint32_t cut_op;     /* after it was done, the connection is cut */
	uint32_t cut_times;
	uint32_t refuse_connects; /* so often */
	uint32_t granted;	  /* slots */
	uint32_t target;	  /* highest slot to be used */
	uint32_t lease;		  /* seconds, as it says */
	bool hold;		  /* answers later: fake_answer() */
	bool grace;
	uint32_t accept_stat;  /* of RPC, instead of an answer */
	uint32_t short_io;     /* READ and WRITE do so much at most; 0: all */
	uint32_t minor_served; /* others are refused */

	/* What tests look at. */
	uint32_t done[FAKE_OPS]; /* by operation, or NFSv3 procedure */
	uint32_t replays;
	uint32_t compounds;
	uint32_t most_at_once;
	uint32_t highest_slot; /* that was used since it was set to 0 */
	uint32_t bound;	       /* connections that were bound */
	uint32_t reclaims;
	bool wrong; /* the client broke a rule */
	uint8_t file[FAKE_FILE];
	uint32_t size;
	bool exists;

	/* What it keeps. */
	uint32_t boot;
	uint64_t clientid;
	uint64_t verifier;
	bool confirmed;
	uint32_t create_seq;
	uint64_t session; /* 0: none */
	bool complete;
	struct fake_reply slot[FAKE_SLOTS];
	struct fake_owner owner[FAKE_OWNERS];
	uint32_t owners;
	struct fake_reply reply[FAKE_REPLIES]; /* by xid */
	uint32_t replies;
	uint32_t waiting; /* of `held` */
	struct fake_conn *held_conn[FAKE_REPLIES];
	struct fake_reply held[FAKE_REPLIES];
	bool cut; /* what is being answered */
};

/* A server, and a client of it, mounted or not yet. */
void fake_start(struct fake *fake, enum sw_version version,
		uint32_t connections, uint32_t depth);
void fake_stop(struct fake *fake);

/* The server begins anew, and has lost all state but the file. */
void fake_reboot(struct fake *fake);

/* The server forgets the session; the client id and its state stay. */
void fake_end_session(struct fake *fake);

/* The lease is over: the client id and its state are gone. */
void fake_expire(struct fake *fake);

void fake_cut(struct fake *fake);

/* Answers what was held. */
void fake_answer(struct fake *fake);

/* ---- a test's operations ---- */

struct outcome {
	bool done;
	uint32_t count; /* of calls */
	struct sw_result result;
	struct sw_fh fh;
	uint8_t data[FAKE_FILE];
};

void on_outcome(void *arg, const struct sw_result *result);

/* Runs the loop until it is done; false after ten seconds. */
bool fake_wait(struct fake *fake, struct outcome *outcome);

/* Runs the loop for so long. */
void fake_run(struct fake *fake, uint64_t time);

/* The file is opened; NULL if it was not. */
struct sw_file *fake_open(struct fake *fake, uint32_t flags);

extern const struct sw_fh fake_fh;

#endif
