// SPDX-License-Identifier: LGPL-3.0-or-later
#include "report.h"

#include "count.h"
#include "inject.h"
#include "tree.h"

#define ERROR(name)                    \
	{                              \
#name, ERR_FSAL_##name \
	}
static const struct {
	const char *name;
	fsal_errors_t number;
} errors[] = {
	{ "none", ERR_FSAL_NO_ERROR },
	ERROR(PERM),
	ERROR(NOENT),
	ERROR(IO),
	ERROR(NXIO),
	ERROR(NOMEM),
	ERROR(ACCESS),
	ERROR(FAULT),
	ERROR(STILL_IN_USE),
	ERROR(EXIST),
	ERROR(XDEV),
	ERROR(NOTDIR),
	ERROR(ISDIR),
	ERROR(INVAL),
	ERROR(FBIG),
	ERROR(NOSPC),
	ERROR(ROFS),
	ERROR(MLINK),
	ERROR(DQUOT),
	ERROR(NAMETOOLONG),
	ERROR(NOTEMPTY),
	ERROR(STALE),
	ERROR(BADHANDLE),
	ERROR(BADCOOKIE),
	ERROR(NOTSUPP),
	ERROR(TOOSMALL),
	ERROR(SERVERFAULT),
	ERROR(BADTYPE),
	ERROR(DELAY),
	ERROR(LOCKED),
	ERROR(FHEXPIRED),
	ERROR(SHARE_DENIED),
	ERROR(SYMLINK),
	ERROR(ATTRNOTSUPP),
	ERROR(BAD_RANGE),
	ERROR(SEC),
	ERROR(NOT_OPENED),
	ERROR(DEADLOCK),
	ERROR(INTERRUPT),
	ERROR(BLOCKED),
	ERROR(TIMEOUT),
	ERROR(FILE_OPEN),
	ERROR(IN_GRACE),
	ERROR(BADNAME),
	ERROR(NOXATTR),
	ERROR(XATTR2BIG),
};

#define NUM_ERRORS (sizeof(errors) / sizeof(errors[0]))

bool fault_error_number(const char *name, fsal_errors_t *error)
{
	for (size_t i = 0; i < NUM_ERRORS; i++) {
		if (strcmp(name, errors[i].name) == 0) {
			*error = errors[i].number;
			return true;
		}
	}
	return false;
}

static const char *error_name(fsal_errors_t error)
{
	for (size_t i = 0; i < NUM_ERRORS; i++) {
		if (errors[i].number == error)
			return errors[i].name;
	}
	return "unknown";
}

void fault_report_counts(const struct fault_counts *counts, json_t *answer)
{
	json_t *calls = json_object();
	json_t *failed = json_object();
	uint64_t sums[] = { [FAULT_CALL] = 0, [FAULT_LOCAL] = 0 };

	for (int op = 0; op < FAULT_NUM_OPS; op++) {
		uint64_t called = atomic_load(&counts->calls[op]);
		uint64_t errors_made = atomic_load(&counts->failed[op]);

		sums[fault_ops[op].class] += called;
		if (called != 0)
			json_object_set_new(calls, fault_ops[op].name,
					    json_integer((json_int_t)called));
		if (errors_made != 0)
			json_object_set_new(
				failed, fault_ops[op].name,
				json_integer((json_int_t)errors_made));
	}
	json_object_set_new(answer, "counts", calls);
	json_object_set_new(answer, "failed", failed);
	json_object_set_new(answer, "calls",
			    json_integer((json_int_t)sums[FAULT_CALL]));
	json_object_set_new(answer, "local",
			    json_integer((json_int_t)sums[FAULT_LOCAL]));
}

static json_t *delay_json(const struct fault_delay *delay)
{
	switch (delay->kind) {
	case DELAY_FIXED:
		return json_pack("{s:f}", "fixed", delay->a);
	case DELAY_UNIFORM:
		return json_pack("{s:[f,f]}", "uniform", delay->a, delay->b);
	case DELAY_EXPONENTIAL:
		return json_pack("{s:f}", "exponential", delay->a);
	case DELAY_NONE:
		break;
	}
	return NULL;
}

/* What is set for an operation, or NULL when nothing is. */
static json_t *rule_json(const struct fault_rule *rule)
{
	const struct fault_failure *failure = &rule->failure;
	json_t *object = json_object();
	json_t *delay = delay_json(&rule->latency);

	if (delay != NULL)
		json_object_set_new(object, "latency", delay);
	delay = delay_json(&rule->async);
	if (delay != NULL)
		json_object_set_new(object, "async", delay);
	if (failure->error != ERR_FSAL_NO_ERROR) {
		json_t *fail = json_pack("{s:s,s:f,s:b}", "error",
					 error_name(failure->error), "rate",
					 failure->rate, "after",
					 failure->after);

		if (failure->next != UINT64_MAX)
			json_object_set_new(
				fail, "next",
				json_integer((json_int_t)failure->next));
		json_object_set_new(object, "fail", fail);
	}
	if (rule->hold != HOLD_NONE)
		json_object_set_new(object, "hold",
				    json_string(rule->hold == HOLD_AFTER ?
							"after" :
							"before"));
	if (json_object_size(object) == 0) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static void add_export(const struct fault_export *exp, void *arg)
{
	const struct fsal_export *below = exp->export.sub_export;
	json_t *object = json_pack("{s:i,s:s}", "id", exp->export.export_id,
				   "backend", below->fsal->name);

	if (tree_is_module(below->fsal)) {
		const struct tree_shape *shape =
			&container_of(below, const struct tree_export, export)
				 ->shape;

		json_object_set_new(
			object, "tree",
			json_pack("{s:I,s:I,s:I,s:I,s:b}", "directories",
				  (json_int_t)shape->directories, "files",
				  (json_int_t)shape->files, "links",
				  (json_int_t)shape->links, "file_size",
				  (json_int_t)shape->file_size, "readdir_plus",
				  shape->readdir_plus));
	}
	json_array_append_new(arg, object);
}

void fault_report_info(json_t *answer)
{
	json_t *ops = json_object();
	json_t *rules = json_object();
	json_t *exports = json_array();
	unsigned int servers;
	double rate;

	for (int op = 0; op < FAULT_NUM_OPS; op++) {
		const struct fault_rule rule = fault_get_rule(op);
		json_t *set = rule_json(&rule);

		json_object_set_new(ops, fault_ops[op].name,
				    json_string(fault_ops[op].class ==
								FAULT_CALL ?
							"call" :
							"local"));
		if (set != NULL)
			json_object_set_new(rules, fault_ops[op].name, set);
	}
	fault_each_export(add_export, exports);
	fault_get_capacity(&rate, &servers);
	json_object_set_new(answer, "operations", ops);
	json_object_set_new(answer, "exports", exports);
	json_object_set_new(answer, "set", rules);
	json_object_set_new(answer, "capacity",
			    rate > 0 ? json_pack("{s:f,s:i}", "rate", rate,
						 "servers", servers) :
				       json_null());
	json_object_set_new(answer, "held", json_integer(fault_held()));
}
