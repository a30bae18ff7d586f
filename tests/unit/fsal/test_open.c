// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Opening: what is known of a file that was made, emptied or found by it, and
 * the backend's object while a state has it open or locked.
 */
#include "cached.h"

#include "cache.h"

#define FOREVER "Attr_TTL = -1; Name_TTL = -1; Negative_TTL = -1;"

static struct state_t *new_state(enum state_type type)
{
	return scale->exp_ops.alloc_state(scale, type, NULL);
}

static void free_state(struct state_t *state)
{
	scale->exp_ops.free_state(scale, state);
}

/* Opens by name; obj may be NULL: it is released. */
static fsal_errors_t open_name(struct fsal_obj_handle *dir, const char *name,
			       struct state_t *state, fsal_openflags_t flags,
			       enum fsal_create_mode mode,
			       struct fsal_obj_handle **obj)
{
	struct fsal_obj_handle *new_obj = NULL;
	struct fsal_attrlist in, out;
	fsal_status_t status;
	bool check;

	fsal_prepare_attrs(&in, 0);
	fsal_prepare_attrs(&out, ASKED);
	status = dir->obj_ops->open2(dir, state, flags, mode, name, &in, NULL,
				     &new_obj, &out, &check);
	CU_ASSERT_EQUAL(new_obj != NULL, !FSAL_IS_ERROR(status));
	if (obj != NULL)
		*obj = new_obj;
	else if (new_obj != NULL)
		drop(new_obj);
	return status.major;
}

static fsal_errors_t open_obj(struct fsal_obj_handle *obj,
			      struct state_t *state, fsal_openflags_t flags)
{
	struct fsal_obj_handle *new_obj = NULL;
	struct fsal_attrlist out;
	fsal_status_t status;
	bool check;

	fsal_prepare_attrs(&out, ASKED);
	status = obj->obj_ops->open2(obj, state, flags, FSAL_NO_CREATE, NULL,
				     NULL, NULL, &new_obj, &out, &check);
	CU_ASSERT_PTR_NULL(new_obj);
	return status.major;
}

/* --- Without a state ----------------------------------------------------- */

static void test_create(void)
{
	struct fsal_obj_handle *f;

	begin(FOREVER);
	CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT);
	OK(open_name(root, "f", NULL, FSAL_O_RDWR, FSAL_UNCHECKED, &f));
	COSTS(0, CU_ASSERT_EQUAL(size_of(f), 0));
	COSTS(0, OK(look(root, "f")));
	drop(f);
	CU_ASSERT_EQUAL(open_name(root, "f", NULL, FSAL_O_RDWR, FSAL_GUARDED,
				  NULL),
			ERR_FSAL_EXIST);
	/* Not made, only opened. */
	COSTS(1, OK(open_name(root, "f", NULL, FSAL_O_READ, FSAL_NO_CREATE,
			      NULL)));
	/* A name that is known not to exist need not be opened to see it. */
	CU_ASSERT_EQUAL(open_name(root, "g", NULL, FSAL_O_READ, FSAL_NO_CREATE,
				  NULL),
			ERR_FSAL_NOENT);
	COSTS(0, CU_ASSERT_EQUAL(open_name(root, "g", NULL, FSAL_O_READ,
					   FSAL_NO_CREATE, NULL),
				 ERR_FSAL_NOENT));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT));
	end();
}

/* A file that was there is emptied: by name, known or not, and by handle. */
static void test_truncate(void)
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;
	struct state_t *state;
	fsal_status_t status;

	begin(FOREVER);
	for (int known = 0; known < 2; known++) {
		node->size = 10;
		f = by_handle(scale, node, &status);
		evict(f);
		CU_ASSERT_EQUAL(size_of(f), 10);
		if (known)
			OK(look(root, "f"));
		else
			mdx_invalidate_names(SCALE.cache,
					     scale_obj_key(scale_obj(root)));
		OK(open_name(root, "f", NULL, FSAL_O_RDWR | FSAL_O_TRUNC,
			     FSAL_UNCHECKED, NULL));
		CU_ASSERT_EQUAL(size_of(f), 0);
		drop(f);
	}
	node->size = 10;
	f = find(root, "f");
	evict(f);
	CU_ASSERT_EQUAL(size_of(f), 10);
	OK(open_obj(f, NULL, FSAL_O_WRITE | FSAL_O_TRUNC));
	CU_ASSERT_EQUAL(size_of(f), 0);

	state = new_state(STATE_TYPE_SHARE);
	OK(open_obj(f, state, FSAL_O_WRITE));
	node->size = 10;
	evict(f);
	CU_ASSERT_EQUAL(size_of(f), 10);
	OK(f->obj_ops->reopen2(f, state, FSAL_O_WRITE | FSAL_O_TRUNC).major);
	CU_ASSERT_EQUAL(size_of(f), 0);
	OK(f->obj_ops->close2(f, state).major);
	free_state(state);
	drop(f);
	end();
}

static void truncate_f(void *arg)
{
	(void)arg;
	OK(open_name(root, "f", NULL, FSAL_O_RDWR | FSAL_O_TRUNC,
		     FSAL_UNCHECKED, NULL));
}

/* It is emptied while its attributes are fetched. */
static void test_truncate_race(void)
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;

	begin(FOREVER);
	f = find(root, "f");
	for (int known = 0; known < 2; known++) {
		node->size = 10;
		if (known)
			OK(look(root, "f"));
		else
			mdx_invalidate_names(SCALE.cache,
					     scale_obj_key(scale_obj(root)));
		mdx_invalidate(SCALE.cache, scale_obj_key(scale_obj(f)),
			       MDX_ALL);
		tree_hook(TREE_GETATTRS, true, truncate_f, NULL);
		CU_ASSERT_EQUAL(size_of(f), 10);
		CU_ASSERT_PTR_NULL(tree.hook.run);
		CU_ASSERT_EQUAL(size_of(f), 0);
	}
	drop(f);
	end();
}

/* --- With states --------------------------------------------------------- */

static struct tree_obj *pooled(struct fsal_obj_handle *obj)
{
	struct scale_ref ref;
	struct fsal_obj_handle *sub = NULL;

	if (scale_ref_get_pooled(&ref, scale_obj(obj))) {
		sub = ref.sub;
		scale_ref_put(&ref);
	}
	return sub == NULL ? NULL : container_of(sub, struct tree_obj, obj);
}

/* While a state is open its backend's object stays, whatever the pool does. */
static void test_held(void)
{
	struct fsal_obj_handle *f;
	struct state_t *one, *two;
	struct tree_obj *sub;

	begin(FOREVER);
	one = new_state(STATE_TYPE_SHARE);
	two = new_state(STATE_TYPE_SHARE);
	OK(open_name(root, "f", one, FSAL_O_RDWR, FSAL_UNCHECKED, &f));
	sub = pooled(f);
	CU_ASSERT_PTR_NOT_NULL_FATAL(sub);
	CU_ASSERT_EQUAL(sub->states, 1);
	empty_pool();
	CU_ASSERT_PTR_EQUAL(pooled(f), sub);
	OK(open_obj(f, two, FSAL_O_READ));
	CU_ASSERT_EQUAL(sub->states, 2);
	CU_ASSERT_PTR_EQUAL(scale_obj(f)->held != NULL, true);

	OK(f->obj_ops->close2(f, one).major);
	empty_pool();
	CU_ASSERT_PTR_EQUAL(pooled(f), sub);
	OK(f->obj_ops->close2(f, two).major);
	CU_ASSERT_PTR_NULL(scale_obj(f)->held);
	empty_pool();
	CU_ASSERT_PTR_NULL(pooled(f));
	free_state(one);
	free_state(two);
	drop(f);
	end();
}

/* A state of locks alone holds it, too. */
static void test_lock(void)
{
	struct fsal_obj_handle *f;
	fsal_lock_param_t lock = { 0 };
	struct state_t *state;
	struct tree_obj *sub;

	tree_make(tree.root, "f", REGULAR_FILE);
	begin(FOREVER);
	f = find(root, "f");
	state = new_state(STATE_TYPE_LOCK);
	OK(f->obj_ops->lock_op2(f, state, NULL, FSAL_OP_LOCK, &lock, NULL)
		   .major);
	sub = pooled(f);
	CU_ASSERT_EQUAL(sub->states, 1);
	empty_pool();
	CU_ASSERT_PTR_EQUAL(pooled(f), sub);
	OK(f->obj_ops->close2(f, state).major);
	free_state(state);
	drop(f);
	end();
}

/* MDCACHE has an object, opens the file by its name, and gets a second one,
 * which it merges into the first.
 */
static void test_merge(void)
{
	struct fsal_obj_handle *f, *dupe;
	struct state_t *one, *two;
	struct tree_obj *sub;

	tree_make(tree.root, "f", REGULAR_FILE);
	begin(FOREVER);
	for (int held = 0; held < 2; held++) {
		f = find(root, "f");
		one = new_state(STATE_TYPE_SHARE);
		two = new_state(STATE_TYPE_SHARE);
		if (held)
			OK(open_obj(f, one, FSAL_O_READ));
		OK(open_name(root, "f", two, FSAL_O_RDWR, FSAL_NO_CREATE,
			     &dupe));
		OK(f->obj_ops->merge(f, dupe).major);
		drop(dupe);
		sub = pooled(f);
		CU_ASSERT_EQUAL(sub->states, 1u + (unsigned int)held);
		empty_pool();
		CU_ASSERT_PTR_EQUAL(pooled(f), sub);
		OK(f->obj_ops->close2(f, two).major);
		if (held)
			OK(f->obj_ops->close2(f, one).major);
		CU_ASSERT_PTR_NULL(scale_obj(f)->held);
		free_state(one);
		free_state(two);
		drop(f);
	}
	end();
}

/* Share reservations are kept by the backend, in its one object. */
static void test_conflict(void)
{
	struct fsal_obj_handle *f, *dupe = NULL;
	struct state_t *one, *two;

	tree_make(tree.root, "f", REGULAR_FILE);
	begin(FOREVER);
	f = find(root, "f");
	one = new_state(STATE_TYPE_SHARE);
	two = new_state(STATE_TYPE_SHARE);
	OK(open_obj(f, one, FSAL_O_READ | FSAL_O_DENY_WRITE));
	CU_ASSERT_EQUAL(open_obj(f, two, FSAL_O_WRITE), ERR_FSAL_SHARE_DENIED);
	CU_ASSERT_EQUAL(open_name(root, "f", two, FSAL_O_WRITE, FSAL_NO_CREATE,
				  &dupe),
			ERR_FSAL_SHARE_DENIED);
	CU_ASSERT_EQUAL(pooled(f)->states, 1);
	/* The name is what it was. */
	OK(look(root, "f"));
	OK(f->obj_ops->close2(f, one).major);
	OK(open_name(root, "f", two, FSAL_O_WRITE, FSAL_NO_CREATE, &dupe));
	OK(f->obj_ops->merge(f, dupe).major);
	drop(dupe);
	OK(f->obj_ops->close2(f, two).major);
	free_state(one);
	free_state(two);
	drop(f);
	end();
}

/* An open file that is removed goes on being served by its open object. */
static void test_removed_open(void)
{
	struct fsal_obj_handle *f;
	struct state_t *state;
	struct fsal_attrlist attrs;

	begin(FOREVER);
	state = new_state(STATE_TYPE_SHARE);
	OK(open_name(root, "f", state, FSAL_O_RDWR, FSAL_UNCHECKED, &f));
	OK(root->obj_ops->unlink(root, f, "f").major);
	CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT);
	OK(get(f, &attrs));
	CU_ASSERT_EQUAL(attrs.numlinks, 0);
	OK(f->obj_ops->close2(f, state).major);
	free_state(state);
	CU_ASSERT_EQUAL(get(f, &attrs), ERR_FSAL_STALE);
	mdx_quiesce(SCALE.cache);
	CU_ASSERT_PTR_NULL(pooled(f));
	drop(f);
	end();
}

/* An event that takes the pooled object away does not take a held one. */
static void test_closed_by_event(void)
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;
	struct state_t *state;
	struct fsal_attrlist attrs;

	begin("Freshness = upcall;");
	state = new_state(STATE_TYPE_SHARE);
	OK(open_name(root, "f", state, FSAL_O_RDWR, FSAL_NO_CREATE, &f));
	bring_invalidate(node,
			 FSAL_UP_INVALIDATE_CACHE | FSAL_UP_INVALIDATE_CLOSE);
	OK(get(f, &attrs));
	OK(f->obj_ops->close2(f, state).major);
	free_state(state);
	drop(f);
	end();
}

/* MEM hands out one object again and again, with a reference more. */
static void test_same_object(void)
{
	struct fsal_obj_handle *f, *g, *dupe;
	struct state_t *state;
	struct fsal_attrlist attrs;

	tree_make(tree.root, "f", REGULAR_FILE);
	tree.same_object = true;
	set_expiry(0);
	begin("Attr_TTL = 0; Name_TTL = 0; Negative_TTL = 0;");
	f = find(root, "f");
	g = find(root, "f");
	OK(get(f, &attrs));
	state = new_state(STATE_TYPE_SHARE);
	OK(open_name(root, "f", state, FSAL_O_RDWR, FSAL_NO_CREATE, &dupe));
	OK(f->obj_ops->merge(f, dupe).major);
	drop(dupe);
	drop(g);
	CU_ASSERT_EQUAL(pooled(f)->refs, 1);
	OK(f->obj_ops->close2(f, state).major);
	free_state(state);
	empty_pool();
	drop(f);
	CU_ASSERT_EQUAL(list(root), 1);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "created or found by name", test_create },
		{ "emptied", test_truncate },
		{ "emptied while it is asked for", test_truncate_race },
		{ "held by a share", test_held },
		{ "held by a lock", test_lock },
		{ "merged", test_merge },
		{ "share conflicts", test_conflict },
		{ "removed while open", test_removed_open },
		{ "an event that closes", test_closed_by_event },
		{ "a backend with one object", test_same_object },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("open", cached_setup, tests);
}
