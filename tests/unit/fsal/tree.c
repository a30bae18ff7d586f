// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The file system of tree.h, without the backend.
 */
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>

#include "nfs4_acls.h"

struct tree tree;

static struct tree_node *new_node(uint64_t fsid, object_file_type_t type)
{
	struct tree_node *node = calloc(1, sizeof(*node));

	node->fsid = fsid;
	node->id = ++tree.last_id;
	node->type = type;
	node->mode = type == DIRECTORY ? 0755 : 0644;
	tree_touch(node);
	glist_add_tail(&tree.nodes, &node->all);
	return node;
}

static struct tree_node *new_root(uint64_t fsid)
{
	struct tree_node *root = new_node(fsid, DIRECTORY);

	root->nlink = 2;
	root->parent = root;
	return root;
}

static void free_node(struct tree_node *node)
{
	for (size_t i = 0; i < node->num_names; i++)
		free(node->names[i].name);
	if (node->acl != NULL)
		nfs4_acl_release_entry(node->acl);
	free(node->names);
	free(node->target);
	free(node);
}

void tree_reset(void)
{
	struct glist_head *node, *next;

	if (tree.root != NULL) {
		glist_for_each_safe(node, next, &tree.nodes)
			free_node(glist_entry(node, struct tree_node, all));
	}
	memset(&tree, 0, sizeof(tree));
	glist_init(&tree.nodes);
	tree.supported = ATTRS_POSIX;
	tree.gives = ATTRS_POSIX;
	tree.root = new_root(1);
	tree.other = new_root(2);
}

/* Long ago, and later each time: modes that look at the clock rely on it. */
void tree_touch(struct tree_node *node)
{
	static uint64_t clock = 1000;

	node->change = ++clock;
	node->ctime.tv_sec = (time_t)(1000000000 + clock);
}

static struct tree_name *find_name(const struct tree_node *dir,
				   const char *name)
{
	for (size_t i = 0; i < dir->num_names; i++) {
		if (strcmp(dir->names[i].name, name) == 0)
			return &dir->names[i];
	}
	return NULL;
}

struct tree_node *tree_find(const struct tree_node *dir, const char *name)
{
	const struct tree_name *found = find_name(dir, name);

	return found != NULL ? found->node : NULL;
}

static void drop_name(struct tree_node *dir, struct tree_name *name)
{
	size_t i = (size_t)(name - dir->names);

	free(name->name);
	dir->num_names--;
	memmove(name, name + 1, (dir->num_names - i) * sizeof(*name));
	tree_touch(dir);
}

void tree_link(struct tree_node *dir, const char *name, struct tree_node *node)
{
	struct tree_name *names =
		realloc(dir->names, (dir->num_names + 1) * sizeof(*names));

	if (names == NULL)
		abort();
	dir->names = names;
	names[dir->num_names++] = (struct tree_name){
		.name = strdup(name), .node = node, .cookie = ++tree.last_cookie
	};
	if (node->type == DIRECTORY)
		node->parent = dir;
	else
		node->nlink++;
	tree_touch(node);
	tree_touch(dir);
}

struct tree_node *tree_make(struct tree_node *dir, const char *name,
			    object_file_type_t type)
{
	struct tree_node *node = new_node(dir->fsid, type);

	if (type == DIRECTORY)
		node->nlink = 2;
	tree_link(dir, name, node);
	return node;
}

static void unlinked(struct tree_node *node)
{
	node->nlink = node->type == DIRECTORY ? 0 : node->nlink - 1;
	tree_touch(node);
}

void tree_remove(struct tree_node *dir, const char *name)
{
	struct tree_name *found = find_name(dir, name);

	unlinked(found->node);
	drop_name(dir, found);
}

void tree_rename(struct tree_node *from, const char *old_name,
		 struct tree_node *to, const char *new_name)
{
	struct tree_name *old = find_name(from, old_name);
	struct tree_name *replaced = find_name(to, new_name);
	struct tree_node *node = old->node;

	if (replaced != NULL && replaced->node == node)
		return;
	if (replaced != NULL)
		tree_remove(to, new_name);
	drop_name(from, find_name(from, old_name));
	if (node->type != DIRECTORY)
		node->nlink--;
	tree_link(to, new_name, node);
}

/* fsid and id, and bytes that say nothing. */
static size_t handle(const struct tree_node *node, char *buf)
{
	memcpy(buf, &node->fsid, sizeof(node->fsid));
	memcpy(buf + 8, &node->id, sizeof(node->id));
	memset(buf + 16, 'p', tree.key_padding);
	return 16 + tree.key_padding;
}

size_t tree_wire(const struct tree_node *node, char *buf)
{
	size_t len = handle(node, buf);

	for (size_t i = 0; tree.wire_apart && i < len; i++)
		buf[i] = (char)~buf[i];
	return len;
}

size_t tree_key(const struct tree_node *node, char *buf)
{
	size_t len = handle(node, buf);

	memset(buf + len, 'x', tree.key_extra);
	return len + tree.key_extra;
}
