/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The engine against a reference model (model_world.h says how it is judged).
 *
 * Environment:
 *   MODEL_SEED     seed of the first round, as printed on failure (default 1)
 *   MODEL_OPS      steps of all actors together in each of the tests
 *   MODEL_SECONDS  time of each of the tests (default 4, without MODEL_OPS)
 *   MODEL_THREADS  actors of the threaded test (default 4)
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cunit_main.h"
#include "model_run.h"

#define ROUND_STEPS  60000
#define FAULT_ROUNDS 60

static uint64_t setting(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);
	char *end;
	uint64_t value;

	if (!text || !*text)
		return otherwise;
	value = strtoull(text, &end, 10);
	if (*end) {
		fprintf(stderr, "%s=%s is not a number\n", name, text);
		exit(EXIT_FAILURE);
	}
	return value;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void print(const char *what, unsigned int rounds,
		  const struct statistics *s)
{
#define N(field) ((unsigned long long)s->field)
	printf("\n    %s: %u rounds, %llu steps; "
	       "get %llu of %llu, lookup %llu+%llu of %llu,\n"
	       "    iterations %llu of %llu (%llu names), populations %llu of "
	       "%llu, stored %llu (void %llu),\n"
	       "    changes %llu (met %llu), unchecked %llu ... ",
	       what, rounds, N(steps), N(hits), N(gets), N(found), N(absent),
	       N(lookups), N(iterated), N(iterations), N(dirents), N(populated),
	       N(populations), N(puts), N(voided), N(changes), N(met),
	       N(unchecked));
#undef N
}

static void play(const char *what, unsigned int actors, bool fail_memory)
{
	static struct run run;
	uint64_t seed = setting("MODEL_SEED", 1);
	uint64_t ops = setting("MODEL_OPS", 0);
	uint64_t end = now() + setting("MODEL_SECONDS", 4) * 1000;
	struct statistics total = { 0 };
	unsigned int rounds = 0;

	do {
		memset(&run, 0, sizeof(run));
		run.seed = seed + rounds++;
		run.actors = actors;
		run.steps = ROUND_STEPS;
		if (ops && ops - total.steps < run.steps * actors)
			run.steps = (ops - total.steps) / actors + 1;
		run.stop_ms = ops ? 0 : end;
		run.fail_memory = fail_memory;
		run.total = total;
		if (!run_round(&run)) {
			fprintf(stderr,
				"again: MODEL_SEED=%llu MODEL_OPS=%llu "
				"MODEL_THREADS=%u\n",
				(unsigned long long)run.seed,
				(unsigned long long)run.steps * actors, actors);
			CU_FAIL("wrong answer");
			return;
		}
		total = run.total;
	} while (ops ? total.steps < ops : now() < end);
	print(what, rounds, &total);
	/* Not by never answering: */
	CU_ASSERT(total.hits > total.gets / 50);
	CU_ASSERT(total.found > total.lookups / 200);
	CU_ASSERT(total.absent > total.lookups / 400);
	CU_ASSERT(total.iterated > 0 && total.populated > 0);
	CU_ASSERT(total.puts > total.voided / 4);
	CU_ASSERT(total.unchecked < total.lookups / 100);
}

static void single(void)
{
	play("one actor", 1, false);
}

static void single_failing_memory(void)
{
	play("one actor, memory fails", 1, true);
}

static void threads(void)
{
	unsigned int actors = (unsigned int)setting("MODEL_THREADS", 4);

	CU_ASSERT_FATAL(actors >= 2 && actors <= ACTORS_MAX);
	play("threads", actors, false);
}

static void threads_failing_memory(void)
{
	unsigned int actors = (unsigned int)setting("MODEL_THREADS", 4);

	CU_ASSERT_FATAL(actors >= 2 && actors <= ACTORS_MAX);
	play("threads, memory fails", actors, true);
}

#ifndef MODEL_TSAN
/* The model itself is tested with engines that are wrong (not under
 * ThreadSanitizer: it judges races, and is slow). */
static void caught(unsigned int actors, enum fault fault)
{
	static struct run run;

	for (unsigned int round = 0; round < FAULT_ROUNDS; round++) {
		memset(&run, 0, sizeof(run));
		run.seed = 1000 + round;
		run.actors = actors;
		run.steps = ROUND_STEPS / 2;
		run.quiet = true;
		run.engine.fault = fault;
		if (!run_round(&run)) {
			printf("\n    %s: %s", fault_name(fault), run.failure);
			return;
		}
	}
	fprintf(stderr, "\nnot noticed with %u actors: %s\n", actors,
		fault_name(fault));
	CU_FAIL("a seeded fault was not noticed");
}

static void faults_single(void)
{
	for (enum fault f = FAULT_NONE + 1; f < FAULT_COUNT; f++)
		if (f != FAULT_TWO_LEADERS)
			caught(1, f);
}

static void faults_threads(void)
{
	for (enum fault f = FAULT_NONE + 1; f < FAULT_COUNT; f++)
		if (f != FAULT_LIFE)
			caught(3, f);
}

#endif

int main(void)
{
	static CU_TestInfo tests[] = {
		{ "a single actor", single },
		{ "a single actor, allocations fail", single_failing_memory },
		{ "threads", threads },
		{ "threads, allocations fail", threads_failing_memory },
#ifndef MODEL_TSAN
		{ "seeded faults are noticed with one actor", faults_single },
		{ "seeded faults are noticed with threads", faults_threads },
#endif
		CU_TEST_INFO_NULL
	};

	return cunit_main("model", NULL, tests);
}
