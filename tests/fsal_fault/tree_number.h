/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file tree_number.h
 * @brief The arithmetic of the computed tree
 *
 * Every object has a number: 1 is the root, then come the directories, then
 * the files and symlinks of the first directory, of the second, and so on.
 * Names, places, handles and content are functions of the number.
 */
#ifndef FAULT_TREE_NUMBER_H
#define FAULT_TREE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TREE_ROOT	     UINT64_C(1)

#define TREE_MAX_DIRECTORIES 100000000u
#define TREE_MAX_FILES	     100000000u

/** The longest name, with its end. */
#define TREE_NAME_SIZE 16

struct tree_shape {
	uint32_t directories;
	/** in each directory */
	uint32_t files;
	/** symlinks in each directory */
	uint32_t links;
	/** bytes */
	uint64_t file_size;
	bool readdir_plus;
};

enum tree_type {
	TREE_DIRECTORY,
	TREE_FILE,
	TREE_LINK
};

/** What clients get as a handle. Little-endian, as the tests need no other. */
struct tree_handle {
	/** which tree; see tree_id() */
	uint64_t tree;
	uint64_t number;
	/** follows from the others, so that a forged handle is told */
	uint64_t check;
};

/** @brief Mix the bits of a number (splitmix64's finalizer). */
uint64_t tree_mix(uint64_t z);

/** @brief The id of an export's tree: of another shape, another id. */
uint64_t tree_id(const struct tree_shape *shape, uint16_t export_id);

/** @brief The number of the last object. */
uint64_t tree_last(const struct tree_shape *shape);

enum tree_type tree_type(const struct tree_shape *shape, uint64_t number);

/** @brief The directory that an object is in; the root's is the root. */
uint64_t tree_parent(const struct tree_shape *shape, uint64_t number);

/** @brief How many names a directory has. */
uint64_t tree_entries(const struct tree_shape *shape, uint64_t directory);

/** @brief The object of a directory's name number @a index, from 0. */
uint64_t tree_child(const struct tree_shape *shape, uint64_t directory,
		    uint64_t index);

/** @brief An object's name in its directory; "" is the root's. */
void tree_name(const struct tree_shape *shape, uint64_t number,
	       char name[TREE_NAME_SIZE]);

/** @brief The object of a name, or 0 when there is none. */
uint64_t tree_lookup(const struct tree_shape *shape, uint64_t directory,
		     const char *name);

/** @brief What a symlink points at: a file beside it. */
void tree_target(const struct tree_shape *shape, uint64_t link,
		 char target[TREE_NAME_SIZE]);

void tree_make_handle(uint64_t tree, uint64_t number,
		      struct tree_handle *handle);

/**
 * @brief Look at a handle
 *
 * @param[in]  bytes, len  What a client sent
 * @param[in]  tree        The tree that it came to
 * @param[out] number      The object, which may be out of range
 *
 * @return false when no tree made this handle, or another one.
 */
bool tree_read_handle(const void *bytes, size_t len, uint64_t tree,
		      uint64_t *number);

/**
 * @brief A file's content
 *
 * Word w, of eight bytes and little-endian, is tree_mix(tree_mix(number) +
 * version + w).
 */
void tree_content(uint64_t number, uint32_t version, uint64_t offset, char *buf,
		  size_t len);

#endif /* FAULT_TREE_NUMBER_H */
