// SPDX-License-Identifier: LGPL-3.0-or-later
#include "cunit_main.h"
#include "keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static const char trace_path[] = "policy-test.tree.tsv.gz";

static int read_text(struct stream_list *list, const char *text)
{
	gzFile out = gzopen(trace_path, "wb");
	int rc;

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_FATAL(gzputs(out, text) == (int)strlen(text));
	CU_ASSERT_EQUAL_FATAL(gzclose(out), Z_OK);
	rc = stream_read_trace(list, trace_path);
	unlink(trace_path);
	return rc;
}

static void check_requests(const struct stream *s, const uint32_t *expected,
			   size_t count)
{
	CU_ASSERT_EQUAL_FATAL(s->nrequests, count);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_EQUAL(s->requests[i], expected[i]);
}

/* What exists is an object; each component is a name. */
static void objects_and_names(void)
{
	static const uint32_t objects[] = { 0, 1, 1 | STREAM_DATA, 1, 0 };
	static const uint32_t names[] = {
		0,    /* dir */
		0, 1, /* dir/file */
		0, 1, /* the same, by reference */
		2,    /* nodir, whatever would be in it */
		0, 3, /* dir/none */
		0,    /* dir */
	};
	struct stream_list list = { 0 };

	CU_ASSERT_EQUAL_FATAL(read_text(&list, "S\tdir\t+\n"
					       "S\tdir/file\t+\n"
					       "O\t=1\t+\t100\n"
					       "F\t=1\t+\t\t7\n"
					       "O\tnodir/file\t-\n"
					       "O\tdir/none\t-\n"
					       "l\t=0\t+\n"),
			      0);
	CU_ASSERT_EQUAL_FATAL(list.count, 2);
	CU_ASSERT_STRING_EQUAL(list.streams[0].name,
			       "policy-test.tree/objects");
	CU_ASSERT_STRING_EQUAL(list.streams[1].name, "policy-test.tree/names");
	check_requests(&list.streams[0], objects, 5);
	check_requests(&list.streams[1], names, 9);
	CU_ASSERT_EQUAL(list.streams[0].nuses, 5);
	CU_ASSERT_EQUAL(list.streams[0].ndata, 1);
	CU_ASSERT_EQUAL(list.streams[0].nkeys, 2);
	CU_ASSERT_EQUAL(list.streams[1].nkeys, 4);
	stream_list_free(&list);
}

/* A removed name that is made again is another object; a renamed object is
 * the same, and the one it replaces is gone. */
static void removal_and_rename(void)
{
	static const uint32_t objects[] = {
		0 | STREAM_DATA,
		0,
		0 | STREAM_REMOVE, /* a made, removed */
		1 | STREAM_DATA,   /* a made again */
		2 | STREAM_DATA,   /* b */
		1,
		2 | STREAM_REMOVE, /* a to b */
		1,		   /* b is what a was */
	};
	struct stream_list list = { 0 };

	CU_ASSERT_EQUAL_FATAL(read_text(&list, "C\ta\t+\n"
					       "U\t=0\t+\n"
					       "C\t=0\t+\n"
					       "C\tb\t+\n"
					       "R\t=0\t+\t\t\t=1\n"
					       "U\t=0\t-\n"
					       "S\t=1\t+\n"),
			      0);
	check_requests(&list.streams[0], objects, 8);
	CU_ASSERT_EQUAL(list.streams[1].nkeys, 2);
	stream_list_free(&list);
}

static void bad_traces(void)
{
	struct stream_list list = { 0 };

	CU_ASSERT_EQUAL(stream_read_trace(&list, "no/such.tsv.gz"), -ENOENT);
	CU_ASSERT_EQUAL(read_text(&list, "S\tdir\n"), -EINVAL);
	CU_ASSERT_EQUAL(read_text(&list, "stat\tdir\t+\n"), -EINVAL);
	CU_ASSERT_EQUAL(read_text(&list, "S\t=0\t+\n"), -EINVAL);
	CU_ASSERT_EQUAL(read_text(&list, "S\t=x\t+\n"), -EINVAL);
	CU_ASSERT_EQUAL(read_text(&list, "S\t\t+\n"), -EINVAL);
	CU_ASSERT_EQUAL(list.count, 0);
	stream_list_free(&list);
}

static bool same(const struct stream *a, const struct stream *b)
{
	return a->nrequests == b->nrequests &&
	       memcmp(a->requests, b->requests,
		      a->nrequests * sizeof(*a->requests)) == 0;
}

static void synthetic_is_repeatable(void)
{
	struct stream_list one = { 0 };
	struct stream_list again = { 0 };
	struct stream_list other = { 0 };
	unsigned different = 0;

	CU_ASSERT_EQUAL_FATAL(stream_generate(&one, 1, 50), 0);
	CU_ASSERT_EQUAL_FATAL(stream_generate(&again, 1, 50), 0);
	CU_ASSERT_EQUAL_FATAL(stream_generate(&other, 2, 50), 0);
	CU_ASSERT_FATAL(one.count >= 7);
	CU_ASSERT_EQUAL_FATAL(one.count, again.count);
	for (size_t i = 0; i < one.count; i++) {
		CU_ASSERT_TRUE(same(&one.streams[i], &again.streams[i]));
		different += !same(&one.streams[i], &other.streams[i]);
	}
	/* All but the loop. */
	CU_ASSERT_EQUAL(different, one.count - 1);
	stream_list_free(&one);
	stream_list_free(&again);
	stream_list_free(&other);
}

/* Of a Zipf 1.0 over n keys, the most popular has
 * 1 / (1 + 1/2 + ... + 1/n) of all uses. */
static void zipf_has_its_shape(void)
{
	static size_t uses[10000];
	struct stream_list list = { 0 };
	const struct stream *s;
	size_t most = 0;
	double harmonic = 0;
	double expected;

	CU_ASSERT_EQUAL_FATAL(stream_generate(&list, 1, 10), 0);
	s = &list.streams[1];
	CU_ASSERT_STRING_EQUAL_FATAL(s->name, "zipf-1.0");
	CU_ASSERT_FATAL(s->nkeys <= 10000);
	for (size_t i = 0; i < s->nrequests; i++) {
		size_t n = ++uses[s->requests[i]];

		most = n > most ? n : most;
	}
	for (unsigned i = 1; i <= 10000; i++)
		harmonic += 1.0 / i;
	expected = (double)s->nuses / harmonic;
	CU_ASSERT_DOUBLE_EQUAL((double)most, expected, expected * 0.05);
	stream_list_free(&list);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "objects and names of a trace", objects_and_names },
		{ "removal and rename in a trace", removal_and_rename },
		{ "bad traces are refused", bad_traces },
		{ "synthetic streams are repeatable", synthetic_is_repeatable },
		{ "Zipf has its shape", zipf_has_its_shape },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("streams", NULL, tests);
}
