// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Does SCALE pass on every method that a backend implements?
 *
 * Loads Ganesha's own backends, walks their method vectors, and compares each
 * slot with Ganesha's default: where any backend has put a method of its own,
 * SCALE must have one too. What SCALE leaves out on purpose stands in a table
 * with the reason; a line of it that has become untrue fails the test as well.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "cunit_main.h"
#include "nfs_init.h"
#include "scale.h"
#include "slots.h"

/** Methods that SCALE leaves to Ganesha, and why that is right. */
static const struct exception {
	const struct vector *vector;
	const char *name;
	const char *why;
} exceptions[] = {
	{ &obj_vector, "handle_cmp", "compares what handle_to_key returns" },
	{ &export_vector, "get_name", "the name is SCALE's" },
	{ &module_vector, "unload", "not to be overridden, says fsal_api.h" },
	{ &module_vector, "dump_config", "never called" },
	{ &module_vector, "emergency_cleanup",
	  "called for each module, the backend's too" },
	{ &module_vector, "getdeviceinfo",
	  "asked of the module that the device id names" },
	{ &module_vector, "fs_da_addr_size",
	  "asked of the module that the device id names" },
	{ &module_vector, "create_fsal_pnfs_ds",
	  "asked of the module that the DS block names" },
	{ &module_vector, "fsal_pnfs_ds_ops",
	  "asked of the module that made the data server" },
	{ &up_vector, "notify_device", "has no vector and no handle to alter" },
};

/** A backend, and the functions that fill in its vectors. */
static const struct backend {
	const char *name;
	const char *library;
	const char *obj_init;
	const char *export_init;
} backends[] = {
	{ "VFS", "libfsalvfs.so", "vfs_handle_ops_init",
	  "vfs_export_ops_init" },
	{ "MEM", "libfsalmem.so", "mem_handle_ops_init",
	  "mem_export_ops_init" },
	{ "PROXY_V4", "libfsalproxy_v4.so", "proxyv4_handle_ops_init",
	  "proxyv4_export_ops_init" },
	{ "GPFS", "libfsalgpfs.so", "gpfs_handle_ops_init",
	  "gpfs_export_ops_init" },
	{ "CEPH", "libfsalceph.so", "handle_ops_init", "export_ops_init" },
	{ "GLUSTER", "libfsalgluster.so", "handle_ops_init",
	  "export_ops_init" },
};

#define NUM_BACKENDS (sizeof(backends) / sizeof(backends[0]))

/** The vectors of one FSAL, or Ganesha's defaults. */
struct vectors {
	const struct fsal_module *module;
	struct fsal_obj_ops obj;
	struct export_ops export;
};

static struct vectors defaults;
static struct vectors scale;
static struct vectors below[NUM_BACKENDS];
static struct fsal_module plain;

static void default_export_ops(struct export_ops *ops)
{
	struct gsh_export gsh = { 0 };
	struct req_op_context ctx = { .ctx_export = &gsh };
	struct fsal_export exp;

	op_ctx = &ctx;
	fsal_export_init(&exp);
	op_ctx = NULL;
	*ops = exp.exp_ops;
}

static bool load_backend(const struct backend *b, struct vectors *v)
{
	void (*obj_init)(struct fsal_obj_ops *) = NULL;
	void (*export_init)(struct export_ops *) = NULL;
	char path[256];
	void *lib;

	snprintf(path, sizeof(path), "%s/%s", SCALE_FSAL_DIR, b->library);
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (lib == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return false;
	}
	*(void **)&obj_init = dlsym(lib, b->obj_init);
	*(void **)&export_init = dlsym(lib, b->export_init);
	v->module = lookup_fsal(b->name);
	if (obj_init == NULL || export_init == NULL || v->module == NULL) {
		fprintf(stderr, "%s is not as expected\n", path);
		return false;
	}
	fsal_put((struct fsal_module *)v->module);
	v->obj = defaults.obj;
	v->export = defaults.export;
	obj_init(&v->obj);
	export_init(&v->export);
	return true;
}

/* A backend that has none of Ganesha's own methods. */
static const struct export_ops answers_all;

static int setup(void)
{
	struct req_op_context ctx = { 0 };
	bool loaded = true;

	nfs_prereq_init("test", "localhost", NIV_EVENT, "STDERR", false);
	if (register_fsal(&plain, "PLAIN", FSAL_MAJOR_VERSION,
			  FSAL_MINOR_VERSION, FSAL_ID_NO_PNFS) != 0)
		return -1;
	defaults.module = &plain;
	fsal_default_obj_ops_init(&defaults.obj);
	default_export_ops(&defaults.export);

	scale.module = &SCALE.module;
	scale.obj = SCALE.obj_ops;
	scale.export = defaults.export;
	scale_export_ops_init(&scale.export, &answers_all);

	/* lookup_fsal() notes what it finds in the context. */
	op_ctx = &ctx;
	for (size_t i = 0; i < NUM_BACKENDS; i++)
		loaded = load_backend(&backends[i], &below[i]) && loaded;
	op_ctx = NULL;
	return loaded ? 0 : -1;
}

static const void *vector_of(const struct vectors *v, const struct vector *kind)
{
	if (kind == &obj_vector)
		return &v->obj;
	if (kind == &export_vector)
		return &v->export;
	return &v->module->m_ops;
}

static const struct exception *find_exception(const struct vector *v,
					      const char *name)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (exceptions[i].vector == v &&
		    strcmp(exceptions[i].name, name) == 0)
			return &exceptions[i];
	return NULL;
}

static void fail(const struct vector *v, size_t i, const char *what)
{
	fprintf(stderr, "\n    %s method %s: %s", v->what, v->names[i], what);
	CU_FAIL("see above");
}

/* Each slot is SCALE's own, or an exception that is still true. */
static void walk(const struct vector *v)
{
	const void *def = vector_of(&defaults, v);
	const void *ours = vector_of(&scale, v);

	for (size_t i = 0; i < v->count; i++) {
		bool passed_on = slot_get(ours, i) != slot_get(def, i);
		bool excepted = find_exception(v, v->names[i]) != NULL;
		char who[64] = "nobody";

		for (size_t b = 0; b < NUM_BACKENDS; b++)
			if (slot_get(vector_of(&below[b], v), i) !=
			    slot_get(def, i))
				snprintf(who, sizeof(who),
					 "left out, but %s implements it",
					 backends[b].name);
		if (passed_on && excepted)
			fail(v, i, "is in the table of exceptions for nothing");
		else if (!passed_on && !excepted)
			fail(v, i, who);
	}
}

static void test_obj(void)
{
	walk(&obj_vector);
}

static void test_export(void)
{
	walk(&export_vector);
}

static void test_module(void)
{
	walk(&module_vector);
}

/* Backends call up: each method must lead to SCALE, not past it. */
static void test_up(void)
{
	struct fsal_up_vector before = { 0 };
	struct fsal_up_vector after;
	const char *was = (const char *)&before + UP_METHODS;
	const char *is = (const char *)&after + UP_METHODS;

	for (size_t i = 0; i < up_vector.count; i++)
		slot_set((char *)&before + UP_METHODS, i, (slot_fn)test_up);
	after = before;
	scale_up_ops_init(&after);
	for (size_t i = 0; i < up_vector.count; i++) {
		bool ours = slot_get(is, i) != slot_get(was, i);

		if (ours ==
		    (find_exception(&up_vector, up_vector.names[i]) != NULL))
			fail(&up_vector, i, "is passed by");
	}
}

/* The walk sees what it is meant to see: backends differ from the defaults. */
static void test_backends_differ(void)
{
	size_t lookup = slot_find(&obj_vector, "lookup");
	size_t create = slot_find(&export_vector, "create_handle");

	for (size_t b = 0; b < NUM_BACKENDS; b++) {
		CU_ASSERT(slot_get(&below[b].obj, lookup) !=
			  slot_get(&defaults.obj, lookup));
		CU_ASSERT(slot_get(&below[b].export, create) !=
			  slot_get(&defaults.export, create));
	}
}

/* Where the backend has no quota, nobody is asked before each write. */
static void test_no_quota(void)
{
	struct export_ops ops = defaults.export;

	scale_export_ops_init(&ops, &defaults.export);
	CU_ASSERT(ops.check_quota == defaults.export.check_quota);
	CU_ASSERT(scale.export.check_quota != defaults.export.check_quota);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "no quota", test_no_quota },
		{ "object methods", test_obj },
		{ "export methods", test_export },
		{ "module methods", test_module },
		{ "up-call methods", test_up },
		{ "the backends' vectors are really theirs",
		  test_backends_differ },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("vectors", setup, tests);
}
