/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file control_socket.h
 * @brief Where the control socket is bound, and who may connect
 */
#ifndef SCALE_CONTROL_SOCKET_H
#define SCALE_CONTROL_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

struct control_socket {
	int fd; /**< listens, does not block */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	dev_t dev; /**< of the socket's file, so that only it is removed */
	ino_t ino;
};

/**
 * @brief Bind and listen in a directory that only this process's user enters
 *
 * The directory is made with mode 0700 if it is missing. The process's umask,
 * which all of its threads share, is not touched.
 *
 * @param[in]  path    Absolute
 * @param[in]  backlog Of listen(2)
 * @param[out] sock    Valid after success
 * @param[out] why     After an error: what is wrong and what to do
 * @param[in]  size    Bytes of @a why
 *
 * @return 0 or a negative errno value: -EINVAL for a path that cannot be one,
 *         -EPERM for a directory that is not safe, -EADDRINUSE for a place
 *         that is taken, or what the system said.
 */
int control_socket_open(const char *path, int backlog,
			struct control_socket *sock, char *why, size_t size);

/** @brief Close the socket and remove its file, unless that is another's. */
void control_socket_close(struct control_socket *sock);

/** @brief Is the peer root, or of this process's own user? */
bool control_socket_trusts(int fd);

#endif /* SCALE_CONTROL_SOCKET_H */
