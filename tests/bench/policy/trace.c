// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * File-system operation traces to request streams.
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
#include "optrace.h"
#include "stream.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE OPTRACE_NONE

/* What the streams know of a path. */
struct node {
	uint32_t object; /* key in the objects stream, or NONE */
	uint32_t name;	 /* key in the names stream, or NONE */
	bool directory;	 /* something in it was found at some time */
};

struct streams {
	const struct optrace *trace;
	struct node *nodes; /* one a path */
	struct stream objects;
	struct stream names;
};

static int emit_names(struct streams *s, uint32_t path, char outcome)
{
	uint32_t walk[OPTRACE_MAX_DEPTH];
	unsigned depth = 0;
	int rc = 0;

	do {
		walk[depth++] = path;
		path = s->trace->paths[path].parent;
	} while (path != NONE && path != OPTRACE_ROOT);
	while (depth-- > 0 && rc == 0) {
		struct node *node = &s->nodes[walk[depth]];

		if (node->name == NONE)
			node->name = s->names.nkeys;
		rc = stream_use(&s->names, node->name);
		if (!optrace_exists(outcome) && !node->directory)
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

static int emit_operation(struct streams *s, const struct optrace_op *o)
{
	struct node *node = &s->nodes[o->path];
	int rc;

	if (!optrace_exists(o->outcome))
		return 0;
	rc = emit_object(&s->objects, node, o->op);
	if (rc != 0 || o->outcome != '+')
		return rc;
	if (o->op == 'U' || o->op == 'V')
		return drop_object(&s->objects, node);
	if (o->op == 'R' && o->path2 != o->path) {
		rc = drop_object(&s->objects, &s->nodes[o->path2]);
		s->nodes[o->path2].object = node->object;
		node->object = NONE;
	}
	return rc;
}

static void find_directories(struct streams *s)
{
	const struct optrace *t = s->trace;

	for (size_t i = 0; i < t->nops; i++) {
		if (optrace_exists(t->ops[i].outcome)) {
			uint32_t n = t->paths[t->ops[i].path].parent;

			for (; n != NONE && !s->nodes[n].directory;
			     n = t->paths[n].parent)
				s->nodes[n].directory = true;
		}
	}
}

static int emit(struct streams *s)
{
	const struct optrace *t = s->trace;
	int rc = 0;

	s->nodes = malloc(t->npaths * sizeof(*s->nodes));
	if (s->nodes == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < t->npaths; i++)
		s->nodes[i] = (struct node){ NONE, NONE, false };
	find_directories(s);
	for (size_t i = 0; i < t->nops && rc == 0; i++) {
		const struct optrace_op *o = &t->ops[i];

		rc = emit_operation(s, o);
		if (rc == 0 && optrace_looks_up(o))
			rc = emit_names(s, o->path, o->outcome);
		if (rc == 0 && o->path2 != NONE)
			rc = emit_names(s, o->path2, o->outcome);
	}
	free(s->nodes);
	return rc;
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
	struct optrace trace;
	struct streams s = { .trace = &trace };
	int rc = optrace_read(&trace, path, "policy_sim");

	if (rc == 0)
		rc = emit(&s);
	optrace_free(&trace);
	if (rc == 0)
		rc = add_named(list, &s.objects, path, "objects");
	if (rc == 0)
		rc = add_named(list, &s.names, path, "names");
	free(s.objects.requests);
	free(s.names.requests);
	return rc;
}
