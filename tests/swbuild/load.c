// SPDX-License-Identifier: LGPL-3.0-or-later
#include "load.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu.h"
#include "drive.h"
#include "json_parts.h"
#include "plot.h"
#include "progress.h"
#include "run.h"
#include "set.h"
#include "team.h"

#define SECOND	    UINT64_C(1000000000)
#define TICK	    (SECOND / 10)
#define LEAD	    (SECOND / 50) /* threads wake before a point begins */
#define INTERRUPTED 130

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* Waits for a job, shows how it goes, and ends it if the user wants so. */
static const char *watch(struct team *team, team_job job, const char *what,
			 uint64_t steps)
{
	team_reset_steps(team);
	team_begin(team, job);
	while (!team_wait(team, sw_now() + TICK)) {
		if (interrupted)
			atomic_store(&team->stop, true);
		if (steps)
			progress_show("%s: %llu of %llu files", what,
				      (unsigned long long)team_steps(team),
				      (unsigned long long)steps);
		else
			progress_show("%s: %llu names", what,
				      (unsigned long long)team_steps(team));
	}
	progress_clear();
	if (team_error(team))
		return team_error(team);
	return interrupted ? "interrupted" : NULL;
}

static int fail(char error[TEAM_ERROR], const char *wrong)
{
	/* It may be error's own text. */
	if (wrong && wrong != error)
		snprintf(error, TEAM_ERROR, "%s", wrong);
	return wrong ? -1 : 0;
}

/* Has the files of so many processes ready. */
static int ensure(struct run *run, struct team *team, uint32_t processes,
		  char error[TEAM_ERROR])
{
	uint64_t began = sw_now();
	uint64_t files =
		(uint64_t)(processes - team->ready) * shape_files(&run->shape);

	if (processes <= team->ready)
		return 0;
	team->wanted = processes;
	if (fail(error, watch(team, set_make_job, "file set", files)) < 0)
		return -1;
	team->ready = processes;
	run->processes = processes;
	run->set_seconds += (double)(sw_now() - began) / 1e9;
	return processes > team->there ? set_note(team, processes, error) : 0;
}

static int prepare(struct run *run, struct team *team, char error[TEAM_ERROR])
{
	const struct load_options *o = &run->options->load;

	if (set_open(team, error) < 0)
		return -1;
	run->reused = o->reuse && team->there > 0;
	if (!run->reused) {
		team->there = 0;
		if (fail(error, watch(team, set_remove_job,
				      "removing the old file set", 0)) < 0 ||
		    set_note(team, 0, error) < 0)
			return -1;
	}
	if (isinf(o->ladder.to))
		return 0;
	return ensure(run, team, point_processes(o->ladder.to), error);
}

/* Waits until a time of a point; true when the point has ended. */
static bool watch_point(struct team *team, const struct point *point,
			uint64_t until)
{
	const struct phase *phase = &team->phase;
	uint64_t last_steps = team_steps(team), now = sw_now();
	uint64_t last_response = team_response(team), last = now;
	bool ended = false;

	while (!ended && (now = sw_now()) < until) {
		uint64_t steps, response;

		ended = team_wait(team,
				  until - now < TICK ? until : now + TICK);
		if (interrupted)
			atomic_store(&team->stop, true);
		now = sw_now();
		if (now - last < SECOND / 2)
			continue;
		steps = team_steps(team) - last_steps;
		response = team_response(team) - last_response;
		progress_show(
			"%g BUILDs: %.0f of %.0f ops/s, %.2f ms, %s, "
			"%.0f s to go",
			point->builds,
			(double)steps * 1e9 / (double)(now - last),
			point->asked_rate,
			steps ? (double)response / 1e6 / (double)steps : 0,
			now < phase->measure ? "warming up" : "measuring",
			now < phase->end ? (double)(phase->end - now) / 1e9 :
					   0);
		last_steps += steps;
		last_response += response;
		last = now;
	}
	return ended;
}

/* Measures one point; -1 with `error` if it could not be. */
static int measure(struct run *run, struct team *team, struct point *point,
		   char error[TEAM_ERROR])
{
	const struct load_options *o = &run->options->load;
	pid_t pid = run->options->server.pid;
	static struct tally tally;
	struct phase *phase = &team->phase;
	double own, server;

	point->processes = point_processes(point->builds);
	point->asked_rate = point->builds * OPS_PER_BUILD;
	point->seconds = o->seconds;
	if (ensure(run, team, point->processes, error) < 0)
		return -1;
	phase->processes = point->processes;
	phase->rate = point->asked_rate / point->processes;
	phase->begin = sw_now() + LEAD;
	phase->measure = phase->begin + (uint64_t)(o->warmup * 1e9);
	phase->end = phase->measure + (uint64_t)(o->seconds * 1e9);
	team_reset_steps(team);
	team_begin(team, drive_job);
	watch_point(team, point, phase->measure);
	own = cpu_own();
	server = pid ? cpu_of(pid) : -1;
	watch_point(team, point, phase->end);
	point->client_cpu = cpu_own() - own;
	point->server_cpu = -1;
	if (server >= 0 && cpu_of(pid) >= 0)
		point->server_cpu = cpu_of(pid) - server;
	while (!watch_point(team, point, UINT64_MAX))
		;
	progress_clear();
	if (interrupted)
		return fail(error, "interrupted");
	tally_clear(&tally);
	for (unsigned i = 0; i < team->size; i++)
		tally_merge(&tally, &team->workers[i].tally);
	point_fill(point, &tally);
	point_judge(point, &o->limits);
	return fail(error, team_error(team));
}

static int climb(struct run *run, struct team *team, char error[TEAM_ERROR])
{
	struct ladder ladder = run->options->load.ladder;
	double builds;
	int status = 0;

	report_head(run);
	while (status == 0 && ladder_next(&ladder, &builds)) {
		struct point *point = &run->points[run->count];

		*point = (struct point){ .builds = builds };
		status = measure(run, team, point, error);
		if (status < 0)
			break;
		run->count++;
		report_point(run, point);
		ladder_note(&ladder, builds, !point->invalid);
	}
	run->last_valid = ladder_last_valid(&ladder);
	return status;
}

/* The set as it was, or away. */
static int clean_up(struct run *run, struct team *team, char error[TEAM_ERROR])
{
	interrupted = 0;
	atomic_store(&team->stop, false);
	if (!run->options->load.remove)
		return fail(error, team_do(team, set_restore_job));
	if (fail(error,
		 watch(team, set_remove_job, "removing the file set", 0)) < 0)
		return -1;
	return set_close(team, error);
}

static bool written(const char *path, int status)
{
	if (status == 0)
		return true;
	fprintf(stderr, "swbuild: cannot write %s: %s\n", path,
		errno ? strerror(errno) : "the file system refused");
	return false;
}

static bool write_reports(const struct run *run)
{
	const struct output_options *o = &run->options->output;
	json_t *json = report_json(run);
	char wrong[512];
	bool good = true;

	errno = 0;
	if (o->json)
		good = json_write(json, o->json);
	if (o->csv)
		good = written(o->csv, report_csv(run, o->csv)) && good;
	if (o->plot && plot_runs(&json, 1, o->plot, wrong, sizeof(wrong)) < 0) {
		fprintf(stderr, "swbuild: %s\n", wrong);
		good = false;
	}
	json_decref(json);
	return good;
}

static int run_status(const struct run *run, bool measured, bool stopped)
{
	if (stopped)
		return INTERRUPTED;
	if (!measured)
		return EXIT_CANNOT;
	return run->last_valid < 0 || run_had_errors(run) ? EXIT_INVALID :
							    EXIT_FINE;
}

static void complain(const char *wrong)
{
	progress_clear();
	fflush(stdout);
	fprintf(stderr, "swbuild: %s\n", wrong);
}

static int run_with(struct run *run, struct team *team)
{
	char error[TEAM_ERROR];
	bool measured = prepare(run, team, error) == 0 &&
			climb(run, team, error) == 0;
	bool stopped = interrupted, clean = true, good = true;
	int status;

	if (!measured)
		complain(error);
	run->counters = team_counters(team);
	if (team->wanted > 0)
		clean = clean_up(run, team, error) == 0;
	if (measured && !clean)
		complain(error);
	if (run->count > 0) {
		report_summary(run);
		good = write_reports(run);
	}
	status = good ? run_status(run, measured, stopped) : EXIT_CANNOT;
	return status == EXIT_FINE && !clean ? EXIT_INVALID : status;
}

int load_main(const struct options *options)
{
	struct run run = { .options = options,
			   .started = time(NULL),
			   .last_valid = -1,
			   .points = calloc(LADDER_POINTS,
					    sizeof(struct point)) };
	struct sigaction action = { .sa_handler = interrupt,
				    .sa_flags = (int)SA_RESETHAND };
	char error[TEAM_ERROR];
	struct team *team;
	int status = EXIT_CANNOT;

	if (!run.points) {
		complain("there is no memory");
		return EXIT_CANNOT;
	}
	progress_init(options->output.progress);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	team = team_start(options, error);
	if (team) {
		run.shape = team->shape;
		run.depth = sw_client_depth(team->workers[0].client);
		status = run_with(&run, team);
		team_end(team);
	} else {
		complain(error);
	}
	free(run.points);
	return status;
}
