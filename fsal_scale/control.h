/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file control.h
 * @brief The control socket: what the server counts, for scalectl
 *
 * A Unix stream socket in a directory that only its owner may enter. Requests
 * and answers are lines of JSON:
 *
 *     {"scale": 1, "command": "stats"}
 *     {"scale": 1, "ok": true, ...}
 *     {"scale": 1, "ok": false, "error": "..."}
 *
 * "scale" is the version of this language: SCALE_CONTROL_VERSION. A request of
 * another version, an unknown command or anything else that is wrong gets an
 * answer with "ok": false; of a line that is longer than
 * SCALE_CONTROL_LINE_MAX, and of what is not JSON, the connection is closed
 * after it.
 *
 * Commands: "version" names the server's version and the commands; "stats"
 * shows everything in stats.h, and the cache's usage, limits and counters.
 *
 * Only root and the user that the server runs as are served.
 */
#ifndef SCALE_CONTROL_H
#define SCALE_CONTROL_H

#include <stdbool.h>

struct mdx;
struct mdx_usage;

#define SCALE_CONTROL_VERSION  1
#define SCALE_CONTROL_LINE_MAX 4096 /**< bytes of a request, newline included */
#define SCALE_CONTROL_CLIENTS  16   /**< connections; more are closed at once */

/** Where the socket is, unless Control_Socket says otherwise. */
#define SCALE_CONTROL_DEFAULT "/run/ganesha-scale/control"

/**
 * @brief Open the control socket and start the thread that serves it
 *
 * The directory of the socket is made if it is missing, with mode 0700. One
 * that somebody else owns, that others may enter, or that is a symbolic link,
 * is refused; so is the place of a socket that another server answers at. The
 * socket of a dead server is replaced.
 *
 * To be called after Ganesha's fork, from one thread at a time. A second start
 * without a stop between does nothing, and returns 0.
 *
 * @param[in] path  Of the socket, absolute. NULL, "" or "none": no socket; the
 *                  return is 0
 *
 * @return 0 or a negative errno value; what is wrong and its remedy were
 *         logged as a warning. The server does its work all the same.
 */
int scale_control_start(const char *path);

/**
 * @brief Close the control socket, remove it, and wait for its thread to end
 *
 * Does nothing where there is none. After it, nothing reads the cache.
 */
void scale_control_stop(void);

/**
 * @brief The cache whose usage, limits and counters are shown
 *
 * May be called at any time. When NULL has been set, the earlier cache is no
 * longer read once this returns.
 *
 * @param[in] cache  NULL: there is none
 */
void scale_control_set_cache(struct mdx *cache);

/**
 * @brief How full that cache is
 *
 * @param[out] usage  Of the cache
 *
 * @return false when there is none.
 */
bool scale_control_cache_usage(struct mdx_usage *usage);

#endif /* SCALE_CONTROL_H */
