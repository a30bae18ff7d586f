// SPDX-License-Identifier: LGPL-3.0-or-later
#include <stdio.h>

#include "run.h"

static void line(FILE *out, const struct point *point, const char *name,
		 const struct op_point *op)
{
	const struct summary *response = &op->response;
	const struct summary *service = &op->service;

	fprintf(out,
		"%g,%u,%.1f,%.2f,%s,%s,%llu,%llu,%.2f,%.4f,%.4f,%.4f,%.4f,"
		"%.4f,%.4f,%.4f,%.4f\n",
		point->builds, point->processes, point->asked_rate,
		point->achieved_rate, point->invalid ? "no" : "yes", name,
		(unsigned long long)response->count,
		(unsigned long long)op->errors,
		(double)response->count / point->seconds, response->mean,
		response->p50, response->p99, response->max, service->mean,
		service->p50, service->p99, service->max);
}

int report_csv(const struct run *run, const char *path)
{
	FILE *out = fopen(path, "we");

	if (!out)
		return -1;
	fputs("builds,processes,asked_rate,achieved_rate,valid,operation,ops,"
	      "errors,ops_per_s,response_mean_ms,response_p50_ms,"
	      "response_p99_ms,response_max_ms,service_mean_ms,"
	      "service_p50_ms,service_p99_ms,service_max_ms\n",
	      out);
	for (size_t i = 0; i < run->count; i++) {
		const struct point *point = &run->points[i];

		line(out, point, "all", &point->all);
		for (int op = 0; op < OP_COUNT; op++)
			if (point->ops[op].response.count ||
			    point->ops[op].errors)
				line(out, point, op_name((enum op)op),
				     &point->ops[op]);
	}
	if (ferror(out)) {
		fclose(out);
		return -1;
	}
	return fclose(out);
}
