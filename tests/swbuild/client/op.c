// SPDX-License-Identifier: LGPL-3.0-or-later
/* An operation's way: queued, encoded, sent, answered, ended. */
#include "impl.h"

#include <stdlib.h>

#define FIRST_DELAY   (10 * MS)
#define LONGEST_DELAY SECOND
#define MOST_FAULTS   16 /* that one operation meets before it is given up */

static void on_pump(void *arg);
static void on_delay(void *arg);

void client_queues(struct sw_client *client)
{
	TAILQ_INIT(&client->urgent);
	TAILQ_INIT(&client->queue);
	TAILQ_INIT(&client->delayed);
	TAILQ_INIT(&client->presets);
	TAILQ_INIT(&client->free);
	TAILQ_INIT(&client->files);
	TAILQ_INIT(&client->all_files);
	client->pump.run = on_pump;
	client->pump.arg = client;
}

/* ---- made and freed ---- */

struct op *op_new(struct sw_client *client, sw_done done, void *arg)
{
	struct op *op = TAILQ_FIRST(&client->free);

	if (op) {
		TAILQ_REMOVE(&client->free, op, link);
	} else {
		op = malloc(sizeof(*op));
		if (!op)
			abort();
	}
	/* All but the request, which is written before it is read. */
	memset(op, 0, offsetof(struct op, request));
	op->client = client;
	op->protocol = client->protocol;
	op->done = done;
	op->arg = arg;
	op->slot = NO_SLOT;
	op->start = sw_now();
	op->timer.fire = on_delay;
	op->timer.arg = op;
	op->inner = client->inner;
	if (!op->inner)
		client->pending++;
	return op;
}

static void flight_end(struct op *op);

void op_forget(struct op *op)
{
	struct sw_client *client = op->client;

	if (op->xid)
		flight_end(op);
	if (!op->inner)
		client->pending--;
	free(op->text);
	op->text = NULL;
	TAILQ_INSERT_HEAD(&client->free, op, link);
}

static void free_all(struct op_queue *queue)
{
	struct op *op;

	while ((op = TAILQ_FIRST(queue))) {
		TAILQ_REMOVE(queue, op, link);
		sw_timer_cancel(op->client->loop, &op->timer);
		free(op->text);
		free(op);
	}
}

void client_queues_free(struct sw_client *client)
{
	sw_task_cancel(client->loop, &client->pump);
	if (!client->free.tqh_last)
		return;
	for (uint32_t i = 0; i <= client->connections && client->conns; i++) {
		struct conn *conn = i ? &client->conns[i - 1] : &client->aux;

		free_all(&conn->out);
		free_all(&conn->held);
		free_all(&conn->sent);
	}
	free_all(&client->urgent);
	free_all(&client->queue);
	free_all(&client->delayed);
	free_all(&client->presets);
	free_all(&client->free);
}

void client_pump(struct sw_client *client)
{
	sw_task_set(client->loop, &client->pump);
}

void op_submit(struct op *op)
{
	TAILQ_INSERT_TAIL(&op->client->queue, op, link);
	client_pump(op->client);
}

void op_preset(struct op *op, uint32_t status)
{
	op->status = status;
	TAILQ_INSERT_TAIL(&op->client->presets, op, link);
	client_pump(op->client);
}

struct op *system_op(struct sw_client *client, const struct protocol *protocol,
		     const struct coding *coding,
		     void (*step)(struct op *op, struct reply *reply))
{
	bool inner = client->inner;
	struct op *op;

	client->inner = true;
	op = op_new(client, NULL, NULL);
	client->inner = inner;
	op->protocol = protocol;
	op->coding = coding;
	op->step = step;
	return op;
}

void system_send(struct op *op, struct conn *conn)
{
	if (conn) {
		op_send(op, conn);
		conn_flush(conn);
		return;
	}
	TAILQ_INSERT_TAIL(&op->client->urgent, op, link);
	client_pump(op->client);
}

void system_ask(struct sw_client *client, const struct coding *coding,
		void (*step)(struct op *op, struct reply *reply))
{
	system_send(system_op(client, client->protocol, coding, step), NULL);
}

/* ---- sent ---- */

static void give_xid(struct op *op)
{
	struct sw_client *client = op->client;

	do {
		client->xid++;
	} while (!client->xid || client->xids[client->xid & client->xid_mask]);
	op->xid = client->xid;
	client->xids[op->xid & client->xid_mask] = op;
}

static bool needs_slot(const struct op *op)
{
	return op->protocol->slots && !op->coding->plain;
}

void op_send(struct op *op, struct conn *conn)
{
	struct sw_client *client = op->client;
	uint64_t now = sw_now();
	size_t size;
	uint32_t mark;
	struct wire w;

	give_xid(op);
	op->epoch = client->epoch;
	op->session = client->session;
	op->split = 0;
	wire_encode(&w, op->request, sizeof(op->request));
	rpc_header(op, &w);
	op->protocol->encode(op, &w);
	/* Names, handles and targets were held to what there is room for. */
	if (w.bad)
		abort();
	op->length = (uint32_t)(wire_at(&w) - op->request);
	size = op->length;
	if (op->split)
		size += ((size_t)op->count + 3) & ~(size_t)3;
	mark = htonl(UINT32_C(0x80000000) | (uint32_t)(size - 4));
	memcpy(op->request, &mark, sizeof(mark));
	if (!op->sent)
		op->sent = now;
	op->sent_last = now;
	op->rpcs++;
	client->counters.requests++;
	if (!op->step)
		client->in_flight++;
	conn_add(conn, op);
}

/* The next connection, one after the other, that is up. */
static struct conn *next_conn(struct sw_client *client)
{
	for (uint32_t i = 0; i < client->connections; i++) {
		struct conn *conn = &client->conns[client->next_conn];

		if (++client->next_conn == client->connections)
			client->next_conn = 0;
		if (conn->state == CONN_UP)
			return conn;
	}
	return NULL;
}

/* Sends the first of a queue, if that may be now. */
static bool send_first(struct sw_client *client, struct op_queue *queue)
{
	struct op *op = TAILQ_FIRST(queue);
	bool slot = needs_slot(op);
	struct conn *conn;

	if ((!op->step && client->in_flight >= client->depth) ||
	    (slot && client->slots.busy >= client->slots.usable)) {
		client->blocked = sw_now();
		return false;
	}
	conn = next_conn(client);
	if (!conn)
		return false;
	if (slot) {
		op->slot = slots_take(&client->slots);
		if (op->slot == NO_SLOT)
			return false;
	}
	TAILQ_REMOVE(queue, op, link);
	/* What stood behind the one that could not go waited, too. */
	client->counters.waits += !op->sent && op->start <= client->blocked;
	op_send(op, conn);
	return true;
}

/* ---- ended ---- */

/* Nothing of it is in flight any more. */
static void flight_end(struct op *op)
{
	struct sw_client *client = op->client;

	client->xids[op->xid & client->xid_mask] = NULL;
	op->xid = 0;
	if (!op->step)
		client->in_flight--;
	if (op->slot != NO_SLOT) {
		if (op->session == client->session)
			slots_release(&client->slots, (uint32_t)op->slot,
				      false);
		op->slot = NO_SLOT;
	}
}

/* Who opened a file gets it, or nobody does. */
static void open_end(struct op *op, struct sw_result *result)
{
	struct sw_file *file = op->file;

	if (!result->status && result->fh)
		file->fh = *result->fh;
	/* A server need not tell the handle of what was made, but all do. */
	if (!result->status && !file->fh.length)
		result->status = SW_ERR_REPLY;
	if (result->status) {
		file_free(file);
		return;
	}
	result->file = file;
	result->fh = &file->fh;
}

void op_end(struct op *op, struct reply *reply)
{
	struct sw_result *result = &reply->result;
	sw_done done = op->done;
	void *arg = op->arg;

	if (op->step) {
		op->step(op, reply);
		op_forget(op);
		return;
	}
	if (op->opens)
		open_end(op, result);
	else if (op->closes)
		file_free(op->file);
	result->start = op->start;
	result->sent = op->sent;
	result->end = sw_now();
	result->rpcs = op->rpcs;
	op_forget(op);
	done(arg, result);
}

void op_give_up(struct op *op)
{
	struct reply reply;

	memset(&reply.result, 0, sizeof(reply.result));
	reply.result.status = SW_ERR_LOST;
	TAILQ_REMOVE(&op->conn->sent, op, link);
	flight_end(op);
	op_end(op, &reply);
}

static void requeue(struct op *op)
{
	TAILQ_INSERT_HEAD(op->step ? &op->client->urgent : &op->client->queue,
			  op, link);
	client_pump(op->client);
}

void op_later(struct op *op)
{
	uint64_t pause = FIRST_DELAY << (op->tries < 10 ? op->tries : 10);

	if (pause > LONGEST_DELAY)
		pause = LONGEST_DELAY;
	op->tries++;
	TAILQ_INSERT_TAIL(&op->client->delayed, op, link);
	sw_timer_set(op->client->loop, &op->timer, sw_now() + pause);
}

static void on_delay(void *arg)
{
	struct op *op = arg;

	TAILQ_REMOVE(&op->client->delayed, op, link);
	requeue(op);
}

/* What the protocol says is to be done with an answered operation. */
static void dispose(struct op *op, struct reply *reply)
{
	enum verdict verdict = op->protocol->judge(op, reply);

	/* An OPEN_CONFIRM after its OPEN is no fault. */
	if (verdict == VERDICT_AGAIN && reply->result.status &&
	    ++op->faults > MOST_FAULTS)
		verdict = VERDICT_DONE;
	if (verdict == VERDICT_LATER &&
	    sw_now() - op->start > op->client->patience)
		verdict = VERDICT_DONE;
	switch (verdict) {
	case VERDICT_DONE:
		op_end(op, reply);
		break;
	case VERDICT_LATER:
		op_later(op);
		break;
	case VERDICT_AGAIN:
		requeue(op);
		break;
	}
}

void client_record(struct sw_client *client, struct conn *conn, uint8_t *record,
		   uint32_t length)
{
	struct reply reply;
	struct wire w;
	struct wire refused;
	uint32_t xid;
	uint32_t status;
	struct op *op;

	wire_decode(&w, record, length);
	xid = get_u32(&w);
	op = client->xids[xid & client->xid_mask];
	/* An operation that was given up, or is not all sent yet. */
	if (!op || op->xid != xid || op->conn != conn || !op->in_sent)
		return;
	memset(&reply.result, 0, sizeof(reply.result));
	reply.sequenced = reply.reached = reply.confirm = false;
	refused = w;
	status = rpc_reply(op, &w);
	if (!status)
		status = op->protocol->decode(op, &w, &reply);
	if (w.bad && status != SW_ERR_RPC)
		status = SW_ERR_REPLY;
	reply.result.status = status;
	TAILQ_REMOVE(&conn->sent, op, link);
	flight_end(op);
	if (status == SW_ERR_RPC && op->step)
		fail_rpc(op, &refused);
	dispose(op, &reply);
	/* There is room for what waited. */
	if (!TAILQ_EMPTY(&client->queue) || client->state == CLIENT_CLOSING)
		client_pump(client);
}

/* ---- pumped ---- */

static void end_all(struct op_queue *queue, uint32_t status)
{
	struct op_queue taken = TAILQ_HEAD_INITIALIZER(taken);
	struct op *op;

	/* What callbacks submit meanwhile is not of these. */
	TAILQ_CONCAT(&taken, queue, link);
	while ((op = TAILQ_FIRST(&taken))) {
		struct reply reply;

		TAILQ_REMOVE(&taken, op, link);
		sw_timer_cancel(op->client->loop, &op->timer);
		if (op->step) {
			op_forget(op);
			continue;
		}
		memset(&reply.result, 0, sizeof(reply.result));
		reply.result.status = status ? status : op->status;
		op_end(op, &reply);
	}
}

/* All operations of a client that is of no more use. */
static void drain(struct sw_client *client)
{
	for (uint32_t i = 0; i <= client->connections; i++) {
		struct conn *conn = i ? &client->conns[i - 1] : &client->aux;

		conn_stop(conn);
		end_all(&conn->sent, SW_ERR_LOST);
		end_all(&conn->out, SW_ERR_LOST);
		end_all(&conn->held, SW_ERR_LOST);
	}
	end_all(&client->urgent, SW_ERR_LOST);
	end_all(&client->delayed, SW_ERR_LOST);
	end_all(&client->queue, SW_ERR_LOST);
	client_ended(client);
}

static void on_pump(void *arg)
{
	struct sw_client *client = arg;

	end_all(&client->presets, 0);
	if (client->state == CLIENT_FAILED || client->state == CLIENT_CLOSED) {
		drain(client);
		return;
	}
	while (!TAILQ_EMPTY(&client->urgent))
		if (!send_first(client, &client->urgent))
			break;
	if (client->state == CLIENT_CLOSING) {
		end_all(&client->queue, SW_ERR_LOST);
		end_all(&client->delayed, SW_ERR_LOST);
		if (!client->in_flight && !client->ending) {
			client->ending = true;
			client->protocol->unmount(client);
		}
	}
	while (client->state == CLIENT_READY && !TAILQ_EMPTY(&client->queue))
		if (!send_first(client, &client->queue))
			break;
	for (uint32_t i = 0; i < client->connections; i++)
		if (!TAILQ_EMPTY(&client->conns[i].out))
			conn_flush(&client->conns[i]);
}
