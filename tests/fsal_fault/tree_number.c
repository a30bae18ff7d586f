// SPDX-License-Identifier: LGPL-3.0-or-later
#include "tree_number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_DIRECTORY (TREE_ROOT + 1)

uint64_t tree_mix(uint64_t z)
{
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

uint64_t tree_id(const struct tree_shape *shape, uint16_t export_id)
{
	uint64_t id = tree_mix(export_id + UINT64_C(1));

	id = tree_mix(id + shape->directories);
	id = tree_mix(id + shape->files);
	return tree_mix(id + shape->links);
}

static uint64_t per_directory(const struct tree_shape *shape)
{
	return (uint64_t)shape->files + shape->links;
}

static uint64_t first_child(const struct tree_shape *shape)
{
	return FIRST_DIRECTORY + shape->directories;
}

uint64_t tree_last(const struct tree_shape *shape)
{
	return first_child(shape) - 1 +
	       shape->directories * per_directory(shape);
}

enum tree_type tree_type(const struct tree_shape *shape, uint64_t number)
{
	if (number < first_child(shape))
		return TREE_DIRECTORY;
	return (number - first_child(shape)) % per_directory(shape) <
			       shape->files ?
		       TREE_FILE :
		       TREE_LINK;
}

uint64_t tree_parent(const struct tree_shape *shape, uint64_t number)
{
	if (number < first_child(shape))
		return TREE_ROOT;
	return FIRST_DIRECTORY +
	       (number - first_child(shape)) / per_directory(shape);
}

uint64_t tree_entries(const struct tree_shape *shape, uint64_t directory)
{
	return directory == TREE_ROOT ? shape->directories :
					per_directory(shape);
}

uint64_t tree_child(const struct tree_shape *shape, uint64_t directory,
		    uint64_t index)
{
	if (directory == TREE_ROOT)
		return FIRST_DIRECTORY + index;
	return first_child(shape) +
	       (directory - FIRST_DIRECTORY) * per_directory(shape) + index;
}

void tree_name(const struct tree_shape *shape, uint64_t number,
	       char name[TREE_NAME_SIZE])
{
	uint32_t index;

	if (number == TREE_ROOT) {
		name[0] = '\0';
	} else if (number < first_child(shape)) {
		index = number - FIRST_DIRECTORY;
		snprintf(name, TREE_NAME_SIZE, "d%05u", index + 1);
	} else {
		index = (number - first_child(shape)) % per_directory(shape);
		if (index < shape->files)
			snprintf(name, TREE_NAME_SIZE, "f%04u", index + 1);
		else
			snprintf(name, TREE_NAME_SIZE, "l%04u",
				 index - shape->files + 1);
	}
}

uint64_t tree_lookup(const struct tree_shape *shape, uint64_t directory,
		     const char *name)
{
	char canonical[TREE_NAME_SIZE];
	uint64_t index;
	uint64_t number;

	if (name[0] == '\0' || strlen(name) >= TREE_NAME_SIZE)
		return 0;
	/* Whatever is not the name of the number is refused below. */
	index = strtoull(name + 1, NULL, 10) - 1;
	if (name[0] == 'l')
		index += shape->files;
	if (index >= tree_entries(shape, directory))
		return 0;
	number = tree_child(shape, directory, index);
	tree_name(shape, number, canonical);
	return strcmp(name, canonical) == 0 ? number : 0;
}

void tree_target(const struct tree_shape *shape, uint64_t link,
		 char target[TREE_NAME_SIZE])
{
	uint32_t index = (link - first_child(shape)) % per_directory(shape) -
			 shape->files;

	if (shape->files > 0)
		index %= shape->files;
	snprintf(target, TREE_NAME_SIZE, "f%04u", index + 1);
}

static uint64_t check_of(uint64_t tree, uint64_t number)
{
	return tree_mix(tree ^ tree_mix(number));
}

void tree_make_handle(uint64_t tree, uint64_t number,
		      struct tree_handle *handle)
{
	handle->tree = tree;
	handle->number = number;
	handle->check = check_of(tree, number);
}

bool tree_read_handle(const void *bytes, size_t len, uint64_t tree,
		      uint64_t *number)
{
	struct tree_handle handle;

	if (len != sizeof(handle))
		return false;
	memcpy(&handle, bytes, sizeof(handle));
	*number = handle.number;
	return handle.tree == tree &&
	       handle.check == check_of(tree, handle.number);
}

void tree_content(uint64_t number, uint32_t version, uint64_t offset, char *buf,
		  size_t len)
{
	uint64_t seed = tree_mix(number) + version;

	while (len > 0) {
		uint64_t word = tree_mix(seed + offset / 8);
		size_t skip = offset % 8;
		size_t part = len < 8 - skip ? len : 8 - skip;

		memcpy(buf, (const char *)&word + skip, part);
		buf += part;
		offset += part;
		len -= part;
	}
}
