/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * More clients that ask the same at the same time, so that the server's
 * fetches meet its invalidations.  Each is a process with a connection of its
 * own.  They notice when an answer is wrong again that was right before.
 */
#ifndef FRESHPROBE_ASKERS_H
#define FRESHPROBE_ASKERS_H

#include "kinds.h"

/* Starts so many; before the first connection to the server is made. */
void askers_start(const char *export, unsigned count);

/* What they ask for from now on, in shared memory; NULL: nothing. */
void askers_ask(struct object *o);
void askers_stop(void);

/* Memory that they see, too; cleared. */
void *askers_memory(size_t size);

#endif
