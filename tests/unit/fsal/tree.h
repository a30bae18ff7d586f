/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file tree.h
 * @brief A file system in memory, and a backend FSAL that serves it
 *
 * It keeps what a backend has to keep (attributes with a change counter, names
 * in the order of their making, links, share reservations in its objects) and
 * watches over its own use: which methods are called and how often, whether
 * its export is current, whether an object is used after its release, and
 * released with a state that is open.
 *
 * A call can be made to fail, before or after it has done its work, and a hook
 * can be run in the middle of it, as if by another thread.
 *
 * tree_make() and the like are foreign changes: SCALE does not hear of them.
 */
#ifndef TREE_H
#define TREE_H

#include "scale.h"

/** X(symbol): methods that cost a call. What only computes is not counted. */
#define TREE_OPS(X) \
	X(GETATTRS) \
	X(SETATTR)  \
	X(LOOKUP)   \
	X(READDIR)  \
	X(READLINK) \
	X(MKDIR)    \
	X(MKNODE)   \
	X(SYMLINK)  \
	X(LINK)     \
	X(RENAME)   \
	X(UNLINK)   \
	X(OPEN)     \
	X(REOPEN)   \
	X(CLOSE2)   \
	X(READ)     \
	X(WRITE)    \
	X(LOCK) X(CREATE_HANDLE) X(LOOKUP_PATH) X(SPACE) X(XATTR) X(OTHER)

enum tree_op {
#define TREE_OP_ENUM(symbol) TREE_##symbol,
	TREE_OPS(TREE_OP_ENUM)
#undef TREE_OP_ENUM
	TREE_OP_COUNT
};

/** A directory's entry. */
struct tree_name {
	char *name;
	struct tree_node *node;
	uint64_t cookie;
};

struct tree_node {
	struct glist_head all;
	uint64_t fsid;
	uint64_t id;
	object_file_type_t type;
	uint32_t mode;
	uint32_t nlink; /**< 0: removed */
	uint64_t owner;
	uint64_t size;
	uint64_t change;
	struct timespec ctime;
	fsal_acl_t *acl; /**< with a reference, or NULL */
	char *target;
	struct tree_node *parent; /**< of a directory */
	struct tree_name *names;
	size_t num_names;
	struct tree_obj *obj; /**< the one object, if tree.same_object */
};

/** The backend's object. */
struct tree_obj {
	struct fsal_obj_handle obj;
	unsigned int magic;
	struct tree_node *node;
	unsigned int refs; /**< more than 1 only if tree.same_object */
	unsigned int states;
	unsigned int writers;
	unsigned int deny_write;
	bool fd; /**< left open by I/O without a state */
	char key[160];
	size_t key_len;
};

struct tree_hook {
	enum tree_op op;
	bool after; /**< the work is done, but not yet told */
	void (*run)(void *arg);
	void *arg;
};

struct tree_fault {
	fsal_errors_t error; /**< 0: none */
	bool after;	     /**< it did its work all the same */
	unsigned int times;
};

struct tree {
	struct tree_node *root;	 /**< fsid 1 */
	struct tree_node *other; /**< the root of fsid 2 */
	struct glist_head nodes;
	uint64_t last_id;
	uint64_t last_cookie;

	unsigned int calls[TREE_OP_COUNT];
	unsigned int total;
	unsigned int objects; /**< not yet released */
	unsigned int states;  /**< allocated */
	unsigned int wrong;   /**< misuse, which was printed */
	unsigned int closed;  /**< descriptors of objects */

	struct tree_hook hook; /**< runs once */
	struct tree_fault faults[TREE_OP_COUNT];
	uint64_t delay_ns[TREE_OP_COUNT]; /**< of each call; see passing.h */
	uint64_t name_delay_ns;		  /**< of each name of a listing */
	size_t batch;			  /**< names of one readdir; 0: all */
	attrmask_t supported;		  /**< what exports say */
	attrmask_t gives;      /**< what they give, if it is asked for */
	bool gives_asked_only; /**< and nothing that was not asked for */
	uint64_t supports;     /**< bits of fsal_fsinfo_options_t */
	bool same_object;      /**< create_handle returns a living object */
	bool check_fsid;       /**< of handles, against the export's root */
	uint64_t refused_uid;  /**< may not search or list; 0: nobody */
	size_t key_extra;      /**< bytes of a key behind the wire handle */
	size_t key_padding;    /**< bytes of a handle behind the id */
	bool wire_apart;       /**< the wire handle is not in the key */
	bool stuck;	       /**< a listing goes on and gives nothing */
	bool lie_nothing;      /**< lookups and so on return no object */
	struct tree_node *lie_other; /**< what create_handle makes */
};

extern struct tree tree;

/** @brief An empty file system, with two roots; forgets all that was set. */
void tree_reset(void);

/** @brief Register the backend under a name. */
int tree_register(const char *name);

struct tree_node *tree_make(struct tree_node *dir, const char *name,
			    object_file_type_t type);
struct tree_node *tree_find(const struct tree_node *dir, const char *name);
void tree_remove(struct tree_node *dir, const char *name);
void tree_link(struct tree_node *dir, const char *name, struct tree_node *node);
void tree_rename(struct tree_node *from, const char *old_name,
		 struct tree_node *to, const char *new_name);

/** @brief Something about it is different now: its change and ctime. */
void tree_touch(struct tree_node *node);

/** @brief The wire handle, and the backend's key of a node. */
size_t tree_wire(const struct tree_node *node, char *buf);
size_t tree_key(const struct tree_node *node, char *buf);

/** @brief Let the next calls fail. */
static inline void tree_fail(enum tree_op op, fsal_errors_t error, bool after,
			     unsigned int times)
{
	tree.faults[op] = (struct tree_fault){ error, after, times };
}

/** @brief Run something in the middle of the next call, once. */
static inline void tree_hook(enum tree_op op, bool after,
			     void (*run)(void *arg), void *arg)
{
	tree.hook = (struct tree_hook){ op, after, run, arg };
}

/** The vector that an export of the backend was given. */
const struct fsal_up_vector *tree_up(const struct fsal_export *sub_export);

#endif /* TREE_H */
