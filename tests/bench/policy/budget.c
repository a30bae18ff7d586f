// SPDX-License-Identifier: LGPL-3.0-or-later
#include "budget.h"

#include "simulate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MIB ((uint64_t)1 << 20)

/* More keys than this for each MiB, and a budget is surely too small. */
#define KEYS_PER_MIB 12000

static const unsigned budgets_mib[] = { 2, 4 };

#define NBUDGETS (sizeof(budgets_mib) / sizeof(budgets_mib[0]))

static int measure_cell(struct budget_cell *c)
{
	int64_t rc;

	c->engine = engine_within_bytes(c->stream, c->bytes, &c->entries);
	rc = c->engine;
	if (rc >= 0)
		rc = c->lru = simulate(&policy_lru, c->stream, c->entries);
	if (rc >= 0)
		rc = c->policy =
			simulate(&policy_s3fifo_sharded, c->stream, c->entries);
	return rc < 0 ? (int)rc : 0;
}

int budget_measure(struct budget_measurement *m,
		   const struct stream_list *streams)
{
	int rc = 0;

	m->count = 0;
	m->cells = calloc(streams->count * NBUDGETS + 1, sizeof(*m->cells));
	if (m->cells == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < streams->count; i++) {
		const struct stream *s = &streams->streams[i];

		for (size_t k = 0; k < NBUDGETS && rc == 0; k++) {
			if (s->nkeys < KEYS_PER_MIB * budgets_mib[k])
				continue;
			m->cells[m->count] = (struct budget_cell){
				.stream = s,
				.bytes = budgets_mib[k] * MIB,
			};
			rc = measure_cell(&m->cells[m->count++]);
		}
	}
	return rc;
}

double budget_points(const struct budget_cell *c, int64_t misses)
{
	return 100.0 * (double)(misses - c->lru) / (double)c->stream->nuses;
}

double budget_worst(const struct budget_measurement *m)
{
	double worst = -INFINITY;

	for (size_t i = 0; i < m->count; i++) {
		double points = budget_points(&m->cells[i], m->cells[i].engine);

		worst = points > worst ? points : worst;
	}
	return worst;
}
