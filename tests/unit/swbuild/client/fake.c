// SPDX-License-Identifier: LGPL-3.0-or-later
/* The fake server's connections, its memory of replies, and NFSv3. */
#include "fake.h"
#include "fake4.h"

#include <rpc/rpc.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define LAST_FRAGMENT UINT32_C(0x80000000)

const struct sw_fh fake_fh = { 4, "file" };

/* ---- records ---- */

static void send_record(struct fake_conn *conn, const struct fake_reply *reply)
{
	if (send(conn->watch.fd, reply->bytes, reply->length, MSG_NOSIGNAL) !=
	    (ssize_t)reply->length)
		conn->fake->wrong = true;
}

static void close_conn(struct fake_conn *conn)
{
	if (!conn->used)
		return;
	sw_watch_remove(conn->fake->loop, &conn->watch);
	close(conn->watch.fd);
	conn->used = conn->bound = false;
}

void fake_cut(struct fake *fake)
{
	for (int i = 0; i < FAKE_CONNS; i++)
		close_conn(&fake->conn[i]);
	fake->waiting = 0;
}

void fake_answer(struct fake *fake)
{
	fake->hold = false;
	for (uint32_t i = 0; i < fake->waiting; i++)
		send_record(fake->held_conn[i], &fake->held[i]);
	fake->waiting = 0;
}

static void deliver(struct fake_conn *conn, struct fake_reply *reply)
{
	struct fake *fake = conn->fake;

	if (fake->cut) {
		fake->cut = false;
		close_conn(conn);
		return;
	}
	if (!fake->hold) {
		send_record(conn, reply);
		return;
	}
	fake->held_conn[fake->waiting] = conn;
	fake->held[fake->waiting++] = *reply;
	if (fake->waiting > fake->most_at_once)
		fake->most_at_once = fake->waiting;
}

/* ---- calls ---- */

struct fake_reply *fake_begin(struct fake_reply *reply, struct wire *w,
			      uint32_t xid)
{
	wire_encode(w, reply->bytes, sizeof(reply->bytes));
	put_u32(w, 0);
	put_u32(w, xid);
	put_u32(w, REPLY);
	put_u32(w, MSG_ACCEPTED);
	put_u32(w, AUTH_NONE);
	put_u32(w, 0);
	put_u32(w, SUCCESS);
	return reply;
}

void fake_end(struct fake_reply *reply, struct wire *w)
{
	uint32_t mark;

	if (w->bad)
		abort();
	reply->length = (uint32_t)(wire_at(w) - reply->bytes);
	mark = htonl(LAST_FRAGMENT | (reply->length - 4));
	memcpy(reply->bytes, &mark, sizeof(mark));
}

static void put_fattr3(struct fake *fake, struct wire *w)
{
	put_u32(w, NF3REG);
	put_u32(w, 0644);
	put_u32(w, 1);
	put_u64(w, 0);
	put_u64(w, fake->size);
	for (int i = 0; i < 7; i++)
		put_u64(w, (uint64_t)i);
}

static void answer3(struct fake *fake, uint32_t procedure, struct wire *w)
{
	if (procedure == fake->fail_op && fake->fail_times) {
		fake->fail_times--;
		put_u32(w, fake->fail_status);
		put_u64(w, 0);
		return;
	}
	fake->done[procedure]++;
	put_u32(w, NFS3_OK);
	switch (procedure) {
	case NFSPROC3_GETATTR:
		put_fattr3(fake, w);
		break;
	case NFSPROC3_FSINFO:
		put_u32(w, 0);
		for (int i = 0; i < 7; i++)
			put_u32(w, 4096);
		put_u64(w, 1u << 30);
		put_u64(w, 1);
		put_u32(w, 0);
		break;
	case NFSPROC3_MKDIR:
		put_u32(w, 1);
		put_fh(w, &fake_fh);
		put_u64(w, 0); /* no attributes, no wcc_data */
		put_u32(w, 0);
		break;
	default:
		abort();
	}
}

static void answer_mount(uint32_t procedure, struct wire *w)
{
	if (procedure != MOUNTPROC3_MNT)
		return;
	put_u32(w, MNT3_OK);
	put_fh(w, &fake_fh);
	put_u32(w, 1);
	put_u32(w, AUTH_SYS);
}

/* The reply that a request had before; NULL if it is new. */
static struct fake_reply *known(struct fake *fake, uint32_t xid)
{
	for (uint32_t i = 0; i < FAKE_REPLIES; i++)
		if (fake->reply[i].length && fake->reply[i].key == xid)
			return &fake->reply[i];
	return NULL;
}

static void answer_call(struct fake_conn *conn, struct wire *in)
{
	struct fake *fake = conn->fake;
	uint32_t xid = get_u32(in);
	uint32_t head[5]; /* CALL, RPC version, program, version, procedure */
	struct fake_reply *reply;
	struct wire w;

	for (int i = 0; i < 5; i++)
		head[i] = get_u32(in);
	for (int i = 0; i < 2; i++) {
		get_u32(in);
		skip_opaque(in);
	}
	if (in->bad || head[0] != CALL || head[1] != RPC_MSG_VERSION) {
		fake->wrong = true;
		return;
	}
	reply = fake->minor ? NULL : known(fake, xid);
	if (reply) {
		fake->replays++;
		deliver(conn, reply);
		return;
	}
	reply = &fake->reply[fake->replies++ % FAKE_REPLIES];
	reply->key = xid;
	fake_begin(reply, &w, xid);
	if (fake->accept_stat) {
		uint32_t stat = htonl(fake->accept_stat);

		memcpy(wire_at(&w) - 4, &stat, sizeof(stat));
		put_u32(&w, 3); /* versions, if it is a PROG_MISMATCH */
		put_u32(&w, 3);
	} else if (head[2] == MOUNTPROG) {
		answer_mount(head[4], &w);
	} else if (head[3] == NFS_V3) {
		if (head[4] == fake->cut_op && fake->cut_times) {
			fake->cut_times--;
			fake->cut = true;
		}
		answer3(fake, head[4], &w);
	} else {
		reply = fake4_compound(conn, xid, in, reply, &w);
		deliver(conn, reply);
		return;
	}
	fake_end(reply, &w);
	deliver(conn, reply);
}

static void on_ready(void *arg, uint32_t events)
{
	struct fake_conn *conn = arg;
	ssize_t count = recv(conn->watch.fd, conn->in + conn->length,
			     sizeof(conn->in) - conn->length, 0);

	(void)events;
	if (count <= 0) {
		close_conn(conn);
		return;
	}
	conn->length += (size_t)count;
	while (conn->used && conn->length >= 4) {
		struct wire w;
		uint32_t mark;
		uint32_t length;
		/* Aligned, as XDR streams want it. */
		uint64_t record[sizeof(conn->in) / 8];

		memcpy(&mark, conn->in, sizeof(mark));
		length = ntohl(mark) & ~LAST_FRAGMENT;
		if (conn->length < length + 4)
			break;
		memcpy(record, conn->in + 4, length);
		conn->length -= length + 4;
		memmove(conn->in, conn->in + length + 4, conn->length);
		wire_decode(&w, record, length);
		answer_call(conn, &w);
	}
}

static int dial(struct conn *conn)
{
	struct fake *fake = conn->client->dial_arg;
	int pair[2];

	if (fake->refuse_connects) {
		fake->refuse_connects--;
		errno = ECONNREFUSED;
		return -1;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		       pair))
		return -1;
	for (int i = 0; i < FAKE_CONNS; i++) {
		struct fake_conn *free = &fake->conn[i];

		if (free->used)
			continue;
		free->fake = fake;
		free->used = true;
		free->length = 0;
		free->watch = (struct sw_watch){ on_ready, free, pair[1] };
		if (sw_watch_add(fake->loop, &free->watch, EPOLLIN))
			abort();
		return pair[0];
	}
	abort();
}

/* ---- for tests ---- */

void fake_start(struct fake *fake, enum sw_version version,
		uint32_t connections, uint32_t depth)
{
	struct sw_settings settings = {
		.host = "127.0.0.1",
		.export = "/export",
		.version = version,
		.port = 2049,
		.mount_port = 2050,
		.connections = connections,
		.depth = depth,
		.rsize = 4096,
		.wsize = 4096,
		.patience = 5 * SECOND,
	};
	char error[256];

	memset(fake, 0, sizeof(*fake));
	fake->loop = sw_loop_new();
	fake->client =
		sw_client_new(fake->loop, &settings, error, sizeof(error));
	if (!fake->client)
		abort();
	fake->client->dial = dial;
	fake->client->dial_arg = fake;
	fake->minor = version == SW_V41;
	fake->minor_served = fake->minor;
	fake->granted = 16;
	fake->target = FAKE_SLOTS - 1;
	fake->lease = 90;
	fake->boot = 1;
	fake->exists = true;
	fake->size = 5;
	memcpy(fake->file, "hello", 5);
}

void fake_stop(struct fake *fake)
{
	fake_cut(fake);
	sw_client_free(fake->client);
	sw_loop_free(fake->loop);
}

void on_outcome(void *arg, const struct sw_result *result)
{
	struct outcome *outcome = arg;

	outcome->done = true;
	outcome->count++;
	outcome->result = *result;
	if (result->fh)
		outcome->fh = *result->fh;
	if (result->data && result->count <= FAKE_FILE)
		memcpy(outcome->data, result->data, result->count);
}

bool fake_wait(struct fake *fake, struct outcome *outcome)
{
	uint64_t end = sw_now() + 10 * SECOND;

	while (!outcome->done && sw_now() < end)
		if (sw_loop_turn(fake->loop, end))
			return false;
	return outcome->done;
}

void fake_run(struct fake *fake, uint64_t time)
{
	uint64_t end = sw_now() + time;

	while (sw_now() < end)
		if (sw_loop_turn(fake->loop, end))
			return;
}

struct sw_file *fake_open(struct fake *fake, uint32_t flags)
{
	struct sw_target target = { .dir = sw_root(fake->client),
				    .name = "file",
				    .fh = NULL };
	struct outcome outcome = { 0 };

	sw_open(fake->client, &target, flags, 0644, on_outcome, &outcome);
	if (!fake_wait(fake, &outcome) || outcome.result.status)
		return NULL;
	return outcome.result.file;
}
