// SPDX-License-Identifier: LGPL-3.0-or-later
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <jansson.h>
#include <sys/utsname.h>
#include <unistd.h>

static const char *const question_names[] = {
	"miss ratio",
	"two tiers, miss ratio",
	"two tiers, miss ratio of uses for data",
};

static const char *const role_names[] = { "yardstick", "candidate", "chosen" };

/* The optimum knows the future of one tier only. */
static bool comparable(unsigned policy, enum question question)
{
	return policy != POLICY_OPTIMUM || question == ONE_TIER;
}

static void print_cells(const struct measurement *m)
{
	printf("LRU's miss ratio in per cent, then the others' in points "
	       "over it\n%-27s %7s %8s %4s",
	       "stream", "keys", "uses", "size");
	for (unsigned i = 0; policies[i] != NULL; i++)
		printf(" %10s", policies[i]->name);
	printf("\n");
	for (size_t k = 0; k < m->count; k++) {
		const struct cell *c = &m->cells[k];

		printf("%-27s %7u %8zu %3u%% %10.2f", c->stream->name,
		       c->stream->nkeys, c->stream->nuses, c->percent,
		       miss_percent(c, POLICY_LRU, ONE_TIER));
		for (unsigned i = 1; policies[i] != NULL; i++)
			printf(" %+10.2f", points_over_lru(c, i, ONE_TIER));
		printf("\n");
	}
	printf("\n");
}

static void print_summary(const struct measurement *m, enum question question)
{
	printf("%s, points over LRU\n%-11s %-9s %7s %7s %6s %6s  %s\n",
	       question_names[question], "policy", "", "mean", "worst",
	       "over 1", "below", "worst on");
	for (unsigned i = 1; policies[i] != NULL; i++) {
		struct summary s = summarize(m, i, question);

		if (s.worst_cell == NULL || !comparable(i, question))
			continue;
		printf("%-11s %-9s %+7.2f %+7.2f %6zu %5.0f%%  %s at %u%%\n",
		       policies[i]->name, role_names[policies[i]->role], s.mean,
		       s.worst, s.over, s.below_percent,
		       s.worst_cell->stream->name, s.worst_cell->percent);
	}
	printf("\n");
}

void report_table(const struct measurement *m, bool all, bool tiers)
{
	if (all)
		print_cells(m);
	print_summary(m, ONE_TIER);
	if (tiers) {
		print_summary(m, TIER_MISSES);
		print_summary(m, TIER_DATA_MISSES);
	}
}

void report_budget_table(const struct budget_measurement *b)
{
	if (b->count == 0)
		return;
	printf("limited by bytes, miss ratio, points over LRU of as many "
	       "entries\n%-27s %6s %8s %10s %10s %10s\n",
	       "stream", "MiB", "entries", "lru", "simulated", "engine");
	for (size_t i = 0; i < b->count; i++) {
		const struct budget_cell *c = &b->cells[i];

		printf("%-27s %6.0f %8u %10.2f %+10.2f %+10.2f\n",
		       c->stream->name, (double)c->bytes / (1 << 20),
		       c->entries,
		       100.0 * (double)c->lru / (double)c->stream->nuses,
		       budget_points(c, c->policy),
		       budget_points(c, c->engine));
	}
	printf("\n");
}

static json_t *machine(void)
{
	struct utsname u;

	if (uname(&u) != 0)
		return NULL;
	return json_pack("{s:s, s:s, s:s, s:I}", "system", u.sysname, "release",
			 u.release, "architecture", u.machine, "processors",
			 (json_int_t)sysconf(_SC_NPROCESSORS_ONLN));
}

/* One policy in one cell.  Only the chosen one is held to the target; the
 * rows of the others show that the target tells policies apart. */
static json_t *cell_row(const struct cell *c, unsigned policy)
{
	double points = points_over_lru(c, policy, ONE_TIER);
	char name[320];
	json_t *row;

	snprintf(name, sizeof(name), "%s/%u%%/%s", c->stream->name, c->percent,
		 policies[policy]->name);
	row = json_pack(
		"{s:s, s:f, s:s, s:s, s:[f,f], s:s, s:I, s:I, s:I, s:I}",
		"name", name, "value", points, "unit", "points over LRU",
		"better", "lower", "spread", points, points, "role",
		role_names[policies[policy]->role], "footprint",
		(json_int_t)c->stream->nkeys, "capacity",
		(json_int_t)c->capacity, "uses", (json_int_t)c->stream->nuses,
		"misses", (json_int_t)c->misses[policy]);
	if (row != NULL && policies[policy]->role != YARDSTICK) {
		json_object_set_new(row, "target", json_real(TARGET_POINTS));
		json_object_set_new(row, "ok",
				    json_boolean(points <= TARGET_POINTS));
	}
	return row;
}

static json_t *summary_row(const char *what, const struct policy *policy,
			   const char *unit, double value)
{
	char name[128];

	snprintf(name, sizeof(name), "%s/%s", what, policy->name);
	return json_pack("{s:s, s:f, s:s, s:[f,f], s:s}", "name", name, "value",
			 value, "unit", unit, "spread", value, value, "role",
			 role_names[policy->role]);
}

static void set_target(json_t *row, const char *better, double target, bool ok)
{
	json_object_set_new(row, "better", json_string(better));
	json_object_set_new(row, "target", json_real(target));
	json_object_set_new(row, "ok", json_boolean(ok));
}

static int append_summary(json_t *rows, const struct measurement *m,
			  unsigned policy, enum question question)
{
	struct summary s = summarize(m, policy, question);
	char what[64];
	json_t *row;

	if (s.worst_cell == NULL || !comparable(policy, question))
		return 0;
	snprintf(what, sizeof(what), "worst, %s", question_names[question]);
	row = summary_row(what, policies[policy], "points over LRU", s.worst);
	if (row == NULL)
		return -ENOMEM;
	if (question == ONE_TIER && policies[policy]->role != YARDSTICK)
		set_target(row, "lower", TARGET_POINTS,
			   s.worst <= TARGET_POINTS);
	json_array_append_new(rows, row);
	snprintf(what, sizeof(what), "below, %s", question_names[question]);
	row = summary_row(what, policies[policy], "% of the improvable",
			  s.below_percent);
	if (row == NULL)
		return -ENOMEM;
	if (question == ONE_TIER && policies[policy]->role != YARDSTICK)
		set_target(row, "higher", TARGET_BELOW_PERCENT,
			   s.below_percent > TARGET_BELOW_PERCENT);
	json_array_append_new(rows, row);
	return 0;
}

static json_t *budget_row(const struct budget_cell *c)
{
	double points = budget_points(c, c->engine);
	char name[320];

	snprintf(name, sizeof(name), "%s/%.0f MiB/engine", c->stream->name,
		 (double)c->bytes / (1 << 20));
	return json_pack(
		"{s:s, s:f, s:s, s:s, s:[f,f], s:f, s:b, s:I, s:I, "
		"s:I, s:I, s:I, s:I}",
		"name", name, "value", points, "unit", "points over LRU",
		"better", "lower", "spread", points, points, "target",
		TARGET_POINTS, "ok", points <= TARGET_POINTS, "footprint",
		(json_int_t)c->stream->nkeys, "entries", (json_int_t)c->entries,
		"uses", (json_int_t)c->stream->nuses, "misses",
		(json_int_t)c->engine, "misses of LRU", (json_int_t)c->lru,
		"misses simulated", (json_int_t)c->policy);
}

static int append_rows(json_t *rows, const struct measurement *m,
		       const struct budget_measurement *b, bool tiers)
{
	int rc = 0;

	for (size_t k = 0; k < b->count && rc == 0; k++) {
		json_t *row = budget_row(&b->cells[k]);

		rc = row != NULL ? json_array_append_new(rows, row) : -ENOMEM;
	}

	for (unsigned i = 1; policies[i] != NULL && rc == 0; i++) {
		rc = append_summary(rows, m, i, ONE_TIER);
		if (rc == 0 && tiers)
			rc = append_summary(rows, m, i, TIER_MISSES);
		if (rc == 0 && tiers)
			rc = append_summary(rows, m, i, TIER_DATA_MISSES);
	}
	for (size_t k = 0; k < m->count; k++) {
		for (unsigned i = 0; policies[i] != NULL && rc == 0; i++) {
			json_t *row = cell_row(&m->cells[k], i);

			rc = row != NULL ? json_array_append_new(rows, row) :
					   -ENOMEM;
		}
	}
	return rc == 0 ? 0 : -ENOMEM;
}

int report_json(const struct measurement *m, const struct budget_measurement *b,
		bool tiers, const char *command, const char *file)
{
	json_t *rows = json_array();
	json_t *root;
	int rc = -ENOMEM;

	if (rows == NULL)
		return -ENOMEM;
	if (append_rows(rows, m, b, tiers) != 0) {
		json_decref(rows);
		return -ENOMEM;
	}
	root = json_pack("{s:s, s:o, s:s, s:o}", "bench", "policy", "machine",
			 machine(), "command", command, "results", rows);
	if (root == NULL)
		return -ENOMEM;
	if (strcmp(file, "-") == 0)
		rc = json_dumpf(root, stdout, JSON_INDENT(1));
	else
		rc = json_dump_file(root, file, JSON_INDENT(1));
	json_decref(root);
	return rc == 0 ? 0 : -EIO;
}
