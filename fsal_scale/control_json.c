// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The language of the control socket. scalectl.8 describes the answers: what
 * has a name there keeps it, and more may be added.
 */
#include "control_json.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "control.h"
#include "mdcache_ext.h"
#include "notify_stats.h"
#include "stats.h"

#define NS_PER_US 1000.0

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* A path is any bytes, JSON is UTF-8: what is not shows as question marks. */
static json_t *text(const char *bytes)
{
	json_t *string = json_string(bytes);
	char *copy;

	if (string != NULL)
		return string;
	copy = strdup(bytes);
	if (copy == NULL)
		return NULL;
	for (char *p = copy; *p != '\0'; p++) {
		if ((unsigned char)*p > 0x7f)
			*p = '?';
	}
	string = json_string(copy);
	free(copy);
	return string;
}

/* json_dumps(), with a newline behind it. Takes over the value. */
static char *dump(json_t *value)
{
	char *line = NULL;
	size_t len;

	if (value == NULL)
		return NULL;
	len = json_dumpb(value, NULL, 0, JSON_COMPACT);
	if (len != 0)
		line = malloc(len + 2);
	if (line != NULL) {
		json_dumpb(value, line, len, JSON_COMPACT);
		memcpy(line + len, "\n", 2);
	}
	json_decref(value);
	return line;
}

/* --- The parts of "stats" ------------------------------------------------ */

static json_t *server(const struct control_source *source)
{
	return json_pack("{s:s, s:I, s:I}", "version", SCALE_VERSION, "pid",
			 (json_int_t)getpid(), "started",
			 (json_int_t)source->started);
}

static json_t *cache(struct mdx *c)
{
	uint64_t values[MDX_COUNTER_COUNT];
	struct mdx_limits limits;
	struct mdx_usage usage;
	json_t *counters;

	if (c == NULL)
		return json_null();
	mdx_get_limits(c, &limits);
	mdx_usage(c, &usage);
	mdx_counters(c, values);
	counters = json_object();
	for (unsigned int i = 0; i < MDX_COUNTER_COUNT; i++)
		json_object_set_new(counters, mdx_counter_name(i),
				    number(values[i]));
	return json_pack("{s:{s:o, s:o, s:o}, "
			 "s:{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}, s:o}",
			 "limits", "maxFilesToCache", number(limits.max_files),
			 "maxStatCache", number(limits.max_stats), "bytes",
			 number(limits.max_bytes), "usage", "files",
			 number(usage.files), "stats", number(usage.stats),
			 "pinned", number(usage.pinned), "names",
			 number(usage.names), "bytes", number(usage.bytes),
			 "used", number(usage.used), "handles",
			 number(usage.handles), "fds", number(usage.fds),
			 "counters", counters);
}

/* Operations that nobody asked for are left out. */
static json_t *requests(const struct scale_stats_values *values)
{
	json_t *all = json_object();

	for (unsigned int op = 0; op < SCALE_OP_COUNT; op++) {
		json_t *outcomes = json_object();
		uint64_t sum = 0;

		for (unsigned int i = 0; i < SCALE_OUTCOME_COUNT; i++) {
			sum += values->requests[op][i];
			json_object_set_new(outcomes, scale_outcome_name(i),
					    number(values->requests[op][i]));
		}
		if (sum != 0)
			json_object_set(all, scale_op_name(op), outcomes);
		json_decref(outcomes);
	}
	return all;
}

/* The same. */
static json_t *calls(const struct scale_stats_values *values)
{
	json_t *all = json_object();

	for (unsigned int op = 0; op < SCALE_OP_COUNT; op++) {
		const struct scale_latency *latency = &values->backend[op];
		uint64_t count = scale_latency_count(latency);
		double p50;
		double p99;

		if (count == 0)
			continue;
		p50 = (double)scale_latency_percentile(latency, 0.5);
		p99 = (double)scale_latency_percentile(latency, 0.99);
		json_object_set_new(
			all, scale_op_name(op),
			json_pack("{s:o, s:o, s:f, s:f, s:f, s:f, s:f}",
				  "count", number(count), "errors",
				  number(latency->errors), "sum_us",
				  (double)latency->sum_ns / NS_PER_US,
				  "mean_us",
				  (double)latency->sum_ns / NS_PER_US /
					  (double)count,
				  "p50_us", p50 / NS_PER_US, "p99_us",
				  p99 / NS_PER_US, "max_us",
				  (double)latency->max_ns / NS_PER_US));
	}
	return all;
}

static json_t *invalidations(const struct scale_stats_values *values)
{
	json_t *all = json_object();

	for (unsigned int i = 0; i < SCALE_SOURCE_COUNT; i++)
		json_object_set_new(all, scale_source_name(i),
				    number(values->invalidations[i]));
	return all;
}

static json_t *counted(const struct scale_stats_values *values)
{
	return json_pack("{s:o, s:o, s:o}", "requests", requests(values),
			 "calls", calls(values), "invalidations",
			 invalidations(values));
}

static json_t *one_export(const struct scale_stats *stats,
			  struct scale_stats_values *values)
{
	struct scale_stats_export about = scale_stats_about(stats);
	json_t *all;
	json_t *more;

	scale_stats_read(stats, values);
	all = json_pack("{s:i, s:o, s:o}", "id", about.id, "path",
			text(about.path), "backend", text(about.backend));
	more = counted(values);
	if (all == NULL || more == NULL || json_object_update(all, more) != 0) {
		json_decref(all);
		all = NULL;
	}
	json_decref(more);
	return all;
}

static void one_file_system(const struct scale_notify_state *state, void *list)
{
	json_t *one = json_pack("{s:o, s:b}", "path", text(state->path),
				"watched", state->why_not == NULL);

	if (state->why_not != NULL)
		json_object_set_new(one, "why_not", text(state->why_not));
	json_array_append_new(list, one);
}

static json_t *watcher(void)
{
	static const char *const names[] = {
#define WATCHER_NAME(symbol, name, meaning) name,
		SCALE_NOTIFY_COUNTERS(WATCHER_NAME)
#undef WATCHER_NAME
	};
	json_t *counters = json_object();
	json_t *list = json_array();

	for (unsigned int i = 0; i < SCALE_NOTIFY_COUNT; i++)
		json_object_set_new(counters, names[i],
				    number(scale_notify_counter(i)));
	scale_notify_each(one_file_system, list);
	return json_pack("{s:o, s:o}", "file_systems", list, "counters",
			 counters);
}

static json_t *exports(struct scale_stats_values *values)
{
	const struct scale_stats *stats = NULL;
	json_t *all = json_array();

	while ((stats = scale_stats_next(stats)) != NULL)
		json_array_append_new(all, one_export(stats, values));
	return all;
}

static json_t *meanings(void)
{
	json_t *counters = json_object();
	json_t *outcomes = json_object();
	json_t *sources = json_object();
	json_t *watching = json_object();

	for (unsigned int i = 0; i < MDX_COUNTER_COUNT; i++)
		json_object_set_new(counters, mdx_counter_name(i),
				    json_string(mdx_counter_meaning(i)));
#define SET_OUTCOME(symbol, name, meaning) \
	json_object_set_new(outcomes, name, json_string(meaning));
	SCALE_OUTCOMES(SET_OUTCOME)
#undef SET_OUTCOME
#define SET_SOURCE(symbol, name, meaning) \
	json_object_set_new(sources, name, json_string(meaning));
	SCALE_SOURCES(SET_SOURCE)
#undef SET_SOURCE
#define SET_WATCHER(symbol, name, meaning) \
	json_object_set_new(watching, name, json_string(meaning));
	SCALE_NOTIFY_COUNTERS(SET_WATCHER)
#undef SET_WATCHER
	return json_pack("{s:o, s:o, s:o, s:o}", "counters", counters,
			 "outcomes", outcomes, "sources", sources, "watcher",
			 watching);
}

/* --- Commands ------------------------------------------------------------ */

static json_t *stats_answer(const struct control_source *source)
{
	struct scale_stats_values *values = malloc(sizeof(*values));
	json_t *answer;
	json_t *total;

	if (values == NULL)
		return NULL;
	scale_stats_total(values);
	/* Before the exports, for which the same memory is used. */
	total = counted(values);
	answer = json_pack("{s:i, s:b, s:s, s:o, s:o, s:o, s:o, s:o, s:o}",
			   "scale", SCALE_CONTROL_VERSION, "ok", 1, "command",
			   "stats", "server", server(source), "cache",
			   cache(source->cache), "watcher", watcher(), "total",
			   total, "exports", exports(values), "meanings",
			   meanings());
	free(values);
	return answer;
}

static json_t *version_answer(const struct control_source *source)
{
	return json_pack("{s:i, s:b, s:s, s:o, s:[s, s]}", "scale",
			 SCALE_CONTROL_VERSION, "ok", 1, "command", "version",
			 "server", server(source), "commands", "version",
			 "stats");
}

static json_t *refusal(const char *why)
{
	return json_pack("{s:i, s:b, s:o}", "scale", SCALE_CONTROL_VERSION,
			 "ok", 0, "error", text(why));
}

static json_t *answer_to(const json_t *request,
			 const struct control_source *source)
{
	const json_t *version = json_object_get(request, "scale");
	const char *command =
		json_string_value(json_object_get(request, "command"));

	if (!json_is_integer(version) ||
	    json_integer_value(version) != SCALE_CONTROL_VERSION)
		return refusal("this server speaks version 1 only; ask as in "
			       "{\"scale\": 1, \"command\": \"stats\"}");
	if (command == NULL)
		return refusal("there is no command; ask as in "
			       "{\"scale\": 1, \"command\": \"stats\"}");
	if (strcmp(command, "stats") == 0)
		return stats_answer(source);
	if (strcmp(command, "version") == 0)
		return version_answer(source);
	return refusal("this server does not know the command; it knows "
		       "version and stats");
}

char *control_answer(const char *line, size_t len,
		     const struct control_source *source, bool *garbage)
{
	json_t *request = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	json_t *answer;

	*garbage = request == NULL;
	if (request == NULL)
		return control_refusal("this is not a line of JSON; ask as in "
				       "{\"scale\": 1, \"command\": "
				       "\"stats\"}");
	answer = answer_to(request, source);
	json_decref(request);
	return dump(answer);
}

char *control_refusal(const char *why)
{
	return dump(refusal(why));
}
