// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Exports: what they make, the keys of their objects, how they come and go,
 * and what is refused.
 */
#include "fixture.h"
#include "nfs_core.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

static void test_export_objects(void)
{
	fsal_dynamicfsinfo_t info;
	struct gsh_buffdesc fh = { .addr = "handle", .len = 7 };
	struct fsal_obj_handle *new_obj;
	struct fsal_attrlist out;

	fsal_prepare_attrs(&out, ATTR_SIZE);
	scale->exp_ops.lookup_path(scale, "/p", &new_obj, &out);
	check_down("lookup_path", scale->sub_export);
	CU_ASSERT_STRING_EQUAL((char *)fake_call.arg[1], "/p");
	CU_ASSERT_EQUAL(fake_call.asked, ATTR_SIZE);
	CU_ASSERT_EQUAL(out.filesize, FAKE_SIZE);
	check_new(new_obj);

	fsal_prepare_attrs(&out, ATTR_SIZE);
	scale->exp_ops.create_handle(scale, &fh, &new_obj, &out);
	check_down("create_handle", scale->sub_export);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], &fh);
	CU_ASSERT_EQUAL(fake_call.asked, ATTR_SIZE);
	CU_ASSERT_EQUAL(out.filesize, FAKE_SIZE);
	check_new(new_obj);

	scale->exp_ops.lookup_junction(scale, obj, &new_obj);
	check_down("lookup_junction", scale->sub_export);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], sub_of(obj));
	check_new(new_obj);

	scale->exp_ops.get_fs_dynamic_info(scale, obj, &info);
	check_down("get_fs_dynamic_info", scale->sub_export);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], sub_of(obj));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[2], &info);

	scale->exp_ops.unmount(scale, obj);
	check_down("unmount", scale->sub_export);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], sub_of(obj));
}

static size_t key_of(struct fsal_export *exp, char *key)
{
	struct gsh_buffdesc desc = { .addr = key, .len = 6 };
	fsal_status_t status;

	memcpy(key, "handle", 6);
	op_ctx->fsal_export = exp;
	status = exp->exp_ops.host_to_key(exp, &desc);
	op_ctx->fsal_export = scale;
	CU_ASSERT_FALSE(FSAL_IS_ERROR(status));
	return desc.len;
}

#define GLUSTER(host, volume)                                           \
	"FSAL { Name = SCALE; Freshness = off; FSAL { Name = GLUSTER; " \
	"Hostname = \"" host "\"; Volume = \"" volume "\"; } }"

/* The same handle on two exports: one object or two, as the backend has it. */
static void test_keys(void)
{
	/* NULL is a stackable FSAL, whatever is below it. */
	static const struct {
		const char *block;
		char same_as; /* the same letter: the same key */
	} cases[] = {
		{ SCALE_ON("FAKE"), 'a' },	{ SCALE_ON("FAKE"), 'b' },
		{ SCALE_ON("VFS"), 'c' },	{ SCALE_ON("VFS"), 'c' },
		{ GLUSTER("one", "vol"), 'd' }, { GLUSTER("two", "vol"), 'd' },
		{ GLUSTER("one", "two"), 'g' }, { SCALE_ON("NULL"), 'e' },
		{ SCALE_ON("NULL"), 'f' },
	};
	struct fsal_export *exps[LEN(cases)];
	char keys[LEN(cases)][6 + FSAL_KEY_EXTRA_BYTES];

	for (size_t i = 0; i < LEN(cases); i++) {
		exps[i] = make_export(cases[i].block, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(exps[i]);
		/* What the caller left room for is not overrun. */
		CU_ASSERT_EQUAL(key_of(exps[i], keys[i]),
				6 + 2 + SCALE_KEY_ID_BYTES);
	}
	CU_ASSERT(2 + SCALE_KEY_ID_BYTES <= FSAL_KEY_EXTRA_BYTES);
	for (size_t i = 0; i < LEN(cases); i++) {
		for (size_t j = 0; j < LEN(cases); j++)
			CU_ASSERT_EQUAL(memcmp(keys[i], keys[j], 12) == 0,
					cases[i].same_as == cases[j].same_as);
	}
	for (size_t i = 0; i < LEN(cases); i++)
		remove_export(exps[i]);
}

/* The id of an export that has gone is not given to the next one. */
static void test_keys_not_reused(void)
{
	char before[6 + FSAL_KEY_EXTRA_BYTES];
	char after[6 + FSAL_KEY_EXTRA_BYTES];
	struct fsal_export *exp = make_export(SCALE_ON("FAKE"), NULL);

	key_of(exp, before);
	remove_export(exp);
	exp = make_export(SCALE_ON("FAKE"), NULL);
	key_of(exp, after);
	remove_export(exp);
	CU_ASSERT(memcmp(before, after, 12) != 0);
}

/* GPFS takes the key's length from the client's handle. */
static void test_forged_handle(void)
{
	char bytes[64];
	struct gsh_buffdesc fh = { .addr = bytes, .len = 40 };
	fsal_status_t status;

	memset(bytes, 0x5a, sizeof(bytes));
	fake_key_len = 60000;
	status = scale->exp_ops.host_to_key(scale, &fh);
	CU_ASSERT_EQUAL(status.major, ERR_FSAL_BADHANDLE);

	/* One byte too many for SCALE's id: nothing is written behind it. */
	fake_key_len = 40 + FSAL_KEY_EXTRA_BYTES - SCALE_KEY_ID_BYTES + 1;
	fh.len = 40;
	status = scale->exp_ops.host_to_key(scale, &fh);
	CU_ASSERT_EQUAL(status.major, ERR_FSAL_BADHANDLE);
	for (size_t i = 0; i < sizeof(bytes); i++)
		CU_ASSERT_EQUAL(bytes[i], 0x5a);
	fake_key_len = 0;
}

/* An object serves an export that did not make it. */
static void test_shared_object(void)
{
	struct fsal_export *other = make_export(SCALE_ON("VFS"), NULL);

	op_ctx->fsal_export = other;
	obj->obj_ops->getattrs(obj, NULL);
	CU_ASSERT_PTR_EQUAL(fake_call.ctx_export, other->sub_export);
	CU_ASSERT_PTR_EQUAL(op_ctx->fsal_export, other);
	remove_export(other);
}

/* At shutdown there may be no context, or one without an export. */
static void test_no_context(void)
{
	struct fsal_export *exp = make_export(SCALE_ON("FAKE"), NULL);
	struct fsal_obj_handle *a;
	struct fsal_obj_handle *b;
	unsigned int released;

	op_ctx->fsal_export = exp;
	obj->obj_ops->lookup(obj, "a", &a, NULL);
	obj->obj_ops->lookup(obj, "b", &b, NULL);
	released = fake_released;

	op_ctx->fsal_export = NULL;
	a->obj_ops->release(a);
	CU_ASSERT_PTR_NULL(fake_call.ctx_export);
	CU_ASSERT_PTR_NULL(op_ctx->fsal_export);

	op_ctx = NULL;
	b->obj_ops->release(b);
	CU_ASSERT_EQUAL(fake_released, released + 2);
	exp->exp_ops.release(exp);
	CU_ASSERT_STRING_EQUAL(fake_call.method, "release");
	op_ctx = &ctx;
	op_ctx->fsal_export = scale;
}

/* References of the backend's module: one for each export, none left over. */
static void test_references(void)
{
	struct fsal_module *backend = scale->sub_export->fsal;
	int32_t before = backend->refcount;
	struct fsal_export *exp = make_export(SCALE_ON("FAKE"), NULL);

	CU_ASSERT_EQUAL(backend->refcount, before + 1);
	CU_ASSERT_FALSE(
		FSAL_IS_ERROR(update_export_from(SCALE_ON("FAKE"), exp, NULL)));
	CU_ASSERT_STRING_EQUAL(fake_update.method, "update_export");
	CU_ASSERT_PTR_EQUAL(fake_update.ctx_export, exp->sub_export);
	CU_ASSERT_PTR_EQUAL((void *)fake_update.arg[0], exp->sub_export);
	CU_ASSERT_PTR_EQUAL((void *)fake_update.arg[1], &SCALE.module);
	CU_ASSERT_EQUAL(backend->refcount, before + 1);

	CU_ASSERT_PTR_NULL(
		make_export("FSAL { Name = SCALE; FSAL { Name = FAKE; } "
			    "FSAL { Name = VFS; } }",
			    NULL));
	CU_ASSERT_EQUAL(backend->refcount, before + 1);
	fake_fail_create = true;
	CU_ASSERT_PTR_NULL(make_export(SCALE_ON("FAKE"), NULL));
	fake_fail_create = false;
	CU_ASSERT_EQUAL(backend->refcount, before + 1);

	remove_export(exp);
	CU_ASSERT_EQUAL(backend->refcount, before);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Are the place and these words in what was reported? Frees it. */
static void check_errors(char *errors, const char *const *words)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "/tmp/scale-unit-"));
	for (; *words != NULL; words++) {
		CU_ASSERT_PTR_NOT_NULL(strstr(errors, *words));
		if (strstr(errors, *words) == NULL)
			fprintf(stderr, "\n    no \"%s\" in: %s", *words,
				errors);
	}
	free(errors);
}

static void refused(const char *block, const char *const *words)
{
	char *errors = NULL;

	CU_ASSERT_PTR_NULL(make_export(block, &errors));
	check_errors(errors, words);
	op_ctx->fsal_export = scale;
}

static void test_refused(void)
{
	refused("FSAL { Name = SCALE; }",
		WORDS(":1)", "no backend", "add a block FSAL { Name = VFS; }"));
	refused("FSAL { Name = SCALE;\n FSAL { } }", WORDS("no backend"));
	refused("FSAL { Name = SCALE;\n FSAL { Foo = 1; } }",
		WORDS(":2)", "Name of FSAL is missing", "has no backend"));
	refused("FSAL { Name = SCALE;\n\n FSAL { Name = SCALE; } }",
		WORDS(":3)", "SCALE on FSAL SCALE", "Name = SCALE"));
	refused("FSAL { Name = SCALE;\n FSAL { Name = scale; } }",
		WORDS(":2)", "Name = scale"));

	fake_fail_create = true;
	refused("FSAL { Name = SCALE;\n FSAL { Name = FAKE; } }",
		WORDS(":2)", "FAKE cannot export /some/path"));
	fake_fail_create = false;

	fake_fail_create = true;
	fake_fail_status = ERR_FSAL_INVAL;
	refused(SCALE_ON("FAKE"),
		WORDS("cannot export /some/path: its parameters were refused"));
	fake_fail_create = false;
	fake_fail_status = ERR_FSAL_ACCESS;

	refused("FSAL { Name = SCALE;\n FSAL { Name = FAKE; }\n"
		"FSAL { Name = VFS; } }",
		WORDS(":3)", "second backend: Name = VFS", "keep one"));

	/* SCALE, something, SCALE: told by the vector from above. */
	super.invalidate = scale->up_ops->invalidate;
	refused(SCALE_ON("FAKE"),
		WORDS("SCALE on FSAL SCALE", "take one of them away"));
	super.invalidate = NULL;
}

/* One fault is reported as what it is, and not as another one too. */
static void test_refused_once(void)
{
	char *errors = NULL;

	CU_ASSERT_PTR_NULL(make_export(SCALE_ON("SCALE"), &errors));
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "SCALE on FSAL SCALE"));
	CU_ASSERT_PTR_NULL(strstr(errors, "add a block"));
	free(errors);
	op_ctx->fsal_export = scale;
}

static void test_refused_update(void)
{
	char *errors = NULL;

	CU_ASSERT(FSAL_IS_ERROR(
		update_export_from(SCALE_ON("VFS"), scale, &errors)));
	check_errors(errors,
		     WORDS("from FAKE to VFS", "remove the export and add it"));
	CU_ASSERT(FSAL_IS_ERROR(
		update_export_from("FSAL { Name = SCALE; }", scale, &errors)));
	check_errors(errors, WORDS("add a block"));
}

/* A wrong SCALE block: no export, until the block has been corrected. */
static void test_refused_block(void)
{
	static const char wrong[] = "SCALE { maxFilesToCache = 0; }\n";
	static const char right[] = "SCALE { maxFilesToCache = 5; }\n";
	char *text = NULL;
	struct fsal_export *exp;
	char *errors;

	SCALE.configured = false;
	nfs_config_path = "/nonexistent";
	if (asprintf(&text, "%s%s", wrong, SCALE_ON("FAKE")) < 0)
		abort();
	for (int twice = 0; twice < 2; twice++)
		refused(text, WORDS("maxFilesToCache = 0 is out of range",
				    "correct the SCALE block"));
	free(text);

	if (asprintf(&text, "%s%s", right, SCALE_ON("FAKE")) < 0)
		abort();
	exp = make_export(text, &errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(exp);
	CU_ASSERT_EQUAL(SCALE.config.max_files, 5);
	free(errors);
	free(text);
	remove_export(exp);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "objects of an export", test_export_objects },
		{ "keys", test_keys },
		{ "ids of keys are not reused", test_keys_not_reused },
		{ "a forged handle", test_forged_handle },
		{ "an object on another export", test_shared_object },
		{ "no context", test_no_context },
		{ "references of the backend", test_references },
		{ "what is refused", test_refused },
		{ "one fault, one message", test_refused_once },
		{ "what is refused in an update", test_refused_update },
		{ "a wrong SCALE block", test_refused_block },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("export", fixture_setup, tests);
}
