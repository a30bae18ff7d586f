// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The SCALE block, read with Ganesha's own parser.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cunit_main.h"
#include "memlimit.h"
#include "scale_config.h"

/*
 * Parse a text and read its SCALE block.
 * @param[out] errors  What was reported, to be freed. May be NULL.
 */
static int load(const char *text, struct scale_config *cfg, char **errors)
{
	struct config_error_type err = { 0 };
	char path[] = "/tmp/scale-config-XXXXXX";
	char *said = NULL;
	size_t size;
	config_file_t file;
	int rc;
	FILE *f = fdopen(mkstemp(path), "w");

	fputs(text, f);
	fclose(f);
	err.fp = open_memstream(&said, &size);
	file = config_ParseFile(path, &err);
	rc = scale_config_load(cfg, file, &err);
	fclose(err.fp);
	config_Free(file);
	unlink(path);
	if (errors != NULL)
		*errors = said;
	else
		free(said);
	return rc;
}

static void test_numbers(void)
{
	static const struct {
		const char *text;
		unsigned int kilo;
		int rc;
		uint64_t value;
	} cases[] = {
		{ "0", 1000, 0, 0 },
		{ "1", 1024, 0, 1 },
		{ "18446744073709551615", 1000, 0, UINT64_MAX },
		{ "18446744073709551616", 1000, -ERANGE, 0 },
		{ "4k", 1000, 0, 4000 },
		{ "4K", 1024, 0, 4096 },
		{ "8M", 1000, 0, 8000000 },
		{ "8m", 1024, 0, 8388608 },
		{ "2G", 1000, 0, 2000000000 },
		{ "2g", 1024, 0, 2147483648 },
		{ "18014398509481984K", 1024, -ERANGE, 0 },
		{ "17179869184G", 1024, -ERANGE, 0 },
		{ "", 1000, -EINVAL, 0 },
		{ "K", 1000, -EINVAL, 0 },
		{ "-1", 1000, -EINVAL, 0 },
		{ "+1", 1000, -EINVAL, 0 },
		{ " 1", 1000, -EINVAL, 0 },
		{ "1 ", 1000, -EINVAL, 0 },
		{ "1KB", 1000, -EINVAL, 0 },
		{ "1T", 1000, -EINVAL, 0 },
		{ "1.5M", 1000, -EINVAL, 0 },
		{ "0x10", 1000, -EINVAL, 0 },
		{ "many", 1000, -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 12345;
		int rc = scale_parse_number(cases[i].text, cases[i].kilo,
					    &value);

		CU_ASSERT_EQUAL(rc, cases[i].rc);
		CU_ASSERT_EQUAL(value, rc == 0 ? cases[i].value : 12345);
		if (rc != cases[i].rc)
			fprintf(stderr, "\n    \"%s\": %d", cases[i].text, rc);
	}
}

static void test_defaults(void)
{
	struct scale_config cfg = { 0 };
	struct memlimit limit;

	memlimit_get("/proc", "/sys/fs/cgroup", &limit);
	CU_ASSERT_EQUAL(load("LOG { }\n", &cfg, NULL), -ENOENT);
	CU_ASSERT_EQUAL(cfg.max_files, SCALE_DEFAULT_MAX_FILES);
	CU_ASSERT_EQUAL(cfg.max_stats, SCALE_DEFAULT_MAX_STATS);
	CU_ASSERT(cfg.pagepool > 0 && cfg.pagepool <= limit.bytes / 4 &&
		  cfg.pagepool <= SCALE_DEFAULT_PAGEPOOL);

	/* What is not named keeps its default. */
	CU_ASSERT_EQUAL(load("SCALE { maxStatCache = 7; }\n", &cfg, NULL), 0);
	CU_ASSERT_EQUAL(cfg.max_files, SCALE_DEFAULT_MAX_FILES);
	CU_ASSERT_EQUAL(cfg.max_stats, 7);
}

static void test_values(void)
{
	struct scale_config cfg = { 0 };

	CU_ASSERT_EQUAL(load("SCALE { maxFilesToCache = \"8M\";\n"
			     "maxStatCache = 10000000; pagepool = \"64M\"; }\n",
			     &cfg, NULL),
			0);
	CU_ASSERT_EQUAL(cfg.max_files, 8000000);
	CU_ASSERT_EQUAL(cfg.max_stats, 10000000);
	CU_ASSERT_EQUAL(cfg.pagepool, 64 << 20);

	/* Names of blocks and parameters are not case sensitive. */
	CU_ASSERT_EQUAL(load("scale { MAXFILESTOCACHE = 1; maxstatcache = 0;\n"
			     "PagePool = \"1m\"; }\n",
			     &cfg, NULL),
			0);
	CU_ASSERT_EQUAL(cfg.max_files, 1);
	CU_ASSERT_EQUAL(cfg.max_stats, 0);
	CU_ASSERT_EQUAL(cfg.pagepool, 1 << 20);
}

static void test_refused(void)
{
	static const struct {
		const char *text;
		const char *words[3];
	} cases[] = {
		{ "SCALE {\n maxFilesToCache = 0; }",
		  { ":2): ", "maxFilesToCache = 0 ", "from 1 to 100000000" } },
		{ "SCALE { maxFilesToCache = 100000001; }",
		  { ":1): ", "100000001 ", "from 1 to 100000000" } },
		{ "SCALE {\n\n maxStatCache = \"101M\"; }",
		  { ":3): ", "maxStatCache = 101M ", "from 0 to 100000000" } },
		{ "SCALE { maxStatCache = -5; }",
		  { ":1): ", "maxStatCache = -5 ", "whole number" } },
		{ "SCALE { maxStatCache = many; }",
		  { ":1): ", "maxStatCache = many ", "whole number" } },
		{ "SCALE { maxStatCache = 1, 2; }",
		  { ":1): ", "maxStatCache = 1, ...", "one whole number" } },
		{ "SCALE { maxStatCache = 0x10; }",
		  { ":1): ", "maxStatCache = 0x10 ", "whole number" } },
		{ "SCALE { pagepool = 1000; }",
		  { ":1): ", "pagepool = 1000 ", "from 1048576" } },
		{ "SCALE {\n pagepool = \"1000000G\"; }",
		  { ":2): ", "pagepool = 1000000G ", "more than" } },
		{ "SCALE { pagepool = \"lots\"; }",
		  { ":1): ", "pagepool = lots ", "in quotes" } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scale_config cfg = { .max_files = 99 };
		char *errors = NULL;

		CU_ASSERT_EQUAL(load(cases[i].text, &cfg, &errors), -EINVAL);
		CU_ASSERT_EQUAL(cfg.max_files, 99);
		for (size_t w = 0; w < 3; w++) {
			bool found = strstr(errors, cases[i].words[w]) != NULL;

			CU_ASSERT(found);
			if (!found)
				fprintf(stderr, "\n    no \"%s\" in: %s",
					cases[i].words[w], errors);
		}
		free(errors);
	}
}

/* As in Ganesha's own blocks: said, and passed over. */
static void test_unknown(void)
{
	struct scale_config cfg = { 0 };
	char *errors = NULL;

	CU_ASSERT_EQUAL(load("SCALE { maxFileToCache = 5; maxStatCache = 6; }",
			     &cfg, &errors),
			0);
	CU_ASSERT_EQUAL(cfg.max_stats, 6);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "maxFileToCache"));
	free(errors);
}

static void test_twice(void)
{
	struct scale_config cfg = { .max_files = 99 };
	char *errors = NULL;

	CU_ASSERT_EQUAL(load("SCALE { maxStatCache = 5;\n maxStatCache = 6; }",
			     &cfg, &errors),
			-EINVAL);
	CU_ASSERT_EQUAL(cfg.max_files, 99);
	CU_ASSERT_PTR_NOT_NULL(strstr(errors, "more than once"));
	free(errors);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "numbers", test_numbers },
		{ "defaults", test_defaults },
		{ "values", test_values },
		{ "what is refused", test_refused },
		{ "unknown parameters", test_unknown },
		{ "a parameter twice", test_twice },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("config", NULL, tests);
}
