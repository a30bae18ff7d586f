/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The packed form of attributes is exact, whatever the values. */
#include "attrs.h"
#include "engine_test.h"

static struct budget budget = { .limit = 64 << 20 };
static struct idents idents;

static int setup(void)
{
	return ident_init(&idents, &budget) ? 0 : -1;
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool same(const struct mdx_attrs *a, const struct mdx_attrs *b)
{
	return a->valid == b->valid && a->type == b->type &&
	       a->mode == b->mode && a->nlink == b->nlink &&
	       a->owner == b->owner && a->group == b->group &&
	       a->size == b->size && a->space == b->space &&
	       a->fsid_major == b->fsid_major &&
	       a->fsid_minor == b->fsid_minor && a->fileid == b->fileid &&
	       a->rdev == b->rdev && a->change == b->change &&
	       a->generation == b->generation &&
	       same_time(a->atime, b->atime) && same_time(a->btime, b->btime) &&
	       same_time(a->ctime, b->ctime) && same_time(a->mtime, b->mtime);
}

static bool round_trip(const struct mdx_attrs *a, unsigned int *wide)
{
	struct mdx_attrs back = { 0 };
	struct packed p;

	memset(&p, 0xa5, sizeof(p));
	attrs_pack(&idents, a, &p);
	*wide = (unsigned int)__builtin_popcount(p.wide);
	attrs_unpack(&idents, &p, &back);
	return same(a, &back);
}

static void test_ordinary(void)
{
	unsigned int wide;
	struct mdx_attrs a = test_attrs(123456);

	CU_ASSERT(round_trip(&a, &wide));
	CU_ASSERT_EQUAL(wide, 0);
}

static void test_extremes(void)
{
	static const uint64_t values[] = { 0,	       1,	   511,
					   512,	       513,	   0xffff,
					   0x10000,    UINT32_MAX, 1ull << 47,
					   1ull << 48, INT64_MAX,  UINT64_MAX };
	static const time_t seconds[] = { 0,
					  -1,
					  1,
					  ((time_t)1 << 33) - 1,
					  (time_t)1 << 33,
					  -((time_t)1 << 33),
					  -((time_t)1 << 33) - 1,
					  INT64_MAX,
					  INT64_MIN };
	unsigned int wide;

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		uint64_t v = values[i];
		uint64_t *fields[] = { NULL, NULL, NULL, NULL, NULL,
				       NULL, NULL, NULL, NULL, NULL };
		struct mdx_attrs a;

		for (size_t f = 0; f < 10; f++) {
			a = test_attrs(77);
			fields[0] = &a.owner;
			fields[1] = &a.group;
			fields[2] = &a.size;
			fields[3] = &a.space;
			fields[4] = &a.fsid_major;
			fields[5] = &a.fsid_minor;
			fields[6] = &a.fileid;
			fields[7] = &a.rdev;
			fields[8] = &a.change;
			fields[9] = &a.generation;
			*fields[f] = v;
			CU_ASSERT(round_trip(&a, &wide));
		}
		a = test_attrs(77);
		a.mode = (uint32_t)v;
		a.nlink = (uint32_t)(v >> 1);
		CU_ASSERT(round_trip(&a, &wide));
	}
	for (size_t i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		struct mdx_attrs a = test_attrs(77);

		a.atime.tv_sec = seconds[i];
		CU_ASSERT(round_trip(&a, &wide));
		a.ctime.tv_sec = seconds[i];
		a.mtime.tv_sec = seconds[i];
		a.btime.tv_sec = seconds[i];
		a.btime.tv_nsec = 999999999;
		CU_ASSERT(round_trip(&a, &wide));
	}
}

static void test_random(void)
{
	uint64_t x = 88172645463325252u;
	unsigned int bad = 0, wide;

	for (unsigned int i = 0; i < 200000; i++) {
		struct mdx_attrs a = { 0 };
		struct mdx_attrs all;
		uint64_t r[20];

		for (unsigned int j = 0; j < 20; j++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			/* All magnitudes alike. */
			r[j] = x >> (x % 64);
		}
		all = (struct mdx_attrs){
			.valid = (uint32_t)r[0] & MDX_NUMBERS,
			.type = r[1] & 15,
			.mode = (uint32_t)r[2],
			.nlink = (uint32_t)r[3],
			.owner = r[4],
			.group = r[5],
			.size = r[6],
			.space = r[7],
			.fsid_major = r[8],
			.fsid_minor = r[9],
			.fileid = r[10],
			.rdev = r[11],
			.change = r[12],
			.generation = r[13],
			.atime = { (time_t)r[14], (long)(r[15] % 1000000000) },
			.btime = { (time_t)r[16], (long)(r[17] % 1000000000) },
			.ctime = { (time_t)r[18], (long)(r[19] % 1000000000) },
			.mtime = { (time_t)r[18], (long)(r[15] % 1000000000) },
		};
		if (i % 3 == 0)
			all.change = (uint64_t)all.ctime.tv_sec * 1000000000 +
				     (uint64_t)all.ctime.tv_nsec;
		/* What is not valid is not kept. */
		attrs_overlay(&a, &all, all.valid);
		if (!round_trip(&a, &wide))
			bad++;
	}
	CU_ASSERT_EQUAL(bad, 0);
}

static void test_identities_run_out(void)
{
	struct budget small = { .limit = 1 << 20 };
	struct idents few;
	struct ident id = { 0, 0, 0, 0 };
	int n = 0;

	CU_ASSERT_FATAL(ident_init(&few, &small));
	CU_ASSERT_EQUAL(ident_number(&few, &id), 0);
	for (id.owner = 1; (n = ident_number(&few, &id)) >= 0; id.owner++)
		CU_ASSERT_EQUAL(ident_get(&few, (uint16_t)n)->owner, id.owner);
	CU_ASSERT_EQUAL(id.owner, few.capacity + 1);
	id.owner = 1;
	CU_ASSERT_EQUAL(ident_number(&few, &id), 1);
	ident_destroy(&few);
	CU_ASSERT_EQUAL(atomic_load(&small.held), 0);
}

static void test_sanity(void)
{
	struct mdx_attrs a = test_attrs(1);

	CU_ASSERT(attrs_sane(&a));
	a.type = 16;
	CU_ASSERT(!attrs_sane(&a));
	a = test_attrs(1);
	a.mtime.tv_nsec = 1000000000;
	CU_ASSERT(!attrs_sane(&a));
	a.valid &= ~(uint32_t)MDX_MTIME;
	CU_ASSERT(attrs_sane(&a));
	a.valid |= MDX_LINK;
	CU_ASSERT(!attrs_sane(&a));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "an ordinary file needs no aside", test_ordinary },
		{ "extreme values are exact", test_extremes },
		{ "random values are exact", test_random },
		{ "identities run out", test_identities_run_out },
		{ "what is refused", test_sanity },
		CU_TEST_INFO_NULL
	};
	int rc = cunit_main("attrs", setup, tests);

	ident_destroy(&idents);
	return rc;
}
