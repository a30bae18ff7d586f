/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file report.h
 * @brief Counts and settings as JSON
 */
#ifndef FAULT_REPORT_H
#define FAULT_REPORT_H

#include <jansson.h>

#include "fault.h"

/**
 * @brief Report counts
 *
 * "counts" and "failed": by operation, without those that are zero; "calls"
 * and "local": the sums of each class.
 */
void fault_report_counts(const struct fault_counts *counts, json_t *answer);

/** @brief Report operations, exports and settings. */
void fault_report_info(json_t *answer);

/**
 * @brief An error's number by its name
 *
 * @param[in]  name   As STALE for ERR_FSAL_STALE; none for no error
 * @param[out] error  The number
 *
 * @return false when there is no such error.
 */
bool fault_error_number(const char *name, fsal_errors_t *error);

#endif /* FAULT_REPORT_H */
