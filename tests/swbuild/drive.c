// SPDX-License-Identifier: LGPL-3.0-or-later
#include "drive.h"

#include "random.h"

static void next(struct process *p);

static void begin(struct process *p, enum op op)
{
	files_choose(&p->files, op, &p->choice);
	p->begun = sw_now();
	process_execute(p);
}

static void begin_due(struct process *p)
{
	const struct mix *mix = &p->worker->team->options->load.mix;

	p->upkeep = false;
	p->upkeep_left = FILES_UPKEEP;
	p->due = pace_take(&p->pace);
	begin(p, mix_draw(mix, &p->random));
}

/* Its time has come; how much later it is now is the client's own doing. */
static void fire(void *arg)
{
	struct process *p = arg;
	struct worker *worker = p->worker;
	uint64_t now = sw_now(), due = pace_due(&p->pace);

	if (now >= worker->team->phase.measure && now < worker->team->phase.end)
		latency_add(&worker->tally.late, now > due ? now - due : 0);
	begin_due(p);
}

static void stop(struct process *p)
{
	struct worker *worker = p->worker;

	worker->tally.overdue +=
		pace_overdue(&p->pace, worker->team->phase.end);
	worker->running--;
}

static void count(const struct process *p, uint32_t status, uint64_t now)
{
	struct worker *worker = p->worker;
	const struct phase *phase = &worker->team->phase;

	if (status != SW_OK) {
		tally_error(&worker->tally, p->choice.op, status);
		return;
	}
	if (!p->upkeep) {
		atomic_fetch_add_explicit(&worker->steps, 1,
					  memory_order_relaxed);
		atomic_fetch_add_explicit(&worker->response, now - p->due,
					  memory_order_relaxed);
	}
	if (now < phase->measure || now >= phase->end)
		return;
	if (p->upkeep) {
		worker->tally.upkeep++;
		return;
	}
	worker->tally.requests += p->requests;
	tally_add(&worker->tally, p->choice.op, now - p->due, now - p->begun);
}

static void ended(struct process *p, uint32_t status)
{
	files_done(&p->files, &p->choice, status == SW_OK);
	count(p, status, sw_now());
	if (status == SW_ERR_LOST)
		worker_fail(p->worker, "%s",
			    sw_client_error(p->worker->client));
	next(p);
}

/* What a process does that has nothing to do. */
static void next(struct process *p)
{
	struct worker *worker = p->worker;
	const struct team *team = worker->team;
	uint64_t due = pace_due(&p->pace);
	enum op op;

	if (sw_now() >= team->phase.end || worker->error[0] ||
	    atomic_load_explicit(&team->stop, memory_order_relaxed)) {
		stop(p);
		return;
	}
	op = files_upkeep(&p->files, mix_makes_files(&team->options->load.mix));
	if (op != OP_NONE && p->upkeep_left > 0) {
		p->upkeep_left--;
		p->upkeep = true;
		begin(p, op);
		return;
	}
	if (due >= team->phase.end)
		stop(p);
	else if (due <= sw_now())
		begin_due(p);
	else
		sw_timer_set(worker->loop, &p->timer, due);
}

void drive_job(struct worker *worker)
{
	const struct phase *phase = &worker->team->phase;
	struct process *p;
	uint64_t waits;

	tally_clear(&worker->tally);
	waits = sw_client_counters(worker->client)->waits;
	worker->running = 0;
	for (uint32_t i = 0; i < worker->count; i++)
		worker->running += worker->processes[i]->files.process <
				   phase->processes;
	for (uint32_t i = 0; i < worker->count; i++) {
		p = worker->processes[i];
		if (p->files.process >= phase->processes)
			break;
		pace_init(&p->pace, phase->begin, phase->rate,
			  random_unit(&p->random));
		p->ended = ended;
		p->timer.fire = fire;
		p->timer.arg = p;
		p->upkeep_left = FILES_UPKEEP;
		next(p);
	}
	worker_await(worker, &worker->running);
	worker->tally.waits = sw_client_counters(worker->client)->waits - waits;
}
