/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <err.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "askers.h"
#include "memory.h"
#include "nfsload.h"

enum {
	IDLE_NS = 100000
};

static struct shared {
	_Atomic(struct object *) object;
	atomic_bool over;
} * shared;

static pid_t *children;
static unsigned children_count;

void *askers_memory(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		err(2, "no memory");
	return p;
}

static void ask_once(struct object *o)
{
	uint64_t right = atomic_load(&o->right);
	bool now_right = o->kind->after(o);

	/* The question was sent when the answer had been right already. */
	if (right && !now_right)
		atomic_store(&o->again, true);
}

static void body(const char *export)
{
	bool connected = false;
	struct fh root;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!atomic_load(&shared->over)) {
		struct object *o = atomic_load(&shared->object);
		struct timespec idle = { .tv_nsec = IDLE_NS };

		if (!o) {
			nanosleep(&idle, NULL);
			continue;
		}
		if (!connected)
			ask_mount(export, &root);
		connected = true;
		ask_once(o);
	}
}

void askers_start(const char *export, unsigned count)
{
	shared = askers_memory(sizeof(*shared));
	children = must_alloc(count + 1, sizeof(*children));
	for (; children_count < count; children_count++) {
		pid_t child = fork();

		if (child < 0)
			err(2, "cannot start a process");
		if (child == 0) {
			body(export);
			_exit(0);
		}
		children[children_count] = child;
	}
}

void askers_ask(struct object *o)
{
	atomic_store(&shared->object, o);
}

void askers_stop(void)
{
	atomic_store(&shared->over, true);
	for (unsigned i = 0; i < children_count; i++) {
		int status;

		if (waitpid(children[i], &status, 0) < 0 || status != 0)
			errx(2, "a process that asks has failed");
	}
	free(children);
}
