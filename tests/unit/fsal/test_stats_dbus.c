// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The reply that ganesha_stats prints: its form, its figures, and its reset.
 */
#include <string.h>

#include <dbus/dbus.h>

#include "config.h"

#include "fsal.h"
#include "fsal_api.h"

#include "control.h"
#include "cunit_main.h"
#include "mdcache_ext.h"
#include "stats.h"
#include "stats_dbus.h"

#define SEC UINT64_C(1000000000)

static struct fsal_module module;
static struct scale_stats *stats;

struct row {
	const char *name;
	uint64_t count;
	double mean;
	double shortest;
	double longest;
};

struct reply {
	DBusMessage *message;
	size_t num_rows;
	struct row rows[64];
};

static const void *next(DBusMessageIter *iter, int type)
{
	static DBusBasicValue value;

	CU_ASSERT_EQUAL_FATAL(dbus_message_iter_get_arg_type(iter), type);
	dbus_message_iter_get_basic(iter, &value);
	dbus_message_iter_next(iter);
	return &value;
}

static const char *next_string(DBusMessageIter *iter)
{
	return *(const char *const *)next(iter, DBUS_TYPE_STRING);
}

static double next_double(DBusMessageIter *iter)
{
	return *(const double *)next(iter, DBUS_TYPE_DOUBLE);
}

/* As Ganesha does, with what it puts before: a status and a time. */
static void ask(struct reply *reply)
{
	dbus_bool_t yes = TRUE;
	const char *ok = "OK";
	uint64_t zero = 0;
	DBusMessageIter time;
	DBusMessageIter iter;
	DBusMessageIter rows;

	reply->message = dbus_message_new_method_call("a.b", "/c", "d.e", "f");
	reply->num_rows = 0;
	dbus_message_iter_init_append(reply->message, &iter);
	dbus_message_iter_append_basic(&iter, DBUS_TYPE_BOOLEAN, &yes);
	dbus_message_iter_append_basic(&iter, DBUS_TYPE_STRING, &ok);
	dbus_message_iter_open_container(&iter, DBUS_TYPE_STRUCT, NULL, &time);
	dbus_message_iter_append_basic(&time, DBUS_TYPE_UINT64, &zero);
	dbus_message_iter_append_basic(&time, DBUS_TYPE_UINT64, &zero);
	dbus_message_iter_close_container(&iter, &time);
	module.m_ops.fsal_extract_stats(&module, &iter);

	dbus_message_iter_init(reply->message, &iter);
	for (unsigned int i = 0; i < 3; i++)
		dbus_message_iter_next(&iter);
	CU_ASSERT_STRING_EQUAL(next_string(&iter), "GPFS");
	CU_ASSERT_EQUAL_FATAL(dbus_message_iter_get_arg_type(&iter),
			      DBUS_TYPE_STRUCT);
	dbus_message_iter_recurse(&iter, &rows);
	while (dbus_message_iter_get_arg_type(&rows) != DBUS_TYPE_INVALID) {
		struct row *row = &reply->rows[reply->num_rows++];

		CU_ASSERT_FATAL(reply->num_rows <= 64);
		row->name = next_string(&rows);
		row->count = *(const uint64_t *)next(&rows, DBUS_TYPE_UINT64);
		row->mean = next_double(&rows);
		row->shortest = next_double(&rows);
		row->longest = next_double(&rows);
	}
	dbus_message_iter_next(&iter);
	CU_ASSERT_STRING_EQUAL(next_string(&iter), "OK");
}

static const struct row *find(const struct reply *reply, const char *name)
{
	for (size_t i = 0; i < reply->num_rows; i++) {
		if (strcmp(reply->rows[i].name, name) == 0)
			return &reply->rows[i];
	}
	return NULL;
}

static uint64_t count_of(const struct reply *reply, const char *name)
{
	const struct row *row = find(reply, name);

	return row != NULL ? row->count : UINT64_MAX;
}

static void test_module(void)
{
	/* Ganesha asks only those that have something here. */
	CU_ASSERT_PTR_NOT_NULL(module.stats);
}

static void test_nothing_counted(void)
{
	struct reply reply;

	ask(&reply);
	CU_ASSERT_EQUAL(reply.num_rows,
			SCALE_OUTCOME_COUNT + SCALE_SOURCE_COUNT);
	CU_ASSERT_EQUAL(count_of(&reply, "request_hit"), 0);
	CU_ASSERT_PTR_NULL(find(&reply, "call_read"));
	dbus_message_unref(reply.message);
}

static void test_figures(void)
{
	const struct row *call;
	struct reply reply;

	scale_stats_request(stats, SCALE_OP_READ, SCALE_OUTCOME_HIT);
	scale_stats_request(stats, SCALE_OP_LOOKUP, SCALE_OUTCOME_HIT);
	scale_stats_invalidation(stats, SCALE_SOURCE_UPCALL);
	scale_stats_backend(stats, SCALE_OP_READ,
			    scale_stats_begin() - SEC / 1000, false);
	scale_stats_backend(stats, SCALE_OP_READ, scale_stats_begin() - 3 * SEC,
			    false);
	ask(&reply);
	CU_ASSERT_EQUAL(count_of(&reply, "request_hit"), 2);
	CU_ASSERT_EQUAL(count_of(&reply, "request_miss"), 0);
	CU_ASSERT_EQUAL(count_of(&reply, "inval_upcall"), 1);
	call = find(&reply, "call_read");
	CU_ASSERT_PTR_NOT_NULL_FATAL(call);
	CU_ASSERT_EQUAL(call->count, 2);
	/* Milliseconds. */
	CU_ASSERT(call->shortest >= 1 && call->shortest < 1000);
	CU_ASSERT(call->mean >= 1500.5 && call->mean < 2500);
	CU_ASSERT(call->longest >= 3000 && call->longest < 4000);
	dbus_message_unref(reply.message);
}

static void test_reset(void)
{
	static struct scale_stats_values values;
	const struct row *call;
	struct reply reply;

	module.m_ops.fsal_reset_stats(&module);
	ask(&reply);
	CU_ASSERT_EQUAL(count_of(&reply, "request_hit"), 0);
	CU_ASSERT_EQUAL(count_of(&reply, "inval_upcall"), 0);
	CU_ASSERT_PTR_NULL(find(&reply, "call_read"));
	dbus_message_unref(reply.message);

	/* The longest before it counts no more. */
	scale_stats_request(stats, SCALE_OP_READ, SCALE_OUTCOME_HIT);
	scale_stats_backend(stats, SCALE_OP_READ,
			    scale_stats_begin() - SEC / 1000, false);
	ask(&reply);
	CU_ASSERT_EQUAL(count_of(&reply, "request_hit"), 1);
	call = find(&reply, "call_read");
	CU_ASSERT_PTR_NOT_NULL_FATAL(call);
	CU_ASSERT_EQUAL(call->count, 1);
	CU_ASSERT(call->longest >= 1 && call->longest < 1000);
	dbus_message_unref(reply.message);

	/* Nor does it reach further than this interface. */
	scale_stats_read(stats, &values);
	CU_ASSERT_EQUAL(values.requests[SCALE_OP_READ][SCALE_OUTCOME_HIT], 2);
}

/* The longest reply that there can be fits into a D-Bus message. */
static void test_all_rows(void)
{
	struct mdx_params params;
	struct reply reply;
	struct mdx *c;

	mdx_params_init(&params);
	params.limits = (struct mdx_limits){ 100, 100, 4 << 20 };
	CU_ASSERT_EQUAL_FATAL(mdx_create(&params, &c), 0);
	scale_control_set_cache(c);
	for (unsigned int op = 0; op < SCALE_OP_COUNT; op++)
		scale_stats_backend(stats, op, scale_stats_begin(), false);
	ask(&reply);
	CU_ASSERT(strlen(dbus_message_get_signature(reply.message)) <= 255);
	CU_ASSERT_EQUAL(reply.num_rows, SCALE_OUTCOME_COUNT +
						SCALE_SOURCE_COUNT +
						SCALE_OP_COUNT + 4);
	CU_ASSERT_EQUAL(count_of(&reply, "cache_files"), 0);
	CU_ASSERT(count_of(&reply, "cache_bytes") > 0);
	dbus_message_unref(reply.message);
	scale_control_set_cache(NULL);
	mdx_destroy(c);
}

static int setup(void)
{
	scale_stats_dbus_init(&module);
	stats = scale_stats_new(1, "/", "VFS");
	return stats == NULL;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "the module", test_module },
		{ "nothing counted", test_nothing_counted },
		{ "figures", test_figures },
		{ "reset", test_reset },
		{ "all rows", test_all_rows },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("stats by D-Bus", setup, tests);
}
