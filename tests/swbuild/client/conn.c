// SPDX-License-Identifier: LGPL-3.0-or-later
/* TCP connections and the records on them. */
#include "impl.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#define PIECES	      256
#define FIRST_PAUSE   (20 * MS)
#define LONGEST_PAUSE SECOND
#define CONNECT_TIME  (10 * SECOND)
#define LAST_FRAGMENT UINT32_C(0x80000000)

static void on_ready(void *arg, uint32_t events);
static void on_retry(void *arg);

void conn_init(struct conn *conn, struct sw_client *client)
{
	memset(conn, 0, sizeof(*conn));
	conn->client = client;
	conn->watch = (struct sw_watch){ on_ready, conn, -1 };
	conn->retry.fire = on_retry;
	conn->retry.arg = conn;
	TAILQ_INIT(&conn->out);
	TAILQ_INIT(&conn->held);
	TAILQ_INIT(&conn->sent);
}

static void disconnect(struct conn *conn)
{
	if (conn->watch.fd >= 0) {
		sw_watch_remove(conn->client->loop, &conn->watch);
		close(conn->watch.fd);
		conn->watch.fd = -1;
	}
	sw_timer_cancel(conn->client->loop, &conn->retry);
	conn->state = CONN_DOWN;
	conn->written = 0;
	conn->in_start = conn->in_end = 0;
}

void conn_stop(struct conn *conn)
{
	conn->wanted = false;
	disconnect(conn);
}

void conn_free(struct conn *conn)
{
	conn_stop(conn);
	free(conn->in);
	conn->in = NULL;
}

/* What was sent is to be sent again, before what was not. */
static void take_back(struct conn *conn)
{
	struct op *op;
	struct op *next;

	TAILQ_CONCAT(&conn->sent, &conn->out, link);
	TAILQ_CONCAT(&conn->sent, &conn->held, link);
	for (op = TAILQ_FIRST(&conn->sent); op; op = next) {
		next = TAILQ_NEXT(op, link);
		TAILQ_REMOVE(&conn->sent, op, link);
		if (op->joins) {
			op_forget(op);
			continue;
		}
		TAILQ_INSERT_TAIL(&conn->out, op, link);
		if (op->in_sent) {
			op->in_sent = false;
			op->rpcs++;
			conn->client->counters.resent++;
		}
	}
}

static void lost(struct conn *conn, int error)
{
	struct sw_client *client = conn->client;
	bool was_up = conn->state >= CONN_JOINING;

	disconnect(conn);
	take_back(conn);
	if (was_up) {
		conn->down_since = sw_now();
		conn->pause = 0;
		client->counters.reconnects++;
	}
	/* The first time at once, then after longer and longer pauses. */
	if (conn->wanted)
		sw_timer_set(client->loop, &conn->retry,
			     sw_now() + conn->pause);
	conn->pause = conn->pause ? 2 * conn->pause : FIRST_PAUSE;
	if (conn->pause > LONGEST_PAUSE)
		conn->pause = LONGEST_PAUSE;
	client_down(client, conn, error);
}

void conn_drop(struct conn *conn)
{
	lost(conn, ETIMEDOUT);
}

static void up(struct conn *conn)
{
	struct sw_client *client = conn->client;
	int error = 0;
	socklen_t size = sizeof(error);

	if (getsockopt(conn->watch.fd, SOL_SOCKET, SO_ERROR, &error, &size))
		error = errno;
	if (error) {
		lost(conn, error);
		return;
	}
	sw_timer_cancel(client->loop, &conn->retry);
	sw_watch_change(client->loop, &conn->watch, EPOLLIN);
	conn->watches_out = false;
	conn->state = CONN_JOINING;
	conn->pause = 0;
	TAILQ_CONCAT(&conn->held, &conn->out, link);
	client_up(client, conn);
	conn->was_up = true;
}

void conn_joined(struct conn *conn)
{
	conn->state = CONN_UP;
	TAILQ_CONCAT(&conn->out, &conn->held, link);
	conn_flush(conn);
	/* Operations may have waited for any connection at all. */
	client_pump(conn->client);
	if (conn->client->on_joined)
		conn->client->on_joined(conn->client);
}

void conn_start(struct conn *conn)
{
	struct sw_client *client = conn->client;
	int one = 1;

	disconnect(conn);
	conn->wanted = true;
	if (!conn->in) {
		uint32_t largest = client->rsize > client->wsize ?
					   client->rsize :
					   client->wsize;

		conn->in_size = largest + 128 * 1024;
		conn->in = malloc(conn->in_size);
		if (!conn->in)
			abort();
	}
	if (!conn->down_since)
		conn->down_since = sw_now();
	conn->watch.fd = client->dial(conn);
	if (conn->watch.fd >= 0) {
		/* Not there on what is not TCP. */
		setsockopt(conn->watch.fd, IPPROTO_TCP, TCP_NODELAY, &one,
			   sizeof(one));
		conn->state = CONN_CONNECTING;
		conn->watches_out = true;
		if (!sw_watch_add(client->loop, &conn->watch, EPOLLOUT)) {
			sw_timer_set(client->loop, &conn->retry,
				     sw_now() + CONNECT_TIME);
			return;
		}
	}
	lost(conn, errno);
}

static void on_retry(void *arg)
{
	struct conn *conn = arg;

	if (conn->state == CONN_CONNECTING)
		lost(conn, ETIMEDOUT);
	else
		conn_start(conn);
}

/* ---- writing ---- */

void conn_add(struct conn *conn, struct op *op)
{
	op->conn = conn;
	op->in_sent = false;
	TAILQ_INSERT_TAIL(&conn->out, op, link);
}

/* The pieces of an operation's record; how many. */
static int pieces(struct op *op, struct iovec *piece)
{
	static uint8_t zeros[4];

	piece[0].iov_base = op->request;
	if (!op->split) {
		piece[0].iov_len = op->length;
		return 1;
	}
	piece[0].iov_len = op->split;
	piece[1].iov_base = (void *)op->data;
	piece[1].iov_len = op->count;
	piece[2].iov_base = zeros;
	piece[2].iov_len = -op->count & 3u;
	piece[3].iov_base = op->request + op->split;
	piece[3].iov_len = op->length - op->split;
	return 4;
}

static size_t record_size(const struct op *op)
{
	size_t size = op->length;

	if (op->split)
		size += ((size_t)op->count + 3) & ~(size_t)3;
	return size;
}

/* Fills piece[] with what is to be written; how many. */
static int gather(struct conn *conn, struct iovec *piece)
{
	size_t skip = conn->written;
	struct op *op;
	int count = 0;

	TAILQ_FOREACH(op, &conn->out, link)
	{
		if (count + 4 > PIECES)
			break;
		count += pieces(op, piece + count);
	}
	for (int i = 0; i < count && skip; i++) {
		size_t part = skip < piece[i].iov_len ? skip : piece[i].iov_len;

		piece[i].iov_base = (uint8_t *)piece[i].iov_base + part;
		piece[i].iov_len -= part;
		skip -= part;
	}
	return count;
}

static void note_written(struct conn *conn, size_t bytes)
{
	struct op *op;

	conn->client->counters.bytes_out += bytes;
	conn->written += bytes;
	while ((op = TAILQ_FIRST(&conn->out)) &&
	       conn->written >= record_size(op)) {
		conn->written -= record_size(op);
		TAILQ_REMOVE(&conn->out, op, link);
		TAILQ_INSERT_TAIL(&conn->sent, op, link);
		op->in_sent = true;
	}
}

static void watch_out(struct conn *conn, bool out)
{
	if (conn->watches_out == out)
		return;
	conn->watches_out = out;
	sw_watch_change(conn->client->loop, &conn->watch,
			out ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

void conn_flush(struct conn *conn)
{
	struct iovec piece[PIECES];
	struct msghdr message = { .msg_iov = piece };
	ssize_t written;

	if (conn->state < CONN_JOINING)
		return;
	while (!TAILQ_EMPTY(&conn->out)) {
		message.msg_iovlen = (size_t)gather(conn, piece);
		written = sendmsg(conn->watch.fd, &message, MSG_NOSIGNAL);
		if (written < 0) {
			if (errno == EAGAIN || errno == EINTR)
				break;
			lost(conn, errno);
			return;
		}
		note_written(conn, (size_t)written);
	}
	watch_out(conn, !TAILQ_EMPTY(&conn->out));
}

/* ---- reading ---- */

static uint32_t mark_at(const uint8_t *at)
{
	uint32_t mark;

	memcpy(&mark, at, sizeof(mark));
	return ntohl(mark);
}

/*
 * The record at in_start: its length and, in *whole, what it and its marks
 * take up; its fragments are joined.  0: not all of it is there.  -1: it
 * cannot be.
 */
static int64_t next_record(struct conn *conn, size_t *whole)
{
	uint8_t *start = conn->in + conn->in_start;
	size_t there = conn->in_end - conn->in_start;
	size_t at = 0;
	size_t length = 0;
	uint32_t mark = 0;

	while (!(mark & LAST_FRAGMENT)) {
		if (at + 4 > there)
			return 0;
		mark = mark_at(start + at);
		length += mark & ~LAST_FRAGMENT;
		at += 4 + (size_t)(mark & ~LAST_FRAGMENT);
		/* XDR streams in memory are of whole words. */
		if (at > conn->in_size || at % 4)
			return -1;
		if (at > there)
			return 0;
	}
	*whole = at;
	if (length + 4 == at)
		return (int64_t)length;
	for (size_t from = 0, to = 4; from < at;) {
		size_t part = mark_at(start + from) & ~LAST_FRAGMENT;

		memmove(start + to, start + from + 4, part);
		to += part;
		from += 4 + part;
	}
	return (int64_t)length;
}

/* Gives the client all whole records.  False if the connection is gone. */
static bool take_records(struct conn *conn)
{
	while (conn->in_start < conn->in_end) {
		size_t whole = 0;
		int64_t length = next_record(conn, &whole);
		uint8_t *record = conn->in + conn->in_start + 4;

		if (length < 0) {
			lost(conn, EPROTO);
			return false;
		}
		if (!whole)
			break;
		conn->in_start += whole;
		client_record(conn->client, conn, record, (uint32_t)length);
		if (conn->state < CONN_JOINING)
			return false;
	}
	return true;
}

static void receive(struct conn *conn)
{
	ssize_t count = recv(conn->watch.fd, conn->in + conn->in_end,
			     conn->in_size - conn->in_end, 0);
	size_t rest;

	if (count <= 0) {
		if (count == 0 || (errno != EAGAIN && errno != EINTR))
			lost(conn, count ? errno : ECONNRESET);
		return;
	}
	conn->client->counters.bytes_in += (uint64_t)count;
	conn->in_end += (size_t)count;
	if (!take_records(conn))
		return;
	rest = conn->in_end - conn->in_start;
	if (!rest || conn->in_end > conn->in_size / 2) {
		memmove(conn->in, conn->in + conn->in_start, rest);
		conn->in_start = 0;
		conn->in_end = rest;
	}
}

static void on_ready(void *arg, uint32_t events)
{
	struct conn *conn = arg;

	if (conn->state == CONN_CONNECTING) {
		up(conn);
		return;
	}
	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		receive(conn);
	if (events & EPOLLOUT)
		conn_flush(conn);
}
