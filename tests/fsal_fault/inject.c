// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * What happens to a call on its way: counted, delayed, queued, held, failed.
 */
#include "inject.h"

#include <math.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <time.h>

#define OP_INFO(name, class) { #name, FAULT_##class },
const struct fault_op_info fault_ops[FAULT_NUM_OPS] = { FAULT_OPS(OP_INFO) };

/** No test holds a call as long; seconds. */
#define LONGEST_HOLD 60

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t go = PTHREAD_COND_INITIALIZER;

/** Under the lock. */
static struct fault_rule rules[FAULT_NUM_OPS];
static unsigned int held;
/** counts fault_go(), for those that wait */
static uint64_t generation;
static uint64_t random_state = 0x243f6a8885a308d3;
static double capacity;
static unsigned int num_servers;
/** when each server will be free, ns */
static uint64_t free_at[FAULT_MAX_SERVERS];

/** Is there anything under the lock about this operation? */
static atomic_bool ruled[FAULT_NUM_OPS];

uint64_t fault_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

/* Ganesha's threads sleep with the kernel's slack of 50 us, which would be a
 * tenth of a usual latency.
 */
static void sleep_until(uint64_t when)
{
	static __thread bool exact;
	struct timespec ts = fault_timespec(when);

	if (!exact) {
		prctl(PR_SET_TIMERSLACK, 1);
		exact = true;
	}
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) != 0)
		;
}

/* splitmix64; 0 <= result < 1. Under the lock. */
static double random_unit(void)
{
	uint64_t z = random_state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return (double)(z >> 11) * 0x1p-53;
}

static uint64_t draw(const struct fault_delay *delay)
{
	double us = 0;

	switch (delay->kind) {
	case DELAY_NONE:
		break;
	case DELAY_FIXED:
		us = delay->a;
		break;
	case DELAY_UNIFORM:
		us = delay->a + (delay->b - delay->a) * random_unit();
		break;
	case DELAY_EXPONENTIAL:
		us = -delay->a * log(1 - random_unit());
		break;
	}
	return (uint64_t)(us * 1000);
}

uint64_t fault_draw(const struct fault_delay *delay)
{
	uint64_t ns;

	if (delay->kind == DELAY_NONE)
		return 0;
	PTHREAD_MUTEX_lock(&lock);
	ns = draw(delay);
	PTHREAD_MUTEX_unlock(&lock);
	return ns;
}

static void note_ruled(enum fault_op op)
{
	const struct fault_rule *rule = &rules[op];

	atomic_store(&ruled[op],
		     rule->latency.kind != DELAY_NONE ||
			     rule->async.kind != DELAY_NONE ||
			     rule->failure.error != ERR_FSAL_NO_ERROR ||
			     rule->hold != HOLD_NONE ||
			     (capacity > 0 &&
			      fault_ops[op].class == FAULT_CALL));
}

struct fault_rule fault_get_rule(enum fault_op op)
{
	struct fault_rule rule;

	PTHREAD_MUTEX_lock(&lock);
	rule = rules[op];
	PTHREAD_MUTEX_unlock(&lock);
	return rule;
}

void fault_set_rule(enum fault_op op, const struct fault_rule *rule)
{
	PTHREAD_MUTEX_lock(&lock);
	rules[op] = *rule;
	note_ruled(op);
	PTHREAD_MUTEX_unlock(&lock);
}

void fault_set_capacity(double rate, unsigned int servers)
{
	PTHREAD_MUTEX_lock(&lock);
	capacity = rate;
	num_servers = servers;
	memset(free_at, 0, sizeof(free_at));
	for (int op = 0; op < FAULT_NUM_OPS; op++)
		note_ruled(op);
	PTHREAD_MUTEX_unlock(&lock);
}

void fault_get_capacity(double *rate, unsigned int *servers)
{
	PTHREAD_MUTEX_lock(&lock);
	*rate = capacity;
	*servers = num_servers;
	PTHREAD_MUTEX_unlock(&lock);
}

void fault_go(void)
{
	PTHREAD_MUTEX_lock(&lock);
	for (int op = 0; op < FAULT_NUM_OPS; op++) {
		rules[op].hold = HOLD_NONE;
		note_ruled(op);
	}
	generation++;
	pthread_cond_broadcast(&go);
	PTHREAD_MUTEX_unlock(&lock);
}

unsigned int fault_held(void)
{
	unsigned int number;

	PTHREAD_MUTEX_lock(&lock);
	number = held;
	PTHREAD_MUTEX_unlock(&lock);
	return number;
}

/* Wait for fault_go(). Under the lock. */
static void hold(enum fault_op op)
{
	uint64_t mine = generation;
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += LONGEST_HOLD;
	held++;
	while (mine == generation) {
		if (pthread_cond_timedwait(&go, &lock, &end) != 0) {
			LogCrit(COMPONENT_FSAL,
				"FAULT: %s was held for %d s, going on",
				fault_ops[op].name, LONGEST_HOLD);
			break;
		}
	}
	held--;
}

/* Queue at the server that is free first. Under the lock.
 * @return When the call has been served.
 */
static uint64_t queue(uint64_t now)
{
	unsigned int first = 0;

	for (unsigned int i = 1; i < num_servers; i++) {
		if (free_at[i] < free_at[first])
			first = i;
	}
	if (free_at[first] < now)
		free_at[first] = now;
	free_at[first] += (uint64_t)(num_servers / capacity * NS_PER_SEC);
	return free_at[first];
}

/* Does this call fail? Under the lock. */
static bool fails(struct fault_failure *failure)
{
	if (failure->error == ERR_FSAL_NO_ERROR || failure->next == 0)
		return false;
	if (failure->rate < 1 && random_unit() >= failure->rate)
		return false;
	if (failure->next != UINT64_MAX)
		failure->next--;
	return true;
}

/* What is set for this call.
 * @return false: fail it without asking the backend.
 */
static bool obey(struct fault_call *call, bool may_fail)
{
	struct fault_rule *rule = &rules[call->op];
	uint64_t until = fault_now();
	bool ask = true;

	PTHREAD_MUTEX_lock(&lock);
	if (rule->hold == HOLD_BEFORE)
		hold(call->op);
	if (may_fail && fails(&rule->failure)) {
		call->error = rule->failure.error;
		ask = rule->failure.after;
		atomic_fetch_add(&call->counts->failed[call->op], 1);
	}
	if (capacity > 0 && fault_ops[call->op].class == FAULT_CALL)
		until = queue(until);
	until += draw(&rule->latency);
	PTHREAD_MUTEX_unlock(&lock);
	if (until > fault_now())
		sleep_until(until);
	return ask;
}

static bool begin(struct fault_call *call, enum fault_op op,
		  struct fsal_export *exp, bool may_fail)
{
	bool ask = true;

	call->op = op;
	call->error = ERR_FSAL_NO_ERROR;
	call->above = op_ctx != NULL ? op_ctx->fsal_export : NULL;
	if (exp == NULL && call->above != NULL &&
	    call->above->fsal == &FAULT.module)
		exp = call->above;
	call->counts = exp != NULL ? &fault_export(exp)->counts : &fault_others;
	atomic_fetch_add_explicit(&call->counts->calls[op], 1,
				  memory_order_relaxed);

	if (unlikely(atomic_load_explicit(&ruled[op], memory_order_relaxed)))
		ask = obey(call, may_fail);
	if (op_ctx != NULL && exp != NULL)
		op_ctx->fsal_export = exp->sub_export;
	return ask;
}

bool fault_begin(struct fault_call *call, enum fault_op op,
		 struct fsal_export *exp)
{
	return begin(call, op, exp, true);
}

void fault_begin_sure(struct fault_call *call, enum fault_op op,
		      struct fsal_export *exp)
{
	(void)begin(call, op, exp, false);
}

fsal_status_t fault_answer(struct fault_call *call, fsal_status_t status)
{
	if (unlikely(atomic_load_explicit(&ruled[call->op],
					  memory_order_relaxed))) {
		PTHREAD_MUTEX_lock(&lock);
		if (rules[call->op].hold == HOLD_AFTER)
			hold(call->op);
		PTHREAD_MUTEX_unlock(&lock);
	}
	/* An error of the backend's own is not made another. */
	if (unlikely(call->error != ERR_FSAL_NO_ERROR) &&
	    !FSAL_IS_ERROR(status))
		return fsalstat(call->error, 0);
	return status;
}
