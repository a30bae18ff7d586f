// SPDX-License-Identifier: LGPL-3.0-or-later
#include "replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act.h"
#include "cpu.h"
#include "make.h"
#include "pace.h"
#include "progress.h"

/* Acts that end without a request, until the loop gets its turn. */
#define AT_ONCE 256
#define TICK	UINT64_C(200000000) /* ns */

struct runner {
	struct replay replay;
	struct act *acts;
	struct act *free;
	uint32_t *ended;   /* of each path: operations that have ended */
	uint32_t *waiting; /* of each path: a process, or OPTRACE_NONE */
	uint32_t *next;	   /* of a process: the next one that waits */
	uint32_t *at;	   /* of a process: its present operation */
	uint32_t *heap;	   /* operations that may begin, earliest first */
	size_t nheap;
	size_t nended;
	struct pace pace;
	struct sw_timer timer;
	struct sw_task task;
	bool pumping;
	uint64_t finished;
};

unsigned replay_kind_of(const struct optrace_op *op)
{
	unsigned letter = (unsigned)(strchr(OPTRACE_OPS, op->op) - OPTRACE_OPS);

	return 2 * letter + (op->outcome != '+');
}

const char *replay_kind_name(unsigned kind)
{
	static const char *const names[] = {
		['S'] = "stat",	   ['l'] = "lstat",    ['F'] = "fstat",
		['A'] = "access",  ['L'] = "readlink", ['E'] = "getxattr",
		['Q'] = "statfs",  ['O'] = "read",     ['W'] = "write",
		['C'] = "create",  ['D'] = "readdir",  ['M'] = "mkdir",
		['U'] = "unlink",  ['V'] = "rmdir",    ['R'] = "rename",
		['K'] = "link",	   ['T'] = "setattr",  ['H'] = "chdir",
		['X'] = "execute", ['Y'] = "fsync",
	};

	return names[(unsigned char)OPTRACE_OPS[kind / 2]];
}

/* ---- which may begin ---- */

static void push(struct runner *run, uint32_t op)
{
	size_t i = run->nheap++;

	while (i > 0 && run->heap[(i - 1) / 2] > op) {
		run->heap[i] = run->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	run->heap[i] = op;
}

static uint32_t pop(struct runner *run)
{
	uint32_t top = run->heap[0];
	uint32_t last = run->heap[--run->nheap];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= run->nheap)
			break;
		if (child + 1 < run->nheap &&
		    run->heap[child + 1] < run->heap[child])
			child++;
		if (run->heap[child] >= last)
			break;
		run->heap[i] = run->heap[child];
		i = child;
	}
	run->heap[i] = last;
	return top;
}

/* The process's present operation may begin, or waits at a path. */
static void admit(struct runner *run, uint32_t process)
{
	const struct order *order = &run->replay.order;
	uint32_t op = run->at[process];

	if (op == OPTRACE_NONE)
		return;
	for (size_t w = order->first[op]; w < order->first[op + 1]; w++) {
		uint32_t path = order->waits[w].path;

		if (run->ended[path] < order->waits[w].need) {
			run->next[process] = run->waiting[path];
			run->waiting[path] = process;
			return;
		}
	}
	push(run, op);
}

static void release(struct runner *run, uint32_t op)
{
	const struct order *order = &run->replay.order;

	for (size_t w = order->first[op]; w < order->first[op + 1]; w++) {
		uint32_t path = order->waits[w].path;
		uint32_t process = run->waiting[path];

		run->ended[path]++;
		run->waiting[path] = OPTRACE_NONE;
		while (process != OPTRACE_NONE) {
			uint32_t next = run->next[process];

			admit(run, process);
			process = next;
		}
	}
}

/* ---- running ---- */

static bool due(struct runner *run)
{
	if (run->replay.options->rate <= 0)
		return true;
	if (pace_due(&run->pace) > sw_now()) {
		sw_timer_set(run->replay.loop, &run->timer,
			     pace_due(&run->pace));
		return false;
	}
	pace_take(&run->pace);
	return true;
}

static void pump(void *arg)
{
	struct runner *run = arg;
	unsigned count = 0;

	if (run->pumping)
		return;
	run->pumping = true;
	while (run->free != NULL && run->nheap > 0) {
		struct act *act = run->free;

		if (++count > AT_ONCE) {
			sw_task_set(run->replay.loop, &run->task);
			break;
		}
		if (!due(run))
			break;
		run->free = act->next;
		act->number = pop(run);
		act_begin(act);
	}
	run->pumping = false;
}

static void act_ended(struct replay *replay, struct act *act)
{
	struct runner *run = (struct runner *)replay;
	uint32_t process = act->op->process;

	run->nended++;
	run->at[process] = replay->order.next[act->number];
	release(run, act->number);
	admit(run, process);
	act->next = run->free;
	run->free = act;
	if (run->nended == replay->trace->nops) {
		run->finished = sw_now();
		return;
	}
	pump(run);
}

/* ---- begin and end ---- */

/* What is written is all the same; bytes that are no zeros. */
static uint8_t *make_data(const struct optrace *trace, const struct plan *plan)
{
	uint64_t most = 1;
	uint8_t *data;

	for (size_t i = 0; i < trace->nops; i++) {
		if (strchr("CW", trace->ops[i].op) != NULL &&
		    trace->ops[i].bytes > most)
			most = trace->ops[i].bytes;
	}
	for (size_t i = 0; i < plan->nbefore; i++)
		most = plan->before[i].size > most ? plan->before[i].size :
						     most;
	for (size_t i = 0; i < plan->nhidden; i++)
		most = plan->hidden[i].size > most ? plan->hidden[i].size :
						     most;
	data = malloc(most);
	for (uint64_t i = 0; data != NULL && i < most; i++)
		data[i] = (uint8_t)('a' + i % 25);
	return data;
}

static int prepare(struct runner *run)
{
	struct replay *replay = &run->replay;
	const struct optrace *trace = replay->trace;
	const struct replay_options *options = replay->options;

	if (plan_init(&replay->plan, trace) != 0 ||
	    order_init(&replay->order, &replay->plan) != 0 ||
	    dcache_init(&replay->dcache, trace, options->name_cache,
			options->name_life) != 0 ||
	    optrace_ideal(trace, &replay->result->ideal) != 0)
		return -1;
	replay->data = make_data(trace, &replay->plan);
	run->acts = calloc(options->in_flight, sizeof(*run->acts));
	run->ended = calloc(trace->npaths, sizeof(*run->ended));
	run->waiting = malloc(trace->npaths * sizeof(*run->waiting));
	run->next = calloc(trace->nprocesses + 1, sizeof(*run->next));
	run->at = malloc((trace->nprocesses + 1) * sizeof(*run->at));
	run->heap = malloc((trace->nprocesses + 1) * sizeof(*run->heap));
	if (replay->data == NULL || run->acts == NULL || run->ended == NULL ||
	    run->waiting == NULL || run->next == NULL || run->at == NULL ||
	    run->heap == NULL)
		return -1;
	for (size_t p = 0; p < trace->npaths; p++)
		run->waiting[p] = OPTRACE_NONE;
	for (uint32_t i = options->in_flight; i-- > 0;) {
		run->acts[i].replay = replay;
		run->acts[i].next = run->free;
		run->free = &run->acts[i];
	}
	replay->result->nameless = replay->plan.nnameless;
	replay->result->contradictions = replay->plan.contradictions;
	return 0;
}

static void begin(struct runner *run)
{
	const struct replay *replay = &run->replay;

	if (replay->options->rate > 0)
		pace_init(&run->pace, sw_now(), replay->options->rate, 0);
	for (uint32_t p = 0; p < replay->trace->nprocesses; p++) {
		run->at[p] = replay->order.start[p];
		admit(run, p);
	}
	sw_task_set(replay->loop, &run->task);
}

static int run_all(struct runner *run, char *error, size_t size)
{
	struct replay *replay = &run->replay;
	size_t all = replay->trace->nops;
	int rc = 0;

	begin(run);
	while (rc == 0 && run->nended < all &&
	       sw_client_error(replay->client)[0] == '\0') {
		rc = sw_loop_turn(replay->loop, sw_now() + TICK);
		progress_show("replay: %zu of %zu operations", run->nended,
			      all);
	}
	progress_clear();
	sw_timer_cancel(replay->loop, &run->timer);
	if (run->nended == all)
		return 0;
	if (rc != 0)
		snprintf(error, size, "waiting failed: %s", strerror(errno));
	else
		snprintf(error, size, "%s", sw_client_error(replay->client));
	return -1;
}

/* Runs it all, and measures. */
static int measure(struct runner *run, char *error, size_t size)
{
	struct replay_result *result = run->replay.result;
	pid_t pid = run->replay.options->server;
	double server = pid != 0 ? cpu_of(pid) : -1;
	double client = cpu_own();
	uint64_t begun = sw_now();
	int rc = run_all(run, error, size);

	result->client_cpu = cpu_own() - client;
	result->server_cpu = server;
	if (server >= 0)
		result->server_cpu = cpu_of(pid) - server;
	result->seconds = (double)(run->finished - begun) / 1e9;
	return rc;
}

int replay_run(struct sw_loop *loop, struct sw_client *client,
	       const struct optrace *trace,
	       const struct replay_options *options,
	       struct replay_result *result, char *error, size_t size)
{
	struct runner run = {
		.replay = { .loop = loop,
			    .client = client,
			    .trace = trace,
			    .options = options,
			    .result = result,
			    .by_name = options->version != SW_V3,
			    .ended = act_ended },
		.timer = { .fire = pump, .arg = &run },
		.task = { .run = pump, .arg = &run },
	};
	int rc = prepare(&run);

	if (rc != 0)
		snprintf(error, size, "not enough memory for this trace");
	if (rc == 0)
		rc = make_tree(&run.replay, error, size);
	if (rc == 0 && options->tree != REPLAY_PREPARE && trace->nops > 0)
		rc = measure(&run, error, size);
	plan_free(&run.replay.plan);
	order_free(&run.replay.order);
	dcache_free(&run.replay.dcache);
	free(run.replay.data);
	free(run.acts);
	free(run.ended);
	free(run.waiting);
	free(run.next);
	free(run.at);
	free(run.heap);
	return rc;
}
