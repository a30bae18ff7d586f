/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file thread.h
 * @brief Threads of the module's own
 */
#ifndef FAULT_THREAD_H
#define FAULT_THREAD_H

#include <pthread.h>
#include <signal.h>

/**
 * @brief Start a thread that gets no signals
 *
 * Signals are for the server's own threads.
 *
 * @return 0 or an errno.
 */
static inline int fault_thread_start(pthread_t *thread, const char *name,
				     void *(*run)(void *))
{
	sigset_t all, before;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		pthread_setname_np(*thread, name);
	return rc;
}

#endif /* FAULT_THREAD_H */
