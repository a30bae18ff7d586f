// SPDX-License-Identifier: LGPL-3.0-or-later
#include <stdio.h>
#include <string.h>

#include "run.h"

/* Three digits that mean something, in seven columns. */
static void milliseconds(double ms)
{
	printf(" %*.*f", 7, ms < 10 ? 2 : ms < 1000 ? 1 : 0, ms);
}

void report_latencies(const struct summary *s)
{
	milliseconds(s->mean);
	milliseconds(s->p50);
	milliseconds(s->p99);
	milliseconds(s->max);
}

void report_head(const struct run *run)
{
	const struct options *o = run->options;

	printf("SWBUILD load, mix %s, over NFSv%s to %s:%s\n", o->load.mix.name,
	       sw_version_name(o->server.version), o->server.host,
	       o->server.export);
	printf("File set, %s.\n", run_set_text(run));
	printf("%s\n\n", run_client_text);
	printf("%7s %8s %9s  %-31s  %-15s\n", "", "asked", "achieved",
	       "response time, ms", "CPU us/op");
	printf("%7s %8s %9s %7s %7s %7s %7s  %7s %7s\n", "BUILDs", "ops/s",
	       "ops/s", "mean", "p50", "p99", "max", "client", "server");
	fflush(stdout);
}

static void verdict(const struct run *run, const struct point *point)
{
	const char *before = "  INVALID: ";

	if (!point->invalid) {
		puts("  valid");
		return;
	}
	for (unsigned i = 0; i < INVALID_REASONS; i++) {
		if (!(point->invalid & 1u << i))
			continue;
		printf("%s%s", before, point_reason(i));
		before = ", ";
	}
	before = " (";
	for (int i = 0; i < TALLY_STATUSES && point->statuses[i].count; i++) {
		printf("%s%llu %s", before,
		       (unsigned long long)point->statuses[i].count,
		       run_status_name(run, point->statuses[i].status));
		before = ", ";
	}
	puts(point->statuses[0].count ? ")" : "");
}

void report_point(const struct run *run, const struct point *point)
{
	printf("%7g %8.0f %9.1f", point->builds, point->asked_rate,
	       point->achieved_rate);
	report_latencies(&point->all.response);
	printf("  %7.1f", point_cpu_us(point, point->client_cpu));
	if (point->server_cpu >= 0)
		printf(" %7.1f", point_cpu_us(point, point->server_cpu));
	else
		printf(" %7s", "-");
	verdict(run, point);
	fflush(stdout);
}

static void operations(const struct point *point)
{
	printf("%-14s %8s %9s  %-31s  %-15s\n", "", "", "", "response time, ms",
	       "service, ms");
	printf("%-14s %8s %9s %7s %7s %7s %7s  %7s %7s\n", "operation", "ops/s",
	       "errors", "mean", "p50", "p99", "max", "mean", "p99");
	for (int i = 0; i <= OP_COUNT; i++) {
		const struct op_point *op = i < OP_COUNT ? &point->ops[i] :
							   &point->all;

		if (!op->response.count && !op->errors)
			continue;
		printf("%-14s %8.1f %9llu",
		       i < OP_COUNT ? op_name((enum op)i) : "all",
		       (double)op->response.count / point->seconds,
		       (unsigned long long)op->errors);
		report_latencies(&op->response);
		printf(" ");
		milliseconds(op->service.mean);
		milliseconds(op->service.p99);
		putchar('\n');
	}
	printf("%.1f requests/s, %.1f ops/s more for upkeep (see swbuild(1)), "
	       "%llu ops were due and not begun at the end.\n",
	       (double)point->requests / point->seconds,
	       (double)point->upkeep / point->seconds,
	       (unsigned long long)point->overdue);
}

/* Part of the limit that a client may be late before it is worth a word. */
#define NOTABLE_PART 0.05

static void client(const struct run *run, const struct point *point)
{
	double limit = run->options->load.limits.response_ms;

	printf("The client itself began operations %.3f ms late on average, "
	       "99 of 100 within %.3f ms; response times have that in them.\n",
	       point->late.mean, point->late.p99);
	if (point->late.mean > limit * NOTABLE_PART)
		puts("That is much: it has too little CPU.");
	if (point->waits)
		printf("Of its requests %llu waited for one of the %u that may "
		       "be in flight: more --connections or --threads help.\n",
		       (unsigned long long)point->waits, run->depth);
	if (point->server_cpu < 0)
		return;
	printf("The client took %s CPU than the server: %.1f against %.1f us "
	       "an operation.\n",
	       point->client_cpu < point->server_cpu ? "less" : "MORE",
	       point_cpu_us(point, point->client_cpu),
	       point_cpu_us(point, point->server_cpu));
}

static void recoveries(const struct sw_counters *c)
{
	if (c->reconnects + c->resent + c->delays + c->graces + c->expired)
		printf("The client had to reconnect %llu times and to send "
		       "%llu requests again; DELAY %llu, GRACE %llu, expired "
		       "%llu.\n",
		       (unsigned long long)c->reconnects,
		       (unsigned long long)c->resent,
		       (unsigned long long)c->delays,
		       (unsigned long long)c->graces,
		       (unsigned long long)c->expired);
}

void report_summary(const struct run *run)
{
	const struct limits *limits = &run->options->load.limits;
	const struct point *point;

	if (run->count == 0)
		return;
	putchar('\n');
	if (run->last_valid >= 0) {
		point = &run->points[run->last_valid];
		printf("Last valid point: %g BUILDs, %.0f ops/s at %.2f ms "
		       "(scale %g).\n\n",
		       point->builds, point->achieved_rate,
		       point->all.response.mean, run->shape.scale);
	} else {
		point = &run->points[0];
		printf("No point was valid (average at most %g ms, %g%% of "
		       "the asked rate, no error); the first:\n\n",
		       limits->response_ms, limits->rate_share * 100);
	}
	operations(point);
	client(run, point);
	recoveries(&run->counters);
}
