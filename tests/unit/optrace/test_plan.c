// SPDX-License-Identifier: LGPL-3.0-or-later
#include "cunit_main.h"
#include "plan.h"
#include "written.h"

struct planned {
	struct optrace trace;
	struct plan plan;
};

static void begin(struct planned *p, const char *text)
{
	CU_ASSERT_EQUAL_FATAL(read_written(&p->trace, text), 0);
	CU_ASSERT_EQUAL_FATAL(plan_init(&p->plan, &p->trace), 0);
}

static void end(struct planned *p)
{
	plan_free(&p->plan);
	optrace_free(&p->trace);
}

/* The steps as text: "d dir" and "f dir/file 100", "l link", "- gone", each
 * with " @AFTER" if it is hidden. */
static void check_steps(const struct planned *p, const struct plan_step *steps,
			size_t count, const char *expected)
{
	char text[1000] = "";
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		const struct plan_step *s = &steps[i];

		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "%c %s", "-fdl"[s->kind],
					 p -> trace.paths[s->path].text);
		if (s->kind == PLAN_FILE)
			used += (size_t)snprintf(text + used,
						 sizeof(text) - used, " %u",
						 (unsigned)s->size);
		if (s->after != OPTRACE_NONE)
			used += (size_t)snprintf(text + used,
						 sizeof(text) - used, " @%u",
						 s->after);
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "\n");
	}
	CU_ASSERT_STRING_EQUAL(text, expected);
}

static void check(const char *text, const char *before, const char *hidden)
{
	struct planned p;

	begin(&p, text);
	check_steps(&p, p.plan.before, p.plan.nbefore, before);
	check_steps(&p, p.plan.hidden, p.plan.nhidden, hidden);
	CU_ASSERT_EQUAL(p.plan.contradictions, 0);
	end(&p);
}

/* Parents first, sizes from the longest read, links as links. */
static void beforehand(void)
{
	check("O\td/e/f\t+\t10\nS\tg\t+\nO\t=0\t+\t30\nO\t=0\t+\t20\n"
	      "L\td/l\t+\nS\td/l\t+\nS\tnone/x\t-\nL\tg\tn\nD\tempty\t+\t2\n",
	      "d d\nd d/e\nf d/e/f 30\nf g 0\nl d/l\nd empty\n", "");
}

/* What the trace makes is not there before, nor what is in it. */
static void made(void)
{
	check("S\td/o\t-\nM\td\t+\nC\td/o\t+\t7\nO\td/o\t+\t7\nK\td/o\t+\t\t\tk\n"
	      "O\tk\t+\t7\nK\ts\t+\nL\ts\t+\nR\td/o\t+\t\t\tm\nO\tm\t+\t7\n",
	      "", "");
}

/* A file that exists and is removed, written, renamed, linked was there. */
static void changed(void)
{
	check("U\ta\t+\nC\ta\t+\t9\nO\ta\t+\t9\n"
	      "W\tb\t+\t5\nO\tb\t+\t5\n"
	      "R\tc\t+\t\t\tcc\nO\tcc\t+\t4\n"
	      "K\te\t+\t\t\tee\nO\tee\t+\t3\n"
	      "M\tm\tx\nV\tv\t+\nC\tx\tx\n",
	      "f a 0\nf b 0\nf c 4\nf e 3\nd m\nd v\nf x 0\n", "");
}

/* What a link or a rename leads to tells what it is. */
static void kinds(void)
{
	check("R\ta\t+\t\t\tb\nD\tb\t+\nL\tl\t+\nO\tl\t+\t8\nL\tm\t+\n"
	      "S\tm/in\t+\nW\tdir\tr\nL\tx\t+\nX\tx\t+\n"
	      "S\te\t+\nS\te/none\t-\n",
	      "d a\nf l 8\nd m\nf m/in 0\nd dir\nl x\nd e\n", "");
}

/* A directory is renamed with what is in it. */
static void renamed_directory(void)
{
	check("S\ta/b/f\t+\nR\ta\t+\t\t\tz\nO\tz/b/f\t+\t6\nS\ta\t-\n"
	      "S\ta/b/f\t-\n",
	      "d a\nd a/b\nf a/b/f 6\n", "");
}

/* Somebody unseen makes and removes. */
static void hidden(void)
{
	check("S\ta\t-\nS\tb\t+\nS\ta\t-\nS\ta\t+\nO\ta\t+\t5\n", "f b 0\n",
	      "f a 5 @2\n");
	check("S\ta\t+\nS\tb\t+\nS\ta\t-\n", "f a 0\nf b 0\n", "- a @0\n");
	check("U\ta\t+\nS\tb\t+\nS\ta\t+\n", "f a 0\nf b 0\n", "f a 0 @0\n");
	/* In a directory that the trace makes, and that was missing. */
	check("M\td\t+\nS\te\t-\nO\td/f\t+\t1\nS\te/s/g\t+\n", "",
	      "f d/f 1 @0\nd e @1\nd e/s @1\nf e/s/g 0 @1\n");
	/* In one that came by a rename. */
	check("R\ta\t+\t\t\tb\nS\tb/f\t+\n", "d a\n", "f b/f 0 @0\n");
}

static void found_by_operation(void)
{
	struct planned p;
	size_t count;

	begin(&p, "S\ta\t-\nS\tb\t-\nS\tb\t+\nS\ta\t+\nS\tc\t-\n");
	CU_ASSERT_EQUAL_FATAL(p.plan.nhidden, 2);
	CU_ASSERT_STRING_EQUAL(
		p.trace.paths[plan_hidden(&p.plan, 1, &count)->path].text, "b");
	CU_ASSERT_EQUAL(count, 1);
	CU_ASSERT_STRING_EQUAL(
		p.trace.paths[plan_hidden(&p.plan, 0, &count)->path].text, "a");
	CU_ASSERT_EQUAL(count, 1);
	plan_hidden(&p.plan, 4, &count);
	CU_ASSERT_EQUAL(count, 0);
	end(&p);
}

/* An open file may be without a name. */
static void nameless(void)
{
	struct planned p;

	begin(&p, "O\ta\t+\t5\nU\ta\t+\nF\ta\t+\nF\tb\t+\nC\ta\t+\nF\ta\t+\n");
	CU_ASSERT_EQUAL(p.plan.nnameless, 1);
	CU_ASSERT_TRUE(p.plan.nameless[2]);
	check_steps(&p, p.plan.before, p.plan.nbefore, "f a 5\nf b 0\n");
	end(&p);
}

static void contradiction(void)
{
	struct planned p;

	begin(&p, "S\td/a\t+\nS\td\t-\nS\td/a\t+\n");
	CU_ASSERT_EQUAL(p.plan.contradictions, 1);
	CU_ASSERT_EQUAL(p.plan.nhidden, 0);
	end(&p);
}

static void children(void)
{
	struct planned p;

	begin(&p, "S\td/bc\t+\nS\td/b\t+\nS\ta\t+\nS\td/x/b\t-\n");
	for (uint32_t i = 1; i < p.trace.npaths; i++) {
		const struct optrace_path *path = &p.trace.paths[i];

		CU_ASSERT_EQUAL(children_find(&p.plan.children, path->parent,
					      path->name, strlen(path->name)),
				i);
	}
	CU_ASSERT_EQUAL(children_find(&p.plan.children, OPTRACE_ROOT, "b", 1),
			OPTRACE_NONE);
	CU_ASSERT_EQUAL(children_find(&p.plan.children, OPTRACE_ROOT, "da", 2),
			OPTRACE_NONE);
	end(&p);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "what exists beforehand", beforehand },
		{ "what the trace makes", made },
		{ "what the trace changes", changed },
		{ "files, directories, links", kinds },
		{ "a directory is renamed", renamed_directory },
		{ "changes that the trace does not show", hidden },
		{ "hidden steps by operation", found_by_operation },
		{ "open files without a name", nameless },
		{ "a contradiction is counted", contradiction },
		{ "paths by directory and name", children },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("plan of a replay", NULL, tests);
}
