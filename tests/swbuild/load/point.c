// SPDX-License-Identifier: LGPL-3.0-or-later
#include "point.h"

#include <math.h>
#include <string.h>

#include "shape.h"

unsigned point_processes(double builds)
{
	double processes = round(builds * PROCESSES_PER_BUILD);

	return processes < 1 ? 1 : (unsigned)processes;
}

void point_fill(struct point *point, const struct tally *tally)
{
	struct latency response = { 0 }, service = { 0 };

	for (int op = 0; op < OP_COUNT; op++) {
		const struct op_tally *from = &tally->ops[op];

		point->ops[op] = (struct op_point){
			.response = summary_of(&from->response),
			.service = summary_of(&from->service),
			.errors = from->errors,
		};
		latency_merge(&response, &from->response);
		latency_merge(&service, &from->service);
	}
	point->all = (struct op_point){ .response = summary_of(&response),
					.service = summary_of(&service),
					.errors = tally->errors };
	point->achieved_rate = (double)response.count / point->seconds;
	point->late = summary_of(&tally->late);
	point->requests = tally->requests;
	point->waits = tally->waits;
	point->upkeep = tally->upkeep;
	point->overdue = tally->overdue;
	memcpy(point->statuses, tally->statuses, sizeof(point->statuses));
}

void point_judge(struct point *point, const struct limits *limits)
{
	point->invalid = 0;
	if (point->all.response.mean > limits->response_ms)
		point->invalid |= INVALID_RESPONSE;
	if (point->achieved_rate < point->asked_rate * limits->rate_share)
		point->invalid |= INVALID_RATE;
	if (point->all.errors > 0)
		point->invalid |= INVALID_ERRORS;
}

const char *point_reason(unsigned reason)
{
	static const char *const names[INVALID_REASONS] = { "response time",
							    "rate", "errors" };

	return names[reason];
}

double point_cpu_us(const struct point *point, double cpu)
{
	uint64_t count = point->all.response.count;

	return count ? cpu * 1e6 / (double)count : 0;
}
