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
#include <semaphore.h>
#include <unistd.h>

#include "config_parsing.h"
#include "config_parsing/analyse.h"
#include "cunit_main.h"
#include "fake_backend.h"
#include "nfs_init.h"

static struct gsh_export gsh;
static struct req_op_context ctx = { .ctx_export = &gsh };
static struct fsal_up_vector super;
static struct fsal_export *scale;   /* SCALE's export */
static struct fsal_obj_handle *obj; /* one of SCALE's objects */

/* --- Making exports ------------------------------------------------------ */

/* The parser lists blocks from the inside out; SCALE is given the outer one. */
static struct config_node *outer_block(void)
{
	struct config_node *node = config_GetBlockNode("FSAL");

	while (node->u.nterm.parent != NULL &&
	       node->u.nterm.parent->type == TYPE_BLOCK)
		node = node->u.nterm.parent;
	return node;
}

/*
 * Give SCALE a FSAL block to make an export from.
 * @param[out] errors  What was reported, to be freed. May be NULL.
 */
static struct fsal_export *make_export(const char *block, char **errors)
{
	struct config_error_type err = { 0 };
	char path[] = "/tmp/scale-unit-XXXXXX";
	char *text = NULL;
	size_t size;
	config_file_t file;
	fsal_status_t status;
	FILE *f = fdopen(mkstemp(path), "w");

	fprintf(f, "%s\n", block);
	fclose(f);
	err.fp = open_memstream(&text, &size);
	file = config_ParseFile(path, &err);
	op_ctx = &ctx;
	op_ctx->fsal_export = NULL;
	status = SCALE.module.m_ops.create_export(&SCALE.module, outer_block(),
						  &err, &super);
	fclose(err.fp);
	config_Free(file);
	unlink(path);
	if (errors != NULL)
		*errors = text;
	else
		free(text);
	return FSAL_IS_ERROR(status) ? NULL : op_ctx->fsal_export;
}

static void release_export(struct fsal_export *exp)
{
	op_ctx->fsal_export = exp;
	exp->exp_ops.release(exp);
	op_ctx->fsal_export = scale;
}

static struct fsal_obj_handle *sub_of(struct fsal_obj_handle *handle)
{
	return container_of(handle, struct scale_obj, obj)->sub;
}

static int setup(void)
{
	char *errors = NULL;

	nfs_prereq_init("test", "localhost", NIV_EVENT, "STDERR", false);
	if (fake_register("FAKE") != 0 || fake_register("VFS") != 0)
		return -1;
	PTHREAD_MUTEX_init(&super.up_mutex, NULL);
	super.up_ready = true;
	SCALE.configured = true;
	gsh.export_id = 77;
	op_ctx = &ctx;
	ctx.ctx_fullpath = gsh_refstr_dup("/some/path");
	scale = make_export("FSAL { Name = SCALE; FSAL { Name = FAKE; } }",
			    &errors);
	if (scale == NULL)
		fprintf(stderr, "%s\n", errors);
	free(errors);
	if (scale == NULL ||
	    FSAL_IS_ERROR(scale->exp_ops.lookup_path(scale, "/", &obj, NULL)))
		return -1;
	return 0;
}

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

static void check_down(const char *method, const void *theirs)
{
	CU_ASSERT_STRING_EQUAL(fake_call.method ? fake_call.method : "nothing",
			       method);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[0], theirs);
	CU_ASSERT_PTR_EQUAL(fake_call.ctx_export, scale->sub_export);
	CU_ASSERT_PTR_EQUAL(op_ctx->fsal_export, scale);
}

/* A new object is a faithful image of the backend's. */
static void check_new(struct fsal_obj_handle *new_obj)
{
	const struct fsal_obj_handle *sub = &fake_made->obj;
	struct gsh_buffdesc key;

	CU_ASSERT_PTR_NOT_NULL_FATAL(new_obj);
	CU_ASSERT_PTR_EQUAL(sub_of(new_obj), sub);
	CU_ASSERT_PTR_EQUAL(new_obj->fsal, &SCALE.module);
	CU_ASSERT_EQUAL(new_obj->type, sub->type);
	CU_ASSERT_EQUAL(new_obj->fileid, sub->fileid);
	CU_ASSERT_EQUAL(new_obj->fsid.major, sub->fsid.major);
	CU_ASSERT_PTR_EQUAL(new_obj->fs, sub->fs);

	new_obj->obj_ops->handle_to_key(new_obj, &key);
	CU_ASSERT_EQUAL(key.len, fake_made->key_len + SCALE_KEY_ID_BYTES);
	CU_ASSERT(memcmp(key.addr, fake_made->key, fake_made->key_len) == 0);

	new_obj->obj_ops->release(new_obj);
	check_down("release", sub);
}

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

/* --- Exports and keys ---------------------------------------------------- */

static void test_export_objects(void)
{
	fsal_dynamicfsinfo_t info;
	struct gsh_buffdesc fh = { .addr = "handle", .len = 7 };
	struct fsal_obj_handle *new_obj;
	struct fsal_attrlist out;

	scale->exp_ops.lookup_path(scale, "/p", &new_obj, &out);
	check_down("lookup_path", scale->sub_export);
	CU_ASSERT_STRING_EQUAL((char *)fake_call.arg[1], "/p");
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[2], &out);
	check_new(new_obj);

	scale->exp_ops.create_handle(scale, &fh, &new_obj, &out);
	check_down("create_handle", scale->sub_export);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], &fh);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[2], &out);
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

/* The same handle on two exports: one object or two, as the backend has it. */
static void test_keys(void)
{
	static const char fake[] =
		"FSAL { Name = SCALE; FSAL { Name = FAKE; } }";
	static const char vfs[] = "FSAL { Name = SCALE; FSAL { Name = VFS; } }";
	struct fsal_export *exps[] = { scale, make_export(fake, NULL),
				       make_export(vfs, NULL),
				       make_export(vfs, NULL) };
	char keys[4][6 + FSAL_KEY_EXTRA_BYTES];

	for (size_t i = 0; i < 4; i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(exps[i]);
		/* What the caller left room for is not overrun. */
		CU_ASSERT_EQUAL(key_of(exps[i], keys[i]),
				6 + 2 + SCALE_KEY_ID_BYTES);
	}
	CU_ASSERT(2 + SCALE_KEY_ID_BYTES <= FSAL_KEY_EXTRA_BYTES);
	CU_ASSERT(memcmp(keys[0], keys[1], 12) != 0);
	CU_ASSERT(memcmp(keys[0], keys[2], 12) != 0);
	CU_ASSERT(memcmp(keys[1], keys[2], 12) != 0);
	CU_ASSERT(memcmp(keys[2], keys[3], 12) == 0);

	for (size_t i = 1; i < 4; i++)
		release_export(exps[i]);
}

/* The id of an export that has gone is not given to the next one. */
static void test_keys_not_reused(void)
{
	static const char fake[] =
		"FSAL { Name = SCALE; FSAL { Name = FAKE; } }";
	char before[6 + FSAL_KEY_EXTRA_BYTES];
	char after[6 + FSAL_KEY_EXTRA_BYTES];
	struct fsal_export *exp = make_export(fake, NULL);

	key_of(exp, before);
	release_export(exp);
	exp = make_export(fake, NULL);
	key_of(exp, after);
	release_export(exp);
	CU_ASSERT(memcmp(before, after, 12) != 0);
}

/* An object serves an export that did not make it. */
static void test_shared_object(void)
{
	struct fsal_export *other = make_export(
		"FSAL { Name = SCALE; FSAL { Name = VFS; } }", NULL);

	op_ctx->fsal_export = other;
	obj->obj_ops->getattrs(obj, NULL);
	CU_ASSERT_PTR_EQUAL(fake_call.ctx_export, other->sub_export);
	CU_ASSERT_PTR_EQUAL(op_ctx->fsal_export, other);
	release_export(other);
}

/* At shutdown there may be no context, or one without an export. */
static void test_no_context(void)
{
	struct fsal_export *exp = make_export(
		"FSAL { Name = SCALE; FSAL { Name = FAKE; } }", NULL);
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

/* --- Up-calls ------------------------------------------------------------ */

static struct {
	const char *method;
	const struct fsal_up_vector *vec;
	char key[SCALE_KEY_MAX];
	size_t len;
	struct fsal_export *ctx_export;
	uint32_t flags;
} event;

static sem_t in_event;
static sem_t go_on;
static bool block_events;

static void see_event(const char *method, const struct fsal_up_vector *vec,
		      const struct gsh_buffdesc *key, uint32_t flags)
{
	event.method = method;
	event.vec = vec;
	event.len = key->len;
	memcpy(event.key, key->addr, key->len);
	event.flags = flags;
	event.ctx_export = op_ctx != NULL ? op_ctx->fsal_export : NULL;
	if (block_events) {
		sem_post(&in_event);
		sem_wait(&go_on);
	}
}

static fsal_status_t see_invalidate(const struct fsal_up_vector *vec,
				    struct gsh_buffdesc *key, uint32_t flags)
{
	see_event("invalidate", vec, key, flags);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t see_invalidate_close(const struct fsal_up_vector *vec,
					  struct gsh_buffdesc *key,
					  uint32_t flags)
{
	see_event("invalidate_close", vec, key, flags);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t see_try_release(const struct fsal_up_vector *vec,
				     struct gsh_buffdesc *key, uint32_t flags)
{
	see_event("try_release", vec, key, flags);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t see_update(const struct fsal_up_vector *vec,
				struct gsh_buffdesc *key,
				struct fsal_attrlist *attr, uint32_t flags)
{
	(void)attr;
	see_event("update", vec, key, flags);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static state_status_t see_lock_grant(const struct fsal_up_vector *vec,
				     struct gsh_buffdesc *file, void *owner,
				     fsal_lock_param_t *lock_param)
{
	(void)owner;
	(void)lock_param;
	see_event("lock_grant", vec, file, 0);
	return STATE_SUCCESS;
}

static state_status_t see_lock_avail(const struct fsal_up_vector *vec,
				     struct gsh_buffdesc *file, void *owner,
				     fsal_lock_param_t *lock_param)
{
	(void)owner;
	(void)lock_param;
	see_event("lock_avail", vec, file, 0);
	return STATE_SUCCESS;
}

static state_status_t see_layoutrecall(const struct fsal_up_vector *vec,
				       struct gsh_buffdesc *handle,
				       layouttype4 layout_type, bool changed,
				       const struct pnfs_segment *segment,
				       void *cookie,
				       struct layoutrecall_spec *spec)
{
	(void)layout_type;
	(void)changed;
	(void)segment;
	(void)cookie;
	(void)spec;
	see_event("layoutrecall", vec, handle, 0);
	return STATE_SUCCESS;
}

static state_status_t see_delegrecall(const struct fsal_up_vector *vec,
				      struct gsh_buffdesc *handle)
{
	see_event("delegrecall", vec, handle, 0);
	return STATE_SUCCESS;
}

static struct fsal_export *listening_export(void)
{
	super.invalidate = see_invalidate;
	super.invalidate_close = see_invalidate_close;
	super.update = see_update;
	super.try_release = see_try_release;
	super.lock_grant = see_lock_grant;
	super.lock_avail = see_lock_avail;
	super.layoutrecall = see_layoutrecall;
	super.delegrecall = see_delegrecall;
	super.up_fsal_export = (struct fsal_export *)&super;
	memset(&event, 0, sizeof(event));
	return make_export("FSAL { Name = SCALE; FSAL { Name = FAKE; } }",
			   NULL);
}

static void check_event(const char *method, struct fsal_export *exp,
			bool translated)
{
	uint32_t id = scale_export(exp)->backend_id;

	CU_ASSERT_STRING_EQUAL(event.method ? event.method : "nothing", method);
	CU_ASSERT_PTR_EQUAL(event.vec, &super);
	CU_ASSERT_EQUAL(event.len, translated ? 7 : 3);
	CU_ASSERT(memcmp(event.key, "key", 3) == 0);
	if (translated)
		CU_ASSERT(memcmp(event.key + 3, &id, sizeof(id)) == 0);
	memset(&event, 0, sizeof(event));
}

static void test_up(void)
{
	struct fsal_export *exp = listening_export();
	const struct fsal_up_vector *up = fake_below(exp)->up;
	struct gsh_buffdesc key = { .addr = "key", .len = 3 };
	struct req_op_context *was = op_ctx;
	fsal_status_t status;

	/* A backend's thread has no context, as a rule. */
	op_ctx = NULL;
	status = up->invalidate(up, &key, FSAL_UP_INVALIDATE_ATTRS);
	CU_ASSERT_FALSE(FSAL_IS_ERROR(status));
	CU_ASSERT_EQUAL(event.flags, FSAL_UP_INVALIDATE_ATTRS);
	check_event("invalidate", exp, true);
	up->invalidate_close(up, &key, 0);
	check_event("invalidate_close", exp, true);
	up->update(up, &key, NULL, 0);
	check_event("update", exp, true);
	up->try_release(up, &key, 0);
	check_event("try_release", exp, true);

	CU_ASSERT_EQUAL(up->lock_grant(up, &key, NULL, NULL), STATE_SUCCESS);
	check_event("lock_grant", exp, false);
	CU_ASSERT_EQUAL(up->lock_avail(up, &key, NULL, NULL), STATE_SUCCESS);
	check_event("lock_avail", exp, false);
	CU_ASSERT_EQUAL(up->layoutrecall(up, &key, LAYOUT4_NFSV4_1_FILES, true,
					 NULL, NULL, NULL),
			STATE_SUCCESS);
	check_event("layoutrecall", exp, false);
	CU_ASSERT_EQUAL(up->delegrecall(up, &key), STATE_SUCCESS);
	check_event("delegrecall", exp, false);
	op_ctx = was;

	/* From a call of the backend's, MDCACHE's export is to be current. */
	op_ctx->fsal_export = exp->sub_export;
	up->try_release(up, &key, 0);
	CU_ASSERT_PTR_EQUAL(event.ctx_export, super.up_fsal_export);
	CU_ASSERT_PTR_EQUAL(op_ctx->fsal_export, exp->sub_export);

	release_export(exp);
}

/* A key longer than any can be is refused, not copied. */
static void test_up_long_key(void)
{
	static char bytes[SCALE_KEY_MAX];
	struct fsal_export *exp = listening_export();
	const struct fsal_up_vector *up = fake_below(exp)->up;
	struct gsh_buffdesc key = { .addr = bytes, .len = sizeof(bytes) };

	up->invalidate(up, &key, 0);
	CU_ASSERT_PTR_NULL(event.method);
	key.len = SCALE_KEY_MAX - SCALE_KEY_ID_BYTES;
	up->invalidate(up, &key, 0);
	CU_ASSERT_PTR_NOT_NULL(event.method);
	release_export(exp);
}

/* Events that come too early or too late are dropped. */
static void test_up_early_and_late(void)
{
	struct fsal_export *exp = listening_export();
	const struct fsal_up_vector *up = fake_below(exp)->up;
	struct gsh_buffdesc key = { .addr = "key", .len = 3 };

	super.up_ready = false;
	up->invalidate(up, &key, 0);
	CU_ASSERT_EQUAL(up->lock_grant(up, &key, NULL, NULL), STATE_NOT_FOUND);
	CU_ASSERT_PTR_NULL(event.method);
	super.up_ready = true;
	up->invalidate(up, &key, 0);
	check_event("invalidate", exp, true);

	op_ctx->fsal_export = exp;
	exp->exp_ops.unexport(exp, NULL);
	up->invalidate(up, &key, 0);
	CU_ASSERT_PTR_NULL(event.method);

	release_export(exp);
	up->invalidate(up, &key, 0);
	up->try_release(up, &key, 0);
	CU_ASSERT_EQUAL(up->delegrecall(up, &key), STATE_NOT_FOUND);
	CU_ASSERT_PTR_NULL(event.method);
}

static void *bring_event(void *arg)
{
	const struct fsal_up_vector *up = arg;
	struct gsh_buffdesc key = { .addr = "key", .len = 3 };

	up->invalidate(up, &key, 0);
	return NULL;
}

static int unexported;

static void *unexport(void *arg)
{
	struct fsal_export *exp = arg;
	struct req_op_context own = { .ctx_export = &gsh, .fsal_export = exp };

	op_ctx = &own;
	exp->exp_ops.unexport(exp, obj);
	__atomic_store_n(&unexported, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/* Unexport waits for an event that is on its way. */
static void test_up_unexport_waits(void)
{
	struct fsal_export *exp = listening_export();
	pthread_t event_thread;
	pthread_t admin_thread;

	sem_init(&in_event, 0, 0);
	sem_init(&go_on, 0, 0);
	block_events = true;
	pthread_create(&event_thread, NULL, bring_event,
		       (void *)fake_below(exp)->up);
	sem_wait(&in_event);
	pthread_create(&admin_thread, NULL, unexport, exp);
	usleep(50000);
	CU_ASSERT_EQUAL(__atomic_load_n(&unexported, __ATOMIC_SEQ_CST), 0);
	sem_post(&go_on);
	pthread_join(event_thread, NULL);
	pthread_join(admin_thread, NULL);
	CU_ASSERT_EQUAL(__atomic_load_n(&unexported, __ATOMIC_SEQ_CST), 1);
	CU_ASSERT_STRING_EQUAL(fake_call.method, "unexport");
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], sub_of(obj));
	block_events = false;
	release_export(exp);
}

/* --- What is refused ----------------------------------------------------- */

static void refused(const char *block, const char *const *words)
{
	char *errors = NULL;
	struct fsal_export *exp = make_export(block, &errors);

	CU_ASSERT_PTR_NULL(exp);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "/tmp/scale-unit-"));
	for (; *words != NULL; words++) {
		CU_ASSERT_PTR_NOT_NULL(strstr(errors, *words));
		if (strstr(errors, *words) == NULL)
			fprintf(stderr, "\n    no \"%s\" in: %s", *words,
				errors);
	}
	free(errors);
	op_ctx->fsal_export = scale;
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

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

	SCALE.configured = false;
	refused("FSAL { Name = SCALE; FSAL { Name = FAKE; } }",
		WORDS("not configured", "correct the SCALE block"));
	SCALE.configured = true;

	/* SCALE, something, SCALE: told by the vector from above. */
	scale_up_ops_init(&super);
	refused("FSAL { Name = SCALE; FSAL { Name = FAKE; } }",
		WORDS("SCALE on FSAL SCALE", "take one of them away"));
	listening_export();
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
		{ "objects of an export", test_export_objects },
		{ "keys", test_keys },
		{ "ids of keys are not reused", test_keys_not_reused },
		{ "an object on another export", test_shared_object },
		{ "no context", test_no_context },
		{ "up-calls", test_up },
		{ "up-calls with long keys", test_up_long_key },
		{ "early and late up-calls", test_up_early_and_late },
		{ "unexport waits for up-calls", test_up_unexport_waits },
		{ "what is refused", test_refused },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("passthrough", setup, tests);
}
