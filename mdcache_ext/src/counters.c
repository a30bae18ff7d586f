/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "cache.h"

static const struct {
	const char *name;
	const char *meaning;
} texts[] = {
#define COUNTER_TEXT(symbol, name, meaning) { name, meaning },
	MDX_COUNTERS(COUNTER_TEXT)
#undef COUNTER_TEXT
};

void mdx_counters(const struct mdx *c, uint64_t *values)
{
	for (unsigned int i = 0; i < MDX_COUNTER_COUNT; i++) {
		values[i] = 0;
		for (unsigned int s = 0; s < COUNTER_STRIPES; s++)
			values[i] += atomic_load_explicit(
				&c->counters.stripe[s].value[i],
				memory_order_relaxed);
	}
}

const char *mdx_counter_name(unsigned int counter)
{
	return counter < MDX_COUNTER_COUNT ? texts[counter].name : NULL;
}

const char *mdx_counter_meaning(unsigned int counter)
{
	return counter < MDX_COUNTER_COUNT ? texts[counter].meaning : NULL;
}
