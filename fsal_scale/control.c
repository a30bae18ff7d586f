// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The thread that serves the control socket.
 *
 * One thread, which never blocks but in poll(2): a client gets one answer at a
 * time, and has a limited time to ask and to take the answer. The next request
 * is not looked at before the answer has been taken, so that no client can
 * make the server keep more than one answer and one line for it.
 */
#include "control.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config.h"
#include "log.h"
#include "nfs_core.h"

#include "control_json.h"
#include "control_socket.h"
#include "mdcache_ext.h"

/* For a request to come, and for its answer to be taken. */
#define CLIENT_MS 10000
/* How long not to accept when the process has no descriptors left. */
#define PAUSE_MS 1000

struct client {
	int fd; /**< -1: free */
	uint64_t deadline_ms;
	size_t used;  /**< of line */
	char *answer; /**< being sent, or NULL */
	size_t answer_len;
	size_t sent;
	bool last; /**< close when the answer has been taken */
	char line[SCALE_CONTROL_LINE_MAX];
};

static struct control {
	pthread_mutex_t lock; /**< of start and stop */
	bool running;
	pthread_t thread;
	int wake; /**< an eventfd that ends the thread */
	struct control_socket sock;
	struct client clients[SCALE_CONTROL_CLIENTS];
	uint64_t accept_after_ms;
} control = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Held while the cache is read. */
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static struct mdx *cache;

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void drop(struct client *client)
{
	close(client->fd);
	free(client->answer);
	client->fd = -1;
	client->answer = NULL;
}

static void set_answer(struct client *client, char *answer)
{
	if (answer == NULL) {
		LogWarn(COMPONENT_FSAL,
			"SCALE: no memory for an answer of the control socket");
		drop(client);
		return;
	}
	client->answer = answer;
	client->answer_len = strlen(answer);
	client->sent = 0;
	client->deadline_ms = now_ms() + CLIENT_MS;
}

/* Answer the first line that is there, if a whole one is. */
static void look_at_line(struct client *client)
{
	struct control_source source = { .started = nfs_ServerBootTime.tv_sec };
	char *end = memchr(client->line, '\n', client->used);
	char *answer;
	size_t len;

	if (end == NULL) {
		if (client->used < sizeof(client->line))
			return;
		client->last = true;
		set_answer(client,
			   control_refusal("this line is too long; a request "
					   "has at most 4096 bytes"));
		return;
	}
	pthread_mutex_lock(&cache_lock);
	source.cache = cache;
	answer = control_answer(client->line, end - client->line, &source,
				&client->last);
	pthread_mutex_unlock(&cache_lock);
	len = end + 1 - client->line;
	client->used -= len;
	memmove(client->line, end + 1, client->used);
	set_answer(client, answer);
}

static void receive(struct client *client)
{
	ssize_t len = recv(client->fd, client->line + client->used,
			   sizeof(client->line) - client->used, 0);

	if (len > 0) {
		client->used += len;
		look_at_line(client);
	} else if (len == 0 || (errno != EAGAIN && errno != EINTR)) {
		drop(client);
	}
}

static void transmit(struct client *client)
{
	ssize_t len = send(client->fd, client->answer + client->sent,
			   client->answer_len - client->sent, MSG_NOSIGNAL);

	if (len < 0) {
		if (errno != EAGAIN && errno != EINTR)
			drop(client);
		return;
	}
	client->sent += len;
	if (client->sent < client->answer_len)
		return;
	if (client->last) {
		drop(client);
		return;
	}
	free(client->answer);
	client->answer = NULL;
	client->deadline_ms = now_ms() + CLIENT_MS;
	/* Another request may have come with the last. */
	look_at_line(client);
}

static struct client *free_client(void)
{
	for (size_t i = 0; i < SCALE_CONTROL_CLIENTS; i++) {
		if (control.clients[i].fd < 0)
			return &control.clients[i];
	}
	return NULL;
}

/* Tell why, if that can be done at once. */
static void turn_away(int fd, const char *why)
{
	char *answer = control_refusal(why);

	if (answer != NULL)
		send(fd, answer, strlen(answer), MSG_NOSIGNAL);
	free(answer);
	close(fd);
}

static void accept_one(void)
{
	int fd = accept4(control.sock.fd, NULL, NULL,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct client *client;

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
		    errno == ENOBUFS)
			control.accept_after_ms = now_ms() + PAUSE_MS;
		return;
	}
	if (!control_socket_trusts(fd)) {
		turn_away(fd, "only root and the server's own user are "
			      "served; run as root");
		return;
	}
	client = free_client();
	if (client == NULL) {
		turn_away(fd, "too many clients are connected; try again "
			      "later");
		return;
	}
	client->fd = fd;
	client->used = 0;
	client->last = false;
	client->deadline_ms = now_ms() + CLIENT_MS;
}

enum {
	POLL_WAKE,
	POLL_LISTEN,
	POLL_CLIENTS
};

/* What to wait for, and until when. */
static int prepare(struct pollfd *fds, uint64_t now)
{
	uint64_t until = UINT64_MAX;

	fds[POLL_WAKE] = (struct pollfd){ control.wake, POLLIN, 0 };
	fds[POLL_LISTEN] = (struct pollfd){ control.sock.fd, POLLIN, 0 };
	if (control.accept_after_ms > now) {
		fds[POLL_LISTEN].fd = -1;
		until = control.accept_after_ms;
	}
	for (size_t i = 0; i < SCALE_CONTROL_CLIENTS; i++) {
		const struct client *client = &control.clients[i];

		fds[POLL_CLIENTS + i] = (struct pollfd){
			client->fd, client->answer != NULL ? POLLOUT : POLLIN, 0
		};
		if (client->fd >= 0 && client->deadline_ms < until)
			until = client->deadline_ms;
	}
	if (until == UINT64_MAX)
		return -1;
	return until > now ? (int)(until - now) : 0;
}

static void serve_client(struct client *client, short events, uint64_t now)
{
	if (events != 0) {
		if (client->answer != NULL)
			transmit(client);
		else
			receive(client);
	}
	if (client->fd >= 0 && client->deadline_ms <= now)
		drop(client);
}

static void *serve(void *arg)
{
	struct pollfd fds[POLL_CLIENTS + SCALE_CONTROL_CLIENTS];
	uint64_t now;

	(void)arg;
	for (;;) {
		int timeout = prepare(fds, now_ms());

		if (poll(fds, POLL_CLIENTS + SCALE_CONTROL_CLIENTS, timeout) <
		    0) {
			/* No memory, or fewer descriptors allowed than these. */
			usleep(PAUSE_MS * 1000);
			continue;
		}
		if (fds[POLL_WAKE].revents != 0)
			break;
		now = now_ms();
		for (size_t i = 0; i < SCALE_CONTROL_CLIENTS; i++) {
			if (control.clients[i].fd >= 0)
				serve_client(&control.clients[i],
					     fds[POLL_CLIENTS + i].revents,
					     now);
		}
		if (fds[POLL_LISTEN].revents != 0)
			accept_one();
	}
	for (size_t i = 0; i < SCALE_CONTROL_CLIENTS; i++) {
		if (control.clients[i].fd >= 0)
			drop(&control.clients[i]);
	}
	return NULL;
}

/* With all signals blocked: they are for Ganesha's own threads. */
static int start_thread(void)
{
	sigset_t all;
	sigset_t old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&control.thread, NULL, serve, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc == 0)
		pthread_setname_np(control.thread, "scale-control");
	return -rc;
}

static int start(const char *path)
{
	char why[512];
	int rc;

	rc = control_socket_open(path, SOMAXCONN, &control.sock, why,
				 sizeof(why));
	if (rc != 0) {
		LogWarn(COMPONENT_FSAL,
			"SCALE: no control socket until the next start: %s",
			why);
		return rc;
	}
	for (size_t i = 0; i < SCALE_CONTROL_CLIENTS; i++)
		control.clients[i].fd = -1;
	control.accept_after_ms = 0;
	control.wake = eventfd(0, EFD_CLOEXEC);
	rc = control.wake < 0 ? -errno : start_thread();
	if (rc != 0) {
		LogWarn(COMPONENT_FSAL,
			"SCALE: no control socket until the next start: %s",
			strerror(-rc));
		if (control.wake >= 0)
			close(control.wake);
		control_socket_close(&control.sock);
		return rc;
	}
	control.running = true;
	LogInfo(COMPONENT_FSAL, "SCALE: the control socket is %s", path);
	return 0;
}

int scale_control_start(const char *path)
{
	int rc = 0;

	if (path == NULL || path[0] == '\0' || strcasecmp(path, "none") == 0)
		return 0;
	pthread_mutex_lock(&control.lock);
	if (!control.running)
		rc = start(path);
	pthread_mutex_unlock(&control.lock);
	return rc;
}

void scale_control_stop(void)
{
	pthread_mutex_lock(&control.lock);
	if (control.running) {
		eventfd_write(control.wake, 1);
		pthread_join(control.thread, NULL);
		close(control.wake);
		control_socket_close(&control.sock);
		control.running = false;
	}
	pthread_mutex_unlock(&control.lock);
}

void scale_control_set_cache(struct mdx *new_cache)
{
	pthread_mutex_lock(&cache_lock);
	cache = new_cache;
	pthread_mutex_unlock(&cache_lock);
}

bool scale_control_cache_usage(struct mdx_usage *usage)
{
	bool there;

	pthread_mutex_lock(&cache_lock);
	there = cache != NULL;
	if (there)
		mdx_usage(cache, usage);
	pthread_mutex_unlock(&cache_lock);
	return there;
}
