/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "release.h"

#include <signal.h>
#include <time.h>

#include "cache.h"
#include "mem.h"
#include "reclaim.h"

/* Steps of other work between two looks at the queue. */
#define STEPS 64
/* So many surplus references wake the thread. */
#define SURPLUS_MAX 256
/* What comes within so many nanoseconds after the first shares its grace
 * period, which costs an interrupt of each CPU, and its wake-up. */
#define GATHER_NS 10000000
/* But so many are not waited with. */
#define GATHER_MAX 512

static void run(struct mdx *c, struct release *list)
{
	while (list) {
		struct release *r = list;

		list = r->next;
		if (r->callback)
			r->callback(r->object, c->params.arg);
		budget_give(&c->budget, r->charge);
		mem_free(r);
	}
}

static struct release *take(struct release_queue *q)
{
	struct release *list = q->first;

	q->first = NULL;
	q->last = &q->first;
	q->taken = q->queued;
	q->due = false;
	q->hurry = false;
	return list;
}

/* Waits for more to release, unless somebody waits for what there is. */
static void gather(struct release_queue *q)
{
	struct timespec until;
	int rc = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += GATHER_NS;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	while (!rc && !q->hurry && !q->kicked && !q->stop)
		rc = pthread_cond_timedwait(&q->work, &q->lock, &until);
}

static void *thread_main(void *arg)
{
	struct mdx *c = arg;
	struct release_queue *q = &c->releases;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		struct release *list = NULL;
		bool kicked = q->kicked;

		if (q->stop)
			q->due = q->first;
		if (!q->due && !kicked) {
			if (q->stop)
				break;
			pthread_cond_wait(&q->work, &q->lock);
			continue;
		}
		if (q->due && !kicked)
			gather(q);
		if (q->due)
			list = take(q);
		kicked = q->kicked;
		q->kicked = false;
		pthread_mutex_unlock(&q->lock);
		if (list) {
			rcu_wait();
			run(c, list);
		}
		kicked = kicked && !reclaim_background(c, STEPS);
		pthread_mutex_lock(&q->lock);
		q->kicked |= kicked && !q->stop;
		q->done = q->taken;
		pthread_cond_broadcast(&q->drained);
	}
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

int release_start(struct mdx *c)
{
	struct release_queue *q = &c->releases;
	pthread_condattr_t attr;
	sigset_t all, before;
	int rc;

	pthread_mutex_init(&q->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&q->work, &attr);
	pthread_condattr_destroy(&attr);
	pthread_cond_init(&q->drained, NULL);
	q->last = &q->first;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&q->thread, NULL, thread_main, c);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	q->running = rc == 0;
	if (q->running)
		pthread_setname_np(q->thread, "mdx");
	return -rc;
}

void release_stop(struct mdx *c)
{
	struct release_queue *q = &c->releases;

	if (q->running) {
		pthread_mutex_lock(&q->lock);
		q->stop = true;
		pthread_cond_signal(&q->work);
		pthread_mutex_unlock(&q->lock);
		pthread_join(q->thread, NULL);
	}
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->work);
	pthread_cond_destroy(&q->drained);
}

static void add(struct mdx *c, struct release *r, uint64_t wake_at)
{
	struct release_queue *q = &c->releases;

	r->next = NULL;
	pthread_mutex_lock(&q->lock);
	*q->last = r;
	q->last = &r->next;
	q->queued++;
	if (q->queued - q->taken >= wake_at && !q->due) {
		q->due = true;
		pthread_cond_signal(&q->work);
	}
	if (q->queued - q->taken >= GATHER_MAX && !q->hurry) {
		q->hurry = true;
		pthread_cond_signal(&q->work);
	}
	pthread_mutex_unlock(&q->lock);
}

void release_later(struct mdx *c, struct release *r)
{
	add(c, r, 1);
}

void release_surplus(struct mdx *c, struct release *r)
{
	add(c, r, SURPLUS_MAX);
}

void release_kick(struct mdx *c)
{
	struct release_queue *q = &c->releases;

	pthread_mutex_lock(&q->lock);
	q->kicked = true;
	pthread_cond_signal(&q->work);
	pthread_mutex_unlock(&q->lock);
}

void mdx_quiesce(struct mdx *c)
{
	struct release_queue *q = &c->releases;
	uint64_t target;

	pthread_mutex_lock(&q->lock);
	target = q->queued;
	if (q->taken < target) {
		q->due = true;
		q->hurry = true;
		pthread_cond_signal(&q->work);
	}
	while (q->done < target)
		pthread_cond_wait(&q->drained, &q->lock);
	pthread_mutex_unlock(&q->lock);
}
