/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file harness.h
 * @brief Exports of SCALE's, without a server
 */
#ifndef HARNESS_H
#define HARNESS_H

#include "cunit_main.h"
#include "object.h"

/** A block that makes SCALE pass everything on. */
#define SCALE_ON(backend) SCALE_WITH("Freshness = off;", backend)

/** A block with parameters of SCALE's own. */
#define SCALE_WITH(params, backend) \
	"FSAL { Name = SCALE; " params " FSAL { Name = " backend "; } }"

extern struct gsh_export gsh;
extern struct req_op_context ctx;
extern struct fsal_up_vector super; /**< what SCALE sees as MDCACHE's */
extern struct fsal_export *scale;   /**< the export that tests are about */

/** @brief Make Ganesha's library, and all but the export, ready. */
void harness_start(void);

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
void remove_export(struct fsal_export *exp);

#endif /* HARNESS_H */
