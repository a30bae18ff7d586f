/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file async.h
 * @brief Completing reads and writes later, on another thread
 */
#ifndef FAULT_ASYNC_H
#define FAULT_ASYNC_H

#include "fault.h"

/**
 * @brief Call back now, or after the time that is set for the operation
 *
 * The current export must be FAULT's, and is when done_cb is called.
 */
void fault_complete(enum fault_op op, fsal_async_cb done_cb,
		    struct fsal_obj_handle *obj, fsal_status_t status,
		    void *obj_data, void *caller_data);

/** @brief Start the thread; 0 or an errno. */
int fault_async_start(void);

/** @brief Complete what waits, at once, and end the thread. */
void fault_async_stop(void);

#endif /* FAULT_ASYNC_H */
