// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Asking glusterd for volfiles: a server that answers as each test says.
 */
#include "cunit_main.h"
#include "gluster_spec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define XID 0x58494421u

/** What the server does with its one client. */
static struct {
	int listener;
	/** sent, word by word; XID stands for the request's xid */
	uint32_t words[16];
	size_t num_words;
	const char *text; /**< behind the words */
	size_t cut;	  /**< sent in records of so many bytes; 0: one */
	size_t lose;	  /**< bytes at the end that are not sent */
	char id[64];	  /**< that was asked for */
	uint32_t header[6];
} server;

static bool read_exactly(int fd, void *buf, size_t len)
{
	return recv(fd, buf, len, MSG_WAITALL) == (ssize_t)len;
}

static void send_record(int fd, const uint8_t *bytes, size_t len, bool last,
			size_t lose)
{
	uint32_t mark = htonl((last ? 0x80000000u : 0) | (uint32_t)len);

	(void)send(fd, &mark, sizeof(mark), MSG_NOSIGNAL);
	(void)send(fd, bytes, len - lose, MSG_NOSIGNAL);
}

static void answer(int fd, uint32_t xid)
{
	size_t text = server.text == NULL ? 0 : strlen(server.text);
	uint8_t buf[512] = { 0 };
	size_t len = server.num_words * 4;
	size_t pos = 0;

	for (size_t i = 0; i < server.num_words; i++) {
		uint32_t word = server.words[i] == XID ? xid : server.words[i];

		word = htonl(word);
		memcpy(buf + i * 4, &word, 4);
	}
	if (text != 0)
		memcpy(buf + len, server.text, text);
	len += (text + 3) & ~(size_t)3;
	while (server.cut != 0 && len - pos > server.cut) {
		send_record(fd, buf + pos, server.cut, false, 0);
		pos += server.cut;
	}
	send_record(fd, buf + pos, len - pos, true, server.lose);
}

static void *serve(void *arg)
{
	uint8_t request[512];
	uint32_t mark, len;
	int fd = accept(server.listener, NULL, NULL);

	(void)arg;
	if (fd < 0)
		return NULL;
	while (read_exactly(fd, &mark, sizeof(mark))) {
		size_t size = ntohl(mark) & 0x7fffffff;

		if (size > sizeof(request) || !read_exactly(fd, request, size))
			break;
		memcpy(server.header, request, sizeof(server.header));
		memcpy(&len, request + 44, sizeof(len));
		snprintf(server.id, sizeof(server.id), "%.*s", (int)ntohl(len),
			 (const char *)request + 48);
		answer(fd, ntohl(server.header[0]));
		if (server.lose != 0)
			break;
	}
	close(fd);
	return NULL;
}

/* A socket that listens on a port of its own. */
static int listen_somewhere(char port[8])
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&addr, len), 0);
	CU_ASSERT_EQUAL_FATAL(listen(fd, 1), 0);
	CU_ASSERT_EQUAL_FATAL(getsockname(fd, (struct sockaddr *)&addr, &len),
			      0);
	snprintf(port, 8, "%u", ntohs(addr.sin_port));
	return fd;
}

/* Ask for two volfiles; the second must be answered as the first is. */
static int ask(char **text)
{
	struct gluster_spec *spec = NULL;
	pthread_t thread;
	char port[8];
	int rc;

	server.listener = listen_somewhere(port);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, serve, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(gluster_spec_open("127.0.0.1", port, &spec), 0);
	*text = NULL;
	rc = gluster_spec_get(spec, "vol", text);
	if (rc == 0) {
		char *again = NULL;

		CU_ASSERT_EQUAL(gluster_spec_get(spec, "vol.host.a-b", &again),
				0);
		CU_ASSERT_STRING_EQUAL(server.id, "vol.host.a-b");
		CU_ASSERT_STRING_EQUAL(again, *text);
		free(again);
	}
	gluster_spec_close(spec);
	pthread_join(thread, NULL);
	close(server.listener);
	return rc;
}

/* What the server says from now on. */
static void say(const char *text, const uint32_t *words, size_t num_words)
{
	memset(&server, 0, sizeof(server));
	memcpy(server.words, words, num_words * sizeof(*words));
	server.num_words = num_words;
	server.text = text;
}

#define SAY(text, ...)                                                   \
	do {                                                             \
		const uint32_t words_[] = { __VA_ARGS__ };               \
		say((text), words_, sizeof(words_) / sizeof(words_[0])); \
	} while (0)

/** Accepted, with an empty verifier, and done. */
#define DONE 1, 0, 0, 0, 0

static void test_answers(void)
{
	static const size_t cuts[] = { 0, 1, 10, 40 };
	char *text;

	for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		SAY("volume abc", XID, DONE, 10, 0, 10);
		server.cut = cuts[i];
		CU_ASSERT_EQUAL_FATAL(ask(&text), 0);
		CU_ASSERT_STRING_EQUAL(text, "volume abc");
		free(text);
	}
	/* A call, of RPC 2, to GETSPEC of the handshake. */
	CU_ASSERT_EQUAL(ntohl(server.header[1]), 0);
	CU_ASSERT_EQUAL(ntohl(server.header[2]), 2);
	CU_ASSERT_EQUAL(ntohl(server.header[3]), 14398633);
	CU_ASSERT_EQUAL(ntohl(server.header[5]), 2);
}

static void test_errors(void)
{
	char *text;

	SAY(NULL, XID, DONE, (uint32_t)-1, ENOENT, 0);
	CU_ASSERT_EQUAL(ask(&text), -ENOENT);
	SAY(NULL, XID, DONE, (uint32_t)-1, 0, 0);
	CU_ASSERT_EQUAL(ask(&text), -ENOENT);
	/* The request is refused. */
	SAY(NULL, XID, 1, 1, 1, 5);
	CU_ASSERT_EQUAL(ask(&text), -EACCES);
	/* It is not known there. */
	SAY(NULL, XID, 1, 0, 0, 0, 1);
	CU_ASSERT_EQUAL(ask(&text), -EPROTO);
	CU_ASSERT_PTR_NULL(text);
}

static void test_nonsense(void)
{
	char *text;

	/* Longer than the message, or ending too early anywhere. */
	SAY("volume abc", XID, DONE, 10, 0, 0xfffffff0);
	CU_ASSERT_EQUAL(ask(&text), -EPROTO);
	SAY("vol", XID, DONE, 10, 0, 11);
	CU_ASSERT_EQUAL(ask(&text), -EPROTO);
	for (size_t words = 0; words < 9; words++) {
		SAY(NULL, XID, DONE, 10, 0, 10);
		server.num_words = words;
		CU_ASSERT_EQUAL(ask(&text), -EPROTO);
	}
	/* Another one's answer. */
	SAY(NULL, 4711, DONE, 1, 0, 0);
	CU_ASSERT_EQUAL(ask(&text), -EPROTO);
	SAY("volume abc", XID, DONE, 10, 0, 10);
	server.lose = 3;
	CU_ASSERT_EQUAL(ask(&text), -ECONNRESET);
	CU_ASSERT_PTR_NULL(text);
}

static void test_nobody(void)
{
	struct gluster_spec *spec = NULL;
	char id[8192];
	char port[8];
	char *text;
	int listener;

	CU_ASSERT_EQUAL(gluster_spec_open("127.0.0.1", "1", &spec),
			-ECONNREFUSED);
	CU_ASSERT_EQUAL(gluster_spec_open("no-such-host.invalid", "1", &spec),
			-EHOSTUNREACH);
	CU_ASSERT_PTR_NULL(spec);
	gluster_spec_close(NULL);

	/* What is too long to be asked for is not asked. */
	memset(id, 'x', sizeof(id) - 1);
	id[sizeof(id) - 1] = '\0';
	listener = listen_somewhere(port);
	CU_ASSERT_EQUAL_FATAL(gluster_spec_open("127.0.0.1", port, &spec), 0);
	CU_ASSERT_EQUAL(gluster_spec_get(spec, id, &text), -ENAMETOOLONG);
	gluster_spec_close(spec);
	close(listener);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "answers", test_answers },
		{ "errors", test_errors },
		{ "nonsense", test_nonsense },
		{ "nobody there", test_nobody },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("gluster_spec", NULL, tests);
}
