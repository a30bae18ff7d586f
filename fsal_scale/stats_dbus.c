// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * What "ganesha_stats fsal SCALE" shows.
 *
 * Ganesha's tool knows one form of answer only, that of FSAL_GPFS, and fails
 * with any other: the name "GPFS", rows of a name, a count and three times in
 * milliseconds (mean, shortest, longest), and "OK". So SCALE answers in this
 * form, under this name; the rows' own names tell what they are.
 */
#include "config.h"

#include <dbus/dbus.h>

#include "fsal.h"
#include "fsal_api.h"

#include "control.h"
#include "mdcache_ext.h"
#include "stats.h"
#include "stats_dbus.h"

#define FORM	  "GPFS"
#define NS_PER_MS 1000000.0

/* All rows are one structure, and D-Bus limits a message's signature to 255:
 * five for each row, and a dozen for the rest of the message.
 */
_Static_assert(5 * (SCALE_OUTCOME_COUNT + SCALE_SOURCE_COUNT + SCALE_OP_COUNT +
		    4) + 12 <=
		       255,
	       "too many rows");

/* What had been counted at the last reset. */
static struct scale_stats_values base;
static pthread_mutex_t base_lock = PTHREAD_MUTEX_INITIALIZER;

static void append_row(DBusMessageIter *rows, const char *prefix,
		       const char *what, uint64_t count, double mean,
		       double shortest, double longest)
{
	char text[64];
	const char *name = text;

	snprintf(text, sizeof(text), "%s_%s", prefix, what);
	dbus_message_iter_append_basic(rows, DBUS_TYPE_STRING, &name);
	dbus_message_iter_append_basic(rows, DBUS_TYPE_UINT64, &count);
	dbus_message_iter_append_basic(rows, DBUS_TYPE_DOUBLE, &mean);
	dbus_message_iter_append_basic(rows, DBUS_TYPE_DOUBLE, &shortest);
	dbus_message_iter_append_basic(rows, DBUS_TYPE_DOUBLE, &longest);
}

static void append_count(DBusMessageIter *rows, const char *prefix,
			 const char *what, uint64_t count)
{
	append_row(rows, prefix, what, count, 0, 0, 0);
}

static void append_cache(DBusMessageIter *rows)
{
	struct mdx_usage usage;

	if (!scale_control_cache_usage(&usage))
		return;
	append_count(rows, "cache", "files", usage.files);
	append_count(rows, "cache", "stats", usage.stats);
	append_count(rows, "cache", "names", usage.names);
	append_count(rows, "cache", "bytes", usage.bytes);
}

static void append_calls(DBusMessageIter *rows, const char *op,
			 const struct scale_latency *latency)
{
	uint64_t count = scale_latency_count(latency);

	if (count == 0)
		return;
	append_row(rows, "call", op, count,
		   (double)latency->sum_ns / (double)count / NS_PER_MS,
		   (double)scale_latency_percentile(latency, 0) / NS_PER_MS,
		   (double)scale_latency_percentile(latency, 1) / NS_PER_MS);
}

static void subtract_calls(struct scale_latency *from,
			   const struct scale_latency *old)
{
	from->errors -= old->errors;
	from->sum_ns -= old->sum_ns;
	/* The longest may be of old; the buckets tell what cannot be. */
	for (unsigned int i = 0; i < SCALE_LATENCY_BUCKETS; i++)
		from->buckets[i] -= old->buckets[i];
}

/* What has been counted since the last reset; NULL without memory. */
static struct scale_stats_values *counted(void)
{
	struct scale_stats_values *values = malloc(sizeof(*values));

	if (values == NULL)
		return NULL;
	pthread_mutex_lock(&base_lock);
	scale_stats_total(values);
	for (unsigned int op = 0; op < SCALE_OP_COUNT; op++) {
		for (unsigned int i = 0; i < SCALE_OUTCOME_COUNT; i++)
			values->requests[op][i] -= base.requests[op][i];
		subtract_calls(&values->backend[op], &base.backend[op]);
	}
	for (unsigned int i = 0; i < SCALE_SOURCE_COUNT; i++)
		values->invalidations[i] -= base.invalidations[i];
	pthread_mutex_unlock(&base_lock);
	return values;
}

static void append_values(DBusMessageIter *rows,
			  const struct scale_stats_values *values)
{
	for (unsigned int i = 0; i < SCALE_OUTCOME_COUNT; i++) {
		uint64_t count = 0;

		for (unsigned int op = 0; op < SCALE_OP_COUNT; op++)
			count += values->requests[op][i];
		append_count(rows, "request", scale_outcome_name(i), count);
	}
	for (unsigned int op = 0; op < SCALE_OP_COUNT; op++)
		append_calls(rows, scale_op_name(op), &values->backend[op]);
	for (unsigned int i = 0; i < SCALE_SOURCE_COUNT; i++)
		append_count(rows, "inval", scale_source_name(i),
			     values->invalidations[i]);
}

static void extract_stats(struct fsal_module *const module, void *iter)
{
	struct scale_stats_values *values = counted();
	const char *form = FORM;
	const char *end = values != NULL ? "OK" : "no memory";
	DBusMessageIter rows;

	(void)module;
	dbus_message_iter_append_basic(iter, DBUS_TYPE_STRING, &form);
	dbus_message_iter_open_container(iter, DBUS_TYPE_STRUCT, NULL, &rows);
	/* Without any row, a structure would end the server. */
	if (values != NULL)
		append_values(&rows, values);
	else
		append_count(&rows, "none", "", 0);
	append_cache(&rows);
	dbus_message_iter_close_container(iter, &rows);
	dbus_message_iter_append_basic(iter, DBUS_TYPE_STRING, &end);
	free(values);
}

static void reset_stats(struct fsal_module *const module)
{
	(void)module;
	pthread_mutex_lock(&base_lock);
	scale_stats_total(&base);
	pthread_mutex_unlock(&base_lock);
}

void scale_stats_dbus_init(struct fsal_module *module)
{
	/* Ganesha asks modules that have one; nobody but SCALE looks into it.
	 */
	static struct fsal_stats have;

	module->stats = &have;
	module->m_ops.fsal_extract_stats = extract_stats;
	module->m_ops.fsal_reset_stats = reset_stats;
}
