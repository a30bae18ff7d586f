/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Names of directories. */
#include "engine_test.h"
#include "leaf.h"

#define DIR  test_key(1000000)
#define DIR2 test_key(1000001)

static int put(struct mdx *c, struct mdx_key dir, const char *name,
	       uint64_t child, uint32_t ttl)
{
	struct mdx_key key = test_key(child);

	return mdx_name_put(c, mdx_ticket(c), dir, name, strlen(name), &key,
			    ttl);
}

static int look(struct mdx *c, struct mdx_key dir, const char *name,
		uint64_t *child)
{
	struct mdx_answer a;
	int rc = mdx_lookup(c, dir, name, strlen(name), &a);

	*child = UINT64_MAX;
	if (rc == 0)
		memcpy(child, a.key + 8, sizeof(*child));
	return rc;
}

static int change_for(struct mdx *c, struct mdx_key dir, const char *name,
		      enum mdx_outcome outcome, uint64_t child, uint32_t ttl_ms)
{
	struct mdx_key key = test_key(child);
	struct mdx_change ch;

	mdx_change_init(&ch);
	mdx_change_name(c, &ch, dir, name, strlen(name));
	return mdx_changed_name(c, &ch, dir, name, strlen(name), outcome,
				outcome == MDX_NAME_PRESENT ? &key : NULL,
				ttl_ms);
}

static int change(struct mdx *c, struct mdx_key dir, const char *name,
		  enum mdx_outcome outcome, uint64_t child)
{
	return change_for(c, dir, name, outcome, child, MDX_FOREVER);
}

static uint64_t names(struct mdx *c)
{
	struct mdx_usage u;

	mdx_usage(c, &u);
	return u.names;
}

static void test_basic(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	struct mdx_answer a;
	uint64_t child;

	test_put(c, 1, MDX_FOREVER);
	CU_ASSERT_EQUAL(look(c, DIR, "a", &child), -ENODATA);
	CU_ASSERT_EQUAL(put(c, DIR, "a", 1, MDX_FOREVER), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "a", &child), 0);
	CU_ASSERT_EQUAL(child, 1);
	CU_ASSERT_EQUAL(mdx_lookup(c, DIR, "a", 1, &a), 0);
	CU_ASSERT_EQUAL(a.attrs.size, 1);
	CU_ASSERT_EQUAL(look(c, DIR2, "a", &child), -ENODATA);
	CU_ASSERT_EQUAL(look(c, DIR, "ab", &child), -ENODATA);
	/* Negative, and back. */
	CU_ASSERT_EQUAL(mdx_name_put(c, mdx_ticket(c), DIR, "no", 2, NULL,
				     MDX_FOREVER),
			0);
	CU_ASSERT_EQUAL(look(c, DIR, "no", &child), -ENOENT);
	CU_ASSERT_EQUAL(names(c), 2);
	CU_ASSERT_EQUAL(change(c, DIR, "no", MDX_NAME_PRESENT, 1), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "no", &child), 0); /* a hard link */
	CU_ASSERT_EQUAL(child, 1);
	CU_ASSERT_EQUAL(names(c), 2);
	mdx_invalidate_name(c, DIR, "no", 2);
	CU_ASSERT_EQUAL(look(c, DIR, "no", &child), -ENODATA);
	CU_ASSERT_EQUAL(names(c), 1);
	mdx_invalidate_names(c, DIR);
	CU_ASSERT_EQUAL(look(c, DIR, "a", &child), -ENODATA);
	CU_ASSERT_EQUAL(names(c), 0);
	CU_ASSERT_EQUAL(mdx_lookup(c, DIR, "", 0, &a), -EINVAL);
	CU_ASSERT_EQUAL(mdx_lookup(c, DIR, "a", 256, &a), -EINVAL);
	mdx_destroy(c);
}

static void test_time(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	uint64_t child;

	test_put(c, 1, MDX_FOREVER);
	put(c, DIR, "a", 1, 1000);
	put(c, DIR, "b", 1, MDX_FOREVER);
	put(c, DIR, "c", 1, 1000000000); /* held for some hours at most */
	CU_ASSERT_EQUAL(look(c, DIR, "a", &child), 0);
	atomic_fetch_add(&test_now, 1000);
	CU_ASSERT_EQUAL(look(c, DIR, "a", &child), -ENODATA);
	CU_ASSERT_EQUAL(look(c, DIR, "b", &child), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "c", &child), 0);
	atomic_fetch_add(&test_now, 1000000000);
	CU_ASSERT_EQUAL(look(c, DIR, "b", &child), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "c", &child), -ENODATA);
	mdx_destroy(c);
}

static void test_forgotten_child(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	uint64_t child;

	test_put(c, 1, MDX_FOREVER);
	put(c, DIR, "a", 1, MDX_FOREVER);
	put(c, DIR, "link", 1, MDX_FOREVER);
	mdx_forget(c, test_key(1));
	CU_ASSERT_EQUAL(look(c, DIR, "a", &child), -ESTALE);
	/* Whoever gets its memory is not taken for it. */
	for (unsigned int i = 2; i < 60; i++)
		test_put(c, i, MDX_FOREVER);
	CU_ASSERT_EQUAL(look(c, DIR, "a", &child), -ESTALE);
	CU_ASSERT_EQUAL(look(c, DIR, "link", &child), -ESTALE);
	/* Not even when it is the same object anew. */
	test_put(c, 1, MDX_FOREVER);
	CU_ASSERT_EQUAL(look(c, DIR, "a", &child), -ESTALE);
	put(c, DIR, "a", 1, MDX_FOREVER);
	CU_ASSERT_EQUAL(look(c, DIR, "a", &child), 0);
	/* A pinned one that is forgotten keeps its place, not its names. */
	mdx_pin(c, test_key(1));
	mdx_forget(c, test_key(1));
	CU_ASSERT_EQUAL(look(c, DIR, "a", &child), -ESTALE);
	mdx_unpin(c, test_key(1));
	/* A name whose child was never here. */
	CU_ASSERT_EQUAL(put(c, DIR, "b", 777, MDX_FOREVER), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "b", &child), -ESTALE);
	/* Children of a backend that was invalidated, names of another. */
	struct mdx_key far = test_key(5);
	struct mdx_attrs attrs = test_attrs(5);

	far.backend = 3;
	mdx_put(c, mdx_ticket(c), far, &attrs, MDX_FOREVER);
	mdx_name_put(c, mdx_ticket(c), DIR, "far", 3, &far, MDX_FOREVER);
	CU_ASSERT_EQUAL(look(c, DIR, "far", &child), 0);
	mdx_invalidate_backend(c, 3);
	CU_ASSERT_EQUAL(look(c, DIR, "far", &child), -ESTALE);
	mdx_destroy(c);
}

struct list {
	unsigned int count, known, doubtful;
	uint64_t last;
	bool ordered;
	unsigned int stop_after;
	char seen[128][16];
};

static bool each(const struct mdx_dirent *d, void *arg)
{
	struct list *l = arg;

	l->ordered &= d->cookie > l->last;
	l->last = d->cookie;
	l->known += d->known;
	l->doubtful += d->doubtful;
	if (l->count < 128 && d->len < 16) {
		memcpy(l->seen[l->count], d->name, d->len);
		l->seen[l->count][d->len] = '\0';
	}
	l->count++;
	return !l->stop_after || l->count % l->stop_after;
}

static int list(struct mdx *c, struct mdx_key dir, uint64_t cookie,
		struct list *l)
{
	memset(l, 0, sizeof(*l));
	l->ordered = true;
	return mdx_readdir(c, dir, cookie, each, l);
}

static int populate(struct mdx *c, struct mdx_key dir, unsigned int n,
		    uint32_t ttl)
{
	struct mdx_population p;

	if (mdx_populate_begin(c, dir, &p))
		return -1;
	for (unsigned int i = 0; i < n; i++) {
		struct mdx_key key = test_key(i);
		struct mdx_attrs attrs = test_attrs(i);
		char name[16];
		int len = sprintf(name, "n%u", i);

		mdx_put(c, p.ticket, key, &attrs, MDX_FOREVER);
		mdx_populate_add(c, &p, name, (size_t)len, &key);
	}
	return mdx_populate_end(c, &p, true, ttl, ttl);
}

static void test_complete(void)
{
	static struct list l;
	struct mdx *c = test_cache(100, 10000, 8 * MIB, 1);
	uint64_t child, cookie;
	unsigned int sizes[] = { 0, 1, 5, 100, 5000 };

	CU_ASSERT_EQUAL(list(c, DIR, 0, &l), -ENODATA);
	for (unsigned int i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(populate(c, DIR, sizes[i], MDX_FOREVER), 0);
		CU_ASSERT(mdx_is_complete(c, DIR));
		CU_ASSERT_EQUAL(names(c), sizes[i]);
		CU_ASSERT_EQUAL(list(c, DIR, 0, &l), 0);
		CU_ASSERT_EQUAL(l.count, sizes[i]);
		CU_ASSERT_EQUAL(l.known, sizes[i]);
		CU_ASSERT(l.ordered);
		CU_ASSERT_EQUAL(look(c, DIR, "not there", &child), -ENOENT);
	}
	CU_ASSERT_EQUAL(look(c, DIR, "n77", &child), 0);
	CU_ASSERT_EQUAL(child, 77);
	/* In pieces. */
	cookie = 0;
	memset(&l, 0, sizeof(l));
	l.ordered = true;
	l.stop_after = 7;
	while (mdx_readdir(c, DIR, cookie, each, &l) == 1)
		cookie = l.last;
	CU_ASSERT_EQUAL(l.count, 5000);
	CU_ASSERT(l.ordered);
	/* Changes keep it complete. */
	CU_ASSERT_EQUAL(change(c, DIR, "new", MDX_NAME_PRESENT, 1), 0);
	CU_ASSERT_EQUAL(change(c, DIR, "n77", MDX_NAME_ABSENT, 0), 0);
	CU_ASSERT_EQUAL(change(c, DIR, "n78", MDX_NAME_ABSENT, 0), 0);
	CU_ASSERT_EQUAL(change(c, DIR, "n79", MDX_NAME_KEEP, 0), 0);
	CU_ASSERT_EQUAL(list(c, DIR, 0, &l), 0);
	CU_ASSERT_EQUAL(l.count, 4999);
	CU_ASSERT_EQUAL(look(c, DIR, "n77", &child), -ENOENT);
	CU_ASSERT_EQUAL(look(c, DIR, "n79", &child), 0);
	CU_ASSERT_EQUAL(names(c), 4999);
	/* A forgotten child leaves a name to be asked about. */
	mdx_forget(c, test_key(5));
	CU_ASSERT_EQUAL(list(c, DIR, 0, &l), 0);
	CU_ASSERT_EQUAL(l.count, 4999);
	CU_ASSERT_EQUAL(l.known, 4998);
	/* And these end it. */
	CU_ASSERT_EQUAL(look(c, DIR, "not there", &child), -ENOENT);
	mdx_invalidate_name(c, DIR, "whatever", 8);
	CU_ASSERT(!mdx_is_complete(c, DIR));
	CU_ASSERT_EQUAL(list(c, DIR, 0, &l), -ENODATA);
	CU_ASSERT_EQUAL(populate(c, DIR, 10, MDX_FOREVER), 0);
	CU_ASSERT_EQUAL(change(c, DIR, "z", MDX_NAME_UNKNOWN, 0), 0);
	CU_ASSERT(!mdx_is_complete(c, DIR));
	CU_ASSERT_EQUAL(populate(c, DIR, 10, MDX_FOREVER), 0);
	mdx_invalidate_backend(c, 0);
	CU_ASSERT(!mdx_is_complete(c, DIR));
	/* Time. */
	CU_ASSERT_EQUAL(populate(c, DIR, 10, MDX_FOREVER), 0);
	CU_ASSERT_EQUAL(mdx_complete_left(c, DIR), MDX_FOREVER);
	CU_ASSERT_EQUAL(populate(c, DIR, 10, 1000), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "n1", &child), 0);
	atomic_fetch_add(&test_now, 500);
	/* Changes do not lengthen it. */
	CU_ASSERT_EQUAL(change(c, DIR, "z", MDX_NAME_PRESENT, 1), 0);
	CU_ASSERT_EQUAL(mdx_complete_left(c, DIR), 500);
	atomic_fetch_add(&test_now, 500);
	CU_ASSERT(!mdx_is_complete(c, DIR));
	CU_ASSERT_EQUAL(mdx_complete_left(c, DIR), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "n1", &child), -ENODATA);
	CU_ASSERT_EQUAL(look(c, DIR, "nope", &child), -ENODATA);
	CU_ASSERT_EQUAL(test_counter(c, MDX_C_POPULATE), 9);
	mdx_destroy(c);
}

/* Absence may be over before the names are. */
static void test_absence(void)
{
	static struct list l;
	struct mdx *c = test_cache(100, 1000, 8 * MIB, 1);
	struct mdx_key key = test_key(1);
	struct mdx_population p;
	uint64_t child, ago;

	test_put(c, 1, MDX_FOREVER);
	CU_ASSERT_EQUAL(mdx_populate_begin(c, DIR, &p), 0);
	CU_ASSERT_EQUAL(mdx_populate_add(c, &p, "there", 5, &key), 0);
	CU_ASSERT_EQUAL(mdx_populate_end(c, &p, true, 10000, 1000), 0);
	CU_ASSERT(!mdx_names_changed(c, DIR, &ago));
	CU_ASSERT_EQUAL(look(c, DIR, "not", &child), -ENOENT);
	atomic_fetch_add(&test_now, 500);
	/* Of this one it is known for longer. */
	CU_ASSERT_EQUAL(change_for(c, DIR, "gone", MDX_NAME_ABSENT, 0, 2000),
			0);
	CU_ASSERT(mdx_names_changed(c, DIR, &ago));
	CU_ASSERT_EQUAL(ago, 0);
	atomic_fetch_add(&test_now, 1000);
	CU_ASSERT_EQUAL(look(c, DIR, "not", &child), -ENODATA);
	CU_ASSERT_EQUAL(look(c, DIR, "gone", &child), -ENOENT);
	CU_ASSERT_EQUAL(look(c, DIR, "there", &child), 0);
	atomic_fetch_add(&test_now, 1500);
	CU_ASSERT_EQUAL(look(c, DIR, "gone", &child), -ENODATA);
	/* A listing has what was listed. */
	CU_ASSERT_EQUAL(list(c, DIR, 0, &l), 0);
	CU_ASSERT_EQUAL(l.count, 1);
	CU_ASSERT_EQUAL(mdx_complete_left(c, DIR), 7000);
	CU_ASSERT_EQUAL(change(c, DIR, "other", MDX_NAME_KEEP, 0), 0);
	CU_ASSERT_EQUAL(change(c, DIR, "new", MDX_NAME_PRESENT, 1), 0);
	CU_ASSERT(mdx_names_changed(c, DIR, &ago));
	CU_ASSERT_EQUAL(ago, 2500);
	mdx_invalidate_names(c, DIR);
	CU_ASSERT(!mdx_names_changed(c, DIR, &ago));
	mdx_destroy(c);
}

static void test_population_meets_changes(void)
{
	static struct list l;
	struct mdx *c = test_cache(100, 1000, 8 * MIB, 1);
	struct mdx_key key = test_key(1), other = test_key(2);
	struct mdx_population p, q;
	uint64_t child;

	test_put(c, 1, MDX_FOREVER);
	test_put(c, 2, MDX_FOREVER);
	CU_ASSERT_EQUAL(mdx_populate_begin(c, DIR, &p), 0);
	/* The backend's list was read before these. */
	change(c, DIR, "gone", MDX_NAME_ABSENT, 0);
	change(c, DIR, "moved", MDX_NAME_PRESENT, 2);
	CU_ASSERT_EQUAL(mdx_populate_add(c, &p, "gone", 4, &key), -ESTALE);
	CU_ASSERT_EQUAL(mdx_populate_add(c, &p, "moved", 5, &key), -ESTALE);
	CU_ASSERT_EQUAL(mdx_populate_add(c, &p, "old", 3, &other), 0);
	CU_ASSERT_EQUAL(mdx_populate_end(c, &p, true, MDX_FOREVER, MDX_FOREVER),
			0);
	CU_ASSERT_EQUAL(look(c, DIR, "gone", &child), -ENOENT);
	CU_ASSERT_EQUAL(look(c, DIR, "moved", &child), 0);
	CU_ASSERT_EQUAL(child, 2);
	CU_ASSERT_EQUAL(list(c, DIR, 0, &l), 0);
	CU_ASSERT_EQUAL(l.count, 2);

	/* Unknown meanwhile: not added, not complete. */
	CU_ASSERT_EQUAL(mdx_populate_begin(c, DIR, &p), 0);
	mdx_invalidate_name(c, DIR, "a", 1);
	CU_ASSERT_EQUAL(mdx_populate_add(c, &p, "a", 1, &key), -ESTALE);
	CU_ASSERT_EQUAL(mdx_populate_add(c, &p, "b", 1, &key), 0);
	CU_ASSERT_EQUAL(mdx_populate_end(c, &p, true, MDX_FOREVER, MDX_FOREVER),
			-ESTALE);
	CU_ASSERT_EQUAL(look(c, DIR, "a", &child), -ENODATA);
	CU_ASSERT_EQUAL(look(c, DIR, "b", &child), 0);
	CU_ASSERT(!mdx_is_complete(c, DIR));

	/* The backend failed half-way: what was read is true. */
	CU_ASSERT_EQUAL(mdx_populate_begin(c, DIR, &p), 0);
	mdx_populate_add(c, &p, "c", 1, &key);
	CU_ASSERT_EQUAL(look(c, DIR, "c", &child), -ENODATA); /* not yet */
	CU_ASSERT_EQUAL(mdx_populate_end(c, &p, false, MDX_FOREVER,
					 MDX_FOREVER),
			-ESTALE);
	CU_ASSERT_EQUAL(look(c, DIR, "c", &child), 0);

	/* A second one takes over. */
	CU_ASSERT_EQUAL(mdx_populate_begin(c, DIR, &p), 0);
	CU_ASSERT_EQUAL(mdx_populate_begin(c, DIR, &q), 0);
	CU_ASSERT_EQUAL(mdx_populate_add(c, &p, "x", 1, &key), -ESTALE);
	CU_ASSERT_EQUAL(mdx_populate_add(c, &q, "y", 1, &key), 0);
	CU_ASSERT_EQUAL(mdx_populate_end(c, &p, true, MDX_FOREVER, MDX_FOREVER),
			-ESTALE);
	CU_ASSERT_EQUAL(mdx_populate_end(c, &q, true, MDX_FOREVER, MDX_FOREVER),
			0);

	/* All is invalidated. */
	CU_ASSERT_EQUAL(mdx_populate_begin(c, DIR, &p), 0);
	mdx_invalidate_all(c);
	CU_ASSERT_EQUAL(mdx_populate_add(c, &p, "x", 1, &key), -ESTALE);
	CU_ASSERT_EQUAL(mdx_populate_end(c, &p, true, MDX_FOREVER, MDX_FOREVER),
			-ESTALE);
	CU_ASSERT_EQUAL(mdx_populate_begin(c, DIR, &p), 0);
	mdx_forget(c, DIR);
	CU_ASSERT_EQUAL(mdx_populate_end(c, &p, true, MDX_FOREVER, MDX_FOREVER),
			-ESTALE);
	mdx_destroy(c);
}

/* Names that stay are shown exactly once, whatever comes and goes. */
static void test_iteration_under_changes(void)
{
	struct mdx *c = test_cache(100, 5000, 8 * MIB, 1);
	static unsigned char shown[2000];
	static struct list l;
	uint64_t cookie = 0;
	unsigned int step = 0;
	int rc;

	CU_ASSERT_EQUAL(populate(c, DIR, 2000, MDX_FOREVER), 0);
	memset(shown, 0, sizeof(shown));
	do {
		memset(&l, 0, sizeof(l));
		l.ordered = true;
		l.last = cookie;
		l.stop_after = 5;
		rc = mdx_readdir(c, DIR, cookie, each, &l);
		cookie = l.last;
		CU_ASSERT(l.ordered);
		for (unsigned int i = 0; i < l.count; i++) {
			unsigned int n;

			if (sscanf(l.seen[i], "n%u", &n) == 1)
				shown[n]++;
		}
		for (unsigned int i = 0; i < 20; i++, step++) {
			char name[16];

			/* Odd ones go; others come in masses, so that leaves
			 * are split, and go again, so that they vanish. */
			sprintf(name, "n%u", step * 2 % 2000 + 1);
			change(c, DIR, name, MDX_NAME_ABSENT, 0);
			sprintf(name, "x%u", step);
			change(c, DIR, name, MDX_NAME_PRESENT, 1);
			sprintf(name, "x%u", step / 2);
			change(c, DIR, name, MDX_NAME_ABSENT, 0);
		}
	} while (rc == 1);
	CU_ASSERT_EQUAL(rc, 0);
	for (unsigned int n = 0; n < 2000; n += 2)
		CU_ASSERT_EQUAL(shown[n], 1);
	for (unsigned int n = 1; n < 2000; n += 2)
		CU_ASSERT(shown[n] <= 1);
	mdx_destroy(c);
}

static void test_collisions(void)
{
	static struct list l;
	struct mdx *c = test_cache(100, 1000, 8 * MIB, 1);
	uint64_t child, first;
	unsigned int held = 0;

	/* All names have the same hash. */
	cookie_mask = 0;
	CU_ASSERT_EQUAL(populate(c, DIR, 10, MDX_FOREVER), 0);
	CU_ASSERT_EQUAL(list(c, DIR, 0, &l), 0);
	CU_ASSERT_EQUAL(l.count, 10);
	CU_ASSERT(l.ordered);
	first = mdx_cookie(c, DIR, "n0", 2);
	CU_ASSERT_EQUAL(first, MDX_COOKIE_FIRST);
	CU_ASSERT_EQUAL(mdx_cookie(c, DIR, "n9", 2), first + 9);
	for (unsigned int i = 0; i < 10; i++) {
		char name[8];

		sprintf(name, "n%u", i);
		CU_ASSERT_EQUAL(look(c, DIR, name, &child), 0);
		CU_ASSERT_EQUAL(child, i);
	}
	CU_ASSERT_EQUAL(look(c, DIR, "no", &child), -ENOENT);
	/* One goes: the others keep their cookies, its place is used again. */
	change(c, DIR, "n4", MDX_NAME_ABSENT, 0);
	CU_ASSERT_EQUAL(look(c, DIR, "n4", &child), -ENOENT);
	CU_ASSERT_EQUAL(look(c, DIR, "n9", &child), 0);
	CU_ASSERT_EQUAL(mdx_cookie(c, DIR, "n9", 2), first + 9);
	change(c, DIR, "new", MDX_NAME_PRESENT, 1);
	CU_ASSERT_EQUAL(mdx_cookie(c, DIR, "new", 3), first + 4);
	/* Too many: not held, not complete, never wrong. */
	CU_ASSERT(populate(c, DIR2, 40, MDX_FOREVER) != 0);
	CU_ASSERT(!mdx_is_complete(c, DIR2));
	mdx_invalidate_names(c, DIR2);
	for (unsigned int i = 0; i < 40; i++) {
		char name[8];

		test_put(c, i, MDX_FOREVER);
		sprintf(name, "n%u", i);
		CU_ASSERT_EQUAL(put(c, DIR2, name, i, MDX_FOREVER),
				i < 17 ? 0 : -ENOSPC);
	}
	for (unsigned int i = 0; i < 40; i++) {
		char name[8];
		int rc;

		sprintf(name, "n%u", i);
		rc = look(c, DIR2, name, &child);
		CU_ASSERT(rc == -ENODATA || (rc == 0 && child == i));
		held += rc == 0;
	}
	CU_ASSERT_EQUAL(held, 17);
	/* Long names at neighbouring cookies: the deepest leaves. */
	for (unsigned int i = 0; i < 10; i++) {
		char name[256];

		memset(name, 'a' + (int)i, 255);
		name[255] = '\0';
		CU_ASSERT_EQUAL(put(c, test_key(2000000), name, i, MDX_FOREVER),
				0);
		CU_ASSERT_EQUAL(look(c, test_key(2000000), name, &child), 0);
		CU_ASSERT_EQUAL(child, i);
	}
	/* Few different hashes. */
	cookie_mask = 0xff00000000000000u;
	CU_ASSERT_EQUAL(populate(c, DIR, 300, MDX_FOREVER), 0);
	CU_ASSERT_EQUAL(list(c, DIR, 0, &l), 0);
	CU_ASSERT_EQUAL(l.count, 300);
	CU_ASSERT(l.ordered);
	cookie_mask = UINT64_MAX;
	CU_ASSERT(test_counter(c, MDX_C_COLLISION) > 50);
	mdx_destroy(c);
}

static void test_odd_names(void)
{
	struct mdx *c = test_cache(100, 1000, 8 * MIB, 1);
	struct mdx_key key = test_key(1);
	struct mdx_answer a;
	unsigned char name[256];

	test_put(c, 1, MDX_FOREVER);
	for (unsigned int len = 1; len <= 255; len++) {
		for (unsigned int i = 0; i < len; i++)
			name[i] = (unsigned char)(i * 7 + len);
		CU_ASSERT_EQUAL(mdx_name_put(c, mdx_ticket(c), DIR,
					     (char *)name, len, &key,
					     MDX_FOREVER),
				0);
	}
	for (unsigned int len = 1; len <= 255; len++) {
		for (unsigned int i = 0; i < len; i++)
			name[i] = (unsigned char)(i * 7 + len);
		CU_ASSERT_EQUAL(mdx_lookup(c, DIR, (char *)name, len, &a), 0);
		name[len - 1] ^= 1;
		CU_ASSERT_EQUAL(mdx_lookup(c, DIR, (char *)name, len, &a),
				-ENODATA);
	}
	mdx_destroy(c);
}

static void test_rename(void)
{
	struct mdx *c = test_cache(100, 1000, 8 * MIB, 1);
	struct mdx_key key = test_key(1);
	struct mdx_change ch;
	uint64_t child;

	test_put(c, 1, MDX_FOREVER);
	CU_ASSERT_EQUAL(populate(c, DIR2, 0, MDX_FOREVER), 0);
	put(c, DIR, "from", 1, MDX_FOREVER);
	mdx_change_init(&ch);
	mdx_change_name(c, &ch, DIR, "from", 4);
	mdx_change_name(c, &ch, DIR2, "to", 2);
	mdx_change_entry(c, &ch, DIR);
	mdx_change_entry(c, &ch, DIR2);
	CU_ASSERT_EQUAL(mdx_changed_name(c, &ch, DIR2, "to", 2,
					 MDX_NAME_PRESENT, &key, MDX_FOREVER),
			0);
	CU_ASSERT_EQUAL(mdx_changed_name(c, &ch, DIR, "from", 4,
					 MDX_NAME_ABSENT, NULL, MDX_FOREVER),
			0);
	CU_ASSERT_EQUAL(mdx_changed_entry(c, &ch, DIR, NULL, 0, 0), 0);
	CU_ASSERT_EQUAL(mdx_changed_entry(c, &ch, DIR2, NULL, 0, 0), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "from", &child), -ENOENT);
	CU_ASSERT_EQUAL(look(c, DIR2, "to", &child), 0);
	CU_ASSERT(mdx_is_complete(c, DIR2));
	mdx_destroy(c);
}

/* A foreign change was announced: of one name the backend must be asked. */
static void test_doubt(void)
{
	static struct list l;
	struct mdx *c = test_cache(100, 1000, 8 * MIB, 1);
	struct mdx_key key = test_key(1);
	struct mdx_population p;
	uint64_t child, ticket;

	test_put(c, 1, MDX_FOREVER);
	CU_ASSERT_EQUAL(populate(c, DIR, 10, MDX_FOREVER), 0);
	ticket = mdx_ticket(c);
	mdx_doubt_name(c, DIR, "n1", 2);
	mdx_doubt_name(c, DIR, "new", 3);
	CU_ASSERT(mdx_is_complete(c, DIR));
	CU_ASSERT_EQUAL(look(c, DIR, "n1", &child), -ENODATA);
	CU_ASSERT_EQUAL(look(c, DIR, "new", &child), -ENODATA);
	CU_ASSERT_EQUAL(look(c, DIR, "n2", &child), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "nope", &child), -ENOENT);
	CU_ASSERT_EQUAL(list(c, DIR, 0, &l), 0);
	CU_ASSERT_EQUAL(l.count, 11);
	CU_ASSERT_EQUAL(l.doubtful, 2);
	CU_ASSERT_EQUAL(l.known, 9);
	/* What was asked before says nothing; what is asked now settles it. */
	CU_ASSERT_EQUAL(mdx_name_put(c, ticket, DIR, "new", 3, &key,
				     MDX_FOREVER),
			-ESTALE);
	ticket = mdx_ticket(c);
	CU_ASSERT_EQUAL(
		mdx_name_put(c, ticket, DIR, "new", 3, &key, MDX_FOREVER), 0);
	CU_ASSERT_EQUAL(
		mdx_name_put(c, ticket, DIR, "n1", 2, NULL, MDX_FOREVER), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "new", &child), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "n1", &child), -ENOENT);
	CU_ASSERT_EQUAL(list(c, DIR, 0, &l), 0);
	CU_ASSERT_EQUAL(l.count, 10);
	CU_ASSERT_EQUAL(l.doubtful, 0);
	/* A change through us settles it, too. */
	mdx_doubt_name(c, DIR, "n2", 2);
	CU_ASSERT_EQUAL(change(c, DIR, "n2", MDX_NAME_ABSENT, 0), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "n2", &child), -ENOENT);
	CU_ASSERT(mdx_is_complete(c, DIR));

	/* While the directory is read: complete, but for that name. */
	CU_ASSERT_EQUAL(mdx_populate_begin(c, DIR, &p), 0);
	mdx_doubt_name(c, DIR, "a", 1);
	CU_ASSERT_EQUAL(mdx_populate_add(c, &p, "a", 1, &key), -ESTALE);
	CU_ASSERT_EQUAL(mdx_populate_add(c, &p, "b", 1, &key), 0);
	CU_ASSERT_EQUAL(mdx_populate_end(c, &p, true, MDX_FOREVER, MDX_FOREVER),
			0);
	CU_ASSERT_EQUAL(look(c, DIR, "a", &child), -ENODATA);
	CU_ASSERT_EQUAL(look(c, DIR, "b", &child), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "c", &child), -ENOENT);

	/* Where not all names are known it is one more that is not. */
	put(c, DIR2, "x", 1, MDX_FOREVER);
	mdx_doubt_name(c, DIR2, "x", 1);
	mdx_doubt_name(c, DIR2, "y", 1);
	CU_ASSERT_EQUAL(look(c, DIR2, "x", &child), -ENODATA);
	CU_ASSERT_EQUAL(look(c, DIR2, "y", &child), -ENODATA);
	CU_ASSERT(!mdx_is_complete(c, DIR2));
	mdx_doubt_name(c, DIR, "", 0);
	CU_ASSERT_EQUAL(test_counter(c, MDX_C_DOUBT_NAME), 6);
	mdx_destroy(c);
}

/* Files that come and go under ever new names do not fill the cache. */
static void test_many_doubts(void)
{
	struct mdx *c = test_cache(100, 10000, 16 * MIB, 1);
	uint64_t most = 0, child;
	char name[16];

	test_put(c, 1, MDX_FOREVER);
	CU_ASSERT_EQUAL(populate(c, DIR, 100, MDX_FOREVER), 0);
	for (unsigned int i = 0; i < 20000; i++) {
		int len = sprintf(name, "tmp%u", i);
		struct mdx_usage usage;

		mdx_doubt_name(c, DIR, name, (size_t)len);
		CU_ASSERT_EQUAL(look(c, DIR, name, &child), -ENODATA);
		mdx_usage(c, &usage);
		most = usage.names > most ? usage.names : most;
	}
	CU_ASSERT(most > 1000 && most < 5000);
	CU_ASSERT_EQUAL(look(c, DIR, "n1", &child), -ENODATA);
	CU_ASSERT(!mdx_is_complete(c, DIR));
	/* Read again, it takes as many as before. */
	CU_ASSERT_EQUAL(populate(c, DIR, 100, MDX_FOREVER), 0);
	for (unsigned int i = 0; i < 1000; i++) {
		int len = sprintf(name, "tmp%u", i);

		mdx_doubt_name(c, DIR, name, (size_t)len);
	}
	/* The same again are none more. */
	for (unsigned int i = 0; i < 20000; i++)
		mdx_doubt_name(c, DIR, i % 2 ? "tmp1" : "n2", i % 2 ? 4 : 2);
	CU_ASSERT(mdx_is_complete(c, DIR));
	CU_ASSERT_EQUAL(look(c, DIR, "n1", &child), 0);
	CU_ASSERT_EQUAL(look(c, DIR, "tmp2000", &child), -ENOENT);
	mdx_destroy(c);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "names come, go, and are negative", test_basic },
		{ "time to live", test_time },
		{ "forgotten children", test_forgotten_child },
		{ "complete directories", test_complete },
		{ "the life of absence", test_absence },
		{ "population meets changes", test_population_meets_changes },
		{ "iteration under changes", test_iteration_under_changes },
		{ "equal hashes", test_collisions },
		{ "names of every length", test_odd_names },
		{ "rename", test_rename },
		{ "names in doubt", test_doubt },
		{ "many names in doubt", test_many_doubts },
		CU_TEST_INFO_NULL
	};

	return cunit_main("names", NULL, tests);
}
