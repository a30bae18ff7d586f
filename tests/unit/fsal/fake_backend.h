/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file fake_backend.h
 * @brief A backend FSAL that records how it is called
 *
 * Every method notes its name, its arguments and the export that was current,
 * which must be the backend's own. Most return what they are told to; those
 * that return objects or call back do so.
 */
#ifndef FAKE_BACKEND_H
#define FAKE_BACKEND_H

#include "scale.h"
#include "slots.h"

#define FAKE_ARGS 10

/** The last call of a method. */
struct fake_call {
	const char *method; /**< NULL: none since fake_forget() */
	uintptr_t arg[FAKE_ARGS];
	struct fsal_export *ctx_export; /**< NULL, too, without a context */
	attrmask_t asked;		/**< of the list that it was given */
};

/** The size that each object has that is handed out with attributes. */
#define FAKE_SIZE 4321

struct fake_export {
	struct fsal_export export;
	const struct fsal_up_vector *up; /**< as create_export got it */
};

struct fake_obj {
	struct fsal_obj_handle obj;
	char key[32];
	size_t key_len;
};

extern struct fake_call fake_call;
extern struct fake_call fake_update; /**< the last of update_export */
extern uintptr_t fake_return;	     /**< what most methods return */
/** What they return instead, when it is set; fake_call is filled in. */
extern uintptr_t (*fake_answer)(void);
extern unsigned int fake_calls;	   /**< of any methods */
extern struct fake_obj *fake_made; /**< the last object handed out */
extern unsigned int fake_released; /**< objects released */
extern bool fake_fail_create;	   /**< let create_export fail */
extern fsal_errors_t fake_fail_status;
extern size_t fake_key_len; /**< host_to_key lies: this length; 0: it does not */
extern struct fsal_obj_handle *fake_open_returns;

/** A read or write that was begun: to be finished by the test. */
extern fsal_async_cb fake_io_cb;
extern void *fake_io_arg;

static inline void fake_forget(void)
{
	memset(&fake_call, 0, sizeof(fake_call));
}

/** @brief Register the backend under one more name. */
int fake_register(const char *name);

/** @brief The fake export below one of SCALE's. */
static inline struct fake_export *fake_below(struct fsal_export *scale)
{
	return container_of(scale->sub_export, struct fake_export, export);
}

#endif /* FAKE_BACKEND_H */
