// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * How long what is known is taken for true, and what tells that it is not.
 */
#include "cached.h"

#include <time.h>

/** Nothing is to expire in a test, if it is not said to. */
#define LONG "Attr_TTL = 100000; Name_TTL = 100000; Negative_TTL = 100000;"

static struct tree_node *file;

static struct fsal_obj_handle *begin_f(const char *params)
{
	struct fsal_obj_handle *f;

	file = tree_make(tree.root, "f", REGULAR_FILE);
	begin(params);
	f = find(root, "f");
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	return f;
}

static void grow(uint64_t size)
{
	file->size = size;
	tree_touch(file);
}

static void test_attr_ttl(void)
{
	struct fsal_obj_handle *f = begin_f("Attr_TTL = 10;");

	grow(5);
	pass_time(9000);
	COSTS(0, CU_ASSERT_EQUAL(size_of(f), 0));
	pass_time(1100);
	COSTS(1, CU_ASSERT_EQUAL(size_of(f), 5));
	COSTS(0, CU_ASSERT_EQUAL(size_of(f), 5));
	drop(f);
	end();
}

static void test_name_ttl(void)
{
	drop(begin_f("Name_TTL = 10; Negative_TTL = 20;"));
	CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT);
	tree_make(tree.root, "g", REGULAR_FILE);
	tree_remove(tree.root, "f");
	pass_time(9000);
	COSTS(0, OK(look(root, "f")));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT));
	pass_time(1100);
	CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT);
	COSTS(0, CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT));
	pass_time(10000);
	OK(look(root, "g"));
	end();
}

/* What a listing has taught is not true for longer. */
static void test_listing_ttl(void)
{
	drop(begin_f("Name_TTL = 10; Negative_TTL = 10; Attr_TTL = 10;"));
	learn(root);
	tree_make(tree.root, "g", REGULAR_FILE);
	pass_time(10100);
	OK(look(root, "g"));
	CU_ASSERT_EQUAL(list(root), 2);
	end();
}

static void test_forever(void)
{
	struct fsal_obj_handle *f =
		begin_f("Attr_TTL = -1; Name_TTL = -1; Negative_TTL = -1;");

	CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT);
	learn(root);
	pass_time(1000000000);
	COSTS(0, CU_ASSERT_EQUAL(size_of(f), 0));
	COSTS(0, OK(look(root, "f")));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT));
	drop(f);
	end();
}

static int32_t life_of(struct fsal_obj_handle *obj)
{
	struct fsal_attrlist attrs;

	OK(get(obj, &attrs));
	return attrs.expire_time_attr;
}

/* MDCACHE's time to live begins when it is told: it is told what is left. */
static void test_handed_up(void)
{
	struct fsal_obj_handle *f = begin_f("Attr_TTL = 10;");
	struct fsal_attrlist attrs;
	struct fsal_obj_handle *again = NULL;

	CU_ASSERT(life_of(f) >= 9 && life_of(f) <= 10);
	pass_time(4000);
	CU_ASSERT(life_of(f) >= 5 && life_of(f) <= 6);
	fsal_prepare_attrs(&attrs, ASKED);
	OK(root->obj_ops->lookup(root, "f", &again, &attrs).major);
	CU_ASSERT(attrs.expire_time_attr >= 5 && attrs.expire_time_attr <= 6);
	drop(again);
	/* 0 would mean the export's own. */
	pass_time(5500);
	CU_ASSERT_EQUAL(life_of(f), 1);
	pass_time(1000);
	CU_ASSERT(life_of(f) >= 9 && life_of(f) <= 10);
	drop(f);
	end();

	/* Never longer than the export's. */
	set_expiry(3);
	f = begin_f("Attr_TTL = 10;");
	CU_ASSERT_EQUAL(life_of(f), 3);
	drop(f);
	end();

	set_expiry(0);
	f = begin_f("Attr_TTL = 10;");
	CU_ASSERT_EQUAL(life_of(f), 0);
	drop(f);
	end();

	f = begin_f("Attr_TTL = -1;");
	CU_ASSERT_EQUAL(life_of(f), 60);
	drop(f);
	end();

	f = begin_f("Freshness = upcall;");
	CU_ASSERT_EQUAL(life_of(f), 1);
	drop(f);
	end();
}

static bool hears(unsigned int events)
{
	for (int i = 0; i < 5000; i++) {
		if (__atomic_load_n(&heard, __ATOMIC_ACQUIRE) == events)
			return true;
		usleep(1000);
	}
	return false;
}

/* After a change of one's own MDCACHE is told to drop the directory's names
 * when those of before are over: once, when it asks.
 */
static void test_names_above(void)
{
	struct fsal_obj_handle *d;

	drop(begin_f("Attr_TTL = 30; Name_TTL = 10;"));
	learn(root);
	CU_ASSERT_EQUAL(life_of(root), 30);
	pass_time(4000);
	OK(create(root, "g"));
	CU_ASSERT(life_of(root) >= 3 && life_of(root) <= 4);
	/* Further ones do not lengthen it. */
	pass_time(3000);
	OK(create(root, "h"));
	CU_ASSERT_EQUAL(life_of(root), 1);
	CU_ASSERT_EQUAL(heard, 0);
	pass_time(1100);
	CU_ASSERT(life_of(root) >= 28);
	CU_ASSERT(hears(1));
	/* What is listed now is new. */
	tree_make(tree.root, "strange", REGULAR_FILE);
	CU_ASSERT_EQUAL(list(root), 4);
	pass_time(11000);
	CU_ASSERT(life_of(root) >= 17);
	CU_ASSERT_EQUAL(heard, 1);

	/* Where only single names are known. */
	OK(create(root, "i"));
	CU_ASSERT(life_of(root) >= 7 && life_of(root) <= 8);
	pass_time(8100);
	(void)life_of(root);
	CU_ASSERT(hears(2));
	end();

	/* A new object in MDCACHE may be given the same names. */
	tree_make(tree.root, "d", DIRECTORY);
	begin("Attr_TTL = 30; Name_TTL = 10;");
	d = find(root, "d");
	learn(d);
	CU_ASSERT(life_of(d) > 10);
	OK(create(d, "g"));
	pass_time(4000);
	drop(d);
	d = find(root, "d");
	CU_ASSERT(life_of(d) >= 3 && life_of(d) <= 4);
	pass_time(4100);
	(void)life_of(d);
	CU_ASSERT(hears(1));
	drop(d);
	d = find(root, "d");
	CU_ASSERT(life_of(d) > 10);
	drop(d);
	end();

	drop(begin_f("Name_TTL = -1;"));
	learn(root);
	OK(create(root, "g"));
	CU_ASSERT_EQUAL(life_of(root), 60);
	pass_time(100000);
	CU_ASSERT_EQUAL(life_of(root), 60);
	CU_ASSERT_EQUAL(heard, 0);
	end();
}

/* What a listing says of names that are not there lives as long as the answer
 * for one of them.
 */
static void test_absence(void)
{
	struct fsal_obj_handle *f;

	begin("Name_TTL = 60; Negative_TTL = 2;");
	tree_make(tree.root, "f", REGULAR_FILE);
	learn(root);
	COSTS(0, CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT));
	tree_make(tree.root, "g", REGULAR_FILE);
	COSTS(0, CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT));
	pass_time(2100);
	COSTS(1, OK(look(root, "g")));
	COSTS(0, OK(look(root, "f")));
	COSTS(1, CU_ASSERT_EQUAL(look(root, "h"), ERR_FSAL_NOENT));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "h"), ERR_FSAL_NOENT));
	/* All that is known to be there. */
	COSTS(0, CU_ASSERT_EQUAL(list(root), 2));
	/* One's own removal is known for two seconds, too. */
	f = find(root, "f");
	OK(root->obj_ops->unlink(root, f, "f").major);
	drop(f);
	COSTS(0, CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT));
	tree_make(tree.root, "f", REGULAR_FILE);
	pass_time(2100);
	COSTS(1, OK(look(root, "f")));
	end();

	begin("Name_TTL = 60; Negative_TTL = 0;");
	learn(root);
	tree_make(tree.root, "g", REGULAR_FILE);
	COSTS(1, OK(look(root, "g")));
	end();
}

/* Without a word, the export's own Attr_Expiration_Time. */
static void test_default(void)
{
	struct fsal_obj_handle *f;

	set_expiry(20);
	f = begin_f("");
	grow(5);
	pass_time(19000);
	COSTS(0, CU_ASSERT_EQUAL(size_of(f), 0));
	pass_time(1100);
	CU_ASSERT_EQUAL(size_of(f), 5);
	drop(f);
	end();
}

static void test_zero(void)
{
	struct fsal_obj_handle *f;

	set_expiry(0);
	f = begin_f("Attr_TTL = 0; Name_TTL = 0; Negative_TTL = 0;");
	for (int i = 0; i < 3; i++) {
		grow((uint64_t)i);
		COSTS(1, CU_ASSERT_EQUAL(size_of(f), (uint64_t)i));
		COSTS(1, OK(look(root, "f")));
		COSTS(1, CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT));
	}
	CU_ASSERT_EQUAL(list(root), 1);
	tree_make(tree.root, "g", REGULAR_FILE);
	CU_ASSERT_EQUAL(list(root), 2);
	OK(look(root, "g"));
	drop(f);
	end();
}

/* A directory that is not what it was has other names, whatever their life. */
static void test_foreign_seen(void)
{
	struct fsal_attrlist attrs;

	drop(begin_f("Attr_TTL = 1; Name_TTL = 1000; Negative_TTL = 1000;"));
	OK(get(root, &attrs));
	learn(root);
	CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT);
	pass_time(2000);
	/* Nothing has happened: names stay. */
	OK(get(root, &attrs));
	COSTS(0, CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT));

	tree_make(tree.root, "g", REGULAR_FILE);
	tree_remove(tree.root, "f");
	pass_time(2000);
	OK(get(root, &attrs));
	OK(look(root, "g"));
	CU_ASSERT_EQUAL(look(root, "f"), ERR_FSAL_NOENT);
	CU_ASSERT_EQUAL(list(root), 1);
	end();
}

/* GLUSTER's change attribute comes in nanoseconds, or in seconds. */
static void test_rounded_change(void)
{
	const uint64_t seconds = 1790000000, ns = seconds * 1000000000;
	struct fsal_attrlist attrs;

	for (int rounds = 0; rounds < 2; rounds++) {
		drop(begin_f("Attr_TTL = 1; Name_TTL = 1000;"));
		scale_export(scale)->rounds_change = rounds;
		tree.root->change = ns + 77;
		OK(get(root, &attrs));
		learn(root);
		tree.root->change = seconds;
		pass_time(2000);
		OK(get(root, &attrs));
		CU_ASSERT_EQUAL(attrs.change, seconds);
		CU_ASSERT_EQUAL(complete(root), rounds);
		learn(root);
		tree.root->change = seconds + 1;
		pass_time(2000);
		OK(get(root, &attrs));
		CU_ASSERT(!complete(root));
		end();
	}
}

/* --- Freshness = ask ----------------------------------------------------- */

static void test_ask(void)
{
	struct fsal_obj_handle *f;

	set_expiry(0);
	f = begin_f("Freshness = ask;");
	for (int i = 0; i < 3; i++) {
		grow((uint64_t)i);
		COSTS(1, CU_ASSERT_EQUAL(size_of(f), (uint64_t)i));
		OK(look(root, "f"));
	}
	/* A name that does not exist is taken for true while the directory is
	 * as it was: that is asked.
	 */
	CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT);
	for (int i = 0; i < 3; i++) {
		tree.calls[TREE_LOOKUP] = 0;
		CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT);
		CU_ASSERT(i == 0 || tree.calls[TREE_LOOKUP] == 0);
	}
	tree_make(tree.root, "g", REGULAR_FILE);
	OK(look(root, "g"));
	drop(f);
	end();
}

/* One that has just changed may change again within its clock's grain. */
static void test_ask_grain(void)
{
	set_expiry(0);
	drop(begin_f("Freshness = ask;"));
	for (int i = 0; i < 3; i++) {
		clock_gettime(CLOCK_REALTIME, &tree.root->ctime);
		tree.calls[TREE_LOOKUP] = 0;
		CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT);
		CU_ASSERT_EQUAL(tree.calls[TREE_LOOKUP], 1);
	}
	end();
}

static void test_ask_own_changes(void)
{
	set_expiry(0);
	drop(begin_f("Freshness = ask;"));
	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(look(root, "g"), ERR_FSAL_NOENT);
	OK(create(root, "g"));
	OK(look(root, "g"));
	CU_ASSERT_EQUAL(list(root), 2);
	/* A foreign change hides behind one's own. */
	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(look(root, "h"), ERR_FSAL_NOENT);
	tree_make(tree.root, "h", REGULAR_FILE);
	OK(create(root, "i"));
	OK(look(root, "h"));
	end();
}

/* --- Settings ------------------------------------------------------------ */

static void refused(const char *block, const char *word)
{
	char *errors = NULL;

	struct fsal_export *exp = make_export(block, &errors);

	CU_ASSERT_PTR_NULL(exp);
	if (exp != NULL) {
		fprintf(stderr, "\n    not refused: %s", block);
		remove_export(exp);
	}
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, word));
	if (strstr(errors, word) == NULL)
		fprintf(stderr, "\n    no \"%s\" in: %s", word, errors);
	free(errors);
}

static void test_refused(void)
{
	refused(SCALE_WITH("Freshness = ask;", "TREE"),
		"add Attr_Expiration_Time = 0");
	refused(SCALE_WITH("Attr_TTL = 0;", "TREE"),
		"add Attr_Expiration_Time = 0");
	refused(SCALE_WITH("Freshness = upcall;", "VFS"), "write ttl");
	refused(SCALE_WITH("Freshness = upcall;", "CEPH"), "write ttl");
	refused(SCALE_WITH("Freshness = notify;", "TREE"), "write auto");
	refused(SCALE_WITH("Freshness = notify; Attr_TTL = 0;", "VFS"),
		"leave Attr_TTL out");
	refused(SCALE_WITH("Freshness = soon;", "TREE"), "one of auto");
	refused(SCALE_WITH("Attr_TTL = -2;", "TREE"), "out of range");
}

static enum scale_freshness_mode mode_of(const char *block)
{
	struct fsal_export *exp = make_export(block, NULL);
	enum scale_freshness_mode mode;

	CU_ASSERT_PTR_NOT_NULL_FATAL(exp);
	mode = scale_export(exp)->fresh.mode;
	remove_export(exp);
	return mode;
}

static void test_auto(void)
{
	CU_ASSERT_EQUAL(mode_of(SCALE_WITH("", "VFS")), SCALE_NOTIFY);
	CU_ASSERT_EQUAL(mode_of(SCALE_WITH("", "CEPH")), SCALE_TTL);
	CU_ASSERT_EQUAL(mode_of(SCALE_WITH("Freshness = OFF;", "CEPH")),
			SCALE_OFF);
	set_expiry(0);
	CU_ASSERT_EQUAL(mode_of(SCALE_WITH("", "VFS")), SCALE_NOTIFY);
	CU_ASSERT_EQUAL(mode_of(SCALE_WITH("", "CEPH")), SCALE_ASK);
	set_expiry(60);
}

/* What is announced does not expire, but for files, of which not all is. */
static void test_announced(void)
{
	static struct scale_export exp = {
		.fresh = { .mode = SCALE_NOTIFY,
			   .attr_ms = 60000,
			   .name_ms = 50000,
			   .negative_ms = 40000 },
		.fs[0].fsid = { 1, 2 },
	};
	const fsal_fsid_t fsid = { 1, 2 }, other = { 1, 3 };
	struct mdx_attrs attrs = { .valid = MDX_NUMBERS,
				   .fsid_major = 1,
				   .fsid_minor = 2,
				   .type = REGULAR_FILE };
	struct timespec now;
	uint32_t ms;

	atomic_store(&exp.fs_count, 1);
	CU_ASSERT(!scale_freshness_announced(&exp, &fsid));
	CU_ASSERT_EQUAL(scale_freshness_attrs(&exp, &attrs), 60000);
	CU_ASSERT_EQUAL(scale_freshness_name_ms(&exp, &fsid, true), 50000);
	CU_ASSERT_EQUAL(scale_freshness_name_ms(&exp, &fsid, false), 40000);
	atomic_store(&exp.fs[0].watched, true);
	CU_ASSERT(scale_freshness_announced(&exp, &fsid));
	CU_ASSERT(!scale_freshness_announced(&exp, &other));
	CU_ASSERT_EQUAL(scale_freshness_name_ms(&exp, &fsid, true),
			MDX_FOREVER);
	CU_ASSERT_EQUAL(scale_freshness_name_ms(&exp, &fsid, false),
			MDX_FOREVER);
	CU_ASSERT_EQUAL(scale_freshness_name_ms(&exp, &other, true), 50000);

	clock_gettime(CLOCK_REALTIME, &now);
	/* Modified just now, in the future, an hour ago, in another age. */
	attrs.mtime.tv_sec = now.tv_sec;
	CU_ASSERT_EQUAL(scale_freshness_attrs(&exp, &attrs), 60000);
	attrs.mtime.tv_sec = now.tv_sec + 1000000;
	CU_ASSERT_EQUAL(scale_freshness_attrs(&exp, &attrs), 60000);
	attrs.mtime.tv_sec = now.tv_sec - 3600;
	attrs.ctime = attrs.mtime;
	ms = scale_freshness_attrs(&exp, &attrs);
	CU_ASSERT(ms >= 360000 && ms < 370000);
	attrs.mtime.tv_sec = INT64_MIN / 2;
	attrs.ctime = attrs.mtime;
	CU_ASSERT_EQUAL(scale_freshness_attrs(&exp, &attrs), MDX_FOREVER - 1);
	/* Of another age, and copied here a while ago, with its times. */
	attrs.ctime.tv_sec = now.tv_sec - 1200;
	ms = scale_freshness_attrs(&exp, &attrs);
	CU_ASSERT(ms >= 120000 && ms < 130000);
	attrs.valid &= ~MDX_CTIME;
	CU_ASSERT_EQUAL(scale_freshness_attrs(&exp, &attrs), MDX_FOREVER - 1);
	attrs.valid &= ~MDX_MTIME;
	CU_ASSERT_EQUAL(scale_freshness_attrs(&exp, &attrs), 60000);
	attrs.type = DIRECTORY;
	CU_ASSERT_EQUAL(scale_freshness_attrs(&exp, &attrs), MDX_FOREVER);
	attrs.fsid_minor = 3;
	CU_ASSERT_EQUAL(scale_freshness_attrs(&exp, &attrs), 60000);
	exp.fresh.attr_ms = MDX_FOREVER;
	attrs.fsid_minor = 2;
	attrs.type = REGULAR_FILE;
	attrs.valid |= MDX_MTIME;
	CU_ASSERT_EQUAL(scale_freshness_attrs(&exp, &attrs), MDX_FOREVER);
}

/* Nothing is remembered, and MDCACHE is not told otherwise. */
static void test_off(void)
{
	struct fsal_obj_handle *f = begin_f("Freshness = off;");

	for (int i = 0; i < 3; i++) {
		grow((uint64_t)i);
		COSTS(1, CU_ASSERT_EQUAL(size_of(f), (uint64_t)i));
		CU_ASSERT_EQUAL(life_of(f), 0);
		COSTS(1, OK(look(root, "f")));
		COSTS(1, CU_ASSERT_EQUAL(list(root), 1));
	}
	drop(f);
	end();
}

static void test_update(void)
{
	struct fsal_obj_handle *f = begin_f(LONG);
	char *errors = NULL;

	grow(5);
	OK(update_export_from(SCALE_WITH("Attr_TTL = 10;", "TREE"), scale,
			      &errors)
		   .major);
	free(errors);
	/* What is stored from now on lives so long. */
	evict(f);
	CU_ASSERT_EQUAL(size_of(f), 5);
	grow(6);
	pass_time(11000);
	CU_ASSERT_EQUAL(size_of(f), 6);
	CU_ASSERT(FSAL_IS_ERROR(update_export_from(
		SCALE_WITH("Freshness = off;", "TREE"), scale, &errors)));
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "remove the export and add it"));
	free(errors);
	CU_ASSERT_EQUAL(size_of(f), 6);
	drop(f);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "attributes expire", test_attr_ttl },
		{ "names expire", test_name_ttl },
		{ "listings expire", test_listing_ttl },
		{ "for ever", test_forever },
		{ "what is left is handed up", test_handed_up },
		{ "the life of names above", test_names_above },
		{ "the life of absence", test_absence },
		{ "the export's own", test_default },
		{ "always ask", test_zero },
		{ "a foreign change is seen", test_foreign_seen },
		{ "a rounded change attribute", test_rounded_change },
		{ "ask", test_ask },
		{ "ask: just changed", test_ask_grain },
		{ "ask: own changes", test_ask_own_changes },
		{ "what is refused", test_refused },
		{ "auto", test_auto },
		{ "announced", test_announced },
		{ "off", test_off },
		{ "an update", test_update },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("freshness", cached_setup, tests);
}
