/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file count.h
 * @brief Reading and resetting the counts
 */
#ifndef FAULT_COUNT_H
#define FAULT_COUNT_H

#include "fault.h"

/**
 * @brief Sum up counts
 *
 * @param[in]  export_id  Of one export, or -1: of all, also of those that are
 *                        gone and of calls without an export
 * @param[out] sum        The counts
 *
 * @return false when there is no such export.
 */
bool fault_sum_counts(int export_id, struct fault_counts *sum);

void fault_reset_counts(void);

/** @brief Call back for each export. */
void fault_each_export(void (*cb)(const struct fault_export *exp, void *arg),
		       void *arg);

#endif /* FAULT_COUNT_H */
