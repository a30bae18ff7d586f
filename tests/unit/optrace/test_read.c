// SPDX-License-Identifier: LGPL-3.0-or-later
#include "cunit_main.h"
#include "written.h"

#include <errno.h>
#include <stdlib.h>

static void check(const struct optrace *t, size_t i, char op, const char *path,
		  char outcome, uint64_t bytes, uint32_t process)
{
	CU_ASSERT_FATAL(i < t->nops);
	CU_ASSERT_EQUAL(t->ops[i].op, op);
	CU_ASSERT_STRING_EQUAL(t->paths[t->ops[i].path].text, path);
	CU_ASSERT_EQUAL(t->ops[i].outcome, outcome);
	CU_ASSERT_EQUAL(t->ops[i].bytes, bytes);
	CU_ASSERT_EQUAL(t->ops[i].process, process);
}

/* Dropped fields, references (path2 counted), the process that stays. */
static void lines(void)
{
	struct optrace t;

	CU_ASSERT_EQUAL_FATAL(read_written(&t, "S\t.\t+\t\t1\n"
					       "O\ta/b.c\t+\t3146\n"
					       "R\t=1\t+\t\t7\tc d\n"
					       "F\t=2\t+\n"
					       "S\t=1\t-\t0\t1"),
			      0);
	CU_ASSERT_EQUAL_FATAL(t.nops, 5);
	check(&t, 0, 'S', ".", '+', 0, 1);
	check(&t, 1, 'O', "a/b.c", '+', 3146, 1);
	check(&t, 2, 'R', "a/b.c", '+', 0, 7);
	CU_ASSERT_STRING_EQUAL(t.paths[t.ops[2].path2].text, "c d");
	check(&t, 3, 'F', "c d", '+', 0, 7);
	check(&t, 4, 'S', "a/b.c", '-', 0, 1);
	CU_ASSERT_EQUAL(t.ops[4].path2, OPTRACE_NONE);
	CU_ASSERT_EQUAL(t.nprocesses, 8);
	optrace_free(&t);
}

/* Every path has its parents, before it, up to the root. */
static void parents(void)
{
	struct optrace t;

	CU_ASSERT_EQUAL_FATAL(
		read_written(&t, "S\tx/y/z\t+\nS\tx/w\t+\nS\ttop\t+\n"), 0);
	CU_ASSERT_EQUAL(t.npaths, 6);
	CU_ASSERT_STRING_EQUAL(t.paths[OPTRACE_ROOT].text, ".");
	CU_ASSERT_EQUAL(t.paths[OPTRACE_ROOT].parent, OPTRACE_NONE);
	for (uint32_t p = 1; p < t.npaths; p++) {
		const struct optrace_path *parent = &t.paths[t.paths[p].parent];
		size_t above = strlen(parent->text);

		CU_ASSERT_FATAL(t.paths[p].parent < p);
		if (t.paths[p].parent == OPTRACE_ROOT) {
			CU_ASSERT_STRING_EQUAL(t.paths[p].text,
					       t.paths[p].name);
			continue;
		}
		CU_ASSERT_EQUAL(strncmp(parent->text, t.paths[p].text, above),
				0);
		CU_ASSERT_EQUAL(t.paths[p].text[above], '/');
		CU_ASSERT_STRING_EQUAL(t.paths[p].text + above + 1,
				       t.paths[p].name);
	}
	optrace_free(&t);
}

static void bad_lines(void)
{
	static const char *const texts[] = {
		"S\tdir\n",		/* no outcome */
		"stat\tdir\t+\n",	/* not a letter */
		"Z\tdir\t+\n",		/* no operation */
		"S\tdir\tok\n",		/* no outcome */
		"S\tdir\t?\n",		/* neither */
		"S\t\t+\n",		/* no path */
		"S\t=0\t+\n",		/* nothing spelled yet */
		"S\ta\t+\nS\t=1\t+\n",	/* not so many */
		"S\ta\t+\nS\t=\t+\n",	/* no number */
		"S\t/abs\t+\n",		/* not relative */
		"S\ta//b\t+\n",		/* not normal */
		"S\ta/../b\t+\n",	/* neither */
		"O\ta\t+\tmany\n",	/* no number of bytes */
		"O\ta\t+\t-1\n",	/* neither */
		"S\ta\t+\t\tcc1\n",	/* no number of a process */
		"R\ta\t+\n",		/* renamed to nowhere */
		"S\ta\t+\t0\t1\tb\tc\n" /* more than there is */
	};
	struct optrace t;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CU_ASSERT_EQUAL(read_written(&t, texts[i]), -EINVAL);
		optrace_free(&t);
	}
	CU_ASSERT_EQUAL(optrace_read(&t, "no/such.tsv.gz", "test"), -ENOENT);
	optrace_free(&t);
}

/* A line that does not fit, and components without end. */
static void too_long(void)
{
	static char text[20000];
	struct optrace t;
	size_t used = (size_t)sprintf(text, "S\t");

	memset(text + used, 'a', 10000);
	memcpy(text + used + 10000, "\t+\n", 4);
	CU_ASSERT_EQUAL(read_written(&t, text), -EINVAL);
	optrace_free(&t);
	for (unsigned i = 0; i <= OPTRACE_MAX_DEPTH; i++)
		used += (size_t)sprintf(text + used, "%sd", i ? "/" : "");
	memcpy(text + used, "\t+\n", 4);
	CU_ASSERT_EQUAL(read_written(&t, text), -EINVAL);
	optrace_free(&t);
}

static void cut_off(void)
{
	static char text[100000];
	const char path[] = "optrace-test-cut.gz";
	struct optrace t;
	uint32_t seed = 1;
	size_t used = 0;
	gzFile out = gzopen(path, "wb");

	for (unsigned i = 0; i < 3000; i++) {
		seed = seed * 1664525 + 1013904223;
		used += (size_t)sprintf(text + used, "S\t%x\t+\n", seed);
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_FATAL(gzputs(out, text) > 0);
	CU_ASSERT_EQUAL_FATAL(gzclose(out), Z_OK);
	CU_ASSERT_EQUAL(optrace_read(&t, path, "test"), 0);
	CU_ASSERT_EQUAL(t.nops, 3000);
	optrace_free(&t);
	CU_ASSERT_EQUAL_FATAL(truncate(path, 8000), 0);
	CU_ASSERT_EQUAL(optrace_read(&t, path, "test"), -EINVAL);
	optrace_free(&t);
	unlink(path);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "lines", lines },
		{ "parents", parents },
		{ "bad lines are refused", bad_lines },
		{ "too long lines and paths are refused", too_long },
		{ "a file that is cut off is refused", cut_off },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("reader of traces", NULL, tests);
}
