/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file pass.h
 * @brief Methods that only pass a call through
 *
 * Each macro defines fault_OP with the parameters params, which calls the
 * backend's method with the arguments args. In an object method (SELF) the
 * object is called self and the backend's object sub; in an export method
 * (EXPORT) the export is called exp and the backend's export below.
 */
#ifndef FAULT_PASS_H
#define FAULT_PASS_H

#include "fault.h"

/** The first parameter of an object method, and of an export method. */
#define SELF   struct fsal_obj_handle *self
#define EXPORT struct fsal_export *exp

/** An object method that returns a status. */
#define PASS(op, params, args)                                   \
	static fsal_status_t fault_##op params                   \
	{                                                        \
		struct fsal_obj_handle *sub = fault_sub(self);   \
		fsal_status_t status = { ERR_FSAL_NO_ERROR, 0 }; \
		struct fault_call call;                          \
                                                                 \
		if (fault_begin(&call, FAULT_OP_##op, NULL))     \
			status = sub->obj_ops->op args;          \
		return fault_end(&call, status);                 \
	}

/** An object method that makes an object, *handle, with attributes attrs. */
#define PASS_NEW(op, params, args)                                           \
	static fsal_status_t fault_##op params                               \
	{                                                                    \
		struct fsal_obj_handle *sub = fault_sub(self);               \
		struct fsal_obj_handle *sub_new = NULL;                      \
		fsal_status_t status = { ERR_FSAL_NO_ERROR, 0 };             \
		struct fault_call call;                                      \
                                                                             \
		if (fault_begin(&call, FAULT_OP_##op, NULL))                 \
			status = sub->obj_ops->op args;                      \
		return fault_end_new(&call, status, sub_new, handle, attrs); \
	}

/** An object method that returns a value of a type and cannot be failed. */
#define PASS_VALUE(type, op, params, args)                     \
	static type fault_##op params                          \
	{                                                      \
		struct fsal_obj_handle *sub = fault_sub(self); \
		struct fault_call call;                        \
		type value;                                    \
                                                               \
		fault_begin_sure(&call, FAULT_OP_##op, NULL);  \
		value = sub->obj_ops->op args;                 \
		fault_up(&call);                               \
		return value;                                  \
	}

/** An object method that returns nothing. */
#define PASS_VOID(op, params, args)                            \
	static void fault_##op params                          \
	{                                                      \
		struct fsal_obj_handle *sub = fault_sub(self); \
		struct fault_call call;                        \
                                                               \
		fault_begin_sure(&call, FAULT_OP_##op, NULL);  \
		sub->obj_ops->op args;                         \
		fault_up(&call);                               \
	}

/** An export method that returns a status. */
#define PASS_EXP(op, params, args)                               \
	static fsal_status_t fault_##op params                   \
	{                                                        \
		struct fsal_export *below = exp->sub_export;     \
		fsal_status_t status = { ERR_FSAL_NO_ERROR, 0 }; \
		struct fault_call call;                          \
                                                                 \
		if (fault_begin(&call, FAULT_OP_##op, exp))      \
			status = below->exp_ops.op args;         \
		return fault_end(&call, status);                 \
	}

/** An export method that makes an object, *handle, with attributes attrs. */
#define PASS_EXP_NEW(op, params, args)                                       \
	static fsal_status_t fault_##op params                               \
	{                                                                    \
		struct fsal_export *below = exp->sub_export;                 \
		struct fsal_obj_handle *sub_new = NULL;                      \
		fsal_status_t status = { ERR_FSAL_NO_ERROR, 0 };             \
		struct fault_call call;                                      \
                                                                             \
		if (fault_begin(&call, FAULT_OP_##op, exp))                  \
			status = below->exp_ops.op args;                     \
		return fault_end_new(&call, status, sub_new, handle, attrs); \
	}

/** An export method that returns a value of a type and cannot be failed. */
#define PASS_EXP_VALUE(type, op, params, args)               \
	static type fault_##op params                        \
	{                                                    \
		struct fsal_export *below = exp->sub_export; \
		struct fault_call call;                      \
		type value;                                  \
                                                             \
		fault_begin_sure(&call, FAULT_OP_##op, exp); \
		value = below->exp_ops.op args;              \
		fault_up(&call);                             \
		return value;                                \
	}

/** An export method that returns nothing. */
#define PASS_EXP_VOID(op, params, args)                      \
	static void fault_##op params                        \
	{                                                    \
		struct fsal_export *below = exp->sub_export; \
		struct fault_call call;                      \
                                                             \
		fault_begin_sure(&call, FAULT_OP_##op, exp); \
		below->exp_ops.op args;                      \
		fault_up(&call);                             \
	}

#endif /* FAULT_PASS_H */
