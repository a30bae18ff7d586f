// SPDX-License-Identifier: LGPL-3.0-or-later
#include "gluster_spec.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define TIMEOUT_S	3
#define PROGRAM		14398633
#define PROGRAM_VERSION 2
#define GETSPEC		2
/** A brick has some 4 KiB of it, a volume some 700 bytes for each brick. */
#define ANSWER_MAX (16u << 20)
#define ID_MAX	   4096
#define LAST	   0x80000000u

struct gluster_spec {
	int fd;
	uint32_t xid;
};

/** XDR on its way out, which fits, or in, which may end too early. */
struct xdr {
	uint8_t *bytes;
	size_t pos;
	size_t size;
	bool short_of;
};

static void put(struct xdr *x, uint32_t value)
{
	value = htonl(value);
	memcpy(x->bytes + x->pos, &value, sizeof(value));
	x->pos += sizeof(value);
}

static void put_bytes(struct xdr *x, const void *bytes, size_t len)
{
	put(x, (uint32_t)len);
	memcpy(x->bytes + x->pos, bytes, len);
	x->pos += len;
	while (x->pos % 4 != 0)
		x->bytes[x->pos++] = 0;
}

static uint32_t get(struct xdr *x)
{
	uint32_t value;

	if (x->size - x->pos < sizeof(value)) {
		x->short_of = true;
		return 0;
	}
	memcpy(&value, x->bytes + x->pos, sizeof(value));
	x->pos += sizeof(value);
	return ntohl(value);
}

static const uint8_t *get_bytes(struct xdr *x, size_t *len)
{
	const uint8_t *bytes = x->bytes + x->pos + sizeof(uint32_t);
	size_t padded;

	*len = get(x);
	padded = (*len + 3) & ~(size_t)3;
	if (x->short_of || x->size - x->pos < padded) {
		x->short_of = true;
		*len = 0;
		return NULL;
	}
	x->pos += padded;
	return bytes;
}

/* glusterd refuses a client that does not say which versions it can be. It
 * only reads the answer's graph that depends on it: take any.
 */
static size_t put_versions(uint8_t *buf)
{
	static const struct {
		const char *key;
		const char *value;
	} versions[] = { { "min-op-version", "1" },
			 { "max-op-version", "100000" } };
	struct xdr x = { .bytes = buf };

	put(&x, 2);
	for (size_t i = 0; i < 2; i++) {
		size_t key = strlen(versions[i].key);
		size_t value = strlen(versions[i].value) + 1;

		put(&x, (uint32_t)key);
		put(&x, (uint32_t)value);
		memcpy(buf + x.pos, versions[i].key, key + 1);
		x.pos += key + 1;
		memcpy(buf + x.pos, versions[i].value, value);
		x.pos += value;
	}
	return x.pos;
}

static int send_all(int fd, const uint8_t *bytes, size_t len)
{
	while (len != 0) {
		ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		bytes += sent;
		len -= (size_t)sent;
	}
	return 0;
}

static int receive_all(int fd, uint8_t *bytes, size_t len)
{
	while (len != 0) {
		ssize_t got = recv(fd, bytes, len, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return errno == EAGAIN ? -ETIMEDOUT : -errno;
		if (got == 0)
			return -ECONNRESET;
		bytes += got;
		len -= (size_t)got;
	}
	return 0;
}

static int send_request(struct gluster_spec *spec, const char *id)
{
	uint8_t buf[ID_MAX + 256], versions[128];
	struct xdr x = { .bytes = buf };
	uint32_t mark;

	if (strlen(id) > ID_MAX)
		return -ENAMETOOLONG;
	put(&x, 0); /* the record's mark */
	put(&x, ++spec->xid);
	put(&x, 0); /* a call, of RPC version 2 */
	put(&x, 2);
	put(&x, PROGRAM);
	put(&x, PROGRAM_VERSION);
	put(&x, GETSPEC);
	for (int i = 0; i < 4; i++)
		put(&x, 0); /* no credentials, no verifier */
	put(&x, 0);	    /* flags */
	put_bytes(&x, id, strlen(id));
	put_bytes(&x, versions, put_versions(versions));
	mark = htonl(LAST | (uint32_t)(x.pos - sizeof(mark)));
	memcpy(buf, &mark, sizeof(mark));
	return send_all(spec->fd, buf, x.pos);
}

/* One message, which may come in several records. */
static int receive(int fd, uint8_t **bytes, size_t *len)
{
	uint32_t mark;
	int rc;

	*bytes = NULL;
	*len = 0;
	do {
		size_t more;
		uint8_t *grown;

		rc = receive_all(fd, (uint8_t *)&mark, sizeof(mark));
		if (rc != 0)
			break;
		mark = ntohl(mark);
		more = mark & ~LAST;
		if (more > ANSWER_MAX - *len) {
			rc = -EMSGSIZE;
			break;
		}
		grown = realloc(*bytes, *len + more + 1);
		if (grown == NULL) {
			rc = -ENOMEM;
			break;
		}
		*bytes = grown;
		rc = receive_all(fd, *bytes + *len, more);
		*len += more;
	} while (rc == 0 && (mark & LAST) == 0);
	if (rc != 0) {
		free(*bytes);
		*bytes = NULL;
	}
	return rc;
}

static int read_answer(struct xdr *x, uint32_t xid, char **text)
{
	const uint8_t *spec;
	size_t len;
	int32_t result, error;

	if (get(x) != xid || get(x) != 1)
		return -EPROTO;
	/* Accepted, with a verifier that nobody looks at, and done. */
	if (get(x) != 0)
		return -EACCES;
	(void)get(x);
	(void)get_bytes(x, &len);
	if (get(x) != 0 || x->short_of)
		return -EPROTO;
	result = (int32_t)get(x);
	error = (int32_t)get(x);
	spec = get_bytes(x, &len);
	if (x->short_of)
		return -EPROTO;
	if (result < 0)
		return error > 0 ? -error : -ENOENT;
	*text = strndup((const char *)spec, len);
	return *text == NULL ? -ENOMEM : 0;
}

int gluster_spec_get(struct gluster_spec *spec, const char *id, char **text)
{
	struct xdr x = { .pos = 0 };
	int rc = send_request(spec, id);

	if (rc == 0)
		rc = receive(spec->fd, &x.bytes, &x.size);
	if (rc == 0)
		rc = read_answer(&x, spec->xid, text);
	free(x.bytes);
	return rc;
}

static int connect_to(const struct addrinfo *addr)
{
	const struct timeval timeout = { .tv_sec = TIMEOUT_S };
	int fd = socket(addr->ai_family, addr->ai_socktype | SOCK_CLOEXEC, 0);
	int rc;

	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout,
		       sizeof(timeout)) == 0 &&
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout,
		       sizeof(timeout)) == 0 &&
	    connect(fd, addr->ai_addr, addr->ai_addrlen) == 0)
		return fd;
	/* What a connect says whose time is over. */
	rc = errno == EINPROGRESS ? -ETIMEDOUT : -errno;
	close(fd);
	return rc;
}

int gluster_spec_open(const char *host, const char *port,
		      struct gluster_spec **spec)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *found, *addr;
	int fd = -EHOSTUNREACH;

	if (getaddrinfo(host, port, &hints, &found) != 0)
		return -EHOSTUNREACH;
	for (addr = found; addr != NULL && fd < 0; addr = addr->ai_next)
		fd = connect_to(addr);
	freeaddrinfo(found);
	if (fd < 0)
		return fd;
	*spec = calloc(1, sizeof(**spec));
	if (*spec == NULL) {
		close(fd);
		return -ENOMEM;
	}
	(*spec)->fd = fd;
	return 0;
}

void gluster_spec_close(struct gluster_spec *spec)
{
	if (spec == NULL)
		return;
	close(spec->fd);
	free(spec);
}
