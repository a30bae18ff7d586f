// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * GLUSTER: what volfiles say of the up-calls, and how an export is kept fresh
 * where they reach only what the handle pool holds.
 */
#include "cached.h"

#include "gluster.h"

#include <errno.h>

/** Volfiles of the volume "vol", and of its two bricks. */
static const char *volume_file;
static const char *brick_files[2];
static unsigned int asked;

#define CLIENT                                                             \
	"volume vol-client-0\n    type protocol/client\n"                  \
	"    option remote-subvolume /a/b-1\n    option remote-host one\n" \
	"end-volume\n\nvolume vol-client-1\n    type protocol/client\n"    \
	"    option remote-host two\n    option remote-subvolume /a/b-2\n" \
	"end-volume\n\nvolume vol-dht\n    type cluster/distribute\n"      \
	"    subvolumes vol-client-0 vol-client-1\nend-volume\n"
#define MD_CACHE(options)                                                \
	"\nvolume vol-md-cache\n    type performance/md-cache\n" options \
	"    subvolumes vol-dht\nend-volume\n"
#define BRICK(options, limit)                                   \
	"volume vol-upcall\n    type features/upcall\n" options \
	"    subvolumes vol-leases\nend-volume\n\n"             \
	"volume vol-server\n    type protocol/server\n" limit   \
	"    subvolumes /a/b\nend-volume\n"
#define ON    "    option cache-invalidation on\n"
#define LONG  "    option cache-invalidation-timeout 600\n"
#define LIMIT "    option inode-lru-limit 200000\n"

static int get_file(void *arg, const char *id, char **text)
{
	const char *found = NULL;

	(void)arg;
	asked++;
	if (strcmp(id, "vol") == 0)
		found = volume_file;
	else if (strcmp(id, "vol.one.a-b-1") == 0)
		found = brick_files[0];
	else if (strcmp(id, "vol.two.a-b-2") == 0)
		found = brick_files[1];
	if (found == NULL)
		return -ENOENT;
	*text = strdup(found);
	return 0;
}

static struct scale_gluster_verdict
judge(const char *client, const char *brick1, const char *brick2)
{
	struct scale_gluster_verdict verdict;

	volume_file = client;
	brick_files[0] = brick1;
	brick_files[1] = brick2;
	asked = 0;
	scale_gluster_judge("vol", 90, get_file, NULL, &verdict);
	return verdict;
}

static bool says(const struct scale_gluster_verdict *verdict, const char *words)
{
	bool found = strstr(verdict->why, words) != NULL;

	if (!found)
		fprintf(stderr, "\n    no \"%s\" in: %s", words, verdict->why);
	return found;
}

static void test_true(void)
{
	struct scale_gluster_verdict v =
		judge(CLIENT, BRICK(ON LONG, LIMIT), BRICK(ON LONG, LIMIT));

	CU_ASSERT(v.tells);
	CU_ASSERT_EQUAL(v.inodes, 200000);
	CU_ASSERT_EQUAL(asked, 3);
	CU_ASSERT(says(&v, "volume vol tells of changes, for 600 s"));

	/* gfapi's cache of attributes does no harm if it is told, too. */
	v = judge(CLIENT MD_CACHE(ON), BRICK(ON LONG, LIMIT),
		  BRICK("    option cache-invalidation true\n" LONG, ""));
	CU_ASSERT(v.tells);
	CU_ASSERT_EQUAL(v.inodes, 16384);
}

static void test_false(void)
{
	struct scale_gluster_verdict v =
		judge(CLIENT, BRICK(ON LONG, LIMIT), BRICK(LONG, LIMIT));

	/* One brick is enough to make it untrue. */
	CU_ASSERT_FALSE(v.tells);
	CU_ASSERT(says(&v, "gluster volume set vol "
			   "features.cache-invalidation on;"));
	CU_ASSERT_PTR_NULL(strstr(v.why, "timeout"));
	CU_ASSERT_PTR_NULL(strstr(v.why, "prefetch"));
	CU_ASSERT_PTR_NULL(strstr(v.why, "lru"));

	/* Gluster's own timeout, 60 s, is too short for 90. */
	v = judge(CLIENT, BRICK(ON, LIMIT), BRICK(ON LONG, LIMIT));
	CU_ASSERT_FALSE(v.tells);
	CU_ASSERT(says(&v, "features.cache-invalidation-timeout 600;"));

	v = judge(CLIENT MD_CACHE(""), BRICK(ON LONG, LIMIT),
		  BRICK(ON LONG, ""));
	CU_ASSERT_FALSE(v.tells);
	CU_ASSERT(says(&v, "performance.stat-prefetch off;"));
	CU_ASSERT(says(&v, "network.inode-lru-limit 200000;"));

	v = judge(CLIENT, BRICK("    option cache-invalidation off\n", LIMIT),
		  "");
	CU_ASSERT_FALSE(v.tells);
}

static void test_unknown(void)
{
	struct scale_gluster_verdict v = judge(NULL, NULL, NULL);

	CU_ASSERT_FALSE(v.tells);
	CU_ASSERT(says(&v, "does not say whether volume vol tells"));
	v = judge(CLIENT, BRICK(ON LONG, LIMIT), NULL);
	CU_ASSERT_FALSE(v.tells);
	CU_ASSERT(says(&v, "No such file"));
	v = judge("no volfile at all", NULL, NULL);
	CU_ASSERT_FALSE(v.tells);
	v = judge("volume\ntype\noption\noption a\nend-volume\n", NULL, NULL);
	CU_ASSERT_FALSE(v.tells);
}

/* --- The export ---------------------------------------------------------- */

/* Without glusterd there is no telling. */
static void test_fallback(void)
{
	static const char *const blocks[] = {
		SCALE_WITH("", "GLUSTER"),
		SCALE_WITH("Freshness = upcall;", "GLUSTER"),
	};

	for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		struct fsal_export *exp = make_export(blocks[i], NULL);

		CU_ASSERT_PTR_NOT_NULL_FATAL(exp);
		CU_ASSERT_EQUAL(scale_export(exp)->fresh.mode, SCALE_TTL);
		CU_ASSERT_EQUAL(scale_export(exp)->fresh.attr_ms, 60000);
		CU_ASSERT_FALSE(scale_export(exp)->fresh.by_handle);
		/* Later it is not asked again, and stays as it is. */
		OK(update_export_from(blocks[i], exp, NULL).major);
		CU_ASSERT_EQUAL(scale_export(exp)->fresh.mode, SCALE_TTL);
		remove_export(exp);
	}
}

/* As over a volume whose options are right. */
static void begin_told(void)
{
	struct scale_export *exp;

	begin("Freshness = upcall;");
	exp = scale_export(scale);
	exp->fresh.by_handle = true;
	exp->keeps_listed = true;
	exp->fresh.attr_ms = 60000;
	exp->fresh.name_ms = 60000;
	exp->fresh.negative_ms = 60000;
}

/* An up-call comes only for what is held, so that what is listed is held, and
 * not only where the pool has room.
 */
static void test_listed_is_held(void)
{
	struct fsal_obj_handle *used;

	for (char name[] = "a"; name[0] <= 'j'; name[0]++)
		tree_make(tree.root, name, REGULAR_FILE);
	begin_told();
	empty_pool();
	used = find(root, "j");
	CU_ASSERT_PTR_NOT_NULL_FATAL(used);
	OK(truncate_to(used, 0));
	limit_pool(9);
	learn(root);
	mdx_quiesce(SCALE.cache);
	CU_ASSERT_EQUAL(tree.objects, 9);
	/* Listed last, it is held; what was listed first had to go. */
	COSTS(1, OK(truncate_to(used, 0)));
	drop(used);
	used = find(root, "a");
	CU_ASSERT_PTR_NOT_NULL_FATAL(used);
	COSTS(2, OK(truncate_to(used, 0)));
	drop(used);
	limit_pool(16384);
	end();
}

/* What was not told is seen when its time is over, by the directory's change
 * attribute, too.
 */
static void test_expires(void)
{
	struct fsal_attrlist attrs;
	struct fsal_obj_handle *f;
	struct tree_node *file;

	file = tree_make(tree.root, "f", REGULAR_FILE);
	begin_told();
	OK(get(root, &attrs));
	f = find(root, "f");
	learn(root);
	file->size = 5;
	tree_touch(file);
	tree_make(tree.root, "g", REGULAR_FILE);
	pass_time(59000);
	COSTS(0, CU_ASSERT_EQUAL(size_of(f), 0));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT));
	pass_time(1100);
	CU_ASSERT_EQUAL(size_of(f), 5);
	OK(get(root, &attrs));
	OK(look(root, "g"));
	drop(f);
	end();
}

static void test_own_changes(void)
{
	tree_make(tree.root, "f", REGULAR_FILE);
	begin_told();
	learn(root);
	OK(create(root, "g"));
	CU_ASSERT(mdx_is_complete(SCALE.cache, scale_obj_key(scale_obj(root))));
	CU_ASSERT_EQUAL(list(root), 2);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "up-calls are true", test_true },
		{ "up-calls are not true", test_false },
		{ "nobody knows", test_unknown },
		{ "ttl instead", test_fallback },
		{ "what is listed is held", test_listed_is_held },
		{ "all expires", test_expires },
		{ "own changes", test_own_changes },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("gluster", cached_setup, tests);
}
