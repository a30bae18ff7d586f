// SPDX-License-Identifier: LGPL-3.0-or-later
#include "cunit_main.h"
#include "order.h"
#include "written.h"

#define MOST 64

struct ordered {
	struct optrace trace;
	struct plan plan;
	struct order order;
};

static void begin(struct ordered *o, const char *text)
{
	CU_ASSERT_EQUAL_FATAL(read_written(&o->trace, text), 0);
	CU_ASSERT_EQUAL_FATAL(plan_init(&o->plan, &o->trace), 0);
	CU_ASSERT_EQUAL_FATAL(order_init(&o->order, &o->plan), 0);
	CU_ASSERT_FATAL(o->trace.nops <= MOST);
	CU_ASSERT_FATAL(o->trace.npaths <= MOST);
}

static void end(struct ordered *o)
{
	order_free(&o->order);
	plan_free(&o->plan);
	optrace_free(&o->trace);
}

static bool may_begin(const struct ordered *o, const uint32_t *ended, size_t op)
{
	for (size_t w = o->order.first[op]; w < o->order.first[op + 1]; w++) {
		if (ended[o->order.waits[w].path] < o->order.waits[w].need)
			return false;
	}
	return true;
}

static void finish(const struct ordered *o, uint32_t *ended, size_t op)
{
	for (size_t w = o->order.first[op]; w < o->order.first[op + 1]; w++)
		ended[o->order.waits[w].path]++;
}

/* Does `late` wait for `early`, all others that may have ended? */
static bool waits(const struct ordered *o, size_t late, size_t early)
{
	uint32_t ended[MOST] = { 0 };
	bool done[MOST] = { false };
	bool more = true;

	while (more) {
		more = false;
		for (size_t i = 0; i < o->trace.nops; i++) {
			if (i == early || i == late || done[i] ||
			    !may_begin(o, ended, i))
				continue;
			finish(o, ended, i);
			done[i] = more = true;
		}
	}
	return !may_begin(o, ended, late);
}

static void changes_and_uses(void)
{
	struct ordered o;

	begin(&o, "S\tf\t-\t\t1\n"   /* 0 */
		  "S\tf\t-\t\t2\n"   /* 1 */
		  "C\tf\t+\t9\t3\n"  /* 2 */
		  "O\tf\t+\t9\t4\n"  /* 3 */
		  "S\tf\t+\t\t5\n"   /* 4 */
		  "U\tf\t+\t\t6\n"   /* 5 */
		  "S\tg\t+\t\t7\n"); /* 6 */
	CU_ASSERT_FALSE(waits(&o, 1, 0));
	CU_ASSERT_TRUE(waits(&o, 2, 0));
	CU_ASSERT_TRUE(waits(&o, 2, 1));
	CU_ASSERT_TRUE(waits(&o, 3, 2));
	CU_ASSERT_FALSE(waits(&o, 4, 3));
	CU_ASSERT_TRUE(waits(&o, 5, 3));
	CU_ASSERT_TRUE(waits(&o, 5, 4));
	for (size_t i = 0; i < 6; i++)
		CU_ASSERT_FALSE(waits(&o, 6, i));
	end(&o);
}

/* What is below a path waits for it, and the other way round. */
static void directories(void)
{
	struct ordered o;

	begin(&o, "O\td/x\t-\t\t1\n"  /* 0 */
		  "M\td\t+\t\t2\n"    /* 1 */
		  "C\td/x\t+\t1\t3\n" /* 2 */
		  "C\td/y\t+\t1\t4\n" /* 3 */
		  "R\td\t+\t\t5\te\n" /* 4 */
		  "O\te/x\t+\t1\t6\n" /* 5 */
		  "U\te/x\t+\t\t7\n"  /* 6 */
		  "U\te/y\t+\t\t8\n"  /* 7 */
		  "V\te\t+\t\t9\n");  /* 8 */
	CU_ASSERT_TRUE(waits(&o, 1, 0));
	CU_ASSERT_TRUE(waits(&o, 2, 1));
	CU_ASSERT_FALSE(waits(&o, 3, 2));
	CU_ASSERT_TRUE(waits(&o, 4, 2));
	CU_ASSERT_TRUE(waits(&o, 4, 3));
	CU_ASSERT_TRUE(waits(&o, 5, 4));
	CU_ASSERT_TRUE(waits(&o, 6, 5));
	CU_ASSERT_FALSE(waits(&o, 7, 6));
	CU_ASSERT_TRUE(waits(&o, 8, 6));
	CU_ASSERT_TRUE(waits(&o, 8, 7));
	end(&o);
}

/* Data: what is read was written before; a link waits for its file. */
static void data_and_links(void)
{
	struct ordered o;

	begin(&o, "O\ta\t+\t5\t1\n"   /* 0 */
		  "W\ta\t+\t5\t2\n"   /* 1 */
		  "O\ta\t+\t5\t3\n"   /* 2 */
		  "K\ta\t+\t\t4\tb\n" /* 3 */
		  "T\ta\t+\t\t5\n"    /* 4 */
		  "S\tb\t+\t\t6\n");  /* 5 */
	CU_ASSERT_TRUE(waits(&o, 1, 0));
	CU_ASSERT_TRUE(waits(&o, 2, 1));
	CU_ASSERT_FALSE(waits(&o, 3, 2));
	CU_ASSERT_FALSE(waits(&o, 4, 3));
	CU_ASSERT_TRUE(waits(&o, 5, 3));
	CU_ASSERT_FALSE(waits(&o, 5, 4));
	end(&o);
}

/* An operation after which somebody unseen makes a file counts as a change. */
static void hidden_steps(void)
{
	struct ordered o;

	begin(&o, "S\tf\t-\t\t1\nS\tf\t-\t\t2\nS\tf\t+\t\t3\n");
	CU_ASSERT_EQUAL_FATAL(o.plan.nhidden, 1);
	CU_ASSERT_TRUE(waits(&o, 1, 0));
	CU_ASSERT_TRUE(waits(&o, 2, 1));
	end(&o);
}

static void processes(void)
{
	struct ordered o;

	begin(&o, "S\ta\t+\t\t1\nS\ta\t+\t\t4\nS\ta\t+\t\t1\nS\ta\t+\n");
	CU_ASSERT_EQUAL(o.order.start[0], OPTRACE_NONE);
	CU_ASSERT_EQUAL(o.order.start[1], 0);
	CU_ASSERT_EQUAL(o.order.start[4], 1);
	CU_ASSERT_EQUAL(o.order.next[0], 2);
	CU_ASSERT_EQUAL(o.order.next[1], OPTRACE_NONE);
	CU_ASSERT_EQUAL(o.order.next[2], 3);
	CU_ASSERT_EQUAL(o.order.next[3], OPTRACE_NONE);
	end(&o);
}

/* However the others are ordered, all of them can be done. */
static void always_ends(void)
{
	struct ordered o;
	uint32_t ended[MOST] = { 0 };
	bool done[MOST] = { false };
	size_t left;

	begin(&o,
	      "S\td\t-\t\t1\nM\td\t+\t\t2\nC\td/a\t+\t1\t3\nS\td/b\t-\t\t1\n"
	      "R\td/a\t+\t\t2\td/b\nO\td/b\t+\t1\t4\nS\td/a\t-\t\t3\n"
	      "K\td/b\t+\t\t1\td/a\nU\td/b\t+\t\t4\nU\td/a\t+\t\t2\n"
	      "V\td\t+\t\t1\nM\td\t+\t\t3\n");
	left = o.trace.nops;
	/* The last one that may begin goes first. */
	for (size_t turn = 0; turn < o.trace.nops; turn++) {
		for (size_t i = o.trace.nops; i-- > 0;) {
			if (!done[i] && may_begin(&o, ended, i)) {
				finish(&o, ended, i);
				done[i] = true;
				left--;
				break;
			}
		}
	}
	CU_ASSERT_EQUAL(left, 0);
	end(&o);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "changes and uses", changes_and_uses },
		{ "directories", directories },
		{ "data and links", data_and_links },
		{ "hidden steps", hidden_steps },
		{ "processes", processes },
		{ "all can be done", always_ends },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("order of a replay", NULL, tests);
}
