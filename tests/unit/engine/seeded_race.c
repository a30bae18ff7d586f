/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Does ThreadSanitizer see what rcu.h tells it? A reader looks at a block in
 * a read section while the writer replaces it and writes to the old one, as is
 * done with what changes its class: after a grace period ("correct"), or
 * without one ("seeded"). The first must pass, the second must be reported.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rcu.h"

#define ROUNDS 20000

static struct block {
	int value;
} blocks[2] = { { 1 }, { 1 } };

static _Atomic(struct block *) current = blocks;
static atomic_bool stop;

static void *reader(void *arg)
{
	long sum = 0;

	(void)arg;
	while (!atomic_load(&stop)) {
		rcu_enter();
		sum += atomic_load_explicit(&current, memory_order_acquire)
			       ->value;
		rcu_leave();
	}
	return (void *)sum;
}

int main(int argc, char **argv)
{
	bool seeded = argc > 1 && strcmp(argv[1], "seeded") == 0;
	pthread_t t;

	if (pthread_create(&t, NULL, reader, NULL))
		return 2;
	for (int i = 0; i < ROUNDS; i++) {
		struct block *old = atomic_load(&current);
		struct block *new = old == blocks ? blocks + 1 : blocks;

		atomic_store_explicit(&current, new, memory_order_release);
		if (!seeded)
			rcu_wait();
		old->value = i; /* nobody else may be looking at it now */
	}
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	return 0;
}
