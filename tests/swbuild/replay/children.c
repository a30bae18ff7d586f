// SPDX-License-Identifier: LGPL-3.0-or-later
#include "children.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right, void *trace)
{
	const struct optrace_path *paths = ((struct optrace *)trace)->paths;
	const struct optrace_path *a = &paths[*(const uint32_t *)left];
	const struct optrace_path *b = &paths[*(const uint32_t *)right];

	if (a->parent != b->parent)
		return a->parent < b->parent ? -1 : 1;
	return strcmp(a->name, b->name);
}

int children_init(struct children *c, const struct optrace *trace)
{
	size_t n = trace->npaths;
	size_t at = 0;

	*c = (struct children){
		.trace = trace,
		.sorted = malloc(n * sizeof(*c->sorted)),
		.first = malloc((n + 1) * sizeof(*c->first)),
	};
	if (c->sorted == NULL || c->first == NULL) {
		children_free(c);
		return -ENOMEM;
	}
	for (uint32_t p = 1; p < n; p++)
		c->sorted[p - 1] = p;
	qsort_r(c->sorted, n - 1, sizeof(*c->sorted), compare, (void *)trace);
	for (uint32_t p = 0; p <= n; p++) {
		while (at < n - 1 && trace->paths[c->sorted[at]].parent < p)
			at++;
		c->first[p] = (uint32_t)at;
	}
	return 0;
}

void children_free(struct children *c)
{
	free(c->sorted);
	free(c->first);
	*c = (struct children){ 0 };
}

uint32_t children_find(const struct children *c, uint32_t directory,
		       const char *name, size_t length)
{
	uint32_t low = c->first[directory];
	uint32_t high = c->first[directory + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		const char *there = c->trace->paths[c->sorted[middle]].name;
		int order = strncmp(there, name, length);

		if (order == 0 && there[length] == '\0')
			return c->sorted[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return OPTRACE_NONE;
}
