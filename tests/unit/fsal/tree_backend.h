/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file tree_backend.h
 * @brief What the parts of the backend of tree.h share
 */
#ifndef TREE_BACKEND_H
#define TREE_BACKEND_H

#include "tree.h"

extern struct fsal_obj_ops tree_obj_ops;

/** @brief SCALE did what no backend need bear. */
void tree_wrong(const char *what);

/** @return false when the call is to fail at once, with @a status. */
bool tree_begin(enum tree_op op, fsal_status_t *status);

/** @return What to return instead of @a status, when the work is done. */
fsal_status_t tree_end(enum tree_op op, fsal_status_t status);

struct tree_obj *tree_obj(const struct fsal_obj_handle *obj_hdl);

/** @brief A backend's object of a node. */
struct fsal_obj_handle *tree_new_obj(struct tree_node *node);

/** @brief Was it removed, and is not open either? */
bool tree_dead(const struct tree_obj *obj, fsal_status_t *status);

void tree_fill(struct fsal_attrlist *attrs, const struct tree_node *node);

/* tree_export.c */

fsal_status_t tree_create_export(struct fsal_module *fsal_hdl, void *parse_node,
				 struct config_error_type *err_type,
				 const struct fsal_up_vector *up_ops);

/* tree_file.c */

void tree_file_ops_init(struct fsal_obj_ops *ops);
void tree_file_export_ops_init(struct export_ops *ops);

#endif /* TREE_BACKEND_H */
