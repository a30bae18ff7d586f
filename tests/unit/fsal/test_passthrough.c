// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Does every method go down as it came, and is the context right on the way?
 *
 * SCALE is put on a backend that records its calls (fake_backend.h). For each
 * method: the backend's method of the same name is called, with the backend's
 * object or export and the very arguments; the backend's export is current
 * while it runs and SCALE's again afterwards; what it returns is returned.
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
	{ "readlink", 2 },
	{ "test_access", 4 },
	{ "getattrs", 1 },
	{ "setattr2", 3 },
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
	{ "is_referral", 2 },
};

static const struct plain plain_export[] = {
	{ "prepare_unexport", 0 },    { "wire_to_host", 3 },
	{ "fs_supports", 1 },	      { "fs_maxfilesize", 0 },
	{ "fs_maxread", 0 },	      { "fs_maxwrite", 0 },
	{ "fs_maxlink", 0 },	      { "fs_maxnamelen", 0 },
	{ "fs_maxpathlen", 0 },	      { "fs_acl_support", 0 },
	{ "fs_supported_attrs", 0 },  { "fs_umask", 0 },
	{ "check_quota", 2 },	      { "get_quota", 4 },
	{ "set_quota", 5 },	      { "getdevicelist", 4 },
	{ "fs_layouttypes", 2 },      { "fs_layout_blocksize", 0 },
	{ "fs_maximum_segments", 0 }, { "fs_loc_body_size", 0 },
	{ "get_write_verifier", 1 },  { "alloc_state", 2 },
	{ "free_state", 1 },	      { "is_superuser", 1 },
	{ "fs_expiretimeparent", 0 },
};

/* Methods that have a test of their own below. */
static const char *const special_obj[] = {
	"release", "merge",   "lookup", "readdir",	 "mkdir",
	"mknode",  "symlink", "link",	"rename",	 "unlink",
	"open2",   "read2",   "write2", "handle_to_key",
};

static const char *const special_export[] = {
	"release",	   "unexport",
	"unmount",	   "lookup_path",
	"lookup_junction", "host_to_key",
	"create_handle",   "get_fs_dynamic_info",
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

/* --- Objects ------------------------------------------------------------- */

static void test_lookup(void)
{
	struct fsal_obj_handle *new_obj = obj;
	struct fsal_attrlist attrs;
	fsal_status_t status;

	op_ctx->fsal_export = scale;
	status = obj->obj_ops->lookup(obj, "name", &new_obj, &attrs);
	CU_ASSERT_FALSE(FSAL_IS_ERROR(status));
	check_down("lookup", sub_of(obj));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[2], &attrs);
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

	obj->obj_ops->mkdir(obj, "d", &in, &new_obj, &out);
	check_down("mkdir", sub_of(obj));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], &in);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[2], &out);
	check_new(new_obj);

	obj->obj_ops->mknode(obj, "f", FIFO_FILE, &in, &new_obj, &out);
	check_down("mknode", sub_of(obj));
	CU_ASSERT_EQUAL(new_obj->type, FIFO_FILE);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], &in);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[2], &out);
	check_new(new_obj);

	obj->obj_ops->symlink(obj, "l", "target", &in, &new_obj, &out);
	check_down("symlink", sub_of(obj));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], &in);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[2], &out);
	CU_ASSERT_STRING_EQUAL((char *)fake_call.arg[3], "target");
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

	obj->obj_ops->open2(obj, state, FSAL_O_RDWR, FSAL_GUARDED, "n", &in,
			    verifier, &new_obj, &out, &check);
	check_down("open2", sub_of(obj));
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], state);
	CU_ASSERT_EQUAL(fake_call.arg[2], FSAL_O_RDWR);
	CU_ASSERT_EQUAL(fake_call.arg[3], FSAL_GUARDED);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[5], &in);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[6], verifier);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[7], &out);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[8], &check);
	check_new(new_obj);
	CU_ASSERT_EQUAL(fake_released, released + 1);

	/* PROXY_V4 returns the object that was opened: not a new one. */
	fake_open_returns = sub_of(obj);
	obj->obj_ops->open2(obj, state, FSAL_O_READ, FSAL_NO_CREATE, NULL, NULL,
			    NULL, &new_obj, &out, &check);
	check_down("open2", sub_of(obj));
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
