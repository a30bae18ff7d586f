// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Up-calls and what the cache knows: it is dropped before MDCACHE is told, for
 * MDCACHE asks at once.
 */
#include "cached.h"

#include "cache.h"

static struct tree_node *file;
static struct fsal_obj_handle *f;

static void begin_f(void)
{
	file = tree_make(tree.root, "f", REGULAR_FILE);
	begin("Freshness = upcall;");
	f = find(root, "f");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
}

static void end_f(void)
{
	drop(f);
	end();
}

static void grow(uint64_t size)
{
	file->size = size;
	tree_touch(file);
}

/* MDCACHE, when it hears of it. */
static void ask_size(void)
{
	struct req_op_context *was = op_ctx;

	op_ctx = &ctx;
	op_ctx->fsal_export = scale;
	CU_ASSERT_EQUAL(size_of(f), file->size);
	op_ctx = was;
}

/* Any event about an object that tells of its attributes, by each method. */
static void bring(unsigned int method, const struct tree_node *node)
{
	const struct fsal_up_vector *up = tree_up(scale->sub_export);
	char bytes[160];
	struct gsh_buffdesc key = { bytes, tree_key(node, bytes) };
	struct req_op_context *was = op_ctx;
	struct fsal_attrlist attrs;

	op_ctx = NULL;
	fsal_prepare_attrs(&attrs, 0);
	if (method == 0)
		(void)up->invalidate(up, &key, FSAL_UP_INVALIDATE_ATTRS);
	else if (method == 1)
		(void)up->invalidate(up, &key, FSAL_UP_INVALIDATE_CACHE);
	else
		(void)up->update(up, &key, &attrs, 0);
	op_ctx = was;
}

static void test_first_own(void)
{
	begin_f();
	when_heard = ask_size;
	for (unsigned int method = 0; method < 3; method++) {
		grow(method + 1);
		CU_ASSERT_NOT_EQUAL(size_of(f), file->size);
		bring(method, file);
		CU_ASSERT_EQUAL(heard, method + 1);
		COSTS(0, CU_ASSERT_EQUAL(size_of(f), file->size));
	}
	end_f();
}

/* Nothing else is forgotten. */
static void test_others_stay(void)
{
	struct tree_node none = { .fsid = 1, .id = 4711 };
	struct fsal_obj_handle *g;
	struct fsal_attrlist attrs;

	tree_make(tree.root, "g", REGULAR_FILE);
	begin_f();
	learn(root);
	g = find(root, "g");
	bring_invalidate(file, FSAL_UP_INVALIDATE_ATTRS);
	bring_invalidate(&none, FSAL_UP_INVALIDATE_CACHE);
	COSTS(0, OK(get(g, &attrs)));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "none"), ERR_FSAL_NOENT));
	COSTS(1, OK(get(f, &attrs)));
	drop(g);
	end_f();
}

/* An event about a directory is one about its names, too. */
static void test_directory(void)
{
	begin_f();
	learn(root);
	CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT);
	tree_make(tree.root, "g", REGULAR_FILE);
	tree_rename(tree.root, "f", tree.root, "h");
	COSTS(0, CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT));
	bring(0, tree.root);
	OK(look(root, "g"));
	OK(look(root, "h"));
	CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT);
	CU_ASSERT_EQUAL(list(root), 2);
	end_f();
}

/* CEPH wants its object back, for the capability that it holds. */
static void test_try_release(void)
{
	const struct fsal_up_vector *up;
	char bytes[160];
	struct gsh_buffdesc key = { bytes, 0 };
	struct fsal_attrlist attrs;
	unsigned int objects;

	begin_f();
	empty_pool();
	OK(truncate_to(f, 1));
	OK(get(f, &attrs));
	objects = tree.objects;
	key.len = tree_key(file, bytes);
	up = tree_up(scale->sub_export);
	op_ctx->fsal_export = scale->sub_export;
	(void)up->try_release(up, &key, 0);
	op_ctx->fsal_export = scale;
	mdx_quiesce(SCALE.cache);
	CU_ASSERT_EQUAL(tree.objects, objects - 1);
	CU_ASSERT_EQUAL(heard, 1);
	/* What is known of it is as true as it was. */
	COSTS(0, OK(get(f, &attrs)));
	end_f();
}

/* What GPFS sends of a file: an update with the attributes that it has at hand,
 * and when the last link goes, a second one that says so. Neither is relied on:
 * the answer is the backend's.
 */
static void bring_update(const struct tree_node *node, attrmask_t mask,
			 uint32_t flags)
{
	const struct fsal_up_vector *up = tree_up(scale->sub_export);
	char bytes[160];
	struct gsh_buffdesc key = { bytes, tree_key(node, bytes) };
	struct req_op_context *was = op_ctx;
	struct fsal_attrlist attrs;

	fsal_prepare_attrs(&attrs, mask);
	attrs.valid_mask = mask;
	attrs.filesize = 4711;
	attrs.numlinks = node->nlink;
	op_ctx = NULL;
	(void)up->update(up, &key, &attrs, flags);
	op_ctx = was;
	mdx_quiesce(SCALE.cache);
}

static void test_updates(void)
{
	unsigned int objects;

	begin_f();
	learn(root);
	empty_pool();
	OK(truncate_to(f, 1));
	objects = tree.objects;
	grow(2);
	bring_update(file, ATTR_SIZE | ATTR_CHANGE,
		     fsal_up_update_filesize_inc);
	CU_ASSERT_EQUAL(heard, 1);
	COSTS(1, CU_ASSERT_EQUAL(size_of(f), 2));
	/* The backend's object stays at hand... */
	CU_ASSERT_EQUAL(tree.objects, objects);
	tree_remove(tree.root, "f");
	bring_update(file, ATTR_NUMLINKS, 0);
	bring_update(file, 0, fsal_up_nlink);
	CU_ASSERT_EQUAL(heard, 3);
	/* ... until nothing leads to it. */
	CU_ASSERT_EQUAL(tree.objects, objects - 1);
	CU_ASSERT_EQUAL(size_of(f), UINT64_MAX);
	end_f();
}

/* One that comes while the object is in use, by a call to the backend. */
static void event_between(void *arg)
{
	(void)arg;
	grow(9);
	bring_invalidate(file,
			 FSAL_UP_INVALIDATE_CACHE | FSAL_UP_INVALIDATE_CLOSE);
	mdx_quiesce(SCALE.cache);
}

static void test_in_use(void)
{
	begin_f();
	mdx_invalidate(SCALE.cache, scale_obj_key(scale_obj(f)), MDX_ALL);
	tree_hook(TREE_GETATTRS, false, event_between, NULL);
	(void)size_of(f);
	CU_ASSERT_PTR_NULL(tree.hook.run);
	CU_ASSERT_EQUAL(size_of(f), 9);
	tree_hook(TREE_SETATTR, false, event_between, NULL);
	OK(truncate_to(f, 4));
	CU_ASSERT_EQUAL(size_of(f), 4);
	end_f();
}

/* The file is another one, and MDCACHE hears of it while it is asked for what
 * it then would keep.
 */
static void replaced_meanwhile(void *arg)
{
	(void)arg;
	tree_remove(tree.root, "f");
	file = tree_make(tree.root, "f", REGULAR_FILE);
	bring(0, tree.root);
}

static void test_overtaken_lookup(void)
{
	struct fsal_obj_handle *found;

	begin_f();
	bring(0, tree.root);
	tree_hook(TREE_LOOKUP, true, replaced_meanwhile, NULL);
	COSTS(2, found = find(root, "f"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_EQUAL(found->fileid, file->id);
	drop(found);
	end_f();
}

static void removed_meanwhile(void *arg)
{
	(void)arg;
	tree_remove(tree.root, "g");
	bring(0, tree.root);
}

static void doubted_meanwhile(void *arg)
{
	(void)arg;
	tree_remove(tree.root, "g");
	mdx_doubt_name(SCALE.cache, scale_obj_key(scale_obj(root)), "g", 1);
}

static void test_overtaken_listing(void)
{
	tree_make(tree.root, "g", REGULAR_FILE);
	begin_f();
	tree_hook(TREE_READDIR, true, removed_meanwhile, NULL);
	CU_ASSERT_EQUAL(list(root), 1);
	COSTS(0, CU_ASSERT_EQUAL(list(root), 1));
	tree_make(tree.root, "g", REGULAR_FILE);
	bring(0, tree.root);
	tree_hook(TREE_READDIR, true, doubted_meanwhile, NULL);
	CU_ASSERT_EQUAL(list(root), 1);
	COSTS(0, CU_ASSERT_EQUAL(list(root), 1));
	end_f();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "own knowledge first", test_first_own },
		{ "others stay", test_others_stay },
		{ "directories", test_directory },
		{ "an object is wanted back", test_try_release },
		{ "updates", test_updates },
		{ "an object in use", test_in_use },
		{ "a lookup that is overtaken", test_overtaken_lookup },
		{ "a listing that is overtaken", test_overtaken_listing },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("events", cached_setup, tests);
}
