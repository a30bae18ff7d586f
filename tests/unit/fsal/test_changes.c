// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * What is known after a change of a directory: that succeeded, that was
 * refused, and of which nobody can say.
 */
#include "cached.h"

#define FOREVER "Attr_TTL = -1; Name_TTL = -1; Negative_TTL = -1;"

static fsal_errors_t mkdir_in(struct fsal_obj_handle *dir, const char *name)
{
	struct fsal_obj_handle *obj = NULL;
	struct fsal_attrlist in, out;
	fsal_status_t status;

	fsal_prepare_attrs(&in, 0);
	fsal_prepare_attrs(&out, ASKED);
	status = dir->obj_ops->mkdir(dir, name, &in, &obj, &out);
	CU_ASSERT_EQUAL(obj != NULL, !FSAL_IS_ERROR(status));
	if (obj != NULL)
		drop(obj);
	return status.major;
}

static fsal_errors_t unlink_in(struct fsal_obj_handle *dir, const char *name,
			       struct fsal_obj_handle *obj)
{
	return dir->obj_ops->unlink(dir, obj, name).major;
}

static fsal_errors_t rename_in(struct fsal_obj_handle *from, const char *old,
			       struct fsal_obj_handle *to, const char *new)
{
	struct fsal_obj_handle *obj = find(from, old);
	fsal_errors_t error =
		from->obj_ops->rename(obj, from, old, to, new).major;

	drop(obj);
	return error;
}

/* After each change, the directory and its names are known to be what they are,
 * without a call; but for its attributes, which only the backend knows.
 */
static void check_known_after(const char *params)
{
	struct fsal_obj_handle *f, *link = NULL;
	struct fsal_attrlist attrs, in;

	tree_make(tree.root, "f", REGULAR_FILE);
	begin(params);
	learn(root);
	OK(create(root, "c"));
	COSTS(0, OK(look(root, "c")));
	CU_ASSERT(complete(root));
	COSTS(1, OK(get(root, &attrs)));
	CU_ASSERT_EQUAL(attrs.change, tree.root->change);
	COSTS(0, CU_ASSERT_EQUAL(list(root), 2));

	OK(mkdir_in(root, "d"));
	COSTS(0, OK(look(root, "d")));
	COSTS(0, CU_ASSERT_EQUAL(list(root), 3));
	fsal_prepare_attrs(&in, 0);
	OK(root->obj_ops->symlink(root, "s", "to", &in, &link, NULL).major);
	drop(link);
	f = find(root, "f");
	OK(f->obj_ops->link(f, root, "l").major);
	/* The link's attributes are the file's, with one link more. */
	COSTS(1, OK(get(f, &attrs)));
	CU_ASSERT_EQUAL(attrs.numlinks, 2);
	CU_ASSERT_EQUAL(attrs.ctime.tv_sec,
			tree_find(tree.root, "f")->ctime.tv_sec);
	COSTS(0, OK(look(root, "l")));
	CU_ASSERT(complete(root));

	OK(rename_in(root, "l", root, "m"));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "l"), ERR_FSAL_NOENT));
	OK(unlink_in(root, "m", f));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "m"), ERR_FSAL_NOENT));
	COSTS(1, OK(get(f, &attrs)));
	CU_ASSERT_EQUAL(attrs.numlinks, 1);
	CU_ASSERT(complete(root));
	CU_ASSERT_EQUAL(list(root), 4);
	COSTS(0, CU_ASSERT_EQUAL(look(root, "none"), ERR_FSAL_NOENT));
	drop(f);
	end();
}

static void test_known_after(void)
{
	check_known_after(FOREVER);
	check_known_after("Freshness = upcall;");
}

/* With a time to live a foreign change may hide behind one's own, no longer
 * than from the listing, whatever is changed meanwhile.
 */
static void test_ttl(void)
{
	begin("Name_TTL = 60;");
	learn(root);
	OK(create(root, "c"));
	COSTS(0, OK(look(root, "c")));
	COSTS(0, CU_ASSERT_EQUAL(list(root), 1));
	tree_make(tree.root, "strange", REGULAR_FILE);
	pass_time(59000);
	OK(create(root, "d"));
	COSTS(0, CU_ASSERT_EQUAL(list(root), 2));
	CU_ASSERT_EQUAL(look(root, "strange"), ERR_FSAL_NOENT);
	pass_time(1100);
	CU_ASSERT_EQUAL(list(root), 3);
	OK(look(root, "strange"));
	end();
}

/* The backend plainly refuses: nothing is different. */
static void test_refused(void)
{
	struct tree_node *d = tree_make(tree.root, "d", DIRECTORY);
	struct fsal_obj_handle *dir;

	tree_make(d, "inside", REGULAR_FILE);
	tree_make(tree.root, "f", REGULAR_FILE);
	begin(FOREVER);
	learn(root);
	CU_ASSERT_EQUAL(create(root, "f"), ERR_FSAL_EXIST);
	CU_ASSERT(complete(root));
	OK(look(root, "f"));
	CU_ASSERT_EQUAL(mkdir_in(root, "f"), ERR_FSAL_EXIST);
	tree_fail(TREE_MKDIR, ERR_FSAL_ACCESS, false, 1);
	CU_ASSERT_EQUAL(mkdir_in(root, "x"), ERR_FSAL_ACCESS);
	dir = find(root, "d");
	CU_ASSERT_EQUAL(unlink_in(root, "d", dir), ERR_FSAL_NOTEMPTY);
	CU_ASSERT(complete(root));
	OK(look(root, "d"));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "x"), ERR_FSAL_NOENT));
	drop(dir);
	end();
}

/* It exists, says the backend, and memory says that it does not. */
static void test_refused_unexpected(void)
{
	begin(FOREVER);
	CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT);
	tree_make(tree.root, "f", REGULAR_FILE);
	CU_ASSERT_EQUAL(create(root, "f"), ERR_FSAL_EXIST);
	OK(look(root, "f"));
	end();
}

/* An error that says nothing of what was done. */
static void test_unknown(void)
{
	for (int after = 0; after < 2; after++) {
		fsal_errors_t there = after ? ERR_FSAL_NO_ERROR :
					      ERR_FSAL_NOENT;
		fsal_errors_t gone = after ? ERR_FSAL_NOENT : ERR_FSAL_NO_ERROR;
		struct fsal_obj_handle *f, *g;

		tree_make(tree.root, "f", REGULAR_FILE);
		tree_make(tree.root, "g", REGULAR_FILE);
		begin(FOREVER);
		learn(root);
		f = find(root, "f");
		g = find(root, "g");
		tree_fail(TREE_OPEN, ERR_FSAL_IO, after, 1);
		CU_ASSERT_EQUAL(create(root, "c"), ERR_FSAL_IO);
		CU_ASSERT_EQUAL(look(root, "c"), there);
		tree_fail(TREE_MKDIR, ERR_FSAL_DELAY, after, 1);
		CU_ASSERT_EQUAL(mkdir_in(root, "d"), ERR_FSAL_DELAY);
		CU_ASSERT_EQUAL(look(root, "d"), there);
		tree_fail(TREE_LINK, ERR_FSAL_IO, after, 1);
		CU_ASSERT_EQUAL(f->obj_ops->link(f, root, "l").major,
				ERR_FSAL_IO);
		CU_ASSERT_EQUAL(look(root, "l"), there);
		tree_fail(TREE_RENAME, ERR_FSAL_IO, after, 1);
		CU_ASSERT_EQUAL(rename_in(root, "f", root, "r"), ERR_FSAL_IO);
		CU_ASSERT_EQUAL(look(root, "r"), there);
		CU_ASSERT_EQUAL(look(root, "f"), gone);
		tree_fail(TREE_UNLINK, ERR_FSAL_IO, after, 1);
		CU_ASSERT_EQUAL(unlink_in(root, "g", g), ERR_FSAL_IO);
		CU_ASSERT_EQUAL(look(root, "g"), gone);
		CU_ASSERT_EQUAL(list(root), tree.root->num_names);
		drop(f);
		drop(g);
		end();
	}
}

/* The backend says yes and hands out nothing: it may have done it. */
static void test_lie(void)
{
	begin(FOREVER);
	learn(root);
	tree.lie_nothing = true;
	CU_ASSERT_EQUAL(mkdir_in(root, "d"), ERR_FSAL_SERVERFAULT);
	tree.lie_nothing = false;
	OK(look(root, "d"));
	end();
}

/* A file that is removed is not served from memory by its handle. */
static void test_removed_handle(void)
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;
	fsal_status_t status;

	begin(FOREVER);
	f = find(root, "f");
	OK(unlink_in(root, "f", f));
	CU_ASSERT_PTR_NULL(by_handle(scale, node, &status));
	CU_ASSERT_EQUAL(status.major, ERR_FSAL_STALE);
	drop(f);
	end();
}

/* Over an existing name: its object has a link less, or none. */
static void check_replaced(const char *params, bool known, bool links)
{
	struct tree_node *old = tree_make(tree.root, "old", REGULAR_FILE);
	struct fsal_obj_handle *other;
	struct fsal_attrlist attrs;
	fsal_status_t status;

	tree_make(tree.root, "new", REGULAR_FILE);
	tree_link(tree.root, "other", old);
	if (!links)
		tree_remove(tree.root, "other");
	begin(params);
	if (known)
		OK(look(root, "old"));
	other = by_handle(scale, old, &status);
	COSTS(0, OK(get(other, &attrs)));
	CU_ASSERT_EQUAL(attrs.numlinks, links ? 2 : 1);

	OK(rename_in(root, "new", root, "old"));
	CU_ASSERT_EQUAL(look(root, "new"), ERR_FSAL_NOENT);
	if (links) {
		OK(get(other, &attrs));
		CU_ASSERT_EQUAL(attrs.numlinks, 1);
		OK(look(root, "other"));
	} else {
		CU_ASSERT_EQUAL(get(other, &attrs), ERR_FSAL_STALE);
		CU_ASSERT_PTR_NULL(by_handle(scale, old, &status));
	}
	drop(other);
	other = find(root, "old");
	CU_ASSERT_NOT_EQUAL(other->fileid, old->id);
	drop(other);
	end();
}

static void test_replaced(void)
{
	for (int known = 0; known < 2; known++) {
		for (int links = 0; links < 2; links++) {
			check_replaced(FOREVER, known, links);
			check_replaced("", known, links);
		}
	}
}

/* Names of one file: the backend does nothing, and says yes. */
static void test_renamed_link(void)
{
	struct tree_node *node = tree_make(tree.root, "a", REGULAR_FILE);

	tree_link(tree.root, "b", node);
	begin(FOREVER);
	OK(rename_in(root, "a", root, "b"));
	OK(look(root, "a"));
	OK(look(root, "b"));
	CU_ASSERT_EQUAL(list(root), 2);
	/* The same with all of it known. */
	OK(rename_in(root, "b", root, "a"));
	OK(look(root, "a"));
	OK(look(root, "b"));
	CU_ASSERT_EQUAL(list(root), 2);
	end();
}

static void test_renamed_self(void)
{
	tree_make(tree.root, "a", REGULAR_FILE);
	begin(FOREVER);
	learn(root);
	OK(rename_in(root, "a", root, "a"));
	OK(look(root, "a"));
	CU_ASSERT_EQUAL(list(root), 1);
	end();
}

/* Between two directories, back and forth, also of a directory. */
static void test_moved(void)
{
	struct tree_node *d = tree_make(tree.root, "d", DIRECTORY);
	struct fsal_obj_handle *dir, *parent, *sub;

	tree_make(tree.root, "f", REGULAR_FILE);
	tree_make(tree.root, "s", DIRECTORY);
	begin(FOREVER);
	learn(root);
	dir = find(root, "d");
	learn(dir);
	OK(rename_in(root, "f", dir, "g"));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT));
	COSTS(0, CU_ASSERT_EQUAL(look(dir, "f"), ERR_FSAL_NOENT));
	CU_ASSERT_EQUAL(list(dir), 1);
	OK(look(dir, "g"));
	CU_ASSERT_EQUAL(rename_in(dir, "g", root, "d"), ERR_FSAL_NOTEMPTY);
	OK(rename_in(dir, "g", root, "h"));
	OK(look(root, "h"));
	CU_ASSERT_EQUAL(look(dir, "g"), ERR_FSAL_NOENT);

	sub = find(root, "s");
	OK(rename_in(root, "s", dir, "s"));
	parent = find(sub, "..");
	CU_ASSERT_EQUAL(parent->fileid, d->id);
	drop(parent);
	drop(sub);
	drop(dir);
	end();
}

/* Where keys tell of names, a renamed object is another one. */
static void test_changed_key(void)
{
	tree_make(tree.root, "a", REGULAR_FILE);
	tree.supports = UINT64_C(1) << fso_rename_changes_key;
	begin(FOREVER);
	learn(root);
	OK(rename_in(root, "a", root, "b"));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "a"), ERR_FSAL_NOENT));
	COSTS(1, OK(look(root, "b")));
	end();
}

/* MDCACHE names an object that is not the name's any more: elsewhere another
 * file has been put there, and the old one is gone.
 */
static void test_other_object(void)
{
	struct fsal_obj_handle *f;

	tree_make(tree.root, "f", REGULAR_FILE);
	begin("");
	f = find(root, "f");
	empty_pool();
	tree_remove(tree.root, "f");
	tree_make(tree.root, "f", REGULAR_FILE);
	OK(unlink_in(root, "f", f));
	CU_ASSERT_PTR_NULL(tree_find(tree.root, "f"));
	CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT);
	drop(f);

	tree_make(tree.root, "f", REGULAR_FILE);
	pass_time(61000);
	f = find(root, "f");
	empty_pool();
	tree_remove(tree.root, "f");
	tree_make(tree.root, "f", REGULAR_FILE);
	OK(root->obj_ops->rename(f, root, "f", root, "g").major);
	OK(look(root, "g"));
	CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT);
	/* And when there is none. */
	tree_remove(tree.root, "g");
	CU_ASSERT_EQUAL(root->obj_ops->rename(f, root, "g", root, "f").major,
			ERR_FSAL_NOENT);
	drop(f);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "what is known after changes", test_known_after },
		{ "with a time to live", test_ttl },
		{ "refused changes", test_refused },
		{ "refused against what is known", test_refused_unexpected },
		{ "unknown outcomes", test_unknown },
		{ "made, and not handed out", test_lie },
		{ "the handle of a removed file", test_removed_handle },
		{ "rename over an existing name", test_replaced },
		{ "rename between links of one file", test_renamed_link },
		{ "rename to the same name", test_renamed_self },
		{ "rename between directories", test_moved },
		{ "rename where keys change", test_changed_key },
		{ "another object has the name", test_other_object },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("changes", cached_setup, tests);
}
