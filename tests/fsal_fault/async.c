// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Completions on another thread, in the order in which they are due.
 */
#include "async.h"

#include "export_mgr.h"

#include "inject.h"
#include "thread.h"

struct completion {
	struct completion *next;
	/** when, CLOCK_MONOTONIC in ns */
	uint64_t due;
	/** the context; the request that waits keeps both alive */
	struct gsh_export *gsh_export;
	struct fsal_export *fsal_export;
	fsal_async_cb done_cb;
	struct fsal_obj_handle *obj;
	fsal_status_t status;
	void *obj_data;
	void *caller_data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
/** the first is due first */
static struct completion *waiting;
static bool stopping;
static bool started;
static pthread_t thread;

void fault_complete(enum fault_op op, fsal_async_cb done_cb,
		    struct fsal_obj_handle *obj, fsal_status_t status,
		    void *obj_data, void *caller_data)
{
	struct fault_rule rule = fault_get_rule(op);
	struct completion **place = &waiting;
	struct completion *done;

	if (rule.async.kind == DELAY_NONE) {
		done_cb(obj, status, obj_data, caller_data);
		return;
	}
	done = gsh_malloc(sizeof(*done));
	*done = (struct completion){
		.due = fault_now() + fault_draw(&rule.async),
		.gsh_export = op_ctx->ctx_export,
		.fsal_export = op_ctx->fsal_export,
		.done_cb = done_cb,
		.obj = obj,
		.status = status,
		.obj_data = obj_data,
		.caller_data = caller_data,
	};
	PTHREAD_MUTEX_lock(&lock);
	while (*place != NULL && (*place)->due <= done->due)
		place = &(*place)->next;
	done->next = *place;
	*place = done;
	pthread_cond_signal(&changed);
	PTHREAD_MUTEX_unlock(&lock);
}

static void deliver(struct completion *done)
{
	struct req_op_context context;

	/* The context's end gives the reference back. */
	get_gsh_export_ref(done->gsh_export);
	init_op_context_simple(&context, done->gsh_export, done->fsal_export);
	done->done_cb(done->obj, done->status, done->obj_data,
		      done->caller_data);
	release_op_context();
	gsh_free(done);
}

static void *run(void *arg)
{
	(void)arg;
	PTHREAD_MUTEX_lock(&lock);
	while (!stopping || waiting != NULL) {
		struct completion *first = waiting;

		if (first == NULL) {
			pthread_cond_wait(&changed, &lock);
		} else if (!stopping && first->due > fault_now()) {
			struct timespec ts = fault_timespec(first->due);
			pthread_cond_timedwait(&changed, &lock, &ts);
		} else {
			waiting = first->next;
			PTHREAD_MUTEX_unlock(&lock);
			deliver(first);
			PTHREAD_MUTEX_lock(&lock);
		}
	}
	PTHREAD_MUTEX_unlock(&lock);
	return NULL;
}

int fault_async_start(void)
{
	pthread_condattr_t attr;
	int rc;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&changed, &attr);
	pthread_condattr_destroy(&attr);
	rc = fault_thread_start(&thread, "fault-async", run);
	started = rc == 0;
	return rc;
}

void fault_async_stop(void)
{
	if (!started)
		return;
	PTHREAD_MUTEX_lock(&lock);
	stopping = true;
	pthread_cond_signal(&changed);
	PTHREAD_MUTEX_unlock(&lock);
	pthread_join(thread, NULL);
	started = false;
}
