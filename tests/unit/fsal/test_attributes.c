// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Attributes from memory: when they are, when they must not be, and what races
 * with their fetching.
 */
#include "cached.h"

#include "nfs4_acls.h"

static void test_warm(void)
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;
	struct fsal_attrlist attrs;

	node->size = 17;
	begin("");
	f = find(root, "f");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	COSTS(0, OK(get(f, &attrs)));
	CU_ASSERT_EQUAL(attrs.filesize, 17);
	CU_ASSERT_EQUAL(attrs.type, REGULAR_FILE);
	CU_ASSERT_EQUAL(attrs.change, node->change);
	CU_ASSERT_EQUAL(attrs.fileid, node->id);
	CU_ASSERT_EQUAL(attrs.numlinks, 1);
	CU_ASSERT_EQUAL(attrs.ctime.tv_sec, node->ctime.tv_sec);

	/* Not even when nobody holds the backend's object any more. */
	empty_pool();
	CU_ASSERT_EQUAL(tree.objects, 0);
	COSTS(0, OK(get(f, &attrs)));
	CU_ASSERT_EQUAL(tree.objects, 0);

	/* Forgotten: asked for once. Without a backend's object that is
	 * create_handle, which gives attributes at the same price.
	 */
	evict(f);
	COSTS(1, OK(get(f, &attrs)));
	CU_ASSERT_EQUAL(tree.calls[TREE_CREATE_HANDLE], 1);
	COSTS(0, OK(get(f, &attrs)));
	evict(f);
	COSTS(1, OK(get(f, &attrs)));
	CU_ASSERT_EQUAL(tree.calls[TREE_GETATTRS], 1);
	drop(f);
	end();
}

/* After every call that changes it, an object tells what it is now. */
static void test_after_changes(void)
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;
	struct fsal_attrlist attrs;

	begin("Attr_TTL = -1; Name_TTL = -1; Negative_TTL = -1;");
	f = find(root, "f");
	OK(truncate_to(f, 5));
	COSTS(1, CU_ASSERT_EQUAL(size_of(f), 5));
	COSTS(0, CU_ASSERT_EQUAL(size_of(f), 5));
	OK(f->obj_ops->setxattrs(f, 0, NULL, NULL).major);
	COSTS(1, OK(get(f, &attrs)));
	CU_ASSERT_EQUAL(attrs.change, node->change);

	/* One that failed may have done something all the same. */
	tree_fail(TREE_SETATTR, ERR_FSAL_IO, true, 1);
	CU_ASSERT_EQUAL(truncate_to(f, 6), ERR_FSAL_IO);
	CU_ASSERT_EQUAL(size_of(f), 6);
	drop(f);
	end();
}

static void io_done(struct fsal_obj_handle *obj, fsal_status_t ret,
		    void *obj_data, void *caller_data)
{
	(void)obj;
	(void)obj_data;
	*(fsal_errors_t *)caller_data = ret.major;
}

/* When the backend says that it has written, the size is asked for anew. */
static void look_in_callback(struct fsal_obj_handle *obj, fsal_status_t ret,
			     void *obj_data, void *caller_data)
{
	CU_ASSERT_EQUAL(size_of(obj), 4096);
	io_done(obj, ret, obj_data, caller_data);
}

static void test_write(void)
{
	struct fsal_io_arg io = { .io_amount = 4096 };
	fsal_errors_t done = ERR_FSAL_IO;
	struct fsal_obj_handle *f;
	struct fsal_attrlist attrs;

	tree_make(tree.root, "f", REGULAR_FILE);
	begin("");
	f = find(root, "f");
	CU_ASSERT_EQUAL(size_of(f), 0);
	f->obj_ops->write2(f, false, look_in_callback, &io, &done);
	OK(done);
	CU_ASSERT_EQUAL(size_of(f), 4096);

	/* A read is not a change, but for the time, which may be old. */
	COSTS(1, f->obj_ops->read2(f, false, io_done, &io, &done));
	COSTS(0, OK(get(f, &attrs)));

	tree_fail(TREE_WRITE, ERR_FSAL_NOSPC, true, 1);
	io.offset = 4096;
	f->obj_ops->write2(f, false, io_done, &io, &done);
	CU_ASSERT_EQUAL(done, ERR_FSAL_NOSPC);
	CU_ASSERT_EQUAL(size_of(f), 8192);

	/* The descriptor is closed before the object is released. */
	empty_pool();
	CU_ASSERT_EQUAL(tree.closed, 1);
	drop(f);
	end();
}

static struct fsal_obj_handle *raced;

static void set_in_between(void *arg)
{
	(void)arg;
	OK(truncate_to(raced, 99));
}

static void event_in_between(void *arg)
{
	struct tree_node *node = arg;

	node->size = 99;
	tree_touch(node);
	bring_invalidate(node, FSAL_UP_INVALIDATE_ATTRS);
}

/* The backend has given the old attributes, and they have not been stored: a
 * change meanwhile is not to be forgotten over them.
 */
static void check_race(const char *params, void (*between)(void *arg))
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	static const enum tree_op ops[] = { TREE_GETATTRS, TREE_LOOKUP,
					    TREE_CREATE_HANDLE };
	struct fsal_obj_handle *again;
	fsal_status_t status;

	begin(params);
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		raced = find(root, "f");
		evict(raced);
		node->size = 1;
		tree_hook(ops[i], true, between, node);
		if (ops[i] == TREE_GETATTRS) {
			CU_ASSERT(size_of(raced) != UINT64_MAX);
		} else if (ops[i] == TREE_LOOKUP) {
			OK(look(root, "f"));
		} else {
			again = by_handle(scale, node, &status);
			CU_ASSERT_PTR_NOT_NULL_FATAL(again);
			drop(again);
		}
		CU_ASSERT_PTR_NULL(tree.hook.run);
		CU_ASSERT_EQUAL(size_of(raced), 99);
		again = find(root, "f");
		CU_ASSERT_EQUAL(size_of(again), 99);
		drop(again);
		drop(raced);
	}
	end();
}

static void test_race_setattr(void)
{
	check_race("", set_in_between);
	check_race("Freshness = upcall;", set_in_between);
}

static void test_race_event(void)
{
	check_race("", event_in_between);
	check_race("Freshness = upcall;", event_in_between);
}

/* What is asked for and not given is not asked for again and again. */
static void test_not_given(void)
{
	struct fsal_obj_handle *f;
	struct fsal_attrlist attrs;

	tree_make(tree.root, "f", REGULAR_FILE);
	tree.gives &= ~(attrmask_t)ATTR_SPACEUSED;
	begin("");
	f = find(root, "f");
	COSTS(0, OK(get(f, &attrs)));
	CU_ASSERT_EQUAL(attrs.valid_mask & ATTR_SPACEUSED, 0);
	drop(f);
	end();
}

/* An object is fetched with all that its backend gives, for the next one may
 * ask for more.
 */
static void test_asks_for_all(void)
{
	struct fsal_obj_handle *f = NULL;
	struct fsal_attrlist attrs;

	tree_make(tree.root, "f", REGULAR_FILE);
	tree.gives_asked_only = true;
	begin("");
	(void)root->obj_ops->lookup(root, "f", &f, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	COSTS(0, OK(get(f, &attrs)));
	drop(f);
	end();
}

/* Ganesha's table of ACLs is not made here: these are never its own, for the
 * test's reference is never given back.
 */
static fsal_ace_t ace = { .who.uid = 7 };
static fsal_acl_t acl = { .naces = 1, .aces = &ace, .ref = 1 };

static uint64_t acl_of(struct fsal_obj_handle *obj)
{
	struct fsal_attrlist attrs;
	uint64_t who = 0;

	fsal_prepare_attrs(&attrs, ASKED | ATTR_ACL);
	OK(obj->obj_ops->getattrs(obj, &attrs).major);
	if (attrs.acl != NULL)
		who = attrs.acl->aces->who.uid;
	fsal_release_attrs(&attrs);
	return who;
}

static void test_acl(void)
{
	struct tree_node *with = tree_make(tree.root, "with", REGULAR_FILE);
	struct fsal_obj_handle *f, *none;
	struct fsal_attrlist attrs;

	PTHREAD_RWLOCK_init(&acl.lock, NULL);
	tree_make(tree.root, "none", REGULAR_FILE);
	nfs4_acl_entry_inc_ref(&acl);
	with->acl = &acl;
	tree.supported |= ATTR_ACL;
	tree.gives |= ATTR_ACL;
	begin("");
	/* Fetched without the ACL: it is not known, and asked for. */
	f = find(root, "with");
	none = find(root, "none");
	COSTS(1, CU_ASSERT_EQUAL(acl_of(f), 7));
	COSTS(1, CU_ASSERT_EQUAL(acl_of(none), 0));
	/* From then on it is, also that there is none. */
	COSTS(0, CU_ASSERT_EQUAL(acl_of(f), 7));
	COSTS(0, CU_ASSERT_EQUAL(acl_of(none), 0));
	/* A fetch without it does not lose it. */
	OK(get(f, &attrs));
	COSTS(0, CU_ASSERT_EQUAL(acl_of(f), 7));

	/* With a lookup and a listing, too. */
	for (int i = 0; i < 2; i++) {
		struct fsal_obj_handle *again = NULL;

		fsal_prepare_attrs(&attrs, ASKED | ATTR_ACL);
		COSTS(0, (void)root->obj_ops->lookup(root, "with", &again,
						     &attrs));
		CU_ASSERT_PTR_EQUAL(attrs.acl, &acl);
		fsal_release_attrs(&attrs);
		drop(again);
	}
	/* Each reference that was taken is given back. */
	evict(f);
	mdx_quiesce(SCALE.cache);
	CU_ASSERT_EQUAL(acl.ref, 2);
	drop(none);
	drop(f);
	end();
	CU_ASSERT_EQUAL(acl.ref, 1);
}

static void test_gone(void)
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;
	struct fsal_attrlist attrs;

	begin("Freshness = upcall;");
	f = find(root, "f");
	tree_remove(tree.root, "f");
	bring_invalidate(node, FSAL_UP_INVALIDATE_ATTRS);
	CU_ASSERT_EQUAL(get(f, &attrs), ERR_FSAL_STALE);
	/* The name no longer says that it is there. */
	CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT);
	drop(f);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "warm", test_warm },
		{ "after changes", test_after_changes },
		{ "after a write", test_write },
		{ "a setattr during a fetch", test_race_setattr },
		{ "an event during a fetch", test_race_event },
		{ "what is never given", test_not_given },
		{ "what was not asked for yet", test_asks_for_all },
		{ "access control lists", test_acl },
		{ "an object that is gone", test_gone },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("attributes", cached_setup, tests);
}
