/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file team.h
 * @brief Threads with a client each, and the jobs that they do together
 *
 * Between jobs a thread's loop goes on, so that leases are renewed.
 */
#ifndef SWBUILD_TEAM_H
#define SWBUILD_TEAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "client.h"
#include "mix.h"
#include "options.h"
#include "process.h"
#include "shape.h"
#include "tally.h"

#define TEAM_ERROR 512

struct team;

struct worker {
	struct team *team;
	unsigned number;
	pthread_t thread;
	struct sw_loop *loop;
	struct sw_client *client;
	struct sw_watch wake;
	/* A job of this number is done; the team has the newest number. */
	unsigned done;
	char error[TEAM_ERROR]; /* why a job failed; "" if it did not */

	/* Every team->size'th process, from process `number` on. */
	struct process **processes;
	uint32_t count;
	uint32_t room;
	uint32_t running; /* processes that still work at the point */
	struct tally tally;
	struct sw_counters counters; /* of the client, when it was asked */

	/* For the progress line; others read them. */
	atomic_uint_fast64_t steps;    /* files checked or made, operations */
	atomic_uint_fast64_t response; /* ns, of all operations */
};

/** When a point's parts begin and end; sw_now()'s scale. */
struct phase {
	uint64_t begin;
	uint64_t measure;
	uint64_t end;
	double rate; /* of a process, operations a second */
	uint32_t processes;
};

typedef void (*team_job)(struct worker *worker);

struct team {
	const struct options *options;
	struct shape shape;
	struct phase phase;
	struct sw_fh root;   /* the set's directory */
	uint32_t there;	     /* processes whose files an old set has */
	uint32_t ready;	     /* processes whose files are there */
	uint32_t wanted;     /* processes whose files are to be there */
	unsigned char *data; /* what is written into files */
	atomic_bool stop;    /* what goes on is to be broken off */

	struct worker *workers;
	unsigned size;
	unsigned started;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	team_job job;
	unsigned job_number;
	unsigned finished; /* workers that are done with it */
	bool quit;
};

/**
 * @brief Start the threads; each connects to the server
 *
 * @return NULL with a message in `error` if one cannot.
 */
struct team *team_start(const struct options *options, char error[TEAM_ERROR]);

/** Gives all threads a job. */
void team_begin(struct team *team, team_job job);

/** Waits at most until `until`; true when all are done. */
bool team_wait(struct team *team, uint64_t until);

/** Both; NULL, or why one of them failed. */
const char *team_do(struct team *team, team_job job);

/** NULL, or why a worker failed at the last job. */
const char *team_error(const struct team *team);

/** Sums of the workers' figures for the progress line. */
uint64_t team_steps(const struct team *team);
uint64_t team_response(const struct team *team);
void team_reset_steps(struct team *team);

/** The sum of the clients' counters; between jobs. */
struct sw_counters team_counters(struct team *team);

/** Ends the sessions and the threads, and frees everything. */
void team_end(struct team *team);

/** For jobs: runs the loop until *pending is 0. */
void worker_await(struct worker *worker, const uint32_t *pending);

/** For jobs: fails; the first message stays. */
__attribute__((format(printf, 2, 3))) void worker_fail(struct worker *worker,
						       const char *format, ...);

#endif
