// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * File-system operation traces to request streams.
 *
 * A trace is gzipped text, a line for each operation:
 *
 *     op TAB path TAB outcome TAB bytes TAB process [TAB path2]
 *
 * with trailing empty fields dropped.  A path is relative to the root of the
 * tree ("." is the root itself); "=N" means the N-th path (from 0) that was
 * spelled out before, path2 counted.  Operations are letters: F and Y work on
 * an open file and look no name up; U and V remove, R renames path to path2;
 * every other one looks path up.  Of the outcomes, "+" is success, "n", "x"
 * and "r" fail on something that exists, "-" found no such name.
 *
 * Each trace gives two streams, for a metadata cache has two questions:
 *
 *   NAME/objects  the attributes of existing objects: one request for each
 *                 operation on an object, and its removal.
 *   NAME/names    the name lookups: one request for each component of the
 *                 path, as a client without a name cache walks it.  A path
 *                 that does not exist ends at its first missing component.
 *                 Names are not removed: one that goes stays as negative.
 */
#include "stream.h"

#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LINE_SIZE 8192
#define MAX_DEPTH 128
#define NONE	  UINT32_MAX

struct node {
	uint32_t parent; /* NONE: a component of the root */
	uint32_t object; /* key in the objects stream, or NONE */
	uint32_t name;	 /* key in the names stream, or NONE */
	bool directory;	 /* something in it was found at some time */
};

struct operation {
	char op;
	char outcome;
	uint32_t path;
	uint32_t path2; /* NONE: absent */
};

struct trace {
	const char *file;
	size_t line;
	struct node *nodes;
	size_t nnodes;
	uint32_t *spelled; /* N of "=N" to node */
	size_t nspelled;
	struct operation *operations;
	size_t noperations;
	struct hsearch_data index; /* path to node + 1 */
	char **paths;		   /* keys of the index, one a node */
};

static int bad(const struct trace *t, const char *what)
{
	fprintf(stderr, "policy_sim: %s:%zu: %s\n", t->file, t->line, what);
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

/* The node of a path, made with those of its parents when it is new. */
static int intern(struct trace *t, const char *path, uint32_t *node)
{
	ENTRY key = { .key = (char *)path };
	ENTRY *found;
	uint32_t parent = NONE;
	const char *slash;
	int rc;

	if (hsearch_r(key, FIND, &found, &t->index) != 0) {
		*node = (uint32_t)(uintptr_t)found->data;
		return 0;
	}
	slash = strrchr(path, '/');
	if (slash != NULL && slash != path) {
		char *above = strndup(path, (size_t)(slash - path));

		if (above == NULL)
			return -ENOMEM;
		rc = intern(t, above, &parent);
		free(above);
		if (rc != 0)
			return rc;
	}
	if (grow(&t->nodes, t->nnodes, sizeof(*t->nodes)) != 0 ||
	    grow(&t->paths, t->nnodes, sizeof(*t->paths)) != 0)
		return -ENOMEM;
	key.key = strdup(path);
	if (key.key == NULL)
		return -ENOMEM;
	*node = (uint32_t)t->nnodes;
	t->paths[t->nnodes] = key.key;
	t->nodes[t->nnodes++] = (struct node){ parent, NONE, NONE, false };
	key.data = (void *)(uintptr_t)*node;
	if (hsearch_r(key, ENTER, &found, &t->index) == 0)
		return -ENOMEM;
	return 0;
}

static int parse_path(struct trace *t, const char *field, uint32_t *node)
{
	int rc;

	if (field[0] == '=') {
		char *end;
		unsigned long n = strtoul(field + 1, &end, 10);

		if (*end != '\0' || n >= t->nspelled)
			return bad(t, "reference to a path not yet spelled");
		*node = t->spelled[n];
		return 0;
	}
	if (grow(&t->spelled, t->nspelled, sizeof(*t->spelled)) != 0)
		return -ENOMEM;
	rc = intern(t, field, node);
	if (rc == 0)
		t->spelled[t->nspelled++] = *node;
	return rc;
}

static int parse_line(struct trace *t, char *line)
{
	char *fields[6] = { 0 };
	struct operation o = { .path2 = NONE };
	int rc;

	line[strcspn(line, "\n")] = '\0';
	for (unsigned i = 0; i < 6 && line != NULL; i++)
		fields[i] = strsep(&line, "\t");
	if (fields[2] == NULL || strlen(fields[0]) != 1 ||
	    strlen(fields[2]) != 1 || fields[1][0] == '\0')
		return bad(t, "not 'op TAB path TAB outcome ...'");
	o.op = fields[0][0];
	o.outcome = fields[2][0];
	rc = parse_path(t, fields[1], &o.path);
	if (rc == 0 && fields[5] != NULL && fields[5][0] != '\0')
		rc = parse_path(t, fields[5], &o.path2);
	if (rc != 0)
		return rc;
	if (grow(&t->operations, t->noperations, sizeof(o)) != 0)
		return -ENOMEM;
	t->operations[t->noperations++] = o;
	return 0;
}

/* The table of hsearch_r has a fixed size: count what it will have to hold. */
static size_t count_components(gzFile in)
{
	char line[LINE_SIZE];
	size_t count = 0;

	while (gzgets(in, line, sizeof(line)) != NULL) {
		for (const char *p = line; *p != '\0'; p++)
			count += *p == '/';
		count += 2;
	}
	gzrewind(in);
	return count;
}

static int load(struct trace *t)
{
	char line[LINE_SIZE];
	gzFile in = gzopen(t->file, "rb");
	int rc = 0;
	int zerror;

	if (in == NULL) {
		rc = errno ? -errno : -ENOMEM;
		fprintf(stderr, "policy_sim: %s: %s\n", t->file, strerror(-rc));
		return rc;
	}
	if (hcreate_r(count_components(in), &t->index) == 0)
		rc = -ENOMEM;
	while (rc == 0 && gzgets(in, line, sizeof(line)) != NULL) {
		t->line++;
		rc = parse_line(t, line);
	}
	if (rc == 0) {
		const char *text = gzerror(in, &zerror);

		if (zerror != Z_OK && zerror != Z_STREAM_END)
			rc = bad(t, text);
	}
	gzclose(in);
	return rc;
}

static bool exists(char outcome)
{
	return outcome == '+' || outcome == 'n' || outcome == 'x' ||
	       outcome == 'r';
}

static int emit_names(struct trace *t, struct stream *out,
		      const struct operation *o)
{
	uint32_t walk[MAX_DEPTH];
	unsigned depth = 0;
	int rc = 0;

	for (uint32_t n = o->path; n != NONE && depth < MAX_DEPTH;
	     n = t->nodes[n].parent)
		walk[depth++] = n;
	while (depth-- > 0 && rc == 0) {
		struct node *node = &t->nodes[walk[depth]];

		if (node->name == NONE)
			node->name = out->nkeys;
		rc = stream_use(out, node->name);
		if (!exists(o->outcome) && !node->directory)
			break;
	}
	return rc;
}

/* Opens and directory reads need more of an object than its attributes. */
static int emit_object(struct stream *out, struct node *node, char op)
{
	if (node->object == NONE)
		node->object = out->nkeys;
	if (strchr("OWCDX", op) != NULL)
		return stream_use_data(out, node->object);
	return stream_use(out, node->object);
}

static int drop_object(struct stream *out, struct node *node)
{
	uint32_t object = node->object;

	node->object = NONE;
	return object == NONE ? 0 : stream_remove(out, object);
}

static int emit_operation(struct trace *t, struct stream *out,
			  const struct operation *o)
{
	struct node *node = &t->nodes[o->path];
	int rc;

	if (!exists(o->outcome))
		return 0;
	rc = emit_object(out, node, o->op);
	if (rc != 0 || o->outcome != '+')
		return rc;
	if (o->op == 'U' || o->op == 'V')
		return drop_object(out, node);
	if (o->op == 'R' && o->path2 != NONE && o->path2 != o->path) {
		rc = drop_object(out, &t->nodes[o->path2]);
		t->nodes[o->path2].object = node->object;
		node->object = NONE;
	}
	return rc;
}

static int emit(struct trace *t, struct stream *objects, struct stream *names)
{
	int rc = 0;

	for (size_t i = 0; i < t->noperations; i++) {
		if (exists(t->operations[i].outcome)) {
			uint32_t n = t->nodes[t->operations[i].path].parent;

			for (; n != NONE && !t->nodes[n].directory;
			     n = t->nodes[n].parent)
				t->nodes[n].directory = true;
		}
	}
	for (size_t i = 0; i < t->noperations && rc == 0; i++) {
		const struct operation *o = &t->operations[i];

		rc = emit_operation(t, objects, o);
		if (rc == 0 && o->op != 'F' && o->op != 'Y')
			rc = emit_names(t, names, o);
		if (rc == 0 && o->path2 != NONE) {
			struct operation to = { o->op, o->outcome, o->path2,
						NONE };

			rc = emit_names(t, names, &to);
		}
	}
	return rc;
}

static void unload(struct trace *t)
{
	hdestroy_r(&t->index);
	for (size_t i = 0; i < t->nnodes; i++)
		free(t->paths[i]);
	free(t->paths);
	free(t->nodes);
	free(t->spelled);
	free(t->operations);
}

/* Move a stream to the list, by the file's name without its ending. */
static int add_named(struct stream_list *list, struct stream *made,
		     const char *path, const char *kind)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash != NULL ? slash + 1 : path;
	const char *end = strstr(base, ".tsv");
	int length = end != NULL ? (int)(end - base) : (int)strlen(base);
	struct stream *s;
	char name[256];

	snprintf(name, sizeof(name), "%.*s/%s", length, base, kind);
	s = stream_add(list, name);
	if (s == NULL)
		return -ENOMEM;
	made->name = s->name;
	*s = *made;
	made->requests = NULL;
	return 0;
}

int stream_read_trace(struct stream_list *list, const char *path)
{
	struct trace t = { .file = path };
	struct stream objects = { 0 };
	struct stream names = { 0 };
	int rc = load(&t);

	if (rc == 0)
		rc = emit(&t, &objects, &names);
	unload(&t);
	if (rc == 0)
		rc = add_named(list, &objects, path, "objects");
	if (rc == 0)
		rc = add_named(list, &names, path, "names");
	free(objects.requests);
	free(names.requests);
	return rc;
}
