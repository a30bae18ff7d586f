/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Streams for the tests. */
#ifndef POLICY_TEST_KEYS_H
#define POLICY_TEST_KEYS_H

#include <CUnit/CUnit.h>

#include "stream.h"

/* A list of one stream, of the uses of these keys. */
static inline struct stream_list stream_of(const uint32_t *keys, size_t count)
{
	struct stream_list list = { 0 };
	struct stream *s = stream_add(&list, "keys");

	CU_ASSERT_PTR_NOT_NULL_FATAL(s);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL_FATAL(stream_use(s, keys[i]), 0);
	return list;
}

#define STREAM_OF(...)                                        \
	stream_of((const uint32_t[]){ __VA_ARGS__ },          \
		  sizeof((const uint32_t[]){ __VA_ARGS__ }) / \
			  sizeof(uint32_t))

/* Numbers below a bound that are the same in every run. */
static inline uint32_t test_random(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % below);
}

#endif
