/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * delay-relay: passes TCP connections on and delays what goes each way by a
 * fixed time, as a longer line would.  netem does that better, where the
 * kernel has it.
 */
#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "memory.h"

enum {
	MOST_LINES = 64,
	PIECE = 1 << 16,
	LONGEST_QUEUE = 256
};

struct piece {
	struct piece *next;
	uint64_t due;  /* ns */
	size_t length; /* 0: the end */
	size_t sent;
	char bytes[];
};

/* One direction of a connection. */
struct line {
	int from, to;
	bool ended;  /* nothing more comes */
	bool closed; /* and nothing is left to send */
	unsigned queued;
	struct piece *first, **last;
};

static struct line lines[MOST_LINES];
static unsigned line_count;
static uint64_t delay_ns;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void add_line(int from, int to)
{
	struct line *l = &lines[line_count++];

	*l = (struct line){ .from = from, .to = to };
	l->last = &l->first;
}

static void accept_one(int listener, const struct sockaddr_in *target)
{
	int near = accept4(listener, NULL, NULL, SOCK_CLOEXEC), far;
	const int on = 1;

	if (near < 0)
		return;
	far = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (far < 0 || line_count + 2 > MOST_LINES ||
	    bindresvport(far, NULL) < 0 ||
	    connect(far, (const struct sockaddr *)target, sizeof(*target)) <
		    0) {
		warn("a connection could not be passed on");
		close(near);
		if (far >= 0)
			close(far);
		return;
	}
	setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(far, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	add_line(near, far);
	add_line(far, near);
}

static void read_some(struct line *l)
{
	static char buffer[PIECE];
	ssize_t got = recv(l->from, buffer, sizeof(buffer), MSG_DONTWAIT);
	struct piece *p;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got < 0)
		got = 0;
	p = must_alloc(1, sizeof(*p) + (size_t)got);
	p->due = now_ns() + delay_ns;
	p->length = (size_t)got;
	memcpy(p->bytes, buffer, (size_t)got);
	*l->last = p;
	l->last = &p->next;
	l->queued++;
	l->ended = got == 0;
}

static void drop_first(struct line *l)
{
	struct piece *p = l->first;

	l->first = p->next;
	if (!l->first)
		l->last = &l->first;
	l->queued--;
	free(p);
}

/* Sends what is due; true if the socket is full. */
static bool send_due(struct line *l, uint64_t now)
{
	while (l->first && l->first->due <= now) {
		struct piece *p = l->first;
		ssize_t sent;

		if (p->length == 0) {
			shutdown(l->to, SHUT_WR);
			l->closed = true;
			drop_first(l);
			return false;
		}
		sent = send(l->to, p->bytes + p->sent, p->length - p->sent,
			    MSG_DONTWAIT | MSG_NOSIGNAL);
		if (sent < 0 && (errno == EAGAIN || errno == EINTR))
			return true;
		/* The other end is gone: what is left goes nowhere. */
		p->sent = sent < 0 ? p->length : p->sent + (size_t)sent;
		if (p->sent == p->length)
			drop_first(l);
	}
	return false;
}

/* Lines stand in pairs; one whose both directions are over is forgotten. */
static void forget_closed(void)
{
	for (unsigned i = 0; i < line_count;) {
		if (!lines[i].closed || !lines[i + 1].closed) {
			i += 2;
			continue;
		}
		close(lines[i].from);
		close(lines[i].to);
		line_count -= 2;
		for (unsigned k = 0; k < 2; k++) {
			lines[i + k] = lines[line_count + k];
			if (!lines[i + k].first)
				lines[i + k].last = &lines[i + k].first;
		}
	}
}

static void serve(int listener, const struct sockaddr_in *target)
{
	for (;;) {
		struct pollfd fds[MOST_LINES + 1] = { { .fd = listener,
							.events = POLLIN } };
		uint64_t now = now_ns(), next = UINT64_MAX;
		struct timespec t, *timeout = NULL;
		unsigned count = line_count;

		for (unsigned i = 0; i < count; i++) {
			struct line *l = &lines[i];
			bool full = send_due(l, now);
			bool read_on = !l->ended && l->queued < LONGEST_QUEUE;

			fds[i + 1] = (struct pollfd){
				.fd = read_on ? l->from : -1,
				.events = POLLIN,
			};
			if (full)
				next = now + 1000000;
			else if (l->first && l->first->due < next)
				next = l->first->due;
		}
		if (next != UINT64_MAX) {
			uint64_t left = next > now ? next - now : 0;

			t.tv_sec = (time_t)(left / 1000000000);
			t.tv_nsec = (long)(left % 1000000000);
			timeout = &t;
		}
		if (ppoll(fds, count + 1, timeout, NULL) < 0 && errno != EINTR)
			err(2, "poll");
		for (unsigned i = 0; i < count; i++) {
			if (fds[i + 1].revents && !lines[i].ended)
				read_some(&lines[i]);
		}
		forget_closed();
		if (fds[0].revents)
			accept_one(listener, target);
	}
}

static int listen_on(uint16_t port)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&here, sizeof(here)) < 0 ||
	    listen(fd, 16) < 0)
		err(2, "cannot listen on port %u", port);
	return fd;
}

static const char help[] =
	"usage: delay-relay PORT ADDRESS ADDRESS_PORT US\n"
	"\n"
	"Passes connections to the loopback's PORT on to ADDRESS (IPv4) and\n"
	"delays what goes each way by US microseconds.  Prints \"ready\".\n";

static unsigned long number(const char *text, unsigned long most)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value > most)
		errx(64, "\"%s\" is no number from 0 to %lu", text, most);
	return value;
}

int main(int argc, char **argv)
{
	struct sockaddr_in target = { .sin_family = AF_INET };
	int listener;

	if (argc == 2 && !strcmp(argv[1], "--help")) {
		fputs(help, stdout);
		return 0;
	}
	if (argc != 5) {
		fputs(help, stderr);
		return 64;
	}
	if (inet_pton(AF_INET, argv[2], &target.sin_addr) != 1)
		errx(64, "\"%s\" is no IPv4 address", argv[2]);
	target.sin_port = htons((uint16_t)number(argv[3], UINT16_MAX));
	delay_ns = number(argv[4], 10000000) * 1000;
	listener = listen_on((uint16_t)number(argv[1], UINT16_MAX));
	/* Sleeps as exact as the delay. */
	prctl(PR_SET_TIMERSLACK, 1);
	puts("ready");
	fflush(stdout);
	serve(listener, &target);
}
