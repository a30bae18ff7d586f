/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Reading a copy of a leaf is safe whatever bytes it holds, and ends: readers
 * without a lock see leaves that are being written. */
#include <stdlib.h>
#include <string.h>

#include "leaf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct leaf *l = calloc(1, sizeof(*l));
	unsigned int at = 0, records = 0;
	struct record r;

	if (!l)
		return 0;
	if (size > sizeof(*l))
		size = sizeof(*l);
	memcpy(l, data, size);
	l->depth %= COOKIE_BITS;
	if (l->used > LEAF_BYTES_MAX)
		l->used = LEAF_BYTES_MAX;
	while (leaf_next(l, &at, &r)) {
		char name[UINT8_MAX];

		memcpy(name, r.name, r.len);
		leaf_find(l, r.cookie, name, r.len, &(struct record){ 0 });
		if (++records > LEAF_BYTES_MAX)
			abort();
	}
	leaf_find(l, l->low, (const char *)data, size < 255 ? size : 255, &r);
	leaf_find(l, l->low, NULL, 0, &r);
	free(l);
	return 0;
}
