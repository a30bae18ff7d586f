// SPDX-License-Identifier: LGPL-3.0-or-later
#include <string.h>

#include "json_parts.h"
#include "process.h"
#include "run.h"

const char run_client_text[] =
	"The client caches neither attributes nor names: an operation looks "
	"its file up by name in a directory whose handle the process holds.";

bool run_had_errors(const struct run *run)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->points[i].all.errors)
			return true;
	return false;
}

const char *run_set_text(const struct run *run)
{
	static char text[256];
	uint32_t files = shape_files(&run->shape);

	snprintf(text, sizeof(text),
		 "scale %g: a process has %u director%s of %u files, a BUILD "
		 "%u files%s; %u KiB on average",
		 run->shape.scale, run->shape.directories,
		 run->shape.directories == 1 ? "y" : "ies", run->shape.files,
		 files * PROCESSES_PER_BUILD,
		 files == FULL_DIRECTORIES * FULL_FILES ? "" :
							  " instead of 25,000",
		 run->shape.mean_size / 1024);
	return text;
}

const char *run_status_name(const struct run *run, uint32_t status)
{
	if (status == TALLY_OTHER)
		return "other";
	if (status == LOAD_WRONG_SIZE)
		return "WRONG_SIZE";
	if (status == LOAD_NOT_ABSENT)
		return "NOT_ABSENT";
	return sw_status_name(run->options->server.version, status);
}

static json_t *operation(const struct op_point *op)
{
	json_t *object = json_pack("{s:I, s:I}", "ops",
				   (json_int_t)op->response.count, "errors",
				   (json_int_t)op->errors);

	if (op->response.count) {
		json_object_set_new(object, "response_ms",
				    json_summary(&op->response));
		json_object_set_new(object, "service_ms",
				    json_summary(&op->service));
	}
	return object;
}

static json_t *operations(const struct point *point)
{
	json_t *object = json_object();

	for (int op = 0; op < OP_COUNT; op++)
		if (point->ops[op].response.count || point->ops[op].errors)
			json_object_set_new(object, op_name((enum op)op),
					    operation(&point->ops[op]));
	return object;
}

static json_t *statuses(const struct run *run, const struct point *point)
{
	json_t *object = json_object();

	for (int i = 0; i < TALLY_STATUSES && point->statuses[i].count; i++)
		json_object_set_new(
			object, run_status_name(run, point->statuses[i].status),
			json_integer((json_int_t)point->statuses[i].count));
	return object;
}

static json_t *reasons(const struct point *point)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < INVALID_REASONS; i++)
		if (point->invalid & 1u << i)
			json_array_append_new(list,
					      json_string(point_reason(i)));
	return list;
}

static json_t *point_json(const struct run *run, const struct point *point)
{
	json_t *object = operation(&point->all);

	json_object_set_new(object, "builds", json_real(point->builds));
	json_object_set_new(object, "processes",
			    json_integer(point->processes));
	json_object_set_new(object, "asked_rate", json_real(point->asked_rate));
	json_object_set_new(object, "achieved_rate",
			    json_real(point->achieved_rate));
	json_object_set_new(object, "seconds", json_real(point->seconds));
	json_object_set_new(object, "valid", json_boolean(!point->invalid));
	json_object_set_new(object, "reasons", reasons(point));
	json_object_set_new(object, "statuses", statuses(run, point));
	json_object_set_new(object, "requests",
			    json_integer((json_int_t)point->requests));
	json_object_set_new(object, "waits",
			    json_integer((json_int_t)point->waits));
	json_object_set_new(object, "upkeep_ops",
			    json_integer((json_int_t)point->upkeep));
	json_object_set_new(object, "overdue_ops",
			    json_integer((json_int_t)point->overdue));
	if (point->late.count)
		json_object_set_new(object, "client_late_ms",
				    json_summary(&point->late));
	json_object_set_new(object, "client_cpu_us_per_op",
			    json_real(point_cpu_us(point, point->client_cpu)));
	if (point->server_cpu >= 0) {
		json_object_set_new(
			object, "server_cpu_us_per_op",
			json_real(point_cpu_us(point, point->server_cpu)));
		json_object_set_new(object, "client_took_less_cpu",
				    json_boolean(point->client_cpu <
						 point->server_cpu));
	}
	json_object_set_new(object, "operations", operations(point));
	return object;
}

static json_t *load_json(const struct run *run)
{
	const struct load_options *o = &run->options->load;
	json_t *shares = json_object();

	for (int op = 0; op < OP_COUNT; op++)
		if (o->mix.share[op] > 0)
			json_object_set_new(shares, op_name((enum op)op),
					    json_real(o->mix.share[op] * 100));
	return json_pack(
		"{s:s, s:o, s:i, s:i, s:i, s:i, s:f, s:f, s:f, s:f, s:I}",
		"mix", o->mix.name, "shares_percent", shares, "ops_per_process",
		OPS_PER_PROCESS, "processes_per_build", PROCESSES_PER_BUILD,
		"threads", (int)o->threads, "depth", (int)run->depth,
		"warmup_s", o->warmup, "time_s", o->seconds, "limit_ms",
		o->limits.response_ms, "least_rate_percent",
		o->limits.rate_share * 100, "seed", (json_int_t)o->seed);
}

static json_t *set_json(const struct run *run)
{
	const struct shape *shape = &run->shape;

	return json_pack("{s:f, s:b, s:i, s:i, s:I, s:I, s:i, s:b, s:f, s:s}",
			 "scale", shape->scale, "full", shape->scale == 1,
			 "directories_per_process", (int)shape->directories,
			 "files_per_directory", (int)shape->files, "processes",
			 (json_int_t)run->processes, "files",
			 (json_int_t)run->processes * shape_files(shape),
			 "mean_size", (int)shape->mean_size, "reused",
			 run->reused, "seconds", run->set_seconds, "text",
			 run_set_text(run));
}

static json_t *last_valid_json(const struct run *run)
{
	const struct point *point = &run->points[run->last_valid];

	return json_pack("{s:i, s:f, s:f, s:f, s:f}", "point", run->last_valid,
			 "builds", point->builds, "asked_rate",
			 point->asked_rate, "achieved_rate",
			 point->achieved_rate, "response_ms",
			 point->all.response.mean);
}

json_t *report_json(const struct run *run)
{
	json_t *object = json_head(run->options, run->started);
	json_t *points = json_array();

	json_object_set_new(object, "load", load_json(run));
	json_object_set_new(object, "set", set_json(run));
	json_object_set_new(object, "client", json_string(run_client_text));
	json_object_set_new(object, "counters", json_counters(&run->counters));
	for (size_t i = 0; i < run->count; i++)
		json_array_append_new(points, point_json(run, &run->points[i]));
	json_object_set_new(object, "points", points);
	if (run->last_valid >= 0)
		json_object_set_new(object, "last_valid", last_valid_json(run));
	json_object_set_new(object, "ok",
			    json_boolean(run->last_valid >= 0 &&
					 !run_had_errors(run)));
	return object;
}
