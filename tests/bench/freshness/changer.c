/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <err.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "changes.h"
#include "nfsload.h"

enum {
	LEAST_WAIT_NS = 500000,
	MORE_WAIT_NS = 2000000
};

static pthread_t thread;
static sem_t wanted;
static struct object *object; /* NULL: end */
static atomic_bool done;

static void *body(void *seed)
{
	unsigned short state[3] = { 0x330e, *(unsigned short *)seed, 0 };

	for (;;) {
		struct timespec wait = { .tv_nsec = LEAST_WAIT_NS };

		sem_wait(&wanted);
		if (!object)
			return NULL;
		wait.tv_nsec += nrand48(state) % MORE_WAIT_NS;
		nanosleep(&wait, NULL);
		object->kind->change(object);
		object->changed = now_ns();
		atomic_store(&done, true);
	}
}

void changer_start(void)
{
	static unsigned short seed = 1;

	sem_init(&wanted, 0, 0);
	if (pthread_create(&thread, NULL, body, &seed))
		errx(2, "cannot start a thread");
}

void changer_begin(struct object *o)
{
	object = o;
	atomic_store(&done, false);
	sem_post(&wanted);
}

bool changer_done(void)
{
	return atomic_load(&done);
}

void changer_stop(void)
{
	object = NULL;
	sem_post(&wanted);
	pthread_join(thread, NULL);
	sem_destroy(&wanted);
}
