// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Names from memory: that exist, that do not, and "..".
 */
#include "cached.h"

#include <pthread.h>
#include <unistd.h>

#define FOREVER "Attr_TTL = -1; Name_TTL = -1; Negative_TTL = -1;"

static void make_files(struct tree_node *dir, unsigned int n)
{
	char name[16];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		tree_make(dir, name, REGULAR_FILE);
	}
}

static void look_all(struct fsal_obj_handle *dir, unsigned int n)
{
	char name[16];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		OK(look(dir, name));
	}
}

/* MDCACHE keeps 128 names of a directory; here, all of them count. */
static void test_warm(void)
{
	make_files(tree.root, 1000);
	begin("");
	COSTS(1000, look_all(root, 1000));
	COSTS(0, look_all(root, 1000));
	empty_pool();
	CU_ASSERT_EQUAL(tree.objects, 0);
	COSTS(0, look_all(root, 1000));
	CU_ASSERT_EQUAL(tree.objects, 0);
	end();
}

static void test_negative(void)
{
	begin("");
	COSTS(1, CU_ASSERT_EQUAL(look(root, "absent"), ERR_FSAL_NOENT));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "absent"), ERR_FSAL_NOENT));
	/* A directory that was read knows what is not in it. */
	learn(root);
	COSTS(0, CU_ASSERT_EQUAL(look(root, "another"), ERR_FSAL_NOENT));
	end();
}

/* What makes a name, by way of this server or another. */

static void make_file(void *arg)
{
	OK(create(root, arg));
}

static void make_dir(void *arg)
{
	struct fsal_obj_handle *obj = NULL;
	struct fsal_attrlist in;

	fsal_prepare_attrs(&in, 0);
	OK(root->obj_ops->mkdir(root, arg, &in, &obj, NULL).major);
	drop(obj);
}

static void make_node(void *arg)
{
	struct fsal_obj_handle *obj = NULL;
	struct fsal_attrlist in;

	fsal_prepare_attrs(&in, 0);
	OK(root->obj_ops->mknode(root, arg, FIFO_FILE, &in, &obj, NULL).major);
	drop(obj);
}

static void make_symlink(void *arg)
{
	struct fsal_obj_handle *obj = NULL;
	struct fsal_attrlist in;

	fsal_prepare_attrs(&in, 0);
	OK(root->obj_ops->symlink(root, arg, "to", &in, &obj, NULL).major);
	drop(obj);
}

static void make_link(void *arg)
{
	struct fsal_obj_handle *f;

	f = find(root, "f0");
	OK(f->obj_ops->link(f, root, arg).major);
	drop(f);
}

static void make_renamed(void *arg)
{
	struct fsal_obj_handle *f;

	f = find(root, "f1");
	OK(root->obj_ops->rename(f, root, "f1", root, arg).major);
	drop(f);
}

static void make_foreign(void *arg)
{
	tree_make(tree.root, arg, REGULAR_FILE);
	bring_invalidate(tree.root, FSAL_UP_INVALIDATE_CACHE);
}

static const struct {
	const char *name;
	void (*make)(void *arg);
} makers[] = {
	{ "file", make_file },	     { "dir", make_dir },
	{ "node", make_node },	     { "symlink", make_symlink },
	{ "link", make_link },	     { "renamed", make_renamed },
	{ "foreign", make_foreign },
};

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

/* A name known not to exist that comes to exist. */
static void test_negative_turned(void)
{
	static const char *const params[] = { "", FOREVER,
					      "Freshness = upcall;" };

	for (size_t p = 0; p < LEN(params); p++) {
		make_files(tree.root, 2);
		begin(params[p]);
		for (size_t i = 0; i < LEN(makers); i++) {
			const char *name = makers[i].name;

			CU_ASSERT_EQUAL(look(root, name), ERR_FSAL_NOENT);
			makers[i].make((void *)name);
			OK(look(root, name));
			COSTS(0, OK(look(root, name)));
		}
		CU_ASSERT_EQUAL(look(root, "f1"), ERR_FSAL_NOENT);
		end();
	}
}

/* The same while the backend is asked, which has just said that it does not. */
static void test_negative_race(void)
{
	static const char *const params[] = { "", FOREVER,
					      "Freshness = upcall;" };

	for (size_t p = 0; p < LEN(params); p++) {
		make_files(tree.root, 2);
		begin(params[p]);
		for (size_t i = 0; i < LEN(makers); i++) {
			const char *name = makers[i].name;

			tree_hook(TREE_LOOKUP, true, makers[i].make,
				  (void *)name);
			CU_ASSERT_EQUAL(look(root, name), ERR_FSAL_NOENT);
			CU_ASSERT_PTR_NULL(tree.hook.run);
			OK(look(root, name));
		}
		end();
	}
}

static void unlink_f(void *arg)
{
	struct fsal_obj_handle *f = arg;

	OK(root->obj_ops->unlink(root, f, "f0").major);
}

/* And one that is gone when the backend has said that it is there. */
static void test_positive_race(void)
{
	struct fsal_obj_handle *f;

	make_files(tree.root, 1);
	begin(FOREVER);
	f = find(root, "f0");
	mdx_invalidate_names(SCALE.cache, scale_obj_key(scale_obj(root)));
	tree_hook(TREE_LOOKUP, true, unlink_f, f);
	OK(look(root, "f0"));
	CU_ASSERT_PTR_NULL(tree.hook.run);
	CU_ASSERT_EQUAL(look(root, "f0"), ERR_FSAL_NOENT);
	drop(f);
	end();
}

/* Names of a listing that is under way. */
static void test_listing_race(void)
{
	make_files(tree.root, 2);
	begin(FOREVER);
	tree_hook(TREE_READDIR, true, make_file, "new");
	(void)list(root);
	CU_ASSERT_PTR_NULL(tree.hook.run);
	OK(look(root, "new"));
	CU_ASSERT_EQUAL(list(root), 3);

	tree_hook(TREE_READDIR, true, make_foreign, "strange");
	mdx_invalidate_names(SCALE.cache, scale_obj_key(scale_obj(root)));
	(void)list(root);
	CU_ASSERT_PTR_NULL(tree.hook.run);
	OK(look(root, "strange"));
	CU_ASSERT_EQUAL(list(root), 4);
	end();
}

static void test_errors(void)
{
	make_files(tree.root, 1);
	begin("");
	tree_fail(TREE_LOOKUP, ERR_FSAL_ACCESS, false, 1);
	CU_ASSERT_EQUAL(look(root, "f0"), ERR_FSAL_ACCESS);
	tree_fail(TREE_LOOKUP, ERR_FSAL_DELAY, false, 1);
	CU_ASSERT_EQUAL(look(root, "f0"), ERR_FSAL_DELAY);
	tree.lie_nothing = true;
	CU_ASSERT_EQUAL(look(root, "f0"), ERR_FSAL_SERVERFAULT);
	tree.lie_nothing = false;
	OK(look(root, "f0"));
	end();
}

/* A directory that was taken away elsewhere. */
static void test_stale(void)
{
	struct tree_node *d = tree_make(tree.root, "d", DIRECTORY);
	struct fsal_obj_handle *dir;

	begin(FOREVER);
	dir = find(root, "d");
	(void)d;
	tree_remove(tree.root, "d");
	CU_ASSERT_EQUAL(look(dir, "x"), ERR_FSAL_STALE);
	CU_ASSERT_EQUAL(look(root, "d"), ERR_FSAL_NOENT);
	drop(dir);
	end();
}

static uint64_t parent_of(struct fsal_obj_handle *dir)
{
	struct fsal_obj_handle *parent = find(dir, "..");
	uint64_t id = 0;

	if (parent != NULL) {
		id = parent->fileid;
		drop(parent);
	}
	return id;
}

static void move_d(void *arg)
{
	struct fsal_obj_handle *dir = find(root, "d");
	struct fsal_obj_handle *to = find(root, "to");

	(void)arg;
	OK(root->obj_ops->rename(dir, root, "d", to, "moved").major);
	drop(to);
	drop(dir);
}

static void test_parent(void)
{
	struct tree_node *d = tree_make(tree.root, "d", DIRECTORY);
	struct tree_node *to = tree_make(tree.root, "to", DIRECTORY);
	struct fsal_obj_handle *dir;
	fsal_status_t status;

	begin(FOREVER);
	/* By a client's handle: nothing is known of where it is. */
	dir = by_handle(scale, d, &status);
	COSTS(1, CU_ASSERT_EQUAL(parent_of(dir), tree.root->id));
	COSTS(0, CU_ASSERT_EQUAL(parent_of(dir), tree.root->id));
	/* It is no name: the directory has none. */
	CU_ASSERT_EQUAL(list(dir), 0);

	move_d(NULL);
	CU_ASSERT_EQUAL(parent_of(dir), to->id);
	COSTS(0, CU_ASSERT_EQUAL(parent_of(dir), to->id));
	drop(dir);
	end();
}

/* It is moved while the backend tells where it was. */
static void test_parent_race(void)
{
	struct tree_node *d = tree_make(tree.root, "d", DIRECTORY);
	struct tree_node *to = tree_make(tree.root, "to", DIRECTORY);
	struct fsal_obj_handle *dir;
	fsal_status_t status;

	begin(FOREVER);
	dir = by_handle(scale, d, &status);
	/* So that the move itself looks nothing up. */
	OK(look(root, "d"));
	OK(look(root, "to"));
	mdx_invalidate(SCALE.cache, scale_obj_key(scale_obj(dir)), MDX_PARENT);
	tree_hook(TREE_LOOKUP, true, move_d, NULL);
	CU_ASSERT_EQUAL(parent_of(dir), tree.root->id);
	CU_ASSERT_PTR_NULL(tree.hook.run);
	CU_ASSERT_EQUAL(parent_of(dir), to->id);
	drop(dir);
	end();
}

static void test_long_name(void)
{
	char name[300];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	tree_make(tree.root, name, REGULAR_FILE);
	begin("");
	/* Not kept, and right. */
	for (int i = 0; i < 2; i++)
		COSTS(1, OK(look(root, name)));
	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(list(root), 1);
	OK(look(root, name));
	name[255] = '\0';
	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(look(root, name), ERR_FSAL_NOENT);
	end();
}

static uint64_t target_of(struct fsal_obj_handle *link, const char *target)
{
	struct gsh_buffdesc content = { NULL, 0 };
	fsal_status_t status = link->obj_ops->readlink(link, &content, false);
	bool same = !FSAL_IS_ERROR(status) &&
		    content.len == strlen(target) + 1 &&
		    strcmp(content.addr, target) == 0;

	gsh_free(content.addr);
	return same;
}

static void test_readlink(void)
{
	struct tree_node *l = tree_make(tree.root, "l", SYMBOLIC_LINK);
	struct fsal_obj_handle *link;
	char longest[1024];

	l->target = strdup("a/b");
	begin("");
	link = find(root, "l");
	COSTS(1, CU_ASSERT(target_of(link, "a/b")));
	COSTS(0, CU_ASSERT(target_of(link, "a/b")));
	empty_pool();
	COSTS(0, CU_ASSERT(target_of(link, "a/b")));
	/* An event says that something about it is different. */
	free(l->target);
	memset(longest, 't', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	l->target = strdup(longest);
	bring_invalidate(l, FSAL_UP_INVALIDATE_CACHE);
	for (int i = 0; i < 2; i++)
		CU_ASSERT(target_of(link, longest));
	tree_fail(TREE_READLINK, ERR_FSAL_IO, false, 1);
	CU_ASSERT_FALSE(target_of(link, longest));
	drop(link);
	end();
}

#define THREADS 4

static void *look_f0(void *arg)
{
	struct req_op_context own = ctx;

	own.fsal_export = scale;
	op_ctx = &own;
	*(fsal_errors_t *)arg = look(root, "f0");
	op_ctx = NULL;
	return NULL;
}

static pthread_t threads[THREADS];
static fsal_errors_t results[THREADS];

static void join_in(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, look_f0, &results[i]);
	usleep(50000);
}

/* Many who miss on one name make one call of the backend. */
static void test_flight(void)
{
	make_files(tree.root, 1);
	begin("");
	for (int absent = 0; absent < 2; absent++) {
		fsal_errors_t expected = ERR_FSAL_NO_ERROR;

		if (absent) {
			tree_remove(tree.root, "f0");
			bring_invalidate(tree.root, FSAL_UP_INVALIDATE_CACHE);
			expected = ERR_FSAL_NOENT;
		}
		memset(results, 0xff, sizeof(results));
		tree.calls[TREE_LOOKUP] = 0;
		tree_hook(TREE_LOOKUP, false, join_in, NULL);
		CU_ASSERT_EQUAL(look(root, "f0"), expected);
		for (size_t i = 0; i < THREADS; i++) {
			pthread_join(threads[i], NULL);
			CU_ASSERT_EQUAL(results[i], expected);
		}
		CU_ASSERT_EQUAL(tree.calls[TREE_LOOKUP], 1);
	}
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "warm", test_warm },
		{ "negative", test_negative },
		{ "negative names that come to exist", test_negative_turned },
		{ "a name made while it is looked up", test_negative_race },
		{ "a name removed while it is looked up", test_positive_race },
		{ "a name made while a directory is read", test_listing_race },
		{ "errors", test_errors },
		{ "a stale directory", test_stale },
		{ "the parent", test_parent },
		{ "a directory moved while it is asked for", test_parent_race },
		{ "long names", test_long_name },
		{ "targets of symbolic links", test_readlink },
		{ "many miss on one name", test_flight },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("names", cached_setup, tests);
}
