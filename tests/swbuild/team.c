// SPDX-License-Identifier: LGPL-3.0-or-later
#include "team.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "random.h"

/* More than processes will ever be busy; NFSv4.1: what the server grants. */
#define DEPTH	    1024

#define TIMER_SLACK 1000UL /* ns */

void worker_fail(struct worker *worker, const char *format, ...)
{
	va_list arguments;

	if (worker->error[0])
		return;
	va_start(arguments, format);
	vsnprintf(worker->error, sizeof(worker->error), format, arguments);
	va_end(arguments);
}

static void turn(struct worker *worker)
{
	if (sw_loop_turn(worker->loop, UINT64_MAX) < 0) {
		/* Callbacks may still come: nothing can go on. */
		perror("swbuild: cannot wait for the server");
		exit(EXIT_CANNOT);
	}
}

void worker_await(struct worker *worker, const uint32_t *pending)
{
	while (*pending > 0)
		turn(worker);
}

static void woken(void *arg, uint32_t events)
{
	struct worker *worker = arg;
	uint64_t count;

	(void)events;
	if (read(worker->wake.fd, &count, sizeof(count)) < 0)
		return;
}

/* The next job, or NULL at the end. */
static team_job next_job(struct worker *worker)
{
	struct team *team = worker->team;
	team_job job = NULL;
	bool quit = false;

	for (;;) {
		pthread_mutex_lock(&team->lock);
		quit = team->quit;
		if (worker->done != team->job_number)
			job = team->job;
		pthread_mutex_unlock(&team->lock);
		if (quit || job)
			return quit ? NULL : job;
		turn(worker);
	}
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct team *team = worker->team;
	team_job job;

	/* Timers fire when they are due, not up to 50 us later. */
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK);
	while ((job = next_job(worker))) {
		job(worker);
		pthread_mutex_lock(&team->lock);
		worker->done = team->job_number;
		team->finished++;
		pthread_cond_broadcast(&team->changed);
		pthread_mutex_unlock(&team->lock);
	}
	return NULL;
}

static void connect_job(struct worker *worker)
{
	struct sw_settings settings =
		options_client(&worker->team->options->server, DEPTH);

	worker->client = sw_client_new(worker->loop, &settings, worker->error,
				       sizeof(worker->error));
	if (worker->client && !sw_mount_wait(worker->client))
		worker_fail(worker, "%s", sw_client_error(worker->client));
}

static void disconnect_job(struct worker *worker)
{
	if (!worker->client)
		return;
	sw_unmount_wait(worker->client);
	sw_client_free(worker->client);
	worker->client = NULL;
}

static bool start_worker(struct team *team, unsigned number)
{
	struct worker *worker = &team->workers[number];

	worker->team = team;
	worker->number = number;
	worker->loop = sw_loop_new();
	worker->wake = (struct sw_watch){
		.ready = woken,
		.arg = worker,
		.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	};
	if (!worker->loop || worker->wake.fd < 0 ||
	    sw_watch_add(worker->loop, &worker->wake, EPOLLIN) < 0)
		return false;
	errno = pthread_create(&worker->thread, NULL, work, worker);
	if (errno)
		return false;
	team->started++;
	return true;
}

static bool start_workers(struct team *team)
{
	sigset_t ours, before;
	bool good = true;

	/* Signals are for the main thread. */
	sigfillset(&ours);
	pthread_sigmask(SIG_SETMASK, &ours, &before);
	for (unsigned i = 0; i < team->size && good; i++)
		good = start_worker(team, i);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return good;
}

static struct team *team_new(const struct options *options)
{
	struct team *team = calloc(1, sizeof(*team));
	uint64_t state = options->load.seed;
	pthread_condattr_t attributes;

	if (!team)
		return NULL;
	team->options = options;
	team->shape = shape_at(options->load.scale, options->load.seed);
	team->size = options->load.threads;
	team->workers = calloc(team->size, sizeof(*team->workers));
	team->data = malloc(2 * (size_t)team->shape.mean_size);
	if (!team->workers || !team->data) {
		free(team->workers);
		free(team->data);
		free(team);
		return NULL;
	}
	for (size_t i = 0; i < 2 * (size_t)team->shape.mean_size; i++)
		team->data[i] = (unsigned char)random_next(&state);
	for (unsigned i = 0; i < team->size; i++)
		team->workers[i].wake.fd = -1;
	pthread_mutex_init(&team->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&team->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return team;
}

struct team *team_start(const struct options *options, char error[TEAM_ERROR])
{
	struct team *team = team_new(options);
	const char *wrong = NULL;

	if (!team)
		wrong = strerror(ENOMEM);
	else if (!start_workers(team))
		wrong = strerror(errno);
	else
		wrong = team_do(team, connect_job);
	if (!wrong)
		return team;
	snprintf(error, TEAM_ERROR, "%s", wrong);
	if (team)
		team_end(team);
	return NULL;
}

static void wake_all(const struct team *team)
{
	const uint64_t one = 1;

	for (unsigned i = 0; i < team->started; i++)
		if (write(team->workers[i].wake.fd, &one, sizeof(one)) < 0)
			continue; /* it is awake */
}

void team_begin(struct team *team, team_job job)
{
	pthread_mutex_lock(&team->lock);
	for (unsigned i = 0; i < team->started; i++)
		team->workers[i].error[0] = '\0';
	team->job = job;
	team->job_number++;
	team->finished = 0;
	pthread_mutex_unlock(&team->lock);
	wake_all(team);
}

bool team_wait(struct team *team, uint64_t until)
{
	struct timespec time = { .tv_sec = (time_t)(until / 1000000000),
				 .tv_nsec = (long)(until % 1000000000) };
	bool done;

	pthread_mutex_lock(&team->lock);
	while (team->finished < team->started &&
	       pthread_cond_timedwait(&team->changed, &team->lock, &time) == 0)
		;
	done = team->finished == team->started;
	pthread_mutex_unlock(&team->lock);
	return done;
}

const char *team_error(const struct team *team)
{
	for (unsigned i = 0; i < team->started; i++)
		if (team->workers[i].error[0])
			return team->workers[i].error;
	return NULL;
}

const char *team_do(struct team *team, team_job job)
{
	team_begin(team, job);
	while (!team_wait(team, sw_now() + 1000000000))
		;
	return team_error(team);
}

uint64_t team_steps(const struct team *team)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < team->started; i++)
		sum += atomic_load_explicit(&team->workers[i].steps,
					    memory_order_relaxed);
	return sum;
}

uint64_t team_response(const struct team *team)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < team->started; i++)
		sum += atomic_load_explicit(&team->workers[i].response,
					    memory_order_relaxed);
	return sum;
}

void team_reset_steps(struct team *team)
{
	for (unsigned i = 0; i < team->started; i++) {
		atomic_store(&team->workers[i].steps, 0);
		atomic_store(&team->workers[i].response, 0);
	}
}

static void counters_job(struct worker *worker)
{
	worker->counters = *sw_client_counters(worker->client);
}

struct sw_counters team_counters(struct team *team)
{
	struct sw_counters sum = { 0 };

	team_do(team, counters_job);
	for (unsigned i = 0; i < team->started; i++) {
		const struct sw_counters *c = &team->workers[i].counters;

		sum.requests += c->requests;
		sum.bytes_out += c->bytes_out;
		sum.bytes_in += c->bytes_in;
		sum.resent += c->resent;
		sum.reconnects += c->reconnects;
		sum.delays += c->delays;
		sum.graces += c->graces;
		sum.expired += c->expired;
		sum.waits += c->waits;
	}
	return sum;
}

static void free_worker(struct worker *worker)
{
	for (uint32_t i = 0; i < worker->count; i++)
		process_free(worker->processes[i]);
	free(worker->processes);
	if (worker->wake.fd >= 0) {
		if (worker->loop)
			sw_watch_remove(worker->loop, &worker->wake);
		close(worker->wake.fd);
	}
	if (worker->loop)
		sw_loop_free(worker->loop);
}

void team_end(struct team *team)
{
	team_do(team, disconnect_job);
	pthread_mutex_lock(&team->lock);
	team->quit = true;
	pthread_mutex_unlock(&team->lock);
	wake_all(team);
	for (unsigned i = 0; i < team->started; i++)
		pthread_join(team->workers[i].thread, NULL);
	for (unsigned i = 0; i < team->size; i++)
		free_worker(&team->workers[i]);
	pthread_cond_destroy(&team->changed);
	pthread_mutex_destroy(&team->lock);
	free(team->workers);
	free(team->data);
	free(team);
}
