// SPDX-License-Identifier: LGPL-3.0-or-later
#include "tally.h"

#include <string.h>

void tally_clear(struct tally *tally)
{
	memset(tally, 0, sizeof(*tally));
}

void tally_add(struct tally *tally, enum op op, uint64_t response,
	       uint64_t service)
{
	latency_add(&tally->ops[op].response, response);
	latency_add(&tally->ops[op].service, service);
}

static void count_status(struct tally *tally, uint32_t status, uint64_t count)
{
	int i = 0;

	while (tally->statuses[i].count && tally->statuses[i].status != status)
		if (++i == TALLY_STATUSES - 1) {
			status = TALLY_OTHER;
			break;
		}
	tally->statuses[i].status = status;
	tally->statuses[i].count += count;
}

void tally_error(struct tally *tally, enum op op, uint32_t status)
{
	tally->ops[op].errors++;
	tally->errors++;
	count_status(tally, status, 1);
}

void tally_merge(struct tally *into, const struct tally *from)
{
	for (int op = 0; op < OP_COUNT; op++) {
		latency_merge(&into->ops[op].response, &from->ops[op].response);
		latency_merge(&into->ops[op].service, &from->ops[op].service);
		into->ops[op].errors += from->ops[op].errors;
	}
	latency_merge(&into->late, &from->late);
	into->requests += from->requests;
	into->waits += from->waits;
	into->upkeep += from->upkeep;
	into->overdue += from->overdue;
	into->errors += from->errors;
	for (int i = 0; i < TALLY_STATUSES && from->statuses[i].count; i++)
		count_status(into, from->statuses[i].status,
			     from->statuses[i].count);
}

struct summary summary_of(const struct latency *l)
{
	return (struct summary){
		.count = l->count,
		.mean = latency_mean(l) / 1e6,
		.p50 = (double)latency_percentile(l, 0.5) / 1e6,
		.p99 = (double)latency_percentile(l, 0.99) / 1e6,
		.max = (double)l->max / 1e6,
	};
}
