// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Is every method there, does it go down to the method of the same name, and
 * is it counted under its name?
 *
 * Below FAULT stands a backend with one method that records its call; each
 * other one marks the test as failed.
 */
#include <stdio.h>
#include <string.h>

#include "cunit_main.h"
#include "fault.h"
#include "slots.h"

/* Methods that write to their arguments or call back; the integration tests
 * see each of them at work.
 */
static const char *const not_called[] = {
	"release",     "lookup",	  "readdir",	   "mkdir",  "mknode",
	"symlink",     "open2",		  "read2",	   "write2", "get_name",
	"lookup_path", "lookup_junction", "create_handle",
};

#define NUM_NOT_CALLED (sizeof(not_called) / sizeof(not_called[0]))

typedef uintptr_t (*any_fn)(void *, void *, void *, void *, void *, void *);

static struct gsh_export gsh;
static struct req_op_context ctx = { .ctx_export = &gsh };
static struct fault_export above;
static struct fsal_export below;
static struct fsal_obj_ops sub_ops;
static struct fsal_obj_handle sub = { .obj_ops = &sub_ops };
static struct fsal_obj_handle *obj;

static unsigned int recorded, wrong;
static void *first_arg;
static struct fsal_export *current;

static uintptr_t record(void *arg)
{
	recorded++;
	first_arg = arg;
	current = op_ctx->fsal_export;
	return 0;
}

static void wrong_method(void)
{
	wrong++;
}

static bool listed(const char *name)
{
	for (size_t i = 0; i < NUM_NOT_CALLED; i++) {
		if (strcmp(name, not_called[i]) == 0)
			return true;
	}
	return false;
}

static uint64_t count_of(const char *name)
{
	for (int op = 0; op < FAULT_NUM_OPS; op++) {
		if (strcmp(name, fault_ops[op].name) == 0)
			return atomic_load(&above.counts.calls[op]);
	}
	return UINT64_MAX;
}

/* Call each method of FAULT's, with only that one below. */
static void check(const struct vector *v, const void *ours, void *theirs,
		  void *self, void *expected)
{
	for (size_t i = 0; i < v->count; i++) {
		uint64_t before = count_of(v->names[i]);
		bool right;

		if (listed(v->names[i]))
			continue;
		for (size_t other = 0; other < v->count; other++)
			slot_set(theirs, other, wrong_method);
		slot_set(theirs, i, (slot_fn)record);
		recorded = wrong = 0;
		op_ctx->fsal_export = &above.export;
		(void)((any_fn)slot_get(ours, i))(self, obj, obj, obj, obj,
						  obj);
		right = recorded == 1 && wrong == 0 && first_arg == expected &&
			current == &below &&
			op_ctx->fsal_export == &above.export &&
			count_of(v->names[i]) == before + 1;
		CU_ASSERT(right);
		if (!right)
			fprintf(stderr, "\n    %s is not passed through",
				v->names[i]);
	}
}

static void test_object(void)
{
	check(&obj_vector, &FAULT.obj_ops, &sub_ops, obj, &sub);
}

static void test_export(void)
{
	check(&export_vector, &above.export.exp_ops, &below.exp_ops,
	      &above.export, &below);
}

/* No method is left to Ganesha but get_name. */
static void test_complete(void)
{
	struct fsal_obj_ops obj_def;
	struct fsal_export def;

	fsal_default_obj_ops_init(&obj_def);
	fsal_export_init(&def);
	for (size_t i = 0; i < obj_vector.count; i++)
		CU_ASSERT(slot_get(&FAULT.obj_ops, i) != slot_get(&obj_def, i));
	for (size_t i = 0; i < export_vector.count; i++)
		CU_ASSERT(strcmp(export_vector.names[i], "get_name") == 0 ||
			  slot_get(&above.export.exp_ops, i) !=
				  slot_get(&def.exp_ops, i));
}

static int setup(void)
{
	op_ctx = &ctx;
	fsal_export_init(&above.export);
	fault_export_ops_init(&above.export.exp_ops);
	above.export.fsal = &FAULT.module;
	fsal_export_stack(&below, &above.export);
	obj = fault_wrap(&sub);
	return 0;
}

int main(void)
{
	static CU_TestInfo tests[] = { { "object methods", test_object },
				       { "export methods", test_export },
				       { "none is missing", test_complete },
				       CU_TEST_INFO_NULL };

	return cunit_main("FAULT's methods", setup, tests);
}
