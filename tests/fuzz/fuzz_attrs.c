/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What is put into the cache comes out the same, whatever the values are, and
 * whatever was there before: the packed format of attributes, and blobs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mdcache_ext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TIMES 4

static struct mdx *cache;

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void take(const uint8_t **data, size_t *size, void *to, size_t len)
{
	size_t n = *size < len ? *size : len;

	memset(to, 0, len);
	memcpy(to, *data, n);
	*data += n;
	*size -= n;
}

/* Any values that the interface allows. */
static void take_attrs(const uint8_t **data, size_t *size, struct mdx_attrs *a)
{
	struct timespec *times[TIMES] = { &a->atime, &a->btime, &a->ctime,
					  &a->mtime };

	take(data, size, a, sizeof(*a));
	a->valid &= MDX_NUMBERS;
	a->type &= 15;
	a->acl = NULL;
	a->other = NULL;
	for (int i = 0; i < TIMES; i++)
		times[i]->tv_nsec =
			(long)((uint64_t)times[i]->tv_nsec % 1000000000);
}

#define GROUPS(X)                     \
	X(MDX_TYPE, type)             \
	X(MDX_MODE, mode)             \
	X(MDX_NLINK, nlink)           \
	X(MDX_OWNER, owner)           \
	X(MDX_GROUP, group)           \
	X(MDX_SIZE, size)             \
	X(MDX_SPACE, space)           \
	X(MDX_FSID, fsid_major)       \
	X(MDX_FSID, fsid_minor)       \
	X(MDX_FILEID, fileid)         \
	X(MDX_RDEV, rdev)             \
	X(MDX_CHANGE, change)         \
	X(MDX_GENERATION, generation) \
	X(MDX_ATIME, atime.tv_sec)    \
	X(MDX_ATIME, atime.tv_nsec)   \
	X(MDX_BTIME, btime.tv_sec)    \
	X(MDX_BTIME, btime.tv_nsec)   \
	X(MDX_CTIME, ctime.tv_sec)    \
	X(MDX_CTIME, ctime.tv_nsec)   \
	X(MDX_MTIME, mtime.tv_sec)    \
	X(MDX_MTIME, mtime.tv_nsec)

/* The reference: what is put replaces its groups and leaves the others. */
static void overlay(struct mdx_attrs *to, const struct mdx_attrs *from)
{
#define COPY(bit, field)                         \
	do {                                     \
		if (from->valid & (bit))         \
			to->field = from->field; \
	} while (0);
	GROUPS(COPY)
#undef COPY
	to->valid |= from->valid;
}

static void compare(const struct mdx_attrs *a, const struct mdx_attrs *b)
{
	check(a->valid == b->valid);
#define SAME(bit, field) check(!(a->valid & (bit)) || a->field == b->field);
	GROUPS(SAME)
#undef SAME
}

static void blob(struct mdx_key key, uint32_t which, const uint8_t **data,
		 size_t *size)
{
	uint8_t in[MDX_BLOB_MAX], out[MDX_BLOB_MAX];
	uint16_t len;

	take(data, size, &len, sizeof(len));
	len = 1 + len % MDX_BLOB_MAX;
	take(data, size, in, len);
	check(mdx_blob_put(cache, mdx_ticket(cache), key, which, in, len) == 0);
	check(mdx_blob_get(cache, key, which, out, sizeof(out)) == len);
	check(memcmp(in, out, len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mdx_attrs known = { 0 }, put;
	uint8_t bytes[MDX_KEY_MAX];
	struct mdx_key key = { .bytes = bytes };
	struct mdx_answer answer;
	struct mdx_params params;

	if (!cache) {
		mdx_params_init(&params);
		params.limits.max_bytes = 16 << 20;
		check(mdx_create(&params, &cache) == 0);
	}
	take(&data, &size, &key.backend, 1);
	take(&data, &size, &key.len, 1);
	key.len = (uint8_t)(1 + key.len % MDX_KEY_MAX);
	take(&data, &size, bytes, key.len);
	do {
		take_attrs(&data, &size, &put);
		check(mdx_put(cache, mdx_ticket(cache), key, &put,
			      MDX_FOREVER) == 0);
		overlay(&known, &put);
		check(mdx_get(cache, key, known.valid, &answer) == 0);
		check(answer.key_len == key.len &&
		      !memcmp(answer.key, bytes, key.len));
		answer.attrs.valid &= MDX_NUMBERS;
		compare(&answer.attrs, &known);
		if (size > 2)
			blob(key, size % 2 ? MDX_LINK : MDX_PARENT, &data,
			     &size);
	} while (size);
	/* There is always room. */
	mdx_forget(cache, key);
	return 0;
}
