// SPDX-License-Identifier: LGPL-3.0-or-later
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "json_parts.h"
#include "run.h"

static const char client_text[] =
	"The client keeps no attributes: each operation asks for them, unless "
	"a LOOKUP has just told them.";

static double share(uint64_t part, uint64_t all)
{
	return all != 0 ? 100.0 * (double)part / (double)all : 0;
}

static uint64_t rpcs(const struct replay_result *result)
{
	uint64_t sum = 0;

	for (int p = 0; p < PROC_COUNT; p++)
		sum += result->requests.rpcs[p];
	return sum;
}

static double microseconds(double seconds, uint64_t operations)
{
	return operations != 0 ? seconds * 1e6 / (double)operations : 0;
}

static const char *outcome_name(char outcome)
{
	switch (outcome) {
	case '+':
		return "found";
	case '-':
		return "missing";
	case 'n':
		return "no link";
	case 'x':
		return "exists";
	case 'd':
		return "no directory";
	case 'r':
		return "is a directory";
	default:
		return "another error";
	}
}

/* ---- tables ---- */

static void print_operations(const struct replay_result *r)
{
	printf("%-16s %9s %9s  %-31s\n", "operation", "count", "mismatch",
	       "ms: mean     p50     p99     max");
	for (unsigned kind = 0; kind < REPLAY_KINDS; kind++) {
		struct summary s = summary_of(&r->kinds[kind].latency);

		if (s.count == 0)
			continue;
		printf("%-8s %-7s %9" PRIu64 " %9" PRIu64,
		       replay_kind_name(kind), kind % 2 ? "failed" : "",
		       s.count, r->kinds[kind].mismatches);
		report_latencies(&s);
		putchar('\n');
	}
}

static void print_requests(const struct replay_result *r)
{
	printf("%-16s %9s %9s\n", "request", "RPCs", "");
	for (int p = 0; p < PROC_COUNT; p++) {
		struct summary s = summary_of(&r->requests.latency[p]);

		if (s.count == 0)
			continue;
		printf("%-16s %9" PRIu64 " %9s",
		       procedure_name((enum procedure)p), r->requests.rpcs[p],
		       "");
		report_latencies(&s);
		putchar('\n');
	}
	printf("%-16s %9" PRIu64 "\n", "all", rpcs(r));
}

static void print_mismatches(const struct replay_record *record)
{
	const struct replay_result *r = record->result;

	if (r->mismatches == 0) {
		puts("Every outcome is the trace's.");
		return;
	}
	printf("%" PRIu64 " MISMATCHES:\n", r->mismatches);
	for (uint64_t i = 0; i < r->mismatches && i < REPLAY_MISMATCHES; i++) {
		const struct replay_mismatch *m = &r->first[i];
		const struct optrace_op *op = &record->trace->ops[m->op];

		printf("  line %u, %s %s: %s (%s), in the trace %s\n",
		       m->op + 1, replay_kind_name(replay_kind_of(op)),
		       record->trace->paths[op->path].text,
		       outcome_name(m->outcome),
		       sw_status_name(record->options->server.version,
				      m->status),
		       outcome_name(op->outcome));
	}
	if (r->mismatches > REPLAY_MISMATCHES)
		puts("  ...");
}

static void print_notes(const struct replay_result *r)
{
	if (r->hidden != 0)
		printf("%" PRIu64 " changes by processes that the trace leaves "
		       "out were done on the way, uncounted.\n",
		       r->hidden);
	if (r->nameless != 0)
		printf("%" PRIu64 " operations on files that had no name any "
		       "more were not replayed.\n",
		       r->nameless);
	if (r->contradictions != 0)
		printf("The trace contradicts itself %" PRIu64 " times: "
		       "mismatches may be its fault.\n",
		       r->contradictions);
}

void replay_print(const struct replay_record *record)
{
	const struct options *o = record->options;
	const struct replay_options *how = &o->replay.options;
	const struct replay_result *r = record->result;
	const struct optrace_ideal *ideal = &r->ideal;

	printf("Replay of %s over NFSv%s to %s:%s/%s\n", o->replay.trace,
	       sw_version_name(o->server.version), o->server.host,
	       o->server.export, o->server.directory);
	if (how->tree != REPLAY_PREPARED)
		printf("Tree: %" PRIu64 " files (%.1f MB), %" PRIu64
		       " directories, %" PRIu64 " links, made in %.1f s\n",
		       r->tree_files, (double)r->tree_bytes / 1e6,
		       r->tree_directories, r->tree_links, r->tree_seconds);
	if (how->tree == REPLAY_PREPARE)
		return;
	printf("Name cache: %s. %s\n\n", how->name_cache ? "on" : "off",
	       client_text);
	print_operations(r);
	putchar('\n');
	print_requests(r);
	printf("\n%.2f s, %.0f operations/s, %" PRIu64 " in flight; %.1f us "
	       "of client CPU an operation",
	       r->seconds, (double)r->operations / r->seconds,
	       (uint64_t)how->in_flight,
	       microseconds(r->client_cpu, r->operations));
	if (r->server_cpu >= 0)
		printf(", %.1f of the server's",
		       microseconds(r->server_cpu, r->operations));
	printf("\n%" PRIu64 " operations, %" PRIu64 " (%.1f%%) without a "
	       "request\n",
	       r->operations, r->without_request,
	       share(r->without_request, r->operations));
	printf("A perfect cache would ask its backend %zu times (%.1f%% of "
	       "%zu operations): %zu paths, %zu missing names, %zu changes\n",
	       ideal->floor, share(ideal->floor, record->trace->nops),
	       record->trace->nops, ideal->positive, ideal->missing,
	       ideal->changes);
	print_notes(r);
	print_mismatches(record);
}

/* ---- JSON ---- */

static json_t *operations_json(const struct replay_result *r)
{
	json_t *object = json_object();

	for (unsigned kind = 0; kind < REPLAY_KINDS; kind++) {
		struct summary s = summary_of(&r->kinds[kind].latency);
		const char *name = replay_kind_name(kind);
		json_t *both = json_object_get(object, name);

		if (s.count == 0)
			continue;
		if (both == NULL) {
			json_object_set_new(object, name, json_object());
			both = json_object_get(object, name);
		}
		json_object_set_new(
			both, kind % 2 ? "failed" : "succeeded",
			json_pack("{s:I, s:I, s:o}", "ops", (json_int_t)s.count,
				  "mismatches",
				  (json_int_t)r->kinds[kind].mismatches,
				  "service_ms", json_summary(&s)));
	}
	return object;
}

static json_t *requests_json(const struct replay_result *r)
{
	json_t *object = json_object();

	for (int p = 0; p < PROC_COUNT; p++) {
		struct summary s = summary_of(&r->requests.latency[p]);

		if (s.count != 0)
			json_object_set_new(
				object, procedure_name((enum procedure)p),
				json_pack("{s:I, s:o}", "rpcs",
					  (json_int_t)r->requests.rpcs[p],
					  "service_ms", json_summary(&s)));
	}
	return object;
}

static json_t *mismatches_json(const struct replay_record *record)
{
	const struct replay_result *r = record->result;
	json_t *list = json_array();

	for (uint64_t i = 0; i < r->mismatches && i < REPLAY_MISMATCHES; i++) {
		const struct replay_mismatch *m = &r->first[i];
		const struct optrace_op *op = &record->trace->ops[m->op];

		json_array_append_new(
			list,
			json_pack("{s:i, s:s, s:s, s:s, s:s, s:s}", "line",
				  (int)m->op + 1, "operation",
				  replay_kind_name(replay_kind_of(op)), "path",
				  record->trace->paths[op->path].text,
				  "outcome", outcome_name(m->outcome), "status",
				  sw_status_name(record->options->server.version,
						 m->status),
				  "trace", outcome_name(op->outcome)));
	}
	return list;
}

static json_t *ideal_json(const struct optrace_ideal *ideal)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "lookups",
			 (json_int_t)ideal->lookups, "positive",
			 (json_int_t)ideal->positive, "missing",
			 (json_int_t)ideal->missing, "changes",
			 (json_int_t)ideal->changes, "floor",
			 (json_int_t)ideal->floor);
}

static json_t *replay_json(const struct replay_record *record)
{
	const struct replay_arguments *o = &record->options->replay;

	return json_pack("{s:s, s:I, s:i, s:f, s:b, s:f}", "trace", o->trace,
			 "operations", (json_int_t)record->trace->nops,
			 "in_flight", (int)o->options.in_flight, "rate",
			 o->options.rate, "name_cache", o->options.name_cache,
			 "name_ttl_s", (double)o->options.name_life / 1e9);
}

static json_t *tree_json(const struct replay_result *r)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:f}", "files",
			 (json_int_t)r->tree_files, "directories",
			 (json_int_t)r->tree_directories, "links",
			 (json_int_t)r->tree_links, "bytes",
			 (json_int_t)r->tree_bytes, "seconds", r->tree_seconds);
}

static void add_result(json_t *object, const struct replay_record *record)
{
	const struct replay_result *r = record->result;

	json_object_set_new(object, "seconds", json_real(r->seconds));
	json_object_set_new(object, "ops",
			    json_integer((json_int_t)r->operations));
	json_object_set_new(object, "ops_without_request",
			    json_integer((json_int_t)r->without_request));
	json_object_set_new(object, "achieved_rate",
			    json_real((double)r->operations / r->seconds));
	json_object_set_new(
		object, "client_cpu_us_per_op",
		json_real(microseconds(r->client_cpu, r->operations)));
	if (r->server_cpu >= 0)
		json_object_set_new(
			object, "server_cpu_us_per_op",
			json_real(microseconds(r->server_cpu, r->operations)));
	json_object_set_new(object, "operations", operations_json(r));
	json_object_set_new(object, "requests",
			    json_integer((json_int_t)rpcs(r)));
	json_object_set_new(object, "procedures", requests_json(r));
	json_object_set_new(object, "bytes_read",
			    json_integer((json_int_t)r->bytes_read));
	json_object_set_new(object, "bytes_written",
			    json_integer((json_int_t)r->bytes_written));
	json_object_set_new(object, "mismatches",
			    json_integer((json_int_t)r->mismatches));
	json_object_set_new(object, "first_mismatches",
			    mismatches_json(record));
	json_object_set_new(object, "hidden_steps",
			    json_integer((json_int_t)r->hidden));
	json_object_set_new(object, "not_replayed",
			    json_integer((json_int_t)r->nameless));
	json_object_set_new(object, "contradictions",
			    json_integer((json_int_t)r->contradictions));
}

bool replay_write(const struct replay_record *record)
{
	const struct options *o = record->options;
	bool prepare = o->replay.options.tree == REPLAY_PREPARE;
	json_t *object;
	bool good;

	if (o->output.json == NULL)
		return true;
	object = json_head(o, record->started);
	json_object_set_new(object, "replay", replay_json(record));
	json_object_set_new(object, "tree", tree_json(record->result));
	json_object_set_new(object, "client", json_string(client_text));
	json_object_set_new(object, "counters",
			    json_counters(record->counters));
	json_object_set_new(object, "ideal",
			    ideal_json(&record->result->ideal));
	if (!prepare)
		add_result(object, record);
	json_object_set_new(object, "ok",
			    json_boolean(record->result->mismatches == 0));
	good = json_write(object, o->output.json);
	json_decref(object);
	return good;
}
