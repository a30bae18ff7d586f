// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Backends that decide per user: what one was told is not told to another who
 * would have been refused.
 */
#include "cached.h"

#include "permit.h"

#include <pthread.h>
#include <unistd.h>

/** They may search and list, and this one may not. */
#define ALICE	1000
#define BOB	1001
#define MALLORY 2000

static void be(uint32_t uid)
{
	op_ctx->creds.caller_uid = uid;
	op_ctx->creds.caller_gid = uid;
}

static void begin_users(const char *params)
{
	tree_make(tree.root, "f", REGULAR_FILE);
	tree.refused_uid = MALLORY;
	begin(params);
	scale_export(scale)->per_user = true;
	/* Permits outlive exports; those of earlier tests are not wanted. */
	scale_permits_forget(scale_obj(root)->key, scale_obj(root)->key_len);
}

static void end_users(void)
{
	be(0);
	end();
}

static void test_refused(void)
{
	begin_users("");
	be(ALICE);
	OK(look(root, "f"));
	CU_ASSERT_EQUAL(look(root, "none"), ERR_FSAL_NOENT);
	COSTS(0, OK(look(root, "f")));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "none"), ERR_FSAL_NOENT));
	be(MALLORY);
	for (int i = 0; i < 2; i++) {
		COSTS(1, CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_ACCESS));
		COSTS(1, CU_ASSERT_EQUAL(look(root, "none"), ERR_FSAL_ACCESS));
	}
	/* A refusal is not kept, for others or for later. */
	be(BOB);
	COSTS(1, OK(look(root, "f")));
	COSTS(0, OK(look(root, "f")));
	be(MALLORY);
	tree.refused_uid = 0;
	OK(look(root, "f"));
	end_users();
}

static fsal_errors_t list_status(void)
{
	fsal_cookie_t whence = 0;
	bool eof;

	return root->obj_ops->readdir(root, &whence, NULL, NULL, ASKED, &eof)
		.major;
}

static void test_listing(void)
{
	begin_users("");
	be(ALICE);
	learn(root);
	COSTS(0, CU_ASSERT_EQUAL(list(root), 1));
	be(MALLORY);
	CU_ASSERT_EQUAL(list_status(), ERR_FSAL_ACCESS);
	CU_ASSERT_EQUAL(look(root, "none"), ERR_FSAL_ACCESS);
	be(ALICE);
	CU_ASSERT_EQUAL(list(root), 1);
	end_users();
}

/* By opening, too. */
static void test_open(void)
{
	struct fsal_obj_handle *new_obj = NULL;
	struct fsal_attrlist out;
	bool check;

	begin_users("");
	be(ALICE);
	CU_ASSERT_EQUAL(look(root, "none"), ERR_FSAL_NOENT);
	be(MALLORY);
	fsal_prepare_attrs(&out, ASKED);
	COSTS(1, (void)root->obj_ops->open2(root, NULL, FSAL_O_READ,
					    FSAL_NO_CREATE, "none", NULL, NULL,
					    &new_obj, &out, &check));
	end_users();
}

/* Who somebody is: user, group, and further groups. */
static void test_identity(void)
{
	gid_t groups[] = { 5, 6 };

	begin_users("");
	be(ALICE);
	OK(look(root, "f"));
	COSTS(0, OK(look(root, "f")));
	op_ctx->creds.caller_gid = 7;
	COSTS(1, OK(look(root, "f")));
	op_ctx->creds.caller_garray = groups;
	op_ctx->creds.caller_glen = 2;
	COSTS(1, OK(look(root, "f")));
	groups[1] = 8;
	COSTS(1, OK(look(root, "f")));
	groups[1] = 6;
	COSTS(0, OK(look(root, "f")));
	op_ctx->creds.caller_garray = NULL;
	op_ctx->creds.caller_glen = 0;
	end_users();
}

/* What permits, changes. */
static void test_forgotten(void)
{
	struct tree_node *d = tree_make(tree.root, "d", DIRECTORY);
	struct fsal_obj_handle *dir;
	struct fsal_attrlist set;

	tree_make(d, "g", REGULAR_FILE);
	begin_users("Attr_TTL = 1000; Name_TTL = 1000; Negative_TTL = 1000;");
	be(ALICE);
	dir = find(root, "d");
	OK(look(dir, "g"));
	COSTS(0, OK(look(dir, "g")));
	/* What is told of another object is nothing about this one. */
	bring_invalidate(tree_find(tree.root, "f"), FSAL_UP_INVALIDATE_ATTRS);
	COSTS(0, OK(look(dir, "g")));
	fsal_prepare_attrs(&set, 0);
	set.valid_mask = ATTR_MODE;
	set.mode = 0700;
	OK(dir->obj_ops->setattr2(dir, false, NULL, &set).major);
	COSTS(1, OK(look(dir, "g")));
	COSTS(0, OK(look(dir, "g")));
	bring_invalidate(d, FSAL_UP_INVALIDATE_ATTRS);
	(void)look(dir, "g");
	COSTS(0, OK(look(dir, "g")));
	/* Nobody tells of what is changed elsewhere. */
	pass_time(61000);
	COSTS(1, OK(look(dir, "g")));
	drop(dir);
	end_users();
}

static pthread_t thread;
static fsal_errors_t result;

static void *look_as_mallory(void *arg)
{
	struct req_op_context own = ctx;

	(void)arg;
	own.fsal_export = scale;
	op_ctx = &own;
	be(MALLORY);
	result = look(root, "f");
	op_ctx = NULL;
	return NULL;
}

static void mallory_joins(void *arg)
{
	(void)arg;
	pthread_create(&thread, NULL, look_as_mallory, NULL);
	usleep(50000);
}

/* He who waits for another's question gets no more than an answer of his own. */
static void test_flight(void)
{
	begin_users("");
	be(ALICE);
	tree_hook(TREE_LOOKUP, false, mallory_joins, NULL);
	OK(look(root, "f"));
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(result, ERR_FSAL_ACCESS);
	end_users();
}

static void test_backends(void)
{
	CU_ASSERT_FALSE(scale_decides_per_user("VFS"));
	CU_ASSERT_FALSE(scale_decides_per_user("MEM"));
	CU_ASSERT(scale_decides_per_user("PROXY_V4"));
	CU_ASSERT(scale_decides_per_user("GLUSTER"));
	CU_ASSERT(scale_decides_per_user("CEPH"));
	CU_ASSERT(scale_decides_per_user("SOMETHING"));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "refused", test_refused },
		{ "refused to list", test_listing },
		{ "refused to open", test_open },
		{ "who it is", test_identity },
		{ "permits are forgotten", test_forgotten },
		{ "waiting for another", test_flight },
		{ "which backends", test_backends },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("users", cached_setup, tests);
}
