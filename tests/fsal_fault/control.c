// SPDX-License-Identifier: LGPL-3.0-or-later
#include "control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"

#include "command.h"
#include "thread.h"

#define MAX_CLIENTS 16
#define MAX_LINE    4096

struct client {
	/** -1 when there is none */
	int fd;
	/** of the line that is being read */
	size_t len;
	char line[MAX_LINE];
};

static struct client clients[MAX_CLIENTS];
static struct sockaddr_un address = { .sun_family = AF_UNIX };
static int listener = -1;
/** readable when the thread is to end */
static int stop_fd = -1;
static pthread_t thread;

static void drop(struct client *client)
{
	close(client->fd);
	client->fd = -1;
}

static void take(int fd)
{
	for (int i = 0; i < MAX_CLIENTS; i++) {
		if (clients[i].fd < 0) {
			clients[i].fd = fd;
			clients[i].len = 0;
			return;
		}
	}
	close(fd);
}

/* A client that does not read its answers is dropped. */
static bool answer(struct client *client, char *line)
{
	char *text;
	size_t len;
	bool sent;

	(void)fault_command(line, &text);
	len = strlen(text);
	/* In the place of its end. */
	text[len] = '\n';
	sent = send(client->fd, text, len + 1, MSG_NOSIGNAL) ==
	       (ssize_t)len + 1;
	free(text);
	return sent;
}

/* Answer the lines that are complete. */
static bool answer_lines(struct client *client)
{
	char *start = client->line;
	char *end;

	while ((end = memchr(start, '\n',
			     client->len - (start - client->line))) != NULL) {
		*end = '\0';
		if (!answer(client, start))
			return false;
		start = end + 1;
	}
	client->len -= start - client->line;
	memmove(client->line, start, client->len);
	return client->len < sizeof(client->line);
}

static void serve(struct client *client)
{
	ssize_t got = recv(client->fd, client->line + client->len,
			   sizeof(client->line) - client->len, 0);

	if (got <= 0) {
		drop(client);
		return;
	}
	client->len += got;
	if (!answer_lines(client))
		drop(client);
}

static void *run(void *arg)
{
	struct pollfd fds[MAX_CLIENTS + 2];

	(void)arg;
	for (;;) {
		fds[0] = (struct pollfd){ .fd = stop_fd, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = listener, .events = POLLIN };
		for (int i = 0; i < MAX_CLIENTS; i++)
			fds[i + 2] = (struct pollfd){ .fd = clients[i].fd,
						      .events = POLLIN };
		if (poll(fds, MAX_CLIENTS + 2, -1) < 0)
			continue;
		if (fds[0].revents != 0)
			return NULL;
		for (int i = 0; i < MAX_CLIENTS; i++) {
			if (fds[i + 2].revents != 0)
				serve(&clients[i]);
		}
		if (fds[1].revents != 0) {
			int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

			if (fd >= 0)
				take(fd);
		}
	}
}

bool fault_control_start(const char *path)
{
	int rc = 0;

	if (strlen(path) >= sizeof(address.sun_path)) {
		LogCrit(COMPONENT_CONFIG,
			"FAULT: Control = %s: longer than the %zu bytes of a Unix socket's path",
			path, sizeof(address.sun_path) - 1);
		return false;
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	for (int i = 0; i < MAX_CLIENTS; i++)
		clients[i].fd = -1;
	(void)unlink(path);
	stop_fd = eventfd(0, EFD_CLOEXEC);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (stop_fd < 0 || listener < 0 ||
	    bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    chmod(path, 0600) != 0 || listen(listener, MAX_CLIENTS) != 0)
		rc = errno;
	if (rc == 0)
		rc = fault_thread_start(&thread, "fault-control", run);
	if (rc == 0)
		return true;
	LogCrit(COMPONENT_CONFIG, "FAULT: Control = %s: %s", path,
		strerror(rc));
	if (listener >= 0)
		close(listener);
	listener = -1;
	return false;
}

void fault_control_stop(void)
{
	if (listener < 0)
		return;
	eventfd_write(stop_fd, 1);
	pthread_join(thread, NULL);
	close(listener);
	listener = -1;
	(void)unlink(address.sun_path);
}
