/* SPDX-License-Identifier: LGPL-3.0-or-later */
#ifndef POLICY_REPORT_H
#define POLICY_REPORT_H

#include "budget.h"
#include "measure.h"

/* The tables, on standard output; all: a line for each cell as well. */
void report_table(const struct measurement *m, bool all, bool tiers);

void report_budget_table(const struct budget_measurement *b);

/* The same as JSON, in the common format of the benchmarks, to a file ("-":
 * standard output).  Returns 0, -ENOMEM or -EIO. */
int report_json(const struct measurement *m, const struct budget_measurement *b,
		bool tiers, const char *command, const char *file);

#endif
