// SPDX-License-Identifier: LGPL-3.0-or-later
#include "policy.h"

#include <stddef.h>

const struct policy *const policies[] = {
	&policy_lru,
	&policy_belady,
	&policy_fifo,
	&policy_clock,
	&policy_sieve,
	&policy_s3fifo,
	&policy_s3fifo_adaptive,
	&policy_s3fifo_sharded,
	&policy_engine,
	NULL,
};
