/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file tree.h
 * @brief The computed tree, as a backend below FAULT
 *
 * It is a FSAL that Ganesha does not know of: FAULT makes its exports.
 */
#ifndef FAULT_TREE_H
#define FAULT_TREE_H

#include "fault.h"

#include "changes.h"
#include "tree_number.h"

struct tree_export {
	struct fsal_export export;
	struct tree_shape shape;
	uint64_t id;
	struct changes changes;
};

struct tree_obj {
	struct fsal_obj_handle obj;
	uint64_t number;
	struct tree_handle handle;
};

extern struct fsal_module tree_module;
extern struct fsal_obj_ops tree_obj_ops;

static inline bool tree_is_module(const struct fsal_module *module)
{
	return module == &tree_module;
}

static inline struct tree_export *tree_export(struct fsal_export *exp_hdl)
{
	return container_of(exp_hdl, struct tree_export, export);
}

static inline struct tree_obj *tree_obj(const struct fsal_obj_handle *obj_hdl)
{
	return (struct tree_obj *)container_of(obj_hdl, const struct tree_obj,
					       obj);
}

/** @brief Set up the module. */
void tree_init(void);

/** @brief Make a tree's export the current one. */
void tree_create_export(const struct tree_shape *shape);

/** @brief Make an object; fills in its attributes unless @a attrs is NULL. */
struct fsal_obj_handle *tree_new(struct tree_export *exp, uint64_t number,
				 struct fsal_attrlist *attrs);

/**
 * @brief Is there such an object now?
 *
 * Numbers out of range, and what is hidden or in a hidden directory, are not.
 */
bool tree_exists(struct tree_export *exp, uint64_t number);

void tree_get_attrs(struct tree_export *exp, uint64_t number,
		    struct fsal_attrlist *attrs);

/** tree_dir.c */
void tree_dir_ops_init(struct fsal_obj_ops *ops);
/** tree_file.c */
void tree_file_ops_init(struct fsal_obj_ops *ops);
struct state_t *tree_alloc_state(struct fsal_export *exp_hdl,
				 enum state_type type, struct state_t *related);
void tree_free_state(struct fsal_export *exp_hdl, struct state_t *state);

#endif /* FAULT_TREE_H */
