// SPDX-License-Identifier: LGPL-3.0-or-later
#include "loop.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 64
#define SECOND UINT64_C(1000000000)

struct sw_loop {
	int epoll;
	bool stopped;
	struct sw_timer **heap; /* 1-based: heap[1] is due first */
	uint32_t timers;
	uint32_t room;
	struct sw_task *tasks; /* in the order they were set */
	struct sw_task **last;
	struct sw_task *running;   /* those of this turn not yet run */
	struct epoll_event *event; /* those of this turn not yet handled */
	struct epoll_event *event_end;
	uint64_t idle;
};

uint64_t sw_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

struct sw_loop *sw_loop_new(void)
{
	struct sw_loop *loop = calloc(1, sizeof(*loop));

	if (!loop)
		return NULL;
	loop->last = &loop->tasks;
	loop->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (loop->epoll < 0) {
		free(loop);
		return NULL;
	}
	return loop;
}

void sw_loop_free(struct sw_loop *loop)
{
	if (!loop)
		return;
	close(loop->epoll);
	free(loop->heap);
	free(loop);
}

void sw_loop_stop(struct sw_loop *loop)
{
	loop->stopped = true;
}

uint64_t sw_loop_idle(const struct sw_loop *loop)
{
	return loop->idle;
}

/* ---- timers ---- */

static void place(struct sw_loop *loop, struct sw_timer *timer, uint32_t at)
{
	loop->heap[at] = timer;
	timer->place = at;
}

/* Moves the timer at `at` to where its time belongs. */
static void settle(struct sw_loop *loop, uint32_t at)
{
	struct sw_timer *timer = loop->heap[at];

	while (at > 1 && timer->due < loop->heap[at / 2]->due) {
		place(loop, loop->heap[at / 2], at);
		at /= 2;
	}
	for (;;) {
		uint32_t child = 2 * at;

		if (child > loop->timers)
			break;
		if (child < loop->timers &&
		    loop->heap[child + 1]->due < loop->heap[child]->due)
			child++;
		if (loop->heap[child]->due >= timer->due)
			break;
		place(loop, loop->heap[child], at);
		at = child;
	}
	place(loop, timer, at);
}

void sw_timer_set(struct sw_loop *loop, struct sw_timer *timer, uint64_t due)
{
	timer->due = due;
	if (!timer->place) {
		if (loop->timers + 1 >= loop->room) {
			uint32_t room = loop->room ? 2 * loop->room : 64;
			struct sw_timer **heap = realloc(
				loop->heap, room * sizeof(struct sw_timer *));

			if (!heap)
				abort();
			loop->heap = heap;
			loop->room = room;
		}
		place(loop, timer, ++loop->timers);
	}
	settle(loop, timer->place);
}

void sw_timer_cancel(struct sw_loop *loop, struct sw_timer *timer)
{
	uint32_t at = timer->place;
	struct sw_timer *last;

	if (!at)
		return;
	timer->place = 0;
	last = loop->heap[loop->timers--];
	if (last != timer) {
		place(loop, last, at);
		settle(loop, at);
	}
}

static void fire_timers(struct sw_loop *loop)
{
	uint64_t now;

	if (!loop->timers)
		return;
	now = sw_now();
	while (loop->timers && loop->heap[1]->due <= now) {
		struct sw_timer *timer = loop->heap[1];

		sw_timer_cancel(loop, timer);
		timer->fire(timer->arg);
	}
}

/* ---- tasks ---- */

void sw_task_set(struct sw_loop *loop, struct sw_task *task)
{
	if (task->set)
		return;
	task->set = true;
	task->next = NULL;
	*loop->last = task;
	loop->last = &task->next;
}

void sw_task_cancel(struct sw_loop *loop, struct sw_task *task)
{
	struct sw_task **at;

	if (!task->set)
		return;
	task->set = false;
	for (at = &loop->running; *at; at = &(*at)->next)
		if (*at == task) {
			*at = task->next;
			return;
		}
	for (at = &loop->tasks; *at != task; at = &(*at)->next)
		;
	*at = task->next;
	if (loop->last == &task->next)
		loop->last = at;
}

/* Those that are set now; what they set is for the next turn. */
static void run_tasks(struct sw_loop *loop)
{
	loop->running = loop->tasks;
	loop->tasks = NULL;
	loop->last = &loop->tasks;
	while (loop->running) {
		struct sw_task *task = loop->running;

		loop->running = task->next;
		task->set = false;
		task->run(task->arg);
	}
}

/* ---- descriptors ---- */

int sw_watch_add(struct sw_loop *loop, struct sw_watch *watch, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };

	return epoll_ctl(loop->epoll, EPOLL_CTL_ADD, watch->fd, &event);
}

void sw_watch_change(struct sw_loop *loop, struct sw_watch *watch,
		     uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = watch };

	if (epoll_ctl(loop->epoll, EPOLL_CTL_MOD, watch->fd, &event))
		abort();
}

void sw_watch_remove(struct sw_loop *loop, struct sw_watch *watch)
{
	epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
	/* Its owner may free it while an event of this turn still waits. */
	for (struct epoll_event *e = loop->event; e < loop->event_end; e++)
		if (e->data.ptr == watch)
			e->data.ptr = NULL;
}

/* Waits for events until then; the number, or -1. */
static int wait_until(struct sw_loop *loop, struct epoll_event *events,
		      uint64_t until)
{
	struct timespec timeout = { 0 };
	uint64_t before;
	int count;

	if (loop->tasks)
		until = 0;
	else if (loop->timers && loop->heap[1]->due < until)
		until = loop->heap[1]->due;
	before = until ? sw_now() : 0;
	if (until > before) {
		timeout.tv_sec = (time_t)((until - before) / SECOND);
		timeout.tv_nsec = (long)((until - before) % SECOND);
	}
	count = epoll_pwait2(loop->epoll, events, EVENTS,
			     until == UINT64_MAX ? NULL : &timeout, NULL);
	if (count < 0 && errno == EINTR)
		count = 0;
	if (until)
		loop->idle += sw_now() - before;
	return count;
}

int sw_loop_turn(struct sw_loop *loop, uint64_t until)
{
	struct epoll_event events[EVENTS];
	int count = wait_until(loop, events, until);

	if (count < 0)
		return -1;
	loop->event = events;
	loop->event_end = events + count;
	while (loop->event < loop->event_end) {
		struct epoll_event *event = loop->event++;
		struct sw_watch *watch = event->data.ptr;

		if (watch)
			watch->ready(watch->arg, event->events);
	}
	loop->event = loop->event_end = NULL;
	fire_timers(loop);
	run_tasks(loop);
	return 0;
}

int sw_loop_run(struct sw_loop *loop)
{
	int result = 0;

	loop->stopped = false;
	while (!loop->stopped && !result)
		result = sw_loop_turn(loop, UINT64_MAX);
	return result;
}
