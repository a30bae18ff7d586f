// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * policy_sim: miss ratios of replacement policies against LRU's.
 */
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SCALE_VERSION
#define SCALE_VERSION "unknown"
#endif

#define EXIT_TARGET 1
#define EXIT_ERROR  2
#define EXIT_USAGE  64

static const char help[] =
	"usage: policy_sim [OPTION]...\n"
	"\n"
	"Simulate replacement policies on synthetic request streams and on\n"
	"traces of file operations, and compare their miss ratios with LRU's.\n"
	"\n"
	"  -t, --traces DIR   also the traces DIR/*.tsv.gz; may be repeated\n"
	"  -q, --quick        synthetic streams of a tenth of the length\n"
	"  -s, --summary      no line for each stream and size\n"
	"  -T, --tiers        also with two tiers, a quarter for files\n"
	"  -l, --least N      leave caches of fewer than N entries out (10)\n"
	"  -S, --seed N       of the synthetic streams (1)\n"
	"  -j, --json FILE    write JSON, to standard output if FILE is -\n"
	"  -h, --help         this text\n"
	"  -V, --version      the version\n"
	"\n"
	"Exit status: 0 the targets are met, 1 they are not, 2 an error,\n"
	"64 a wrong call.  The targets: the chosen policy is nowhere more than\n"
	"1 point over LRU and below it on most; and a policy that was not\n"
	"chosen misses this, or the streams prove nothing.\n";

struct options {
	unsigned scale;
	uint64_t seed;
	uint32_t least;
	bool summary;
	bool tiers;
	const char *json;
};

static int read_traces(struct stream_list *streams, const char *dir)
{
	size_t size = strlen(dir) + sizeof("/*.tsv.gz");
	char *pattern = malloc(size);
	glob_t found;
	int rc;

	if (pattern == NULL)
		return -ENOMEM;
	snprintf(pattern, size, "%s/*.tsv.gz", dir);
	rc = glob(pattern, 0, NULL, &found);
	free(pattern);
	if (rc != 0) {
		fprintf(stderr,
			"policy_sim: no traces (*.tsv.gz) in %s: give the "
			"folder that make-trace wrote to\n",
			dir);
		return -ENOENT;
	}
	for (size_t i = 0; i < found.gl_pathc && rc == 0; i++)
		rc = stream_read_trace(streams, found.gl_pathv[i]);
	globfree(&found);
	return rc;
}

static bool parse_number(const char *text, unsigned long long most,
			 unsigned long long *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 &&
	       *number <= most;
}

/* -1: go on; else the exit status. */
static int parse_options(int argc, char **argv, struct options *o,
			 struct stream_list *streams)
{
	static const struct option names[] = {
		{ "traces", required_argument, NULL, 't' },
		{ "quick", no_argument, NULL, 'q' },
		{ "summary", no_argument, NULL, 's' },
		{ "tiers", no_argument, NULL, 'T' },
		{ "least", required_argument, NULL, 'l' },
		{ "seed", required_argument, NULL, 'S' },
		{ "json", required_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	unsigned long long number;
	int c;

	while ((c = getopt_long(argc, argv, "t:qsTl:S:j:hV", names, NULL)) !=
	       -1) {
		switch (c) {
		case 't':
			if (read_traces(streams, optarg) != 0)
				return EXIT_ERROR;
			break;
		case 'q':
			o->scale = 10;
			break;
		case 's':
			o->summary = true;
			break;
		case 'T':
			o->tiers = true;
			break;
		case 'l':
			/* Two tiers need an entry each. */
			if (!parse_number(optarg, UINT32_MAX, &number) ||
			    number < 4) {
				fprintf(stderr,
					"policy_sim: --least %s: give "
					"a number from 4\n",
					optarg);
				return EXIT_USAGE;
			}
			o->least = (uint32_t)number;
			break;
		case 'S':
			if (!parse_number(optarg, UINT64_MAX, &number)) {
				fprintf(stderr,
					"policy_sim: --seed %s: give "
					"a number\n",
					optarg);
				return EXIT_USAGE;
			}
			o->seed = number;
			break;
		case 'j':
			o->json = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return EXIT_SUCCESS;
		case 'V':
			puts("policy_sim " SCALE_VERSION);
			return EXIT_SUCCESS;
		default:
			fputs("policy_sim: see --help\n", stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "policy_sim: %s: not an option, see --help\n",
			argv[optind]);
		return EXIT_USAGE;
	}
	return -1;
}

/* The call as one line; NULL: no memory. */
static char *join(int argc, char **argv)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (out == NULL)
		return NULL;
	for (int i = 0; i < argc; i++)
		fprintf(out, "%s%s", i > 0 ? " " : "", argv[i]);
	return fclose(out) == 0 ? line : NULL;
}

static int judge(const struct measurement *m,
		 const struct budget_measurement *b)
{
	bool other_misses = false;
	int status = EXIT_SUCCESS;

	for (unsigned i = 0; policies[i] != NULL; i++) {
		struct summary s = summarize(m, i, ONE_TIER);

		if (policies[i]->role == CANDIDATE && s.over > 0)
			other_misses = true;
		if (policies[i]->role != CHOSEN || meets_targets(&s))
			continue;
		fprintf(stderr,
			"policy_sim: %s misses the target: %+.2f points over "
			"LRU, below it on %.0f%%\n",
			policies[i]->name, s.worst, s.below_percent);
		status = EXIT_TARGET;
	}
	if (budget_worst(b) > TARGET_POINTS) {
		fprintf(stderr,
			"policy_sim: limited by bytes, the engine misses the "
			"target: %+.2f points over LRU\n",
			budget_worst(b));
		status = EXIT_TARGET;
	}
	if (!other_misses) {
		fputs("policy_sim: every candidate meets the target: the "
		      "streams do not tell policies apart\n",
		      stderr);
		status = EXIT_TARGET;
	}
	return status;
}

int main(int argc, char **argv)
{
	struct options o = { .scale = 1, .seed = 1, .least = 10 };
	struct stream_list streams = { 0 };
	struct measurement m = { 0 };
	struct budget_measurement b = { 0 };
	char *command = join(argc, argv);
	int status = parse_options(argc, argv, &o, &streams);
	int rc = 0;

	if (status < 0) {
		rc = command == NULL ? -ENOMEM : 0;
		if (rc == 0)
			rc = stream_generate(&streams, o.seed, o.scale);
		if (rc == 0)
			rc = measure(&m, &streams, o.least, o.tiers);
		if (rc == 0)
			rc = budget_measure(&b, &streams);
		/* Not both on standard output. */
		if (rc == 0 && (o.json == NULL || strcmp(o.json, "-") != 0)) {
			report_table(&m, !o.summary, o.tiers);
			report_budget_table(&b);
		}
		if (rc == 0 && o.json != NULL)
			rc = report_json(&m, &b, o.tiers, command, o.json);
		if (rc != 0)
			fprintf(stderr, "policy_sim: %s%s%s\n",
				rc == -EIO ? o.json : "",
				rc == -EIO ? ": " : "", strerror(-rc));
		status = rc != 0 ? EXIT_ERROR : judge(&m, &b);
	}
	free(m.cells);
	free(b.cells);
	free(command);
	stream_list_free(&streams);
	return status;
}
