/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A file is asked for twice: the second answer comes from the cache. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "mdcache_ext.h"

/* The backend: here, the local file system. */
static int ask_backend(const char *path, struct mdx_attrs *attrs)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	attrs->valid = MDX_SIZE | MDX_MODE | MDX_MTIME;
	attrs->size = (uint64_t)st.st_size;
	attrs->mode = st.st_mode & 07777;
	attrs->mtime = st.st_mtim;
	return 0;
}

static int get_size(struct mdx *cache, const char *path, uint64_t *size)
{
	struct mdx_key key = { path, (uint8_t)strlen(path), 0 };
	struct mdx_answer answer;
	struct mdx_attrs attrs = { 0 };
	uint64_t ticket;
	int rc;

	if (mdx_get(cache, key, MDX_SIZE, &answer) == 0) {
		*size = answer.attrs.size;
		puts("from the cache:");
		return 0;
	}
	ticket = mdx_ticket(cache);
	rc = ask_backend(path, &attrs);
	if (rc)
		return rc;
	/* If somebody invalidates the file in between, this stores nothing. */
	mdx_put(cache, ticket, key, &attrs, 60000);
	*size = attrs.size;
	puts("from the backend:");
	return 0;
}

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/etc/passwd";
	struct mdx_params params;
	struct mdx *cache;
	uint64_t size;
	int rc;

	if (strlen(path) > MDX_KEY_MAX)
		return 2;
	mdx_params_init(&params);
	rc = mdx_create(&params, &cache);
	for (int i = 0; rc == 0 && i < 2; i++) {
		rc = get_size(cache, path, &size);
		if (rc == 0)
			printf("  %s has %llu bytes\n", path,
			       (unsigned long long)size);
	}
	if (rc)
		fprintf(stderr, "%s: %s\n", path, strerror(-rc));
	else
		mdx_destroy(cache);
	return rc ? 1 : 0;
}
