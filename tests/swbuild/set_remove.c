// SPDX-License-Identifier: LGPL-3.0-or-later
#include <stdlib.h>
#include <string.h>

#include "set.h"
#include "set_names.h"

/* Names of one directory that are removed at the same time. */
struct removing {
	struct worker *worker;
	uint32_t pending;
	uint32_t status; /* of the first that failed */
};

static void removed(void *arg, const struct sw_result *result)
{
	struct removing *removing = arg;

	removing->pending--;
	if (result->status != SW_OK && result->status != STATUS_NOENT &&
	    removing->status == SW_OK)
		removing->status = result->status;
	atomic_fetch_add_explicit(&removing->worker->steps, 1,
				  memory_order_relaxed);
}

/* Removes all in a directory that is `depth` levels above its files. */
static uint32_t empty(struct worker *worker, const struct sw_fh *dir,
		      unsigned depth);

static uint32_t empty_below(struct worker *worker, const struct sw_fh *dir,
			    const char *name, unsigned depth)
{
	struct sw_fh fh;
	uint32_t status = wait_lookup(worker, dir, name, &fh);

	if (status == STATUS_NOENT)
		return SW_OK;
	return status == SW_OK ? empty(worker, &fh, depth) : status;
}

static uint32_t empty(struct worker *worker, const struct sw_fh *dir,
		      unsigned depth)
{
	struct removing removing = { .worker = worker };
	struct names names = { 0 };

	removing.status = wait_list(worker, dir, &names);
	for (size_t i = 0; i < names.count && removing.status == SW_OK; i++) {
		const struct name *name = &names.list[i];

		if (name->directory && depth > 0)
			removing.status =
				empty_below(worker, dir, name->text, depth - 1);
		if (removing.status != SW_OK)
			break;
		removing.pending++;
		if (name->directory)
			sw_rmdir(worker->client, dir, name->text, removed,
				 &removing);
		else
			sw_remove(worker->client, dir, name->text, removed,
				  &removing);
	}
	worker_await(worker, &removing.pending);
	names_free(&names);
	return removing.status;
}

/* Each thread has its share of the processes' directories. */
static bool is_ours(const struct worker *worker, const char *name)
{
	return strtoul(name + 1, NULL, 10) % worker->team->size ==
	       worker->number;
}

void set_remove_job(struct worker *worker)
{
	const struct team *team = worker->team;
	struct names names = { 0 };
	uint32_t status = wait_list(worker, &team->root, &names);

	for (size_t i = 0; i < names.count && status == SW_OK; i++) {
		const struct name *name = &names.list[i];

		if (!name->directory || !is_ours(worker, name->text))
			continue;
		status = empty_below(worker, &team->root, name->text, 1);
		if (status == SW_OK)
			status = wait_remove(worker, &team->root, name->text,
					     true);
	}
	names_free(&names);
	if (status != SW_OK)
		worker_fail_status(worker, "remove", "the old file set",
				   status);
	for (uint32_t i = 0; i < worker->count; i++)
		process_free(worker->processes[i]);
	worker->count = 0;
}
