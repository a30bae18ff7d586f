// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Exports that share their objects, as VFS's do: what one of them knows or
 * does is known to the other, but nothing that is not its own.
 */
#include "cached.h"

#include "cache.h"

static struct fsal_export *one, *two;
static struct fsal_obj_handle *root1, *root2;

static struct fsal_export *make(const char *params, const char *path,
				struct fsal_obj_handle **dir)
{
	char block[128];
	struct fsal_export *exp;

	snprintf(block, sizeof(block),
		 "FSAL { Name = SCALE; %s FSAL { Name = VFS; } }", params);
	exp = make_export(block, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(exp);
	scale_export(exp)->scan_ns = UINT64_MAX / 16;
	OK(exp->exp_ops.lookup_path(exp, path, dir, NULL).major);
	return exp;
}

static void be(struct fsal_export *exp)
{
	op_ctx->fsal_export = exp;
	scale = exp;
}

static void take_away(struct fsal_export *exp, struct fsal_obj_handle *dir)
{
	be(exp);
	exp->exp_ops.unexport(exp, dir);
	drop(dir);
	exp->exp_ops.release(exp);
}

static void begin_two(const char *path1, const char *path2)
{
	one = make("", path1, &root1);
	two = make("", path2, &root2);
	be(one);
}

static void end_two(void)
{
	take_away(one, root1);
	take_away(two, root2);
	CU_ASSERT_EQUAL(tree.objects, 0);
	CU_ASSERT_EQUAL(tree.wrong, 0);
	tree_reset();
	set_expiry(60);
	scale = NULL;
}

static void test_knowledge(void)
{
	struct fsal_obj_handle *f;

	tree_make(tree.root, "f", REGULAR_FILE);
	begin_two("/", "/");
	f = find(root1, "f");
	CU_ASSERT_EQUAL(look(root1, "g"), ERR_FSAL_NOENT);
	be(two);
	COSTS(0, OK(look(root2, "f")));
	COSTS(0, CU_ASSERT_EQUAL(look(root2, "g"), ERR_FSAL_NOENT));
	/* A change by one of them shows in the other at once. */
	OK(truncate_to(f, 7));
	OK(create(root2, "g"));
	be(one);
	CU_ASSERT_EQUAL(size_of(f), 7);
	OK(look(root1, "g"));
	OK(root1->obj_ops->unlink(root1, f, "f").major);
	be(two);
	CU_ASSERT_EQUAL(look(root2, "f"), ERR_FSAL_NOENT);
	drop(f);
	end_two();
}

/* The handle of an object that is not this export's: the backend says so, also
 * while another export keeps the object hot.
 */
static void test_foreign(void)
{
	struct tree_node *node = tree_make(tree.other, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;
	fsal_status_t status;

	tree.check_fsid = true;
	begin_two("/", "/2");
	CU_ASSERT_PTR_NULL(by_handle(one, node, &status));
	CU_ASSERT_EQUAL(status.major, ERR_FSAL_STALE);
	be(two);
	f = find(root2, "f");
	for (int pooled = 0; pooled < 2; pooled++) {
		be(two);
		if (!pooled)
			empty_pool();
		else
			(void)truncate_to(f, 1);
		(void)size_of(f);
		be(one);
		CU_ASSERT_PTR_NULL(by_handle(one, node, &status));
		CU_ASSERT_EQUAL(status.major, ERR_FSAL_STALE);
	}
	/* It is none the worse for it. */
	be(two);
	OK(look(root2, "f"));
	CU_ASSERT_EQUAL(size_of(f), 1);
	drop(f);
	end_two();
}

/* A backend that serves it there, too: from then on it is known. */
static void test_not_foreign(void)
{
	struct tree_node *node = tree_make(tree.other, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;
	fsal_status_t status;

	begin_two("/", "/2");
	be(two);
	OK(look(root2, "f"));
	be(one);
	f = by_handle(one, node, &status);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	drop(f);
	COSTS(0, f = by_handle(one, node, &status));
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	drop(f);
	end_two();
}

/* One goes, and the other goes on, with what is known and what is open. */
static void test_leave(void)
{
	struct fsal_obj_handle *f = NULL;
	struct fsal_attrlist out;
	struct state_t *state;
	bool check;

	tree_make(tree.root, "f", REGULAR_FILE);
	begin_two("/", "/");
	OK(look(root1, "f"));
	be(two);
	state = two->exp_ops.alloc_state(two, STATE_TYPE_SHARE, NULL);
	fsal_prepare_attrs(&out, ASKED);
	OK(root2->obj_ops
		   ->open2(root2, state, FSAL_O_RDWR, FSAL_NO_CREATE, "f", NULL,
			   NULL, &f, &out, &check)
		   .major);
	take_away(one, root1);
	be(two);
	COSTS(0, OK(look(root2, "f")));
	OK(truncate_to(f, 3));
	CU_ASSERT_EQUAL(size_of(f), 3);
	OK(f->obj_ops->close2(f, state).major);
	two->exp_ops.free_state(two, state);
	drop(f);
	one = make("", "/", &root1);
	end_two();
}

/* An event that comes by one of them concerns both. */
static void test_event(void)
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;

	begin_two("/", "/");
	f = find(root1, "f");
	node->size = 5;
	be(two);
	bring_invalidate(node, FSAL_UP_INVALIDATE_ATTRS);
	be(one);
	CU_ASSERT_EQUAL(size_of(f), 5);
	drop(f);
	end_two();
}

/* Objects are shared, so they are kept fresh in one way. */
static void test_alike(void)
{
	struct fsal_obj_handle *f;
	char *errors = NULL;

	tree_make(tree.root, "f", REGULAR_FILE);
	one = make("Attr_TTL = 100; Name_TTL = 100;", "/", &root1);
	CU_ASSERT_PTR_NULL(
		make_export(SCALE_WITH("Freshness = off;", "VFS"), &errors));
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "the same Freshness"));
	free(errors);
	/* The shortest life holds for both. */
	two = make("Attr_TTL = 10; Name_TTL = 1000;", "/", &root2);
	be(one);
	f = find(root1, "f");
	tree_find(tree.root, "f")->size = 5;
	pass_time(11000);
	CU_ASSERT_EQUAL(size_of(f), 5);
	take_away(two, root2);
	be(one);
	evict(f);
	CU_ASSERT_EQUAL(size_of(f), 5);
	pass_time(90000);
	COSTS(0, CU_ASSERT_EQUAL(size_of(f), 5));
	two = make("Attr_TTL = 10;", "/", &root2);
	drop(f);
	end_two();
}

/* What nobody has chosen gives way to what somebody has. */
static void test_automatic(void)
{
	char *errors = NULL;

	one = make("Freshness = ttl;", "/", &root1);
	two = make("", "/", &root2);
	CU_ASSERT_EQUAL(scale_export(two)->fresh.mode, SCALE_TTL);
	CU_ASSERT_PTR_NULL(
		make_export(SCALE_WITH("Freshness = notify;", "VFS"), &errors));
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "the same Freshness"));
	free(errors);
	be(two);
	OK(update_export_from(SCALE_WITH("Attr_TTL = 7;", "VFS"), two, &errors)
		   .major);
	CU_ASSERT_EQUAL(scale_export(two)->fresh.mode, SCALE_TTL);
	CU_ASSERT_EQUAL(scale_export(two)->fresh.attr_ms, 7000);
	free(errors);
	end_two();
	one = make("", "/", &root1);
	CU_ASSERT_EQUAL(scale_export(one)->fresh.mode, SCALE_NOTIFY);
	two = make("Freshness = notify;", "/", &root2);
	end_two();
}

/* Backends whose keys are an export's own share nothing. */
static void test_private(void)
{
	struct fsal_export *other;
	struct fsal_obj_handle *dir = NULL;

	tree_make(tree.root, "f", REGULAR_FILE);
	begin("");
	OK(look(root, "f"));
	other = make_export(SCALE_WITH("", "TREE"), NULL);
	scale_export(other)->per_user = false;
	OK(other->exp_ops.lookup_path(other, "/", &dir, NULL).major);
	CU_ASSERT_NOT_EQUAL(scale_export(other)->slot,
			    scale_export(scale)->slot);
	op_ctx->fsal_export = other;
	COSTS(1, OK(look(dir, "f")));
	other->exp_ops.unexport(other, dir);
	drop(dir);
	other->exp_ops.release(other);
	op_ctx->fsal_export = scale;
	COSTS(0, OK(look(root, "f")));
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "what is known", test_knowledge },
		{ "handles of another export", test_foreign },
		{ "handles of both", test_not_foreign },
		{ "one of them goes", test_leave },
		{ "an event by one of them", test_event },
		{ "fresh in one way", test_alike },
		{ "none was chosen", test_automatic },
		{ "exports that share nothing", test_private },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("shared", cached_setup, tests);
}
