/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The engine's thread: what must not be done by a caller, or under a lock.
 *
 * It calls the release callbacks of attachments and handles, which may block,
 * after a grace period (readers may still be looking at an attachment's
 * count), frees detached trees of names, and gives memory back after a limit
 * was lowered, each in small steps. It sleeps while there is nothing to do.
 */
#ifndef MDX_RELEASE_H
#define MDX_RELEASE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* In front of what is to be released; freed afterwards. */
struct release {
	struct release *next;
	void (*callback)(void *object, void *arg);
	void *object;
	uint64_t charge; /* to give back to the budget */
};

struct release_queue {
	pthread_mutex_t lock;
	pthread_cond_t work;	/* for the thread */
	pthread_cond_t drained; /* for those who wait */
	struct release *first, **last;
	uint64_t queued, taken, done;
	bool due;   /* what is queued waits no longer */
	bool hurry; /* nor for company */
	bool kicked, stop, running;
	pthread_t thread;
};

struct mdx;

int release_start(struct mdx *c);
/* Runs what is queued and ends the thread. */
void release_stop(struct mdx *c);
void release_later(struct mdx *c, struct release *r);
/* The same for one of several references of an object of which others stay: it
 * does not wake the thread, but goes with the next that does or when there are
 * many. Nothing is kept alive by that, for the object's last one does. */
void release_surplus(struct mdx *c, struct release *r);
/* There is other work: garbage, or a lower limit. */
void release_kick(struct mdx *c);

#endif
