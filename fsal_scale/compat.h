/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file compat.h
 * @brief What differs between Ganesha's versions
 *
 * The only file that may ask which version it is built for. Built and tested
 * with 4.3 (FSAL 11).
 */
#ifndef SCALE_COMPAT_H
#define SCALE_COMPAT_H

#include "fsal.h"
#include "config_parsing.h"
/* Not one of Ganesha's public headers: struct config_node, for the file and
 * line of a parameter and for a number's sign. Ganesha's own reporting of
 * errors (config_proc_error()) is not exported to FSALs.
 */
#include "config_parsing/analyse.h"

#if FSAL_MAJOR_VERSION != 11
#error "FSAL_SCALE supports Ganesha 4.3 (FSAL version 11) only"
#endif

/**
 * @brief Initialise the public part of an object
 *
 * fsal_obj_handle_init() would also put it on the module's list, under the
 * module's one lock, which every creation and every release would then fight
 * for. The list's only reader is the clean-up of lost objects at shutdown,
 * and SCALE must not be on it: the backend's object may have been released
 * from the backend's own list by then, and would be released twice.
 */
static inline void compat_obj_init(struct fsal_obj_handle *obj,
				   struct fsal_module *fsal,
				   struct fsal_obj_ops *ops,
				   object_file_type_t type)
{
	glist_init(&obj->handles);
	obj->fsal = fsal;
	obj->obj_ops = ops;
	obj->type = type;
	PTHREAD_RWLOCK_init(&obj->obj_lock, NULL);
}

/** @brief Undo compat_obj_init(). */
static inline void compat_obj_fini(struct fsal_obj_handle *obj)
{
	PTHREAD_RWLOCK_destroy(&obj->obj_lock);
	obj->obj_ops = NULL;
	obj->fsal = NULL;
}

#endif /* SCALE_COMPAT_H */
