/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "nfsload.h"
#include "memory.h"

void samples_init(struct samples *s)
{
	*s = (struct samples){ .statuses = json_object() };
}

/* Nearly all replies have one status: it is counted aside until it changes. */
static void flush_statuses(struct samples *s)
{
	json_t *old;

	if (!s->last_count)
		return;
	old = json_object_get(s->statuses, s->last_name);
	json_object_set_new(s->statuses, s->last_name,
			    json_integer(json_integer_value(old) +
					 (json_int_t)s->last_count));
	s->last_count = 0;
}

void samples_add(struct samples *s, uint64_t latency, int status,
		 const char *status_name)
{
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 4096;
		s->latencies = must_resize(s->latencies, s->room,
					   sizeof(*s->latencies));
	}
	s->latencies[s->count++] = latency;
	if (status != s->last_status)
		flush_statuses(s);
	s->last_status = status;
	s->last_name = status_name;
	s->last_count++;
}

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* us, of sorted latencies */
static json_t *percentile(const struct samples *s, double fraction)
{
	uint64_t i = (uint64_t)((double)(s->count - 1) * fraction + 0.5);

	return json_real((double)s->latencies[i] / 1000);
}

void samples_report(struct samples *s, json_t *report)
{
	flush_statuses(s);
	json_object_set_new(report, "requests",
			    json_integer((json_int_t)s->count));
	json_object_set(report, "statuses", s->statuses);
	if (!s->count)
		return;
	qsort(s->latencies, s->count, sizeof(*s->latencies), ascending);
	json_object_set_new(report, "p50_us", percentile(s, 0.5));
	json_object_set_new(report, "p99_us", percentile(s, 0.99));
	json_object_set_new(report, "max_us", percentile(s, 1));
}

void samples_free(struct samples *s)
{
	free(s->latencies);
	json_decref(s->statuses);
}
