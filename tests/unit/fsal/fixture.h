/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file fixture.h
 * @brief SCALE on the recording backend, without a server
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "fake_backend.h"
#include "harness.h"

/** @ref scale is an export of it; this is an object of that. */
extern struct fsal_obj_handle *obj;

/** @brief Suite initialiser: makes them. */
int fixture_setup(void);

/** @brief The backend's object that one of SCALE's owns; else NULL. */
struct fsal_obj_handle *sub_of(struct fsal_obj_handle *handle);

/**
 * @brief Check that a method went down to the backend, and the way back
 *
 * @param[in] method  Of the backend, the last that was called
 * @param[in] theirs  The backend's object or export it was called with
 */
void check_down(const char *method, const void *theirs);

/**
 * @brief Check an object that SCALE made from the backend's last one
 *
 * Releases it.
 */
void check_new(struct fsal_obj_handle *new_obj);

#endif /* FIXTURE_H */
