// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Listings: from memory and from the backend, in portions, and where there is
 * too much to be kept.
 */
#include "cached.h"

#include <unistd.h>

#define FOREVER "Attr_TTL = -1; Name_TTL = -1; Negative_TTL = -1;"

/** The highest bit tells that a cookie is the backend's. */
#define FOREIGN (UINT64_C(1) << 63)

#define MOST	140000

/** A listing as it is given: of files f0, f1, ... */
struct listing {
	size_t stop_after;
	enum fsal_dir_result stop;
	attrmask_t asked;
	size_t names;
	fsal_cookie_t cookie;
	bool wrong;
	bool foreign;
	unsigned char seen[MOST]; /* how often */
};

static struct listing l;

static enum fsal_dir_result see(const char *name, struct fsal_obj_handle *obj,
				struct fsal_attrlist *attrs, void *dir_state,
				fsal_cookie_t cookie)
{
	size_t i = (size_t)atoi(name + 1);
	bool foreign = (cookie & FOREIGN) != 0;

	CU_ASSERT_PTR_EQUAL(dir_state, &l);
	if (op_ctx->fsal_export != scale || obj->fsal != &SCALE.module ||
	    name[0] != 'f' || i >= MOST || cookie < 3 ||
	    (attrs->valid_mask & ATTR_FILEID) == 0 ||
	    attrs->fileid != obj->fileid ||
	    (l.names != 0 && foreign != l.foreign) ||
	    (!foreign && cookie <= l.cookie))
		l.wrong = true;
	else
		l.seen[i]++;
	l.foreign = foreign;
	l.cookie = cookie;
	drop(obj);
	return ++l.names == l.stop_after ? l.stop : DIR_CONTINUE;
}

static fsal_status_t go_on(struct fsal_obj_handle *dir, bool *eof)
{
	fsal_cookie_t whence = l.cookie;

	l.names = 0;
	return dir->obj_ops->readdir(dir, &whence, &l, see,
				     l.asked != 0 ? l.asked : ASKED, eof);
}

/* All of a directory, in portions. The number of portions. */
static unsigned int read_all(struct fsal_obj_handle *dir, size_t portion,
			     void (*between)(unsigned int n))
{
	unsigned int portions = 0;
	bool eof = false;

	memset(&l, 0, sizeof(l));
	l.stop_after = portion;
	l.stop = DIR_TERMINATE;
	while (!eof) {
		fsal_cookie_t before = l.cookie;
		fsal_status_t status = go_on(dir, &eof);

		CU_ASSERT_FALSE_FATAL(FSAL_IS_ERROR(status));
		CU_ASSERT_FATAL(eof || l.cookie != before);
		portions++;
		if (between != NULL && !eof)
			between(portions);
	}
	CU_ASSERT_FALSE(l.wrong);
	return portions;
}

/* Each of the files from first to last was given so often. */
static void check_seen(size_t first, size_t last, unsigned char times)
{
	size_t bad = 0;

	for (size_t i = first; i <= last; i++)
		bad += l.seen[i] != times;
	CU_ASSERT_EQUAL(bad, 0);
	if (bad != 0)
		fprintf(stderr, "\n    %zu names not %u times", bad, times);
}

static void make_files(unsigned int first, unsigned int last)
{
	char name[16];

	for (unsigned int i = first; i <= last; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		tree_make(tree.root, name, REGULAR_FILE);
	}
}

static void remove_files(unsigned int first, unsigned int last)
{
	char name[16];

	for (unsigned int i = first; i <= last; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		tree_remove(tree.root, name);
	}
}

static void forget_names(void)
{
	mdx_invalidate_names(SCALE.cache, scale_obj_key(scale_obj(root)));
}

static void test_warm(void)
{
	make_files(0, 99);
	begin("");
	COSTS(1, read_all(root, 0, NULL));
	check_seen(0, 99, 1);
	empty_pool();
	COSTS(0, read_all(root, 0, NULL));
	check_seen(0, 99, 1);
	COSTS(0, CU_ASSERT_EQUAL(read_all(root, 10, NULL), 11));
	check_seen(0, 99, 1);
	CU_ASSERT_EQUAL(tree.objects, 0);
	/* What was listed can be looked up, and what was not, is not there. */
	COSTS(0, OK(look(root, "f5")));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "f100"), ERR_FSAL_NOENT));
	end();
}

static void test_empty(void)
{
	begin("");
	COSTS(1, CU_ASSERT_EQUAL(list(root), 0));
	COSTS(0, CU_ASSERT_EQUAL(list(root), 0));
	end();
}

/* More than a listing is given at once. */
static void test_large(void)
{
	make_files(0, 1999);
	begin("");
	COSTS(1, read_all(root, 128, NULL));
	check_seen(0, 1999, 1);
	COSTS(0, read_all(root, 128, NULL));
	check_seen(0, 1999, 1);
	end();
}

static void change_file(const char *name, unsigned int calls)
{
	struct fsal_obj_handle *f = find(root, name);

	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	COSTS(calls, OK(truncate_to(f, 0)));
	drop(f);
}

/* A file that was listed needs no object made for its first use, as far as
 * the pool has room: what is in use there stays.
 */
static void test_objects(void)
{
	make_files(0, 9);
	begin("");
	empty_pool();
	learn(root);
	CU_ASSERT_EQUAL(tree.objects, 11);
	change_file("f7", 1);
	empty_pool();
	change_file("f0", 2);
	change_file("f1", 2);
	limit_pool(4);
	forget_names();
	learn(root);
	mdx_quiesce(SCALE.cache);
	CU_ASSERT_EQUAL(tree.objects, 4);
	change_file("f0", 1);
	change_file("f1", 1);
	change_file("f2", 1);
	change_file("f3", 2);
	limit_pool(16384);
	end();
}

/* The backend gives a few names at a time. */
static void test_batches(void)
{
	make_files(0, 99);
	tree.batch = 7;
	begin("");
	COSTS(15, read_all(root, 0, NULL));
	check_seen(0, 99, 1);
	COSTS(0, read_all(root, 0, NULL));
	end();
}

/* As RGW wants it: to go on after a name. */
static void test_by_name(void)
{
	bool eof;

	make_files(0, 99);
	tree.batch = 7;
	tree.supports = UINT64_C(1) << fso_whence_is_name;
	begin("");
	CU_ASSERT_FALSE(scale->exp_ops.fs_supports(scale, fso_whence_is_name));
	COSTS(15, read_all(root, 0, NULL));
	check_seen(0, 99, 1);
	/* A client's cookie is never taken for a name. */
	memset(&l, 0, sizeof(l));
	l.cookie = FOREIGN | 0x4141414141414141;
	CU_ASSERT(FSAL_IS_ERROR(go_on(root, &eof)));
	end();
}

/* Nothing can be kept: each portion reads the directory, and goes on. */
static void test_nothing_kept(void)
{
	make_files(0, 999);
	begin("Name_TTL = 0; Negative_TTL = 0;");
	COSTS(8, CU_ASSERT_EQUAL(read_all(root, 128, NULL), 8));
	check_seen(0, 999, 1);
	end();
}

static void change_between(unsigned int n)
{
	if (n == 1)
		remove_files(0, 9);
	if (n == 2)
		make_files(100, 109);
	forget_names();
}

/* Names that are there all the time are given once, whatever else happens. */
static void test_changes_between(void)
{
	make_files(0, 99);
	begin("");
	read_all(root, 10, change_between);
	check_seen(10, 99, 1);
	for (size_t i = 0; i < 10; i++)
		CU_ASSERT(l.seen[i] <= 1 && l.seen[100 + i] <= 1);
	end();
}

/* A cookie is the same after everything has been forgotten. */
static void test_cookies(void)
{
	struct fsal_obj_handle *none;
	fsal_cookie_t first, again;
	bool eof;

	make_files(0, 99);
	begin("");
	memset(&l, 0, sizeof(l));
	l.stop_after = 50;
	l.stop = DIR_TERMINATE;
	(void)go_on(root, &eof);
	CU_ASSERT_FALSE(eof);
	first = l.cookie;
	mdx_invalidate_all(SCALE.cache);
	memset(&l, 0, sizeof(l));
	l.stop_after = 50;
	l.stop = DIR_TERMINATE;
	(void)go_on(root, &eof);
	again = l.cookie;
	CU_ASSERT_EQUAL(first, again);
	/* That of a name that was removed is as good. */
	remove_files(0, 98);
	forget_names();
	none = find(root, "f99");
	drop(none);
	memset(l.seen, 0, sizeof(l.seen));
	(void)go_on(root, &eof);
	CU_ASSERT(eof);
	CU_ASSERT(l.names <= 1);
	end();
}

/* MDCACHE has enough, and would take more: it is not given more. */
static void test_readahead(void)
{
	bool eof;

	make_files(0, 99);
	begin("");
	for (int warm = 0; warm < 2; warm++) {
		memset(&l, 0, sizeof(l));
		l.stop_after = 10;
		l.stop = DIR_READAHEAD;
		OK(go_on(root, &eof).major);
		CU_ASSERT_EQUAL(l.names, 10);
		CU_ASSERT_FALSE(eof);
	}
	end();
}

static void forget_children(unsigned int n)
{
	char name[16];

	for (unsigned int i = 0; i < n; i++) {
		struct fsal_obj_handle *f;

		snprintf(name, sizeof(name), "f%u", i);
		f = find(root, name);
		mdx_invalidate(SCALE.cache, scale_obj_key(scale_obj(f)),
			       MDX_ALL);
		drop(f);
	}
}

/* Names that are known of objects that are not. */
static void test_forgotten(void)
{
	bool eof;

	make_files(0, 99);
	begin("");
	read_all(root, 0, NULL);
	forget_children(1);
	COSTS(1, read_all(root, 0, NULL));
	check_seen(0, 99, 1);
	COSTS(0, read_all(root, 0, NULL));
	/* Many: it costs less to read the directory. */
	forget_children(50);
	COSTS(9, read_all(root, 0, NULL));
	CU_ASSERT_EQUAL(tree.calls[TREE_READDIR], 2);
	check_seen(0, 99, 1);
	/* One that was removed elsewhere is left out. */
	forget_children(1);
	remove_files(0, 0);
	read_all(root, 0, NULL);
	check_seen(0, 0, 0);
	check_seen(1, 99, 1);
	/* And where the backend fails, so does the listing. */
	make_files(0, 0);
	forget_names();
	read_all(root, 0, NULL);
	forget_children(1);
	tree_fail(TREE_LOOKUP, ERR_FSAL_IO, false, 1);
	memset(&l, 0, sizeof(l));
	CU_ASSERT_EQUAL(go_on(root, &eof).major, ERR_FSAL_IO);
	end();
}

static void test_errors(void)
{
	bool eof;

	make_files(0, 99);
	begin("");
	for (int after = 0; after < 2; after++) {
		tree_fail(TREE_READDIR, ERR_FSAL_IO, after, 1);
		memset(&l, 0, sizeof(l));
		CU_ASSERT_EQUAL(go_on(root, &eof).major, ERR_FSAL_IO);
		CU_ASSERT_FALSE(mdx_is_complete(
			SCALE.cache, scale_obj_key(scale_obj(root))));
	}
	/* A backend that neither gives names nor comes to an end. */
	tree.stuck = true;
	CU_ASSERT(FSAL_IS_ERROR(go_on(root, &eof)));
	tree.stuck = false;
	CU_ASSERT_EQUAL(look(root, "f100"), ERR_FSAL_NOENT);
	OK(look(root, "f99"));
	memset(&l, 0, sizeof(l));
	read_all(root, 0, NULL);
	check_seen(0, 99, 1);
	end();
}

/* Objects that cannot be made again from their handles. */
static void test_special(void)
{
	char name[] = "f100";
	static const object_file_type_t types[] = { SOCKET_FILE,    BLOCK_FILE,
						    CHARACTER_FILE, FIFO_FILE,
						    SYMBOLIC_LINK,  DIRECTORY };

	make_files(0, 9);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		tree_make(tree.root, name, types[i]);
		name[3]++;
	}
	begin(FOREVER);
	read_all(root, 0, NULL);
	check_seen(0, 9, 1);
	check_seen(100, 105, 1);
	/* Sockets and devices are looked up each time, the others are not. */
	COSTS(3, read_all(root, 0, NULL));
	check_seen(0, 9, 1);
	check_seen(100, 105, 1);
	COSTS(0, CU_ASSERT_EQUAL(look(root, "none"), ERR_FSAL_NOENT));
	COSTS(1, OK(look(root, "f100")));
	end();
}

static void forget_node(const struct tree_node *node)
{
	char key[160];

	mdx_forget(SCALE.cache,
		   (struct mdx_key){ key, (uint8_t)tree_key(node, key),
				     scale_export(scale)->slot });
}

static fsal_ace_t ace;
static fsal_acl_t acl = { .naces = 1, .aces = &ace, .ref = 1 };

/* With ACLs: what is given has its reference, and what is kept, its own. */
static void test_acl(void)
{
	bool eof;

	PTHREAD_RWLOCK_init(&acl.lock, NULL);
	make_files(0, 99);
	for (size_t i = 0; i < 50; i++) {
		tree.root->names[i].node->acl = &acl;
		acl.ref++;
	}
	tree.supported |= ATTR_ACL;
	tree.gives |= ATTR_ACL;
	begin("");
	for (int i = 0; i < 3; i++) {
		memset(&l, 0, sizeof(l));
		l.asked = ASKED | ATTR_ACL;
		COSTS(i == 0, OK(go_on(root, &eof).major));
		CU_ASSERT(eof && !l.wrong && l.names == 100);
	}
	forget_children(20);
	memset(&l, 0, sizeof(l));
	l.asked = ASKED | ATTR_ACL;
	OK(go_on(root, &eof).major);
	check_seen(0, 99, 1);
	/* What is invalidated as a whole is given back in time, this at once.
	 */
	for (size_t i = 0; i < 100; i++)
		forget_node(tree.root->names[i].node);
	end();
	CU_ASSERT_EQUAL(acl.ref, 1);
}

/* More names than are read for one listing: they come as the backend has them,
 * and its cookies are told from SCALE's own.
 */
static void test_too_large(void)
{
	const size_t last = 131072 + 500;
	fsal_status_t status;
	unsigned int calls;
	bool eof;

	make_files(0, last);
	begin("");
	read_all(root, 50000, NULL);
	CU_ASSERT(l.foreign);
	check_seen(0, last, 1);
	/* MDCACHE has seen that order, and is given no other. */
	calls = tree.calls[TREE_READDIR];
	memset(&l, 0, sizeof(l));
	l.stop_after = 100;
	l.stop = DIR_TERMINATE;
	OK(go_on(root, &eof).major);
	CU_ASSERT(l.foreign);
	CU_ASSERT_EQUAL(tree.calls[TREE_READDIR], calls + 1);
	/* A cookie of a client goes on in a new life of the object, too. */
	drop(root);
	root = by_handle(scale, tree.root, &status);
	CU_ASSERT_PTR_NOT_NULL_FATAL(root);
	l.stop_after = 0;
	OK(go_on(root, &eof).major);
	CU_ASSERT(eof && l.foreign && !l.wrong);
	check_seen(0, last, 1);
	end();
}

/* What was read and is not wanted is released. */
static void test_dropped_window(void)
{
	bool eof;

	make_files(0, 299);
	begin("");
	memset(&l, 0, sizeof(l));
	l.stop_after = 1;
	l.stop = DIR_TERMINATE;
	OK(go_on(root, &eof).major);
	CU_ASSERT_EQUAL(l.names, 1);
	CU_ASSERT_FALSE(eof);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "warm", test_warm },
		{ "empty", test_empty },
		{ "large", test_large },
		{ "the backend's objects", test_objects },
		{ "a backend that gives batches", test_batches },
		{ "a backend that goes on by name", test_by_name },
		{ "where nothing is kept", test_nothing_kept },
		{ "changes between portions", test_changes_between },
		{ "cookies", test_cookies },
		{ "read ahead", test_readahead },
		{ "forgotten objects", test_forgotten },
		{ "errors", test_errors },
		{ "special files", test_special },
		{ "with access control lists", test_acl },
		{ "too large to be kept", test_too_large },
		{ "more was read than is wanted", test_dropped_window },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("listing", cached_setup, tests);
}
