// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Clients' handles, the backend's objects behind them, and what is asked of an
 * export rather than of an object.
 */
#include "cached.h"

#include <sys/resource.h>

#include "cache.h"

#define FOREVER "Attr_TTL = -1; Name_TTL = -1; Negative_TTL = -1;"

static void check_wire(struct fsal_obj_handle *obj,
		       const struct tree_node *node)
{
	char expected[160], bytes[NFS4_FHSIZE];
	struct gsh_buffdesc fh = { bytes, sizeof(bytes) };
	size_t len = tree_wire(node, expected);
	fsal_status_t status =
		obj->obj_ops->handle_to_wire(obj, FSAL_DIGEST_NFSV4, &fh);

	CU_ASSERT_FALSE(FSAL_IS_ERROR(status));
	CU_ASSERT_EQUAL(fh.len, len);
	CU_ASSERT(memcmp(bytes, expected, len) == 0);
	fh.len = len - 1;
	status = obj->obj_ops->handle_to_wire(obj, FSAL_DIGEST_NFSV4, &fh);
	CU_ASSERT_EQUAL(status.major, ERR_FSAL_TOOSMALL);
}

/* A handle brings an object back, from memory where it is known. */
static void check_hot(void)
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct fsal_obj_handle *f = NULL;
	struct gsh_buffdesc key;
	struct fsal_attrlist attrs;
	fsal_status_t status;
	char bytes[160];

	node->size = 9;
	begin("");
	COSTS(1, f = by_handle(scale, node, &status));
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	drop(f);
	empty_pool();
	COSTS(0, f = by_handle(scale, node, &status));
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL(tree.objects, 0);
	CU_ASSERT_EQUAL(f->type, REGULAR_FILE);
	CU_ASSERT_EQUAL(f->fileid, node->id);
	CU_ASSERT_EQUAL(f->fsid.major, 1);
	CU_ASSERT_PTR_EQUAL(f->fs, root->fs);
	COSTS(0, CU_ASSERT_EQUAL(size_of(f), 9));
	check_wire(f, node);
	f->obj_ops->handle_to_key(f, &key);
	CU_ASSERT_EQUAL(key.len, tree_key(node, bytes) + SCALE_KEY_ID_BYTES);
	CU_ASSERT(memcmp(key.addr, bytes, key.len - SCALE_KEY_ID_BYTES) == 0);
	/* It is made again when it is needed. */
	OK(truncate_to(f, 3));
	COSTS(1, OK(get(f, &attrs)));
	CU_ASSERT_EQUAL(attrs.filesize, 3);
	drop(f);
	end();
}

static void test_hot(void)
{
	check_hot();
	/* CEPH's keys are longer than its handles. */
	tree.key_extra = 2;
	check_hot();
	tree.key_padding = 59 - 16;
	check_hot();
}

/* What is not in the key cannot be made from it: such objects are kept whole,
 * and everything is asked of them.
 */
static void check_uncached(void)
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;
	fsal_status_t status;

	tree_make(tree.root, "g", REGULAR_FILE);
	begin("");
	for (int i = 0; i < 2; i++) {
		f = by_handle(scale, node, &status);
		CU_ASSERT_PTR_NOT_NULL_FATAL(f);
		check_wire(f, node);
		OK(truncate_to(f, (uint64_t)i));
		COSTS(1, CU_ASSERT_EQUAL(size_of(f), (uint64_t)i));
		drop(f);
		OK(look(root, "f"));
		CU_ASSERT_EQUAL(look(root, "none"), ERR_FSAL_NOENT);
		CU_ASSERT_EQUAL(list(root), 2);
	}
	OK(create(root, "none"));
	OK(look(root, "none"));
	/* Over an object that is not cached, too. */
	f = find(root, "f");
	OK(root->obj_ops->rename(f, root, "f", root, "g").major);
	CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT);
	OK(root->obj_ops->unlink(root, f, "g").major);
	CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT);
	drop(f);
	end();
}

static void test_wire_apart(void)
{
	tree.wire_apart = true;
	check_uncached();
}

static void test_long_key(void)
{
	tree.key_padding = NFS4_FHSIZE - 16;
	tree.key_extra = FSAL_KEY_EXTRA_BYTES - SCALE_KEY_ID_BYTES;
	check_uncached();
}

/* The backend refuses it, and goes on doing so while the object is hot. */
static void test_forged(void)
{
	char bytes[NFS4_FHSIZE + FSAL_KEY_EXTRA_BYTES] = { 0 };
	struct gsh_buffdesc fh = { bytes, 0 };
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;
	struct tree_node none = { .fsid = 1, .id = 4711 };
	fsal_status_t status;

	begin(FOREVER);
	f = find(root, "f");
	fh.len = tree_wire(node, bytes) - 1;
	status = scale->exp_ops.wire_to_host(scale, FSAL_DIGEST_NFSV4, &fh, 0);
	CU_ASSERT_EQUAL(status.major, ERR_FSAL_BADHANDLE);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_PTR_NULL(by_handle(scale, &none, &status));
		CU_ASSERT_EQUAL(status.major, ERR_FSAL_STALE);
	}
	drop(f);
	end();
}

static void test_stale(void)
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct fsal_obj_handle *f;
	struct fsal_attrlist attrs;
	fsal_status_t status;

	begin(FOREVER);
	f = find(root, "f");
	empty_pool();
	tree_remove(tree.root, "f");
	/* A use finds out. */
	CU_ASSERT_EQUAL(truncate_to(f, 1), ERR_FSAL_STALE);
	CU_ASSERT_EQUAL(get(f, &attrs), ERR_FSAL_STALE);
	CU_ASSERT_PTR_NULL(by_handle(scale, node, &status));
	CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT);
	drop(f);
	end();
}

/* A backend that makes another object of a handle than the one asked for. */
static void test_other_object(void)
{
	struct tree_node *node = tree_make(tree.root, "f", REGULAR_FILE);
	struct tree_node *g = tree_make(tree.root, "g", REGULAR_FILE);
	struct fsal_obj_handle *f;

	begin(FOREVER);
	f = find(root, "f");
	empty_pool();
	evict(f);
	g->size = 99;
	tree.lie_other = g;
	CU_ASSERT_EQUAL(size_of(f), UINT64_MAX);
	CU_ASSERT_EQUAL(truncate_to(f, 1), ERR_FSAL_SERVERFAULT);
	tree.lie_other = NULL;
	CU_ASSERT_EQUAL(g->size, 99);
	CU_ASSERT_EQUAL(size_of(f), 0);
	CU_ASSERT_EQUAL(node->size, 0);
	drop(f);
	end();
}

/* More objects than the pool has room for: the oldest go, none is lost. */
static void test_pool_limit(void)
{
	char name[16];

	for (unsigned int i = 0; i < 9000; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		tree_make(tree.root, name, REGULAR_FILE);
	}
	begin("");
	for (unsigned int i = 0; i < 9000; i++) {
		struct fsal_obj_handle *f;
		fsal_status_t status;

		f = by_handle(scale, tree.root->names[i].node, &status);
		CU_ASSERT_PTR_NOT_NULL_FATAL(f);
		drop(f);
	}
	mdx_quiesce(SCALE.cache);
	CU_ASSERT(tree.objects <= 8192);
	CU_ASSERT(tree.objects > 0);
	end();
}

/* What was used and left a descriptor open is not made anew for the next use,
 * up to a quarter of the process's descriptors.
 */
static void test_descriptors(void)
{
	const unsigned int n = 1000;
	unsigned int made;
	char name[16];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		tree_make(tree.root, name, REGULAR_FILE);
	}
	begin("");
	for (unsigned int round = 0; round < 2; round++) {
		made = tree.calls[TREE_CREATE_HANDLE];
		for (unsigned int i = 0; i < n; i++) {
			struct fsal_obj_handle *f;
			struct fsal_attrlist attrs;
			fsal_status_t status;

			f = by_handle(scale, tree.root->names[i].node, &status);
			CU_ASSERT_PTR_NOT_NULL_FATAL(f);
			OK(truncate_to(f, i));
			OK(get(f, &attrs));
			drop(f);
		}
		mdx_quiesce(SCALE.cache);
	}
	CU_ASSERT_EQUAL(tree.calls[TREE_CREATE_HANDLE], made);
	end();
}

static uint64_t space_of(struct fsal_obj_handle *obj, uint64_t *calls)
{
	fsal_dynamicfsinfo_t info;

	OK(scale->exp_ops.get_fs_dynamic_info(scale, obj, &info).major);
	if (calls != NULL)
		*calls = info.free_bytes;
	return info.total_bytes;
}

static void test_space(void)
{
	struct fsal_obj_handle *other = NULL;
	fsal_dynamicfsinfo_t info;
	uint64_t calls;

	begin("");
	COSTS(1, CU_ASSERT_EQUAL(space_of(root, &calls), 1000));
	COSTS(0, CU_ASSERT_EQUAL(space_of(root, &calls), 1000));
	CU_ASSERT_EQUAL(calls, 1);
	/* That of another file system is another one. */
	OK(scale->exp_ops.lookup_path(scale, "/2", &other, NULL).major);
	COSTS(1, CU_ASSERT_EQUAL(space_of(other, NULL), 2000));
	COSTS(0, CU_ASSERT_EQUAL(space_of(other, NULL), 2000));
	pass_time(1000);
	COSTS(1, CU_ASSERT_EQUAL(space_of(other, NULL), 2000));
	/* Errors are not kept. */
	pass_time(1000);
	tree_fail(TREE_SPACE, ERR_FSAL_IO, false, 1);
	CU_ASSERT_EQUAL(
		scale->exp_ops.get_fs_dynamic_info(scale, root, &info).major,
		ERR_FSAL_IO);
	COSTS(1, CU_ASSERT_EQUAL(space_of(root, NULL), 1000));
	drop(other);
	end();
}

int main(void)
{
	struct rlimit limit;
	CU_TestInfo tests[] = {
		{ "hot", test_hot },
		{ "a wire handle apart from the key", test_wire_apart },
		{ "keys that are too long", test_long_key },
		{ "forged", test_forged },
		{ "stale", test_stale },
		{ "another object is made", test_other_object },
		{ "the pool's limit", test_pool_limit },
		{ "descriptors", test_descriptors },
		{ "space", test_space },
		CU_TEST_INFO_NULL,
	};

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	return cunit_main("handles", cached_setup, tests);
}
