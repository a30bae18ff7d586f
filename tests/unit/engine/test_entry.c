/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Entries: what is put is got, until it is no longer known. */
#include "engine_test.h"

static void test_get_put(void)
{
	struct mdx *c = test_cache(100, 1000, 8 * MIB, 1);
	struct mdx_answer a;

	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, &a), -ENOENT);
	CU_ASSERT_EQUAL(test_put(c, 1, MDX_FOREVER), 0);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_NUMBERS, &a), 0);
	CU_ASSERT_EQUAL(a.attrs.size, 1);
	CU_ASSERT_EQUAL(a.attrs.fileid, 8);
	CU_ASSERT_EQUAL(a.attrs.owner, 1000);
	CU_ASSERT_EQUAL(a.attrs.ctime.tv_nsec, 999999999);
	CU_ASSERT_EQUAL(a.left_ms, MDX_FOREVER);
	CU_ASSERT(!a.file_tier && !a.pinned);
	CU_ASSERT_EQUAL(a.key_len, 27);
	CU_ASSERT_EQUAL(memcmp(a.key, test_key(1).bytes, 27), 0);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), 0, NULL), 0);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(2), 0, NULL), -ENOENT);
	CU_ASSERT_EQUAL(test_counter(c, MDX_C_HIT), 2);
	CU_ASSERT_EQUAL(test_counter(c, MDX_C_MISS), 2);
	mdx_destroy(c);
}

static void test_keys(void)
{
	struct mdx *c = test_cache(1000, 1000, 8 * MIB, 1);
	uint8_t bytes[MDX_KEY_MAX + 1];
	struct mdx_attrs attrs = test_attrs(5);
	struct mdx_answer a;

	memset(bytes, 'x', sizeof(bytes));
	for (unsigned int len = 1; len <= MDX_KEY_MAX; len++) {
		for (unsigned int backend = 0; backend < 256; backend += 255) {
			struct mdx_key k = { bytes, (uint8_t)len,
					     (uint8_t)backend };

			attrs.size = len * 256 + backend;
			CU_ASSERT_EQUAL(mdx_put(c, mdx_ticket(c), k, &attrs,
						MDX_FOREVER),
					0);
		}
	}
	for (unsigned int len = 1; len <= MDX_KEY_MAX; len++) {
		for (unsigned int backend = 0; backend < 256; backend += 255) {
			struct mdx_key k = { bytes, (uint8_t)len,
					     (uint8_t)backend };

			CU_ASSERT_EQUAL(mdx_get(c, k, MDX_SIZE, &a), 0);
			CU_ASSERT_EQUAL(a.attrs.size, len * 256 + backend);
			CU_ASSERT_EQUAL(a.key_len, len);
			CU_ASSERT_EQUAL(memcmp(a.key, bytes, len), 0);
		}
	}
	CU_ASSERT_EQUAL(mdx_get(c, (struct mdx_key){ bytes, 0, 0 }, 0, NULL),
			-EINVAL);
	CU_ASSERT_EQUAL(mdx_get(c, (struct mdx_key){ bytes, 129, 0 }, 0, NULL),
			-EINVAL);
	CU_ASSERT_EQUAL(mdx_put(c, mdx_ticket(c),
				(struct mdx_key){ bytes, 129, 0 }, &attrs, 0),
			-EINVAL);
	mdx_destroy(c);
}

static void test_groups(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	struct mdx_attrs attrs = test_attrs(3);
	struct mdx_answer a;

	attrs.valid = MDX_SIZE | MDX_MTIME;
	mdx_put(c, mdx_ticket(c), test_key(1), &attrs, MDX_FOREVER);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, &a), 0);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE | MDX_MODE, &a),
			-ESTALE);
	CU_ASSERT_EQUAL(a.attrs.valid, MDX_SIZE | MDX_MTIME);
	attrs.valid = MDX_MODE;
	attrs.mode = 0600;
	attrs.size = 99; /* not valid: not stored */
	mdx_put(c, mdx_ticket(c), test_key(1), &attrs, MDX_FOREVER);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE | MDX_MODE, &a), 0);
	CU_ASSERT_EQUAL(a.attrs.size, 3);
	CU_ASSERT_EQUAL(a.attrs.mode, 0600);
	mdx_invalidate(c, test_key(1), MDX_SIZE);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, &a), -ESTALE);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_MODE, &a), 0);
	CU_ASSERT_EQUAL(test_counter(c, MDX_C_MISS_INVALID), 2);
	mdx_destroy(c);
}

static void test_time(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	struct mdx_attrs attrs = test_attrs(1);
	struct mdx_answer a;

	test_put(c, 1, 1000);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, &a), 0);
	CU_ASSERT(a.left_ms <= 1000 && a.left_ms >= 750);
	atomic_fetch_add(&test_now, 700);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, &a), 0);
	atomic_fetch_add(&test_now, 300);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, &a), -ESTALE);
	CU_ASSERT_EQUAL(a.attrs.valid, 0);
	CU_ASSERT_EQUAL(test_counter(c, MDX_C_MISS_EXPIRED), 1);
	/* What had expired does not come back with a new life of others. */
	attrs.valid = MDX_MODE;
	mdx_put(c, mdx_ticket(c), test_key(1), &attrs, 1000);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_MODE, &a), 0);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, &a), -ESTALE);
	/* No life at all. */
	test_put(c, 2, 0);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(2), MDX_SIZE, &a), -ESTALE);
	mdx_destroy(c);
}

static void test_whole_invalidation(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	struct mdx_key other = test_key(1);
	struct mdx_attrs attrs = test_attrs(1);

	other.backend = 9;
	test_put(c, 1, MDX_FOREVER);
	mdx_put(c, mdx_ticket(c), other, &attrs, MDX_FOREVER);
	mdx_blob_put(c, mdx_ticket(c), other, MDX_LINK, "t", 1);
	mdx_invalidate_backend(c, 9);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, NULL), 0);
	CU_ASSERT_EQUAL(mdx_get(c, other, 0, NULL), -ENOENT);
	/* It is found again only with what is put from now on. */
	attrs.valid = MDX_MODE;
	mdx_put(c, mdx_ticket(c), other, &attrs, MDX_FOREVER);
	CU_ASSERT_EQUAL(mdx_get(c, other, MDX_MODE, NULL), 0);
	CU_ASSERT_EQUAL(mdx_get(c, other, MDX_SIZE, NULL), -ESTALE);
	CU_ASSERT_EQUAL(mdx_blob_get(c, other, MDX_LINK, NULL, 0), -ENOENT);
	mdx_invalidate_all(c);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), 0, NULL), -ENOENT);
	CU_ASSERT_EQUAL(mdx_get(c, other, 0, NULL), -ENOENT);
	mdx_destroy(c);
}

static void test_blobs(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	char text[MDX_BLOB_MAX + 1], buf[MDX_BLOB_MAX];
	static const size_t sizes[] = { 0,   1,	  7,   8,   56,	 57,
					120, 121, 248, 249, 599, MDX_BLOB_MAX };

	memset(text, 'b', sizeof(text));
	CU_ASSERT_EQUAL(mdx_blob_put(c, mdx_ticket(c), test_key(1), MDX_LINK,
				     "x", 1),
			-ENOENT);
	test_put(c, 1, 10000);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		text[0] = (char)('a' + i);
		CU_ASSERT_EQUAL(mdx_blob_put(c, mdx_ticket(c), test_key(1),
					     MDX_LINK, text, sizes[i]),
				0);
		CU_ASSERT_EQUAL(mdx_blob_put(c, mdx_ticket(c), test_key(1),
					     MDX_PARENT, "parent", 6),
				0);
		memset(buf, 0, sizeof(buf));
		CU_ASSERT_EQUAL(mdx_blob_get(c, test_key(1), MDX_LINK, buf,
					     sizeof(buf)),
				(int)sizes[i]);
		CU_ASSERT_EQUAL(memcmp(buf, text, sizes[i]), 0);
		/* Attributes with and without an aside come and go. */
		struct mdx_attrs attrs = test_attrs(1);

		attrs.generation = i % 2;
		attrs.rdev = i % 3;
		CU_ASSERT_EQUAL(mdx_put(c, mdx_ticket(c), test_key(1), &attrs,
					10000),
				0);
		CU_ASSERT_EQUAL(
			mdx_blob_get(c, test_key(1), MDX_PARENT, buf, 3), 6);
		CU_ASSERT_EQUAL(memcmp(buf, "par", 3), 0);
	}
	CU_ASSERT_EQUAL(mdx_blob_put(c, mdx_ticket(c), test_key(1), MDX_LINK,
				     text, MDX_BLOB_MAX + 1),
			-E2BIG);
	CU_ASSERT_EQUAL(mdx_blob_put(c, mdx_ticket(c), test_key(1), MDX_ACL,
				     "x", 1),
			-EINVAL);
	mdx_invalidate(c, test_key(1), MDX_LINK);
	CU_ASSERT_EQUAL(mdx_blob_get(c, test_key(1), MDX_LINK, buf, 9),
			-ENOENT);
	CU_ASSERT_EQUAL(mdx_blob_get(c, test_key(1), MDX_PARENT, buf, 9), 6);
	atomic_fetch_add(&test_now, 10000);
	CU_ASSERT_EQUAL(mdx_blob_get(c, test_key(1), MDX_PARENT, buf, 9),
			-ESTALE);
	mdx_destroy(c);
}

static int change(struct mdx *c, const struct mdx_attrs *attrs, uint32_t ttl_ms)
{
	struct mdx_change ch;

	mdx_change_init(&ch);
	mdx_change_entry(c, &ch, test_key(1));
	return mdx_changed_entry(c, &ch, test_key(1), attrs, ttl_ms, 0);
}

static int get_link(struct mdx *c)
{
	return mdx_blob_get(c, test_key(1), MDX_LINK, NULL, 0);
}

/* Blobs are wanted as attributes are. */
static void test_blobs_wanted(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	struct mdx_answer a;

	test_put(c, 1, 1000);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_LINK, &a), -ESTALE);
	mdx_blob_put(c, mdx_ticket(c), test_key(1), MDX_LINK, "x", 1);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE | MDX_LINK, &a), 0);
	CU_ASSERT_EQUAL(a.attrs.valid, MDX_NUMBERS | MDX_LINK);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_PARENT, &a), -ESTALE);
	CU_ASSERT_EQUAL(mdx_promote(c, test_key(1)), 0);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_LINK, &a), 0);
	mdx_invalidate(c, test_key(1), MDX_LINK);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_LINK, &a), -ESTALE);
	mdx_destroy(c);
}

/* Blobs have the life of their entry, and no later one. */
static void test_life_of_blobs(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	struct mdx_attrs attrs = test_attrs(1);

	for (unsigned int i = 0; i < 3; i++) {
		test_put(c, 1, 1000);
		mdx_blob_put(c, mdx_ticket(c), test_key(1), MDX_LINK, "x", 1);
		if (i == 2) /* forgets the attributes alone */
			CU_ASSERT_EQUAL(change(c, NULL, 0), 0);
		CU_ASSERT_EQUAL(get_link(c), 1);
		atomic_fetch_add(&test_now, 1000);
		CU_ASSERT_EQUAL(get_link(c), -ESTALE);
		if (i == 0)
			test_put(c, 1, 1000);
		else if (i == 1)
			CU_ASSERT_EQUAL(change(c, &attrs, 1000), 0);
		CU_ASSERT_EQUAL(get_link(c), i < 2 ? -ENOENT : -ESTALE);
	}
	mdx_destroy(c);
}

/* What everything's invalidation took away does not come back with a change of
 * which nothing is known. */
static void test_no_return(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	struct mdx_attachment *pages;
	struct mdx_answer a;
	int object;

	test_put(c, 1, MDX_FOREVER);
	mdx_blob_put(c, mdx_ticket(c), test_key(1), MDX_LINK, "x", 1);
	mdx_name_put(c, mdx_ticket(c), test_key(1), "n", 1, NULL, MDX_FOREVER);
	pages = mdx_attach(c, &object, 1);
	mdx_pages_set(c, test_key(1), pages);
	mdx_detach(c, pages);
	mdx_invalidate_all(c);
	CU_ASSERT_EQUAL(change(c, NULL, 0), 0);
	CU_ASSERT_EQUAL(get_link(c), -ENOENT);
	CU_ASSERT_EQUAL(mdx_lookup(c, test_key(1), "n", 1, &a), -ENODATA);
	CU_ASSERT_PTR_NULL(mdx_pages_get(c, test_key(1)));
	mdx_destroy(c);
}

/* Of each reference that is taken over there is one release. */
static void test_references(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	unsigned int before = atomic_load(&test_released);
	struct mdx_attachment *a = NULL;
	int object;

	CU_ASSERT_PTR_NULL(mdx_attach(c, &object, 9 * MIB));
	mdx_quiesce(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before);
	for (unsigned int i = 0; i < 1000; i++)
		a = mdx_attach(c, &object, 1);
	mdx_quiesce(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 999);
	for (unsigned int i = 0; i < 10; i++)
		mdx_attach(c, &object, 1);
	for (unsigned int i = 0; i < 1010; i++)
		mdx_detach(c, a);
	mdx_quiesce(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 1010);
	mdx_attach(c, &object, 1);
	mdx_attach(c, &object, 1);
	mdx_destroy(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 1012);
}

static void test_attachments(void)
{
	struct mdx *c = test_cache(100, 100, 8 * MIB, 1);
	struct mdx_attrs attrs = test_attrs(1);
	struct mdx_attachment *acl, *again;
	struct mdx_answer a;
	unsigned int before = atomic_load(&test_released);
	int object, other;

	acl = mdx_attach(c, &object, 100);
	CU_ASSERT_PTR_NOT_NULL_FATAL(acl);
	again = mdx_attach(c, &object, 100);
	CU_ASSERT_PTR_EQUAL(acl, again); /* and a surplus reference goes */
	mdx_quiesce(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 1);
	mdx_detach(c, again);
	attrs.valid |= MDX_ACL | MDX_OTHER;
	attrs.acl = acl;
	attrs.other = NULL;
	mdx_put(c, mdx_ticket(c), test_key(1), &attrs, MDX_FOREVER);
	mdx_put(c, mdx_ticket(c), test_key(2), &attrs, MDX_FOREVER);
	mdx_detach(c, acl);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_ACL | MDX_OTHER, &a), 0);
	CU_ASSERT_PTR_EQUAL(mdx_attachment_object(a.attrs.acl), &object);
	CU_ASSERT_PTR_NULL(a.attrs.other);
	mdx_detach(c, a.attrs.acl);
	/* Without asking for it, only that it is known. */
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_SIZE, &a), 0);
	CU_ASSERT(a.attrs.valid & MDX_ACL);
	CU_ASSERT_PTR_NULL(a.attrs.acl);
	/* It goes with its last entry. */
	mdx_invalidate(c, test_key(1), MDX_ACL);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_ACL, &a), -ESTALE);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(1), MDX_OTHER | MDX_SIZE, &a), 0);
	mdx_quiesce(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 1);
	mdx_forget(c, test_key(2));
	mdx_quiesce(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 2);
	/* The other kind, in the aside; and what destroy finds. */
	attrs.valid = MDX_OTHER;
	attrs.other = mdx_attach(c, &other, 1);
	mdx_put(c, mdx_ticket(c), test_key(3), &attrs, MDX_FOREVER);
	mdx_detach(c, attrs.other);
	CU_ASSERT_EQUAL(mdx_get(c, test_key(3), MDX_OTHER, &a), 0);
	CU_ASSERT_PTR_EQUAL(mdx_attachment_object(a.attrs.other), &other);
	mdx_detach(c, a.attrs.other);
	mdx_destroy(c);
	CU_ASSERT_EQUAL(atomic_load(&test_released), before + 3);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "get and put", test_get_put },
		{ "keys of every length", test_keys },
		{ "groups of attributes", test_groups },
		{ "time to live", test_time },
		{ "a backend, and everything", test_whole_invalidation },
		{ "blobs", test_blobs },
		{ "blobs are wanted", test_blobs_wanted },
		{ "the life of blobs", test_life_of_blobs },
		{ "nothing of an earlier epoch returns", test_no_return },
		{ "attachments", test_attachments },
		{ "references of attachments", test_references },
		CU_TEST_INFO_NULL
	};

	return cunit_main("entry", NULL, tests);
}
