// SPDX-License-Identifier: LGPL-3.0-or-later
#include "act.h"

/* The numbers are the same in NFSv3 and NFSv4. */
enum {
	ERR_NOENT = 2,
	ERR_EXIST = 17,
	ERR_NOTDIR = 20,
	ERR_ISDIR = 21,
};

char act_outcome(uint32_t status)
{
	switch (status) {
	case SW_OK:
		return '+';
	case ERR_NOENT:
		return '-';
	case ERR_EXIST:
		return 'x';
	case ERR_NOTDIR:
		return 'd';
	case ERR_ISDIR:
		return 'r';
	default:
		return '!';
	}
}

void act_answer(void *arg, const struct sw_result *result)
{
	struct act *act = arg;

	act->pending--;
	act->status = result->status;
	act->rpcs += result->rpcs;
	if (!act->quiet)
		requests_add(&act->replay->result->requests, act->procedure,
			     result);
	act->answered(act, result);
}

void act_expect(struct act *act, enum procedure procedure,
		void (*answered)(struct act *act,
				 const struct sw_result *result))
{
	act->procedure = procedure;
	act->answered = answered;
	act->pending++;
}

/* ---- walks ---- */

static void take_name(struct act *act, const struct dentry *dentry)
{
	act_copy_handle(&act->dir, &act->fh);
	act_copy_handle(&act->fh, &dentry->fh);
	act->type = dentry->type;
	act->size = UINT64_MAX;
	act->at++;
}

static void walk_on(struct act *act);

/* Acts that waited for this one's lookup go on, by what it has found. */
static void wake(struct act *act)
{
	struct act *waiting = act->waiting;

	act->waiting = NULL;
	while (waiting != NULL) {
		struct act *next = waiting->next;

		walk_on(waiting);
		waiting = next;
	}
}

static void looked_up(struct act *act, const struct sw_result *result)
{
	struct dcache *dcache = &act->replay->dcache;
	uint32_t path = act->nodes[act->at];
	struct dentry *dentry = &dcache->of[path];
	char outcome = act_outcome(result->status);

	if (outcome == '+')
		dcache_found(dcache, path, result->fh,
			     result->attrs != NULL ? result->attrs->type :
						     SW_TYPE_NONE,
			     result->end);
	else if (outcome == '-')
		dcache_missing(dcache, path, result->end);
	else
		dcache_forget(dcache, path);
	if (dentry->looking == act) {
		dentry->looking = NULL;
		wake(act);
	}
	act->fresh = true;
	if (outcome != '+') {
		act->walked(act, outcome);
		return;
	}
	/* Not from the cache: somebody may have changed it meanwhile. */
	act_copy_handle(&act->dir, &act->fh);
	act_copy_handle(&act->fh, result->fh);
	act->type = result->attrs != NULL ? result->attrs->type : SW_TYPE_NONE;
	act_note_size(act, result);
	act->at++;
	walk_on(act);
}

static void look_up(struct act *act, uint32_t path)
{
	struct replay *replay = act->replay;
	struct dentry *dentry = &replay->dcache.of[path];

	if (replay->dcache.on) {
		if (dentry->looking != NULL) {
			act->next = dentry->looking->waiting;
			dentry->looking->waiting = act;
			return;
		}
		dentry->looking = act;
	}
	act_expect(act, PROC_LOOKUP, looked_up);
	sw_lookup(replay->client, &act->fh, replay->trace->paths[path].name,
		  act_answer, act);
}

static void walk_on(struct act *act)
{
	struct dcache *dcache = &act->replay->dcache;

	while (act->at < act->depth) {
		uint32_t path = act->nodes[act->at];

		if (act->at > 0 && act->type != SW_DIR) {
			act->walked(act, 'd');
			return;
		}
		act->fresh = false;
		switch (dcache_get(dcache, path, sw_now())) {
		case DENTRY_FOUND:
			take_name(act, &dcache->of[path]);
			break;
		case DENTRY_MISSING:
			act->walked(act, '-');
			return;
		case DENTRY_UNKNOWN:
			look_up(act, path);
			return;
		}
	}
	act->walked(act, '+');
}

static void walk(struct act *act, uint32_t path, unsigned leave,
		 void (*walked)(struct act *act, char outcome))
{
	const struct optrace *trace = act->replay->trace;
	const struct dentry *root = &act->replay->dcache.of[OPTRACE_ROOT];
	unsigned depth = 0;

	for (uint32_t p = path; p != OPTRACE_ROOT; p = trace->paths[p].parent)
		depth++;
	act->depth = depth > leave ? depth - leave : 0;
	for (uint32_t p = path; p != OPTRACE_ROOT; p = trace->paths[p].parent)
		act->nodes[--depth] = p;
	act->at = 0;
	act->walked = walked;
	act->fresh = false;
	act->type = SW_DIR;
	act->size = UINT64_MAX;
	act_copy_handle(&act->fh, &root->fh);
	act_copy_handle(&act->dir, &root->fh);
	walk_on(act);
}

void act_walk(struct act *act, uint32_t path,
	      void (*walked)(struct act *act, char outcome))
{
	walk(act, path, 0, walked);
}

void act_walk_above(struct act *act, uint32_t path,
		    void (*walked)(struct act *act, char outcome))
{
	walk(act, path, 1, walked);
}

bool act_last_missing(const struct act *act)
{
	return act->at + 1 == act->depth;
}

/* ---- the end of an operation, and what follows ---- */

static void next_step(struct act *act);

static void step_ended(struct act *act, const struct sw_result *result)
{
	dcache_forget(&act->replay->dcache, act->steps->path);
	if (result->status != SW_OK)
		act->replay->result->contradictions++;
	act->steps++;
	act->nsteps--;
	next_step(act);
}

static void step_walked(struct act *act, char outcome)
{
	struct replay *replay = act->replay;
	const struct plan_step *step = act->steps;
	const char *name = replay->trace->paths[step->path].name;
	const struct sw_target target = { .dir = &act->fh, .name = name };

	if (outcome != '+') {
		const struct sw_result failed = { .status = act->status };

		step_ended(act, &failed);
		return;
	}
	act_expect(act, PROC_LOOKUP, step_ended);
	switch (step->kind) {
	case PLAN_FILE:
		sw_write_file(replay->client, &target, SW_WRITE | SW_CREATE,
			      0644, replay->data, step->size, act_answer, act);
		break;
	case PLAN_DIRECTORY:
		sw_mkdir(replay->client, &act->fh, name, 0755, act_answer, act);
		break;
	case PLAN_LINK:
		sw_symlink(replay->client, &act->fh, name, REPLAY_LINK_TARGET,
			   act_answer, act);
		break;
	case PLAN_ABSENT:
		if (replay->plan.kinds[step->path] == PLAN_DIRECTORY)
			sw_rmdir(replay->client, &act->fh, name, act_answer,
				 act);
		else
			sw_remove(replay->client, &act->fh, name, act_answer,
				  act);
		break;
	}
}

static void next_step(struct act *act)
{
	if (act->nsteps == 0) {
		act->replay->ended(act->replay, act);
		return;
	}
	act->quiet = true;
	act->replay->result->hidden++;
	act_walk_above(act, act->steps->path, step_walked);
}

static bool as_in_trace(const struct optrace_op *op, char outcome)
{
	if (op->outcome == outcome || op->outcome == '!')
		return true;
	/* Readlink of what is no link; of others the reason is not told. */
	return op->outcome == 'n' && op->op != 'L' && outcome == '+';
}

static void count_mismatch(struct act *act, char outcome)
{
	struct replay_result *result = act->replay->result;

	result->kinds[replay_kind_of(act->op)].mismatches++;
	if (result->mismatches < REPLAY_MISMATCHES)
		result->first[result->mismatches] = (struct replay_mismatch){
			.op = act->number,
			.outcome = outcome,
			.status = outcome == '+' ? SW_OK : act->status,
		};
	result->mismatches++;
}

static void follow_up(struct act *act)
{
	act->steps = plan_hidden(&act->replay->plan, act->number, &act->nsteps);
	next_step(act);
}

void act_done(struct act *act, char outcome)
{
	struct replay_result *result = act->replay->result;

	result->operations++;
	result->without_request += act->rpcs == 0;
	latency_add(&result->kinds[replay_kind_of(act->op)].latency,
		    sw_now() - act->begun);
	if (!as_in_trace(act->op, outcome))
		count_mismatch(act, outcome);
	follow_up(act);
}

void act_begin(struct act *act)
{
	act->op = &act->replay->trace->ops[act->number];
	act->begun = sw_now();
	act->rpcs = 0;
	act->status = SW_OK;
	act->quiet = false;
	if (act->replay->plan.nameless[act->number]) {
		follow_up(act);
		return;
	}
	switch (act->op->op) {
	case 'D':
		act_list(act);
		break;
	case 'O':
	case 'W':
	case 'C':
		act_open(act);
		break;
	case 'T':
	case 'M':
	case 'K':
	case 'U':
	case 'V':
	case 'R':
		act_change(act);
		break;
	default:
		act_ask(act);
		break;
	}
}
