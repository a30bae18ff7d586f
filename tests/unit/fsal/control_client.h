/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file control_client.h
 * @brief A client of the control socket, as hostile as a test wants it
 */
#ifndef CONTROL_CLIENT_H
#define CONTROL_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#define STATS "{\"scale\": 1, \"command\": \"stats\"}\n"

/** @brief A socket that waits up to 15 s for what it is to receive, or -1. */
int client_socket(void);

/** @brief Connect it; false with errno. */
bool client_reach(int fd, const char *path);

/** @brief Both; the descriptor, or -1 with errno. */
int client_connect(const char *path);

/** @brief Send bytes; false when the other side does not take them. */
bool client_send(int fd, const void *bytes, size_t len);

/**
 * @brief Receive a line
 *
 * @return The JSON in it; NULL when the connection was closed instead.
 */
json_t *client_receive(int fd);

/** @brief Wait for the other side to close; false if it does not. */
bool client_closed(int fd);

/** @brief Ask one thing on a connection of its own. */
json_t *client_ask(const char *path, const char *line);

#endif /* CONTROL_CLIENT_H */
