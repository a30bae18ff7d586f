// SPDX-License-Identifier: LGPL-3.0-or-later
/* A client's life: made, mounted, unmounted, failed. */
#include "impl.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "protocol.h"

#define DEFAULT_SIZE	 (1024 * 1024)
#define DEFAULT_DEPTH	 64
#define DEFAULT_PATIENCE (120 * SECOND)
#define NO_ANSWER	 (20 * SECOND)
#define MOST_CONNECTIONS 256
#define MOST_DEPTH	 65536
#define MOST_PATH	 1024 /* what one request has room for, as LOOKUPs */
#define MOST_NAMES	 40

static void on_tick(void *arg);

/* ---- made ---- */

static int dial(struct conn *conn)
{
	int fd = socket(conn->address.ss_family,
			SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&conn->address,
		    conn->address_length) &&
	    errno != EINPROGRESS) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

static bool resolve(struct sw_client *client, char *error, size_t size)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found;
	int result = getaddrinfo(client->host, NULL, &hints, &found);

	if (result) {
		snprintf(error, size,
			 "there is no host \"%s\": %s; give a name or an "
			 "address that resolves here",
			 client->host, gai_strerror(result));
		return false;
	}
	for (uint32_t i = 0; i <= client->connections; i++) {
		struct conn *conn = i ? &client->conns[i - 1] : &client->aux;

		conn_init(conn, client);
		memcpy(&conn->address, found->ai_addr, found->ai_addrlen);
		conn->address_length = found->ai_addrlen;
	}
	freeaddrinfo(found);
	return true;
}

static void conn_port(struct conn *conn, uint16_t port)
{
	if (conn->address.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&conn->address)->sin6_port =
			htons(port);
	else
		((struct sockaddr_in *)&conn->address)->sin_port = htons(port);
}

void conn_dial(struct conn *conn, uint16_t port)
{
	conn_stop(conn);
	conn_port(conn, port);
	conn->was_up = false;
	conn->down_since = 0;
	conn_start(conn);
}

static uint32_t names_in(const char *path)
{
	uint32_t names = 0;

	for (; *(path += strspn(path, "/")); path += strcspn(path, "/"))
		names++;
	return names;
}

static bool check(const struct sw_settings *settings, char *error, size_t size)
{
	if (!settings->host || !*settings->host)
		snprintf(error, size, "no server is given: name a host");
	else if (!settings->export || settings->export[0] != '/')
		snprintf(error, size,
			 "the export \"%s\" does not begin with '/'",
			 settings->export ? settings->export : "");
	else if (strlen(settings->export) > MOST_PATH ||
		 names_in(settings->export) > MOST_NAMES)
		snprintf(error, size,
			 "the export's path is too long: at most %u bytes and "
			 "%u names",
			 MOST_PATH, MOST_NAMES);
	else if (settings->connections > MOST_CONNECTIONS)
		snprintf(error, size, "%u connections: at most %u",
			 settings->connections, MOST_CONNECTIONS);
	else if (settings->depth > MOST_DEPTH)
		snprintf(error, size, "a depth of %u: at most %u",
			 settings->depth, MOST_DEPTH);
	else
		return true;
	return false;
}

static uint32_t size_or(uint32_t size)
{
	return size ? size : DEFAULT_SIZE;
}

static void make_name(struct sw_client *client, const char *name)
{
	static _Atomic uint32_t made;
	char host[32] = "";

	if (name) {
		snprintf(client->name, sizeof(client->name), "%s", name);
		return;
	}
	gethostname(host, sizeof(host) - 1);
	snprintf(client->name, sizeof(client->name), "swbuild %.31s %d %u",
		 host, (int)getpid(), made++);
}

static void fill(struct sw_client *client, const struct sw_settings *settings)
{
	uint64_t boot = (uint64_t)time(NULL) << 32 | (uint32_t)sw_now();

	client->version = settings->version;
	client->protocol = settings->version == SW_V3  ? &nfs3_protocol :
			   settings->version == SW_V40 ? &nfs40_protocol :
							 &nfs41_protocol;
	client->port = settings->port;
	if (!client->port && client->version != SW_V3)
		client->port = NFS_PORT;
	client->mount_port = settings->mount_port;
	client->uid = settings->uid;
	client->gid = settings->gid;
	client->rsize = size_or(settings->rsize);
	client->wsize = size_or(settings->wsize);
	client->connections = settings->connections ? settings->connections : 1;
	client->depth = settings->depth ? settings->depth :
					  DEFAULT_DEPTH * client->connections;
	client->wanted_slots = client->depth;
	client->patience = settings->patience ? settings->patience :
						DEFAULT_PATIENCE;
	client->dial = dial;
	client->xid = (uint32_t)sw_now();
	memcpy(client->verifier, &boot, sizeof(client->verifier));
	make_name(client, settings->name);
	rpc_credential(client);
}

struct sw_client *sw_client_new(struct sw_loop *loop,
				const struct sw_settings *settings, char *error,
				size_t size)
{
	struct sw_client *client;
	uint32_t room = 1024;

	if (!check(settings, error, size))
		return NULL;
	client = calloc(1, sizeof(*client));
	if (!client)
		abort();
	client->loop = loop;
	fill(client, settings);
	while (room < 4 * client->depth)
		room *= 2;
	client->xid_mask = room - 1;
	client->xids = calloc(room, sizeof(struct op *));
	client->host = strdup(settings->host);
	client->export = strdup(settings->export);
	client->conns = calloc(client->connections, sizeof(struct conn));
	if (!client->xids || !client->host || !client->export || !client->conns)
		abort();
	client_queues(client);
	client->tick.fire = on_tick;
	client->tick.arg = client;
	if (!resolve(client, error, size)) {
		free(client->conns);
		client->conns = NULL;
		client->connections = 0;
		sw_client_free(client);
		return NULL;
	}
	return client;
}

void sw_client_free(struct sw_client *client)
{
	if (!client)
		return;
	sw_timer_cancel(client->loop, &client->tick);
	client_queues_free(client);
	for (uint32_t i = 0; i < client->connections; i++)
		conn_free(&client->conns[i]);
	if (client->conns)
		conn_free(&client->aux);
	chains_free(client);
	files_free(client);
	owners_free(&client->owners);
	free(client->conns);
	free(client->xids);
	free(client->host);
	free(client->export);
	free(client);
}

/* ---- mounted ---- */

static void tell(struct sw_client *client, uint32_t status)
{
	struct sw_result result = { .status = status,
				    .start = client->done_start,
				    .end = sw_now() };
	sw_done done = client->done;

	client->done = NULL;
	if (!done)
		return;
	if (!status) {
		result.fh = &client->root;
		result.attrs = &client->root_attrs;
	}
	done(client->done_arg, &result);
}

void sw_mount(struct sw_client *client, sw_done done, void *arg)
{
	client->done = done;
	client->done_arg = arg;
	client->done_start = sw_now();
	client->state = CLIENT_MOUNTING;
	client->protocol->mount(client);
}

static void all_up(struct sw_client *client)
{
	for (uint32_t i = 0; i < client->connections; i++)
		if (client->conns[i].state != CONN_UP)
			return;
	client->on_joined = NULL;
	client->state = CLIENT_READY;
	sw_timer_set(client->loop, &client->tick, sw_now() + SECOND);
	client_pump(client);
	tell(client, SW_OK);
}

void client_mounted(struct sw_client *client)
{
	client->on_up = client->protocol->rejoin;
	client->on_joined = all_up;
	for (uint32_t i = 1; i < client->connections; i++)
		conn_dial(&client->conns[i], client->port);
	all_up(client);
}

static void note_done(void *arg, const struct sw_result *result)
{
	uint32_t *status = arg;

	*status = result->status;
}

static uint32_t run(struct sw_client *client,
		    void (*start)(struct sw_client *client, sw_done done,
				  void *arg))
{
	uint32_t status = UINT32_MAX;

	start(client, note_done, &status);
	while (status == UINT32_MAX)
		if (sw_loop_turn(client->loop, UINT64_MAX))
			return SW_ERR_LOST;
	return status;
}

bool sw_mount_wait(struct sw_client *client)
{
	return run(client, sw_mount) == SW_OK;
}

void sw_unmount_wait(struct sw_client *client)
{
	run(client, sw_unmount);
}

void client_ready(struct sw_client *client)
{
	if (client->state == CLIENT_RECOVERING)
		client->state = CLIENT_READY;
	client_pump(client);
}

/* ---- unmounted ---- */

void sw_unmount(struct sw_client *client, sw_done done, void *arg)
{
	client->done = done;
	client->done_arg = arg;
	client->done_start = sw_now();
	if (client->state == CLIENT_READY || client->state == CLIENT_RECOVERING)
		client->state = CLIENT_CLOSING;
	else
		client->state = CLIENT_CLOSED;
	client_pump(client);
}

void client_unmounted(struct sw_client *client)
{
	client->state = CLIENT_CLOSED;
	client_pump(client);
}

void client_ended(struct sw_client *client)
{
	sw_timer_cancel(client->loop, &client->tick);
	for (uint32_t i = 0; i < client->connections; i++)
		conn_stop(&client->conns[i]);
	conn_stop(&client->aux);
	tell(client, client->state == CLIENT_FAILED ? SW_ERR_LOST : SW_OK);
}

/* ---- lost ---- */

void client_fail(struct sw_client *client, const char *format, ...)
{
	va_list arguments;

	if (client->state == CLIENT_FAILED || client->state == CLIENT_CLOSED)
		return;
	va_start(arguments, format);
	vsnprintf(client->error, sizeof(client->error), format, arguments);
	va_end(arguments);
	client->state = CLIENT_FAILED;
	client_pump(client);
}

void client_up(struct sw_client *client, struct conn *conn)
{
	conn->down_since = 0;
	if (client->state == CLIENT_FAILED || client->state == CLIENT_CLOSED)
		return;
	if (client->on_up && !conn->was_up)
		client->on_up(client, conn);
	else
		client->protocol->rejoin(client, conn);
}

void client_down(struct sw_client *client, struct conn *conn, int error)
{
	const struct sockaddr *address = (struct sockaddr *)&conn->address;
	unsigned port = ntohs(
		address->sa_family == AF_INET6 ?
			((const struct sockaddr_in6 *)address)->sin6_port :
			((const struct sockaddr_in *)address)->sin_port);

	if (conn == &client->aux && client->state == CLIENT_CLOSING) {
		client_unmounted(client);
		return;
	}
	if (client->state == CLIENT_MOUNTING && !conn->was_up)
		client_fail(client,
			    "cannot connect to %s port %u for NFSv%s%s: %s; is "
			    "the server running, and is this its port "
			    "(--port, --mount-port)?",
			    client->host, port,
			    sw_version_name(client->version),
			    port == PORTMAP_PORT ? " (its portmapper)" : "",
			    strerror(error));
	else if (sw_now() - conn->down_since > client->patience)
		client_fail(client,
			    "lost the connection to %s port %u, and could not "
			    "make another within %u s: %s",
			    client->host, port,
			    (unsigned)(client->patience / SECOND),
			    strerror(error));
}

/* What has been sent and not answered for long is sent again. */
static void look_after(struct sw_client *client, struct conn *conn,
		       uint64_t now)
{
	struct op *op = TAILQ_FIRST(&conn->sent);

	if (!op || now - op->sent_last < NO_ANSWER)
		return;
	if (now - op->sent > client->patience) {
		op_give_up(op);
		return;
	}
	op->sent_last = now;
	if (!client->protocol->resend) {
		conn_drop(conn);
		return;
	}
	TAILQ_REMOVE(&conn->sent, op, link);
	conn_add(conn, op);
	op->rpcs++;
	client->counters.resent++;
	conn_flush(conn);
}

static void on_tick(void *arg)
{
	struct sw_client *client = arg;
	uint64_t now = sw_now();

	for (uint32_t i = 0; i < client->connections; i++)
		look_after(client, &client->conns[i], now);
	if (client->protocol->tick)
		client->protocol->tick(client, now);
	sw_timer_set(client->loop, &client->tick, now + SECOND);
}

/* ---- what it says of itself ---- */

const struct sw_fh *sw_root(const struct sw_client *client)
{
	return &client->root;
}

const char *sw_client_error(const struct sw_client *client)
{
	return client->error;
}

const struct sw_counters *sw_client_counters(const struct sw_client *client)
{
	return &client->counters;
}

uint32_t sw_client_pending(const struct sw_client *client)
{
	return client->pending;
}

uint32_t sw_client_depth(const struct sw_client *client)
{
	return client->depth;
}

uint32_t sw_client_rsize(const struct sw_client *client)
{
	return client->rsize;
}

uint32_t sw_client_wsize(const struct sw_client *client)
{
	return client->wsize;
}
