/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * An event loop: sockets, timers and things to do next, for one thread.
 *
 * Whatever belongs to a loop is touched by the loop's thread alone, so there
 * are no locks.  Several loops may run, each in a thread of its own.
 */
#ifndef SWBUILD_LOOP_H
#define SWBUILD_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct sw_loop;

/* A monotonic clock's nanoseconds; all times of this program are of it. */
uint64_t sw_now(void);

/* A loop; NULL, with errno, if the system gives none. */
struct sw_loop *sw_loop_new(void);

/* Frees the loop; what was made on it must be freed before. */
void sw_loop_free(struct sw_loop *loop);

/*
 * Runs the loop until sw_loop_stop().  Returns 0, or -1 with errno if waiting
 * failed.
 */
int sw_loop_run(struct sw_loop *loop);

/* Makes sw_loop_run() return after the present turn; on the loop's thread. */
void sw_loop_stop(struct sw_loop *loop);

/*
 * One turn: waits until something happens, or `until` (sw_now()'s scale; 0:
 * does not wait; UINT64_MAX: as long as it takes), then calls what is due.
 * Returns as sw_loop_run().
 */
int sw_loop_turn(struct sw_loop *loop, uint64_t until);

/* Nanoseconds that the loop has waited for something to happen. */
uint64_t sw_loop_idle(const struct sw_loop *loop);

/*
 * A timer, part of the caller's own structure; zeroed before its first use.
 * It fires once, at or soon after its time, in the order of the times.
 */
struct sw_timer {
	void (*fire)(void *arg);
	void *arg;
	uint64_t due;	/* of sw_now()'s scale */
	uint32_t place; /* the loop's; 0: not set */
};

/* Sets or moves the timer; fire and arg must be filled in. */
void sw_timer_set(struct sw_loop *loop, struct sw_timer *timer, uint64_t due);

/* Takes the timer away; it may be not set. */
void sw_timer_cancel(struct sw_loop *loop, struct sw_timer *timer);

/*
 * Something to do at the end of the present turn, once; zeroed before its
 * first use.  Setting it again before it was done changes nothing.
 */
struct sw_task {
	void (*run)(void *arg);
	void *arg;
	struct sw_task *next;
	bool set;
};

void sw_task_set(struct sw_loop *loop, struct sw_task *task);

/* Takes it away; it may be not set. */
void sw_task_cancel(struct sw_loop *loop, struct sw_task *task);

/* A file descriptor that the loop watches. */
struct sw_watch {
	/* events: EPOLLIN, EPOLLOUT, EPOLLERR, ... of <sys/epoll.h> */
	void (*ready)(void *arg, uint32_t events);
	void *arg;
	int fd;
};

/* Watches watch->fd for `events` (epoll's).  Returns 0 or -1 with errno. */
int sw_watch_add(struct sw_loop *loop, struct sw_watch *watch, uint32_t events);

/* Changes the events. */
void sw_watch_change(struct sw_loop *loop, struct sw_watch *watch,
		     uint32_t events);

/* No longer watches it; to be called before the descriptor is closed. */
void sw_watch_remove(struct sw_loop *loop, struct sw_watch *watch);

#endif
