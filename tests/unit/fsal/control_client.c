// SPDX-License-Identifier: LGPL-3.0-or-later
#include "control_client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define WAIT_SECONDS 15

int client_socket(void)
{
	struct timeval wait = { .tv_sec = WAIT_SECONDS };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	return fd;
}

bool client_reach(int fd, const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	strncpy(addr.sun_path, path, sizeof(addr.sun_path) - 1);
	return connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0;
}

int client_connect(const char *path)
{
	int fd = client_socket();

	if (fd < 0 || client_reach(fd, path))
		return fd;
	close(fd);
	return -1;
}

bool client_send(int fd, const void *bytes, size_t len)
{
	const char *p = bytes;

	while (len > 0) {
		ssize_t sent = send(fd, p, len, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		p += sent;
		len -= (size_t)sent;
	}
	return true;
}

/* One byte at a time would be slow for large answers: look, then take. */
json_t *client_receive(int fd)
{
	char piece[4096];
	char *line = NULL;
	size_t used = 0;
	json_t *value = NULL;
	char *end = NULL;

	while (end == NULL) {
		ssize_t len = recv(fd, piece, sizeof(piece), MSG_PEEK);
		size_t take;
		char *more;

		if (len <= 0)
			break;
		end = memchr(piece, '\n', (size_t)len);
		take = end != NULL ? (size_t)(end + 1 - piece) : (size_t)len;
		more = realloc(line, used + take);
		if (more == NULL)
			break;
		line = more;
		len = recv(fd, line + used, take, 0);
		if (len < 0 || (size_t)len != take)
			break;
		used += take;
	}
	if (end != NULL)
		value = json_loadb(line, used, 0, NULL);
	free(line);
	return value;
}

bool client_closed(int fd)
{
	char bytes[4096];
	ssize_t len;

	do
		len = recv(fd, bytes, sizeof(bytes), 0);
	while (len > 0);
	return len == 0 || errno == ECONNRESET;
}

json_t *client_ask(const char *path, const char *line)
{
	int fd = client_connect(path);
	json_t *answer;

	if (fd < 0)
		return NULL;
	/* Who is turned away may be told before the question is sent. */
	client_send(fd, line, strlen(line));
	answer = client_receive(fd);
	close(fd);
	return answer;
}
