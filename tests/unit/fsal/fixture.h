/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file fixture.h
 * @brief SCALE on the recording backend, without a server
 */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "cunit_main.h"
#include "fake_backend.h"

#define SCALE_ON(backend) "FSAL { Name = SCALE; FSAL { Name = " backend "; } }"

extern struct gsh_export gsh;
extern struct req_op_context ctx;
extern struct fsal_up_vector super; /**< what SCALE sees as MDCACHE's */
extern struct fsal_export *scale;   /**< an export of SCALE's */
extern struct fsal_obj_handle *obj; /**< an object of that export */

/** @brief Suite initialiser: makes all of the above. */
int fixture_setup(void);

/**
 * @brief Give SCALE a FSAL block to make an export from
 *
 * @param[in]  block   The text
 * @param[out] errors  What was reported, to be freed. May be NULL
 *
 * @return The export, then current; or NULL.
 */
struct fsal_export *make_export(const char *block, char **errors);

/** @brief Give SCALE a FSAL block to update an export from; as above. */
fsal_status_t update_export_from(const char *block, struct fsal_export *exp,
				 char **errors);

/** @brief Release an export; then @ref scale is current. */
void release_export(struct fsal_export *exp);

/** @brief The backend's object below one of SCALE's. */
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
