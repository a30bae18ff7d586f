// SPDX-License-Identifier: LGPL-3.0-or-later
/* The mixes that are built in, and those from a file. */
#include "cunit_main.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mix.h"

#define DRAWS 1000000

static char path[] = "/tmp/test_mix.XXXXXX";

static int make_file(void)
{
	int fd = mkstemp(path);

	return fd < 0 || close(fd) ? -1 : 0;
}

/* Reads a mix whose file has this text. */
static int read_text(struct mix *mix, const char *text, char wrong[256])
{
	FILE *file = fopen(path, "we");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
	wrong[0] = '\0';
	return mix_read(mix, path, wrong, 256);
}

static double total(const struct mix *mix)
{
	double sum = 0;

	for (int op = 0; op < OP_COUNT; op++)
		sum += mix->share[op];
	return sum;
}

static void built_in(void)
{
	struct mix mix;

	CU_ASSERT(mix_find(&mix, "swbuild"));
	CU_ASSERT_STRING_EQUAL(mix.name, "swbuild");
	CU_ASSERT_DOUBLE_EQUAL(mix.share[OP_STAT], 0.7, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(mix.share[OP_WRITE_FILE], 0.07, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(mix.share[OP_CREATE], 0.01, 1e-12);
	CU_ASSERT_EQUAL(mix.share[OP_FSTAT], 0);
	CU_ASSERT_DOUBLE_EQUAL(total(&mix), 1, 1e-12);
	CU_ASSERT(mix_makes_files(&mix));

	/* Half of what builds ask is for names that do not exist. */
	CU_ASSERT(mix_find(&mix, "make"));
	CU_ASSERT_DOUBLE_EQUAL(mix.share[OP_OPEN_NEGATIVE] +
				       mix.share[OP_STAT_NEGATIVE],
			       0.4945, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(total(&mix), 1, 1e-12);
	CU_ASSERT_FALSE(mix_find(&mix, "nothing"));
}

static void drawn_by_their_shares(void)
{
	struct mix mix;
	int counts[OP_COUNT + 1] = { 0 };
	uint64_t state = 3;

	CU_ASSERT(mix_find(&mix, "swbuild"));
	for (int i = 0; i < DRAWS; i++)
		counts[mix_draw(&mix, &state)]++;
	for (int op = 0; op < OP_COUNT; op++) {
		double expected = mix.share[op] * DRAWS;

		/* Five standard deviations. */
		CU_ASSERT(fabs(counts[op] - expected) <= 5 * sqrt(expected));
	}
	CU_ASSERT_EQUAL(counts[OP_COUNT], 0);
}

static void from_a_file(void)
{
	struct mix mix;
	char wrong[256];

	CU_ASSERT_EQUAL(read_text(&mix,
				  "# mine\n\n  stat\t3 # most\nread_file 0.5\n"
				  "stat_negative .5\r\n",
				  wrong),
			0);
	CU_ASSERT_DOUBLE_EQUAL(mix.share[OP_STAT], 0.75, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(mix.share[OP_READ_FILE], 0.125, 1e-12);
	CU_ASSERT_DOUBLE_EQUAL(mix.share[OP_STAT_NEGATIVE], 0.125, 1e-12);
	CU_ASSERT_FALSE(mix_makes_files(&mix));
	CU_ASSERT_PTR_NOT_NULL(strstr(path, mix.name));
}

/* The message has the file, the line, and what to do. */
static void bad_lines(void)
{
	static const struct {
		const char *text;
		const char *line;
		const char *remedy;
	} cases[] = {
		{ "stat 70\nstate 30\n", ":2: ", "--help" },
		{ "stat\n", ":1: ", "stat 70" },
		{ "stat 70 per cent\n", ":1: ", "stat 70" },
		{ "\n\nstat many\n", ":3: ", "number over 0" },
		{ "stat 0\n", ":1: ", "number over 0" },
		{ "stat -1\n", ":1: ", "number over 0" },
		{ "stat nan\n", ":1: ", "number over 0" },
		{ "stat 1\naccess 1\nstat 2\n", ":3: ", "keep one" },
		{ "rmdir 1\n", ":1: ", "leave it out" },
		{ "# nothing\n", ": ", "write lines" },
	};
	struct mix mix;
	char wrong[256];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		CU_ASSERT_EQUAL(read_text(&mix, cases[i].text, wrong), -1);
		CU_ASSERT_PTR_EQUAL(strstr(wrong, path), wrong);
		CU_ASSERT_PTR_NOT_NULL(strstr(wrong, cases[i].line));
		CU_ASSERT_PTR_NOT_NULL(strstr(wrong, cases[i].remedy));
	}
	CU_ASSERT_EQUAL(mix_read(&mix, "/nowhere/mix", wrong, sizeof(wrong)),
			-1);
	CU_ASSERT_PTR_NOT_NULL(strstr(wrong, "/nowhere/mix"));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "built in", built_in },
		{ "drawn by their shares", drawn_by_their_shares },
		{ "from a file", from_a_file },
		{ "bad lines", bad_lines },
		CU_TEST_INFO_NULL,
	};
	int status = cunit_main("mix", make_file, tests);

	unlink(path);
	return status;
}
