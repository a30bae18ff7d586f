/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file control_json.h
 * @brief Requests and answers of the control socket, without the socket
 *
 * Nothing here depends on Ganesha.
 */
#ifndef SCALE_CONTROL_JSON_H
#define SCALE_CONTROL_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct mdx;

/** What a request is answered from, besides stats.h. */
struct control_source {
	struct mdx *cache; /**< NULL: there is none */
	time_t started;	   /**< when the server was, seconds since 1970 */
};

/**
 * @brief Answer a request
 *
 * @param[in]  line    The request, without the newline; any bytes
 * @param[in]  len     Of it
 * @param[in]  source  What to answer from
 * @param[out] garbage The line was not JSON: nothing that follows it will make
 *                     sense
 *
 * @return A line to be freed, its newline included; NULL when there is no
 *         memory.
 */
char *control_answer(const char *line, size_t len,
		     const struct control_source *source, bool *garbage);

/**
 * @brief Make the answer to what cannot be served
 *
 * @param[in] why  A sentence that names what is wrong and the remedy
 *
 * @return As control_answer().
 */
char *control_refusal(const char *why);

#endif /* SCALE_CONTROL_JSON_H */
