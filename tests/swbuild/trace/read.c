// SPDX-License-Identifier: LGPL-3.0-or-later
/* The reader of traces: lines to operations, paths to numbers. */
#include "optrace.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LINE_SIZE   8192
#define FIELDS	    6
#define MAX_PROCESS 10000000

struct reader {
	struct optrace *trace;
	const char *file;
	const char *program;
	size_t line;
	uint32_t *spelled; /* N of "=N" to path */
	size_t nspelled;
	uint32_t process;
	struct hsearch_data index; /* text of a path to its number */
};

static int bad(const struct reader *r, const char *what, const char *field)
{
	fprintf(stderr, "%s: %s:%zu: %s%s%s%s\n", r->program, r->file, r->line,
		what, field != NULL ? ": \"" : "", field != NULL ? field : "",
		field != NULL ? "\"" : "");
	return -EINVAL;
}

/* Make room for one more in an array that doubles at powers of two. */
static int grow(void *array_of_pointer, size_t count, size_t size)
{
	void **array = array_of_pointer;
	void *grown;

	if (count & (count - 1))
		return 0;
	grown = realloc(*array, (count ? count * 2 : 1) * size);
	if (grown == NULL)
		return -ENOMEM;
	*array = grown;
	return 0;
}

static int add_path(struct reader *r, const char *text, uint32_t parent,
		    uint32_t *path)
{
	struct optrace *t = r->trace;
	ENTRY entry = { .key = strdup(text) };
	const char *slash;
	ENTRY *found;

	if (entry.key == NULL ||
	    grow(&t->paths, t->npaths, sizeof(*t->paths)) != 0) {
		free(entry.key);
		return -ENOMEM;
	}
	slash = strrchr(entry.key, '/');
	*path = (uint32_t)t->npaths;
	t->paths[t->npaths++] = (struct optrace_path){
		.text = entry.key,
		.name = slash != NULL ? slash + 1 : entry.key,
		.parent = parent,
	};
	entry.data = (void *)(uintptr_t)*path;
	return hsearch_r(entry, ENTER, &found, &r->index) != 0 ? 0 : -ENOMEM;
}

/* The number of a path, added with those of its parents when it is new. */
static int intern(struct reader *r, char *text, uint32_t *path)
{
	ENTRY key = { .key = text };
	uint32_t parent = OPTRACE_ROOT;
	ENTRY *found;
	char *slash;

	if (hsearch_r(key, FIND, &found, &r->index) != 0) {
		*path = (uint32_t)(uintptr_t)found->data;
		return 0;
	}
	slash = strrchr(text, '/');
	if (slash != NULL) {
		int rc;

		*slash = '\0';
		rc = intern(r, text, &parent);
		*slash = '/';
		if (rc != 0)
			return rc;
	}
	return add_path(r, text, parent, path);
}

/* Neither absolute, nor with empty components, "." or "..". */
static bool normal(const char *text)
{
	unsigned depth = 0;

	if (strcmp(text, ".") == 0)
		return true;
	for (;;) {
		size_t length = strcspn(text, "/");

		if (length == 0 || (length == 1 && text[0] == '.') ||
		    (length == 2 && text[0] == '.' && text[1] == '.') ||
		    ++depth > OPTRACE_MAX_DEPTH)
			return false;
		if (text[length] == '\0')
			return true;
		text += length + 1;
	}
}

static int parse_path(struct reader *r, char *field, uint32_t *path)
{
	int rc;

	if (field[0] == '=') {
		char *end;
		unsigned long n = strtoul(field + 1, &end, 10);

		if (field[1] == '\0' || *end != '\0' || n >= r->nspelled)
			return bad(r,
				   "a reference to a path that was not spelled "
				   "out before: is the trace's beginning "
				   "missing?",
				   field);
		*path = r->spelled[n];
		return 0;
	}
	if (!normal(field))
		return bad(r,
			   "not a path as strace-to-trace writes it (relative, "
			   "without empty, . or .. components)",
			   field);
	if (grow(&r->spelled, r->nspelled, sizeof(*r->spelled)) != 0)
		return -ENOMEM;
	rc = intern(r, field, path);
	if (rc == 0)
		r->spelled[r->nspelled++] = *path;
	return rc;
}

static int parse_number(const struct reader *r, const char *field,
			uint64_t limit, uint64_t *number)
{
	char *end;

	if (field == NULL || field[0] == '\0')
		return 0;
	errno = 0;
	*number = strtoull(field, &end, 10);
	if (errno != 0 || *end != '\0' || field[0] == '-' || *number > limit)
		return bad(r, "not a number of bytes or of a process", field);
	return 0;
}

static bool one_of(const char *set, const char *field)
{
	return field != NULL && strlen(field) == 1 &&
	       strchr(set, field[0]) != NULL;
}

static int parse_line(struct reader *r, char *line)
{
	struct optrace *t = r->trace;
	struct optrace_op op = { .path2 = OPTRACE_NONE };
	char *fields[FIELDS] = { 0 };
	uint64_t process = r->process;
	int rc;

	if (strchr(line, '\n') == NULL && strlen(line) == LINE_SIZE - 1)
		return bad(r, "the line is too long to be one of a trace",
			   NULL);
	line[strcspn(line, "\n")] = '\0';
	for (unsigned i = 0; i < FIELDS && line != NULL; i++)
		fields[i] = strsep(&line, "\t");
	if (fields[1] == NULL || !one_of(OPTRACE_OUTCOMES, fields[2]) ||
	    line != NULL)
		return bad(r,
			   "not \"op TAB path TAB outcome ...\": make a trace "
			   "with strace-to-trace",
			   NULL);
	if (!one_of(OPTRACE_OPS, fields[0]))
		return bad(r, "no such operation, there are " OPTRACE_OPS,
			   fields[0]);
	op.op = fields[0][0];
	op.outcome = fields[2][0];
	rc = parse_path(r, fields[1], &op.path);
	if (rc == 0 && fields[5] != NULL && fields[5][0] != '\0')
		rc = parse_path(r, fields[5], &op.path2);
	if (rc == 0)
		rc = parse_number(r, fields[3], INT64_MAX, &op.bytes);
	if (rc == 0)
		rc = parse_number(r, fields[4], MAX_PROCESS, &process);
	if (rc != 0)
		return rc;
	if (op.op == 'R' && op.outcome == '+' && op.path2 == OPTRACE_NONE)
		return bad(r, "a rename without its new path", NULL);
	if (grow(&t->ops, t->nops, sizeof(op)) != 0)
		return -ENOMEM;
	op.process = r->process = (uint32_t)process;
	if (op.process >= t->nprocesses)
		t->nprocesses = op.process + 1;
	t->ops[t->nops++] = op;
	return 0;
}

/* The table of hsearch_r has a fixed size: count what it will have to hold. */
static size_t count_components(gzFile in)
{
	char line[LINE_SIZE];
	size_t count = 1;

	while (gzgets(in, line, sizeof(line)) != NULL) {
		for (const char *p = line; *p != '\0'; p++)
			count += *p == '/';
		count += 2;
	}
	gzrewind(in);
	return count;
}

static int read_lines(struct reader *r, gzFile in)
{
	char line[LINE_SIZE];
	uint32_t root;
	int zerror;
	int rc = add_path(r, ".", OPTRACE_NONE, &root);

	while (rc == 0 && gzgets(in, line, sizeof(line)) != NULL) {
		r->line++;
		rc = parse_line(r, line);
	}
	if (rc == 0) {
		const char *text = gzerror(in, &zerror);

		if (zerror != Z_OK && zerror != Z_STREAM_END)
			rc = bad(r,
				 "the gzip file is damaged or cut off: "
				 "copy it again",
				 text);
	}
	return rc;
}

int optrace_read(struct optrace *trace, const char *file, const char *program)
{
	struct reader r = { .trace = trace, .file = file, .program = program };
	gzFile in = gzopen(file, "rb");
	int rc = 0;

	*trace = (struct optrace){ 0 };
	if (in == NULL) {
		rc = errno ? -errno : -ENOMEM;
		fprintf(stderr, "%s: %s: %s\n", program, file, strerror(-rc));
		return rc;
	}
	if (hcreate_r(count_components(in), &r.index) == 0)
		rc = -ENOMEM;
	else
		rc = read_lines(&r, in);
	if (rc == -ENOMEM)
		fprintf(stderr, "%s: %s: not enough memory\n", program, file);
	hdestroy_r(&r.index);
	gzclose(in);
	free(r.spelled);
	return rc;
}

void optrace_free(struct optrace *trace)
{
	for (size_t i = 0; i < trace->npaths; i++)
		free(trace->paths[i].text);
	free(trace->paths);
	free(trace->ops);
	*trace = (struct optrace){ 0 };
}
