// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * With Freshness = off: does every method go down as it came, and is the
 * context right on the way?
 *
 * SCALE is put on a backend that records its calls (fake_backend.h). For each
 * method: the backend's method of the same name is called, with the backend's
 * object or export and the very arguments; the backend's export is current
 * while it runs and SCALE's again afterwards; what it returns is returned.
 * What an export can do is asked once, when it is made.
 */
#include <pthread.h>

#include "fixture.h"

/* --- Methods that only hand on ------------------------------------------- */

struct plain {
	const char *name;
	unsigned int args; /* besides the object or export */
};

static const struct plain plain_obj[] = {
	{ "get_ref", 0 },
	{ "put_ref", 0 },
	{ "compute_readdir_cookie", 1 },
	{ "dirent_cmp", 4 },
	{ "test_access", 4 },
	{ "getattrs", 1 },
	{ "seek", 1 },
	{ "io_advise", 1 },
	{ "close", 0 },
	{ "fallocate", 4 },
	{ "list_ext_attrs", 5 },
	{ "getextattr_id_by_name", 2 },
	{ "getextattr_value_by_name", 4 },
	{ "getextattr_value_by_id", 4 },
	{ "setextattr_value", 4 },
	{ "setextattr_value_by_id", 3 },
	{ "remove_extattr_by_id", 1 },
	{ "remove_extattr_by_name", 1 },
	{ "handle_to_wire", 2 },
	{ "layoutget", 3 },
	{ "layoutreturn", 2 },
	{ "layoutcommit", 3 },
	{ "getxattrs", 2 },
	{ "setxattrs", 3 },
	{ "removexattrs", 1 },
	{ "listxattrs", 4 },
	{ "check_verifier", 1 },
	{ "status2", 1 },
	{ "reopen2", 2 },
	{ "seek2", 2 },
	{ "io_advise2", 2 },
	{ "commit2", 2 },
	{ "lock_op2", 5 },
	{ "lease_op2", 3 },
	{ "close2", 1 },
};

static const struct plain plain_export[] = {
	{ "prepare_unexport", 0 },    { "wire_to_host", 3 },
	{ "check_quota", 2 },	      { "get_quota", 4 },
	{ "set_quota", 5 },	      { "getdevicelist", 4 },
	{ "fs_layouttypes", 2 },      { "fs_layout_blocksize", 0 },
	{ "fs_maximum_segments", 0 }, { "fs_loc_body_size", 0 },
	{ "get_write_verifier", 1 },  { "alloc_state", 2 },
	{ "free_state", 1 },	      { "is_superuser", 1 },
};

/** What an export can do: numbers that are asked for once. */
static const struct ability {
	const char *name;
	unsigned int bytes; /* of what it returns */
} abilities[] = {
	{ "fs_maxfilesize", 8 },      { "fs_maxread", 4 },
	{ "fs_maxwrite", 4 },	      { "fs_maxlink", 4 },
	{ "fs_maxnamelen", 4 },	      { "fs_maxpathlen", 4 },
	{ "fs_acl_support", 2 },      { "fs_umask", 4 },
	{ "fs_expiretimeparent", 4 }, { "fs_supported_attrs", 8 },
};

/* Methods that have a test of their own below. */
static const char *const special_obj[] = {
	"release",     "merge",	   "lookup", "readdir",	      "mkdir",
	"mknode",      "symlink",  "link",   "rename",	      "unlink",
	"open2",       "read2",	   "write2", "handle_to_key", "readlink",
	"is_referral", "setattr2",
};

static const char *const special_export[] = {
	"release",	   "unexport",
	"unmount",	   "lookup_path",
	"lookup_junction", "host_to_key",
	"create_handle",   "get_fs_dynamic_info",
	"fs_supports",
};

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

typedef uintptr_t (*any_fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t,
			    uintptr_t, uintptr_t);

static void call_plain(const struct vector *v, const void *ops,
		       const struct plain *m, void *ours, const void *theirs)
{
	/* One byte each, as some parameters are that narrow. */
	static const uintptr_t args[] = { 0x11, 0x22, 0x33, 0x44, 0x55 };
	any_fn call = (any_fn)slot_get(ops, slot_find(v, m->name));
	bool same = true;
	uintptr_t result;

	fake_forget();
	fake_return = 1; /* true, or an error, or a number */
	op_ctx->fsal_export = scale;
	result = call((uintptr_t)ours, args[0], args[1], args[2], args[3],
		      args[4]);

	CU_ASSERT(fake_call.method != NULL &&
		  strcmp(fake_call.method, m->name) == 0);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[0], theirs);
	CU_ASSERT_PTR_EQUAL(fake_call.ctx_export, scale->sub_export);
	CU_ASSERT_PTR_EQUAL(op_ctx->fsal_export, scale);
	for (unsigned int i = 0; i < m->args; i++)
		same = same && (fake_call.arg[i + 1] & 0xff) == args[i];
	CU_ASSERT(same);
	if (!same || fake_call.method == NULL)
		fprintf(stderr, "\n    %s is not passed on as it came",
			m->name);
	if (strcmp(m->name, "get_ref") != 0 &&
	    strcmp(m->name, "put_ref") != 0 &&
	    strcmp(m->name, "prepare_unexport") != 0 &&
	    strcmp(m->name, "fs_layouttypes") != 0 &&
	    strcmp(m->name, "get_write_verifier") != 0 &&
	    strcmp(m->name, "free_state") != 0)
		CU_ASSERT_EQUAL(result & 0xff, 1);
}

static void test_plain_obj(void)
{
	for (size_t i = 0; i < LEN(plain_obj); i++)
		call_plain(&obj_vector, &SCALE.obj_ops, &plain_obj[i], obj,
			   sub_of(obj));
}

static void test_plain_export(void)
{
	for (size_t i = 0; i < LEN(plain_export); i++)
		call_plain(&export_vector, &scale->exp_ops, &plain_export[i],
			   scale, scale->sub_export);
}

/* Each method of SCALE's own is in one of the lists of this file. */
static void covered(const struct vector *v, const void *ops, const void *def,
		    const struct plain *plain, size_t num_plain,
		    const char *const *special, size_t num_special)
{
	for (size_t i = 0; i < v->count; i++) {
		unsigned int seen = slot_get(ops, i) == slot_get(def, i);

		for (size_t p = 0; p < num_plain; p++)
			seen += strcmp(plain[p].name, v->names[i]) == 0;
		for (size_t s = 0; s < num_special; s++)
			seen += strcmp(special[s], v->names[i]) == 0;
		for (size_t a = 0; v == &export_vector && a < LEN(abilities);
		     a++)
			seen += strcmp(abilities[a].name, v->names[i]) == 0;
		CU_ASSERT_EQUAL(seen, 1);
		if (seen != 1)
			fprintf(stderr, "\n    %s is in %u lists", v->names[i],
				seen);
	}
}

static void test_covered(void)
{
	struct fsal_obj_ops obj_def;
	struct fsal_export exp;

	fsal_default_obj_ops_init(&obj_def);
	covered(&obj_vector, &SCALE.obj_ops, &obj_def, plain_obj,
		LEN(plain_obj), special_obj, LEN(special_obj));
	fsal_export_init(&exp);
	covered(&export_vector, &scale->exp_ops, &exp.exp_ops, plain_export,
		LEN(plain_export), special_export, LEN(special_export));
}

/* --- What need not go down ----------------------------------------------- */

/* A number of its own for each method, all of its bytes in use. */
static uint64_t ability(const char *name)
{
	return (slot_find(&export_vector, name) + 1) * 0x0123456789abcdefULL;
}

static uintptr_t answer_ability(void)
{
	if (strcmp(fake_call.method, "fs_supports") == 0)
		return fake_call.arg[1] % 3 == 0;
	if (strcmp(fake_call.method, "is_superuser") == 0)
		return ((struct user_cred *)fake_call.arg[1])->caller_uid == 0;
	return ability(fake_call.method);
}

/* Asked when an export is made, and never again. */
static void test_abilities(void)
{
	struct user_cred creds = { .caller_uid = 0 };
	struct fsal_export *exp;

	fake_answer = answer_ability;
	exp = make_export(SCALE_ON("FAKE"), NULL);
	fake_answer = NULL;
	fake_return = 0;
	CU_ASSERT_PTR_NOT_NULL_FATAL(exp);
	fake_calls = 0;
	for (size_t i = 0; i < LEN(abilities); i++) {
		const struct ability *a = &abilities[i];
		any_fn call = (any_fn)slot_get(
			&exp->exp_ops, slot_find(&export_vector, a->name));
		uint64_t mask = UINT64_MAX >> (64 - 8 * a->bytes);
		uint64_t said = call((uintptr_t)exp, 0, 0, 0, 0, 0);

		CU_ASSERT_EQUAL(said & mask, ability(a->name) & mask);
		if ((said & mask) != (ability(a->name) & mask))
			fprintf(stderr, "\n    %s", a->name);
	}
	for (unsigned int i = 0; i <= fso_xattr_support; i++)
		CU_ASSERT_EQUAL(exp->exp_ops.fs_supports(exp, i), i % 3 == 0);
	CU_ASSERT(exp->exp_ops.is_superuser(exp, &creds));
	creds.caller_uid = 1000;
	CU_ASSERT_FALSE(exp->exp_ops.is_superuser(exp, &creds));
	CU_ASSERT_EQUAL(fake_calls, 0);
	remove_export(exp);
}

/* An update may change them. */
static void test_abilities_updated(void)
{
	struct fsal_export *exp = make_export(SCALE_ON("FAKE"), NULL);

	CU_ASSERT_EQUAL(exp->exp_ops.fs_maxread(exp), 0);
	fake_return = 77;
	CU_ASSERT_FALSE(
		FSAL_IS_ERROR(update_export_from(SCALE_ON("FAKE"), exp, NULL)));
	fake_return = 0;
	CU_ASSERT_EQUAL(exp->exp_ops.fs_maxread(exp), 77);
	remove_export(exp);
}

/* Only a directory with the sticky bit can be one. */
static void test_is_referral(void)
{
	struct fsal_attrlist attrs;
	struct fsal_obj_handle *file;

	obj->obj_ops->lookup(obj, "file", &file, NULL);
	fsal_prepare_attrs(&attrs, ATTR_MODE);
	fake_return = 1;
	fake_calls = 0;
	attrs.valid_mask = ATTR_MODE;
	attrs.mode = 0755;
	CU_ASSERT_FALSE(obj->obj_ops->is_referral(obj, &attrs, true));
	attrs.mode = 01755;
	CU_ASSERT_FALSE(file->obj_ops->is_referral(file, &attrs, true));
	CU_ASSERT_EQUAL(fake_calls, 0);

	CU_ASSERT(obj->obj_ops->is_referral(obj, &attrs, true));
	check_down("is_referral", sub_of(obj));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], &attrs);
	CU_ASSERT_EQUAL(fake_call.arg[2] & 0xff, true);
	/* The mode is not known: the backend is to look. */
	attrs.valid_mask = 0;
	attrs.mode = 0;
	fake_forget();
	CU_ASSERT(obj->obj_ops->is_referral(obj, &attrs, false));
	check_down("is_referral", sub_of(obj));
	CU_ASSERT_EQUAL(fake_call.arg[2] & 0xff, false);
	fake_return = 0;
	file->obj_ops->release(file);
}

static void test_readlink(void)
{
	struct gsh_buffdesc content;
	fsal_status_t status;

	for (int refresh = 0; refresh < 2; refresh++) {
		fake_return = ERR_FSAL_PERM;
		status = obj->obj_ops->readlink(obj, &content, refresh);
		CU_ASSERT_EQUAL(status.major, ERR_FSAL_PERM);
		check_down("readlink", sub_of(obj));
		CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], &content);
		CU_ASSERT_EQUAL(fake_call.arg[2] & 0xff, refresh);
	}
	fake_return = 0;
}

static void test_setattr(void)
{
	struct state_t *state = (struct state_t *)&state;
	struct fsal_attrlist set;
	fsal_status_t status;

	fsal_prepare_attrs(&set, 0);
	set.valid_mask = ATTR_SIZE | ATTR_MODE;
	fake_return = ERR_FSAL_PERM;
	status = obj->obj_ops->setattr2(obj, true, state, &set);
	fake_return = 0;
	CU_ASSERT_EQUAL(status.major, ERR_FSAL_PERM);
	check_down("setattr2", sub_of(obj));
	CU_ASSERT_EQUAL(fake_call.arg[1] & 0xff, true);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[2], state);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[3], &set);
}

/* --- Objects ------------------------------------------------------------- */

/* The backend was asked for what the caller asked, and its answer came up. */
static void check_attrs(struct fsal_attrlist *out)
{
	CU_ASSERT_EQUAL(fake_call.asked, out->request_mask);
	CU_ASSERT_EQUAL(out->request_mask, ATTR_SIZE | ATTR_MODE);
	CU_ASSERT_EQUAL(out->valid_mask, ATTR_SIZE);
	CU_ASSERT_EQUAL(out->filesize, FAKE_SIZE);
	fsal_prepare_attrs(out, ATTR_SIZE | ATTR_MODE);
}

static void test_lookup(void)
{
	struct fsal_obj_handle *new_obj = obj;
	struct fsal_attrlist attrs;
	fsal_status_t status;

	op_ctx->fsal_export = scale;
	fsal_prepare_attrs(&attrs, ATTR_SIZE | ATTR_MODE);
	for (int twice = 0; twice < 2; twice++) {
		status = obj->obj_ops->lookup(obj, "name", &new_obj, &attrs);
		CU_ASSERT_FALSE(FSAL_IS_ERROR(status));
		check_down("lookup", sub_of(obj));
		check_attrs(&attrs);
		check_new(new_obj);
	}
	status = obj->obj_ops->lookup(obj, "name", &new_obj, NULL);
	CU_ASSERT_FALSE(FSAL_IS_ERROR(status));
	check_new(new_obj);

	status = obj->obj_ops->lookup(obj, "absent", &new_obj, &attrs);
	CU_ASSERT_EQUAL(status.major, ERR_FSAL_NOENT);
	CU_ASSERT_PTR_NULL(new_obj);
	CU_ASSERT_PTR_EQUAL(op_ctx->fsal_export, scale);

	/* Success without an object, from a backend that lies. */
	status = obj->obj_ops->lookup(obj, "lie", &new_obj, &attrs);
	CU_ASSERT_EQUAL(status.major, ERR_FSAL_SERVERFAULT);
	CU_ASSERT_PTR_NULL(new_obj);
}

static void test_create(void)
{
	struct fsal_obj_handle *new_obj;
	struct fsal_attrlist in;
	struct fsal_attrlist out;

	fsal_prepare_attrs(&out, ATTR_SIZE | ATTR_MODE);
	obj->obj_ops->mkdir(obj, "d", &in, &new_obj, &out);
	check_down("mkdir", sub_of(obj));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], &in);
	check_attrs(&out);
	check_new(new_obj);

	obj->obj_ops->mknode(obj, "f", FIFO_FILE, &in, &new_obj, &out);
	check_down("mknode", sub_of(obj));
	CU_ASSERT_EQUAL(new_obj->type, FIFO_FILE);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], &in);
	check_attrs(&out);
	check_new(new_obj);

	obj->obj_ops->symlink(obj, "l", "target", &in, &new_obj, &out);
	check_down("symlink", sub_of(obj));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], &in);
	CU_ASSERT_STRING_EQUAL((char *)fake_call.arg[3], "target");
	check_attrs(&out);
	check_new(new_obj);
}

/* Two objects of ours become two of the backend's. */
static void test_two_objects(void)
{
	struct fsal_obj_handle *a;
	struct fsal_obj_handle *b;

	fake_return = 0;
	obj->obj_ops->lookup(obj, "a", &a, NULL);
	obj->obj_ops->lookup(obj, "b", &b, NULL);

	a->obj_ops->merge(a, b);
	check_down("merge", sub_of(a));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], sub_of(b));

	a->obj_ops->link(a, b, "new");
	check_down("link", sub_of(a));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], sub_of(b));
	CU_ASSERT_STRING_EQUAL((char *)fake_call.arg[2], "new");

	a->obj_ops->unlink(a, b, "old");
	check_down("unlink", sub_of(a));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], sub_of(b));
	CU_ASSERT_STRING_EQUAL((char *)fake_call.arg[2], "old");

	a->obj_ops->rename(b, a, "old", obj, "new");
	check_down("rename", sub_of(b));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], sub_of(a));
	CU_ASSERT_STRING_EQUAL((char *)fake_call.arg[2], "old");
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[3], sub_of(obj));
	CU_ASSERT_STRING_EQUAL((char *)fake_call.arg[4], "new");

	a->obj_ops->release(a);
	b->obj_ops->release(b);
}

static void test_open(void)
{
	struct fsal_obj_handle *new_obj = NULL;
	struct fsal_attrlist in;
	struct fsal_attrlist out;
	fsal_verifier_t verifier;
	struct state_t *state = (struct state_t *)&in;
	unsigned int released = fake_released;
	bool check;

	fsal_prepare_attrs(&out, ATTR_SIZE | ATTR_MODE);
	obj->obj_ops->open2(obj, state, FSAL_O_RDWR, FSAL_GUARDED, "n", &in,
			    verifier, &new_obj, &out, &check);
	check_down("open2", sub_of(obj));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], state);
	CU_ASSERT_EQUAL(fake_call.arg[2], FSAL_O_RDWR);
	CU_ASSERT_EQUAL(fake_call.arg[3], FSAL_GUARDED);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[5], &in);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[6], verifier);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[8], &check);
	check_attrs(&out);
	check_new(new_obj);
	CU_ASSERT_EQUAL(fake_released, released + 1);

	/* PROXY_V4 returns the object that was opened: not a new one. */
	fake_open_returns = sub_of(obj);
	obj->obj_ops->open2(obj, state, FSAL_O_READ, FSAL_NO_CREATE, NULL, NULL,
			    NULL, &new_obj, &out, &check);
	check_down("open2", sub_of(obj));
	check_attrs(&out);
	CU_ASSERT_PTR_NULL(new_obj);

	/* VFS returns none. */
	fake_open_returns = NULL;
	obj->obj_ops->open2(obj, state, FSAL_O_READ, FSAL_NO_CREATE, NULL, NULL,
			    NULL, &new_obj, &out, &check);
	CU_ASSERT_PTR_NULL(new_obj);
	CU_ASSERT_EQUAL(fake_released, released + 1);
}

/* --- Callbacks ----------------------------------------------------------- */

struct seen {
	unsigned int names;
	unsigned int stop_after;
	bool right;
};

static enum fsal_dir_result see_name(const char *name,
				     struct fsal_obj_handle *new_obj,
				     struct fsal_attrlist *attrs,
				     void *dir_state, fsal_cookie_t cookie)
{
	struct seen *seen = dir_state;

	seen->right = seen->right && op_ctx->fsal_export == scale &&
		      new_obj->fsal == &SCALE.module &&
		      name[0] == (char)('a' + seen->names) &&
		      cookie == 3 + seen->names &&
		      attrs->request_mask == ATTR_MODE;
	new_obj->obj_ops->release(new_obj);
	seen->names++;
	return seen->names == seen->stop_after ? DIR_TERMINATE : DIR_CONTINUE;
}

static void test_readdir(void)
{
	struct seen seen = { .right = true };
	fsal_cookie_t whence = 9;
	fsal_status_t status;
	bool eof = false;

	status = obj->obj_ops->readdir(obj, &whence, &seen, see_name, ATTR_MODE,
				       &eof);
	CU_ASSERT_FALSE(FSAL_IS_ERROR(status));
	check_down("readdir", sub_of(obj));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], &whence);
	CU_ASSERT(seen.right && seen.names == 3 && eof);

	seen = (struct seen){ .right = true, .stop_after = 2 };
	obj->obj_ops->readdir(obj, &whence, &seen, see_name, ATTR_MODE, &eof);
	CU_ASSERT(seen.right && seen.names == 2 && !eof);
}

struct done {
	bool right;
	unsigned int times;
	void *io_arg;
};

static void see_done(struct fsal_obj_handle *handle, fsal_status_t ret,
		     void *obj_data, void *caller_data)
{
	struct done *done = caller_data;

	done->times++;
	done->right = handle == obj && ret.major == ERR_FSAL_DELAY &&
		      obj_data == done->io_arg && op_ctx->fsal_export == scale;
}

/* As FSAL_MEM's asynchronous threads do it: a context of their own. */
static void *finish_io(void *io_arg)
{
	struct req_op_context own = { .ctx_export = &gsh,
				      .fsal_export = scale->sub_export };

	op_ctx = &own;
	fake_io_cb(sub_of(obj), fsalstat(ERR_FSAL_DELAY, 0), io_arg,
		   fake_io_arg);
	CU_ASSERT_PTR_EQUAL(own.fsal_export, scale->sub_export);
	op_ctx = NULL;
	return NULL;
}

static void check_io(const char *method)
{
	struct fsal_io_arg io = { 0 };
	struct done done = { .io_arg = &io };
	pthread_t thread;

	for (int twice = 0; twice < 2; twice++) {
		if (strcmp(method, "read2") == 0)
			obj->obj_ops->read2(obj, true, see_done, &io, &done);
		else
			obj->obj_ops->write2(obj, true, see_done, &io, &done);
		check_down(method, sub_of(obj));
		CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], &io);
		CU_ASSERT_EQUAL(fake_call.arg[2], true);
		CU_ASSERT_EQUAL(pthread_create(&thread, NULL, finish_io, &io),
				0);
		pthread_join(thread, NULL);
	}
	CU_ASSERT(done.right && done.times == 2);
}

static void test_io(void)
{
	check_io("read2");
	check_io("write2");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "each method is tested", test_covered },
		{ "plain object methods", test_plain_obj },
		{ "plain export methods", test_plain_export },
		{ "abilities", test_abilities },
		{ "abilities after an update", test_abilities_updated },
		{ "is_referral", test_is_referral },
		{ "readlink", test_readlink },
		{ "setattr2", test_setattr },
		{ "lookup", test_lookup },
		{ "mkdir, mknode, symlink", test_create },
		{ "merge, link, unlink, rename", test_two_objects },
		{ "open2", test_open },
		{ "readdir", test_readdir },
		{ "read2, write2", test_io },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("passthrough", fixture_setup, tests);
}
