/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench.h"

void report(json_t *results, const struct result *r, const double *samples,
	    size_t count)
{
	json_t *o = json_object();
	json_t *raw = json_array();
	double sorted[64], value;

	if (count > 64)
		count = 64;
	for (size_t i = 0; i < count; i++) {
		json_array_append_new(raw, json_real(samples[i]));
		sorted[i] = samples[i];
	}
	value = median(sorted, count);
	json_object_set_new(o, "name", json_string(r->name));
	json_object_set_new(o, "value", json_real(value));
	json_object_set_new(o, "unit", json_string(r->unit));
	json_object_set_new(o, "better",
			    json_string(r->better == LOWER ? "lower" :
							     "higher"));
	if (r->has_target) {
		bool reached = r->better == LOWER ? value <= r->target :
						    value >= r->target;

		json_object_set_new(o, "target", json_real(r->target));
		json_object_set_new(o, "ok",
				    json_boolean(reached != r->control));
	}
	if (r->control)
		json_object_set_new(o, "control", json_true());
	json_object_set_new(o, "spread",
			    json_pack("[ff]", sorted[0], sorted[count - 1]));
	json_object_set_new(o, "samples", raw);
	json_array_append_new(results, o);
}

static const char *verdict(const json_t *r)
{
	const json_t *ok = json_object_get(r, "ok");

	if (!ok)
		return "";
	if (json_object_get(r, "control"))
		return json_is_true(ok) ? "misses, as it must" :
					  "reaches it, too";
	return json_is_true(ok) ? "reached" : "MISSED";
}

void report_table(const json_t *results)
{
	size_t i;
	json_t *r;

	printf("%-46s %12s %-8s %10s  %-23s\n", "", "value", "", "target",
	       "min..max");
	json_array_foreach(results, i, r)
	{
		const json_t *target = json_object_get(r, "target");
		const json_t *spread = json_object_get(r, "spread");
		/* What has no target, or is a control, explains the rest. */
		bool detail = !target || json_object_get(r, "control");
		char goal[32] = "", range[64];

		if (target)
			snprintf(goal, sizeof(goal), "%.4g",
				 json_number_value(target));
		snprintf(range, sizeof(range), "%.4g..%.4g",
			 json_number_value(json_array_get(spread, 0)),
			 json_number_value(json_array_get(spread, 1)));
		printf("%s%-*s %12.4g %-8s %10s  %-16s %s\n",
		       detail ? "  " : "", detail ? 44 : 46,
		       json_string_value(json_object_get(r, "name")),
		       json_number_value(json_object_get(r, "value")),
		       json_string_value(json_object_get(r, "unit")), goal,
		       range, verdict(r));
	}
}

bool report_ok(const json_t *results)
{
	size_t i;
	json_t *r;

	json_array_foreach(results, i, r)
	{
		if (json_is_false(json_object_get(r, "ok")) &&
		    !json_object_get(r, "control"))
			return false;
	}
	return true;
}

/* The value of the first line of a file that begins with a word. */
static json_t *line_of(const char *path, const char *word)
{
	char line[256];
	FILE *f = fopen(path, "r");
	json_t *value = json_null();

	if (!f)
		return value;
	while (fgets(line, sizeof(line), f)) {
		const char *text = line;

		if (strncmp(line, word, strlen(word)) != 0)
			continue;
		line[strcspn(line, "\n")] = '\0';
		if (*word) {
			text = strchr(line, ':');
			text = text ? text + 1 + strspn(text + 1, " \t") : line;
		}
		value = json_string(text);
		break;
	}
	fclose(f);
	return value;
}

json_t *machine(void)
{
	json_t *m = json_object();
	struct utsname u;

	json_object_set_new(m, "cpu", line_of("/proc/cpuinfo", "model name"));
	json_object_set_new(m, "cpus",
			    json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
	json_object_set_new(m, "memory", line_of("/proc/meminfo", "MemTotal"));
	json_object_set_new(
		m, "huge_pages",
		line_of("/sys/kernel/mm/transparent_hugepage/enabled", ""));
	json_object_set_new(m, "load_average", line_of("/proc/loadavg", ""));
	if (uname(&u) == 0)
		json_object_set_new(m, "kernel", json_string(u.release));
	return m;
}
