// SPDX-License-Identifier: LGPL-3.0-or-later
#include "make.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IN_FLIGHT 32

struct item {
	struct maker *maker;
	const struct plan_step *step;
	struct item *next;
};

struct maker {
	struct replay *replay;
	size_t next;
	unsigned pending;
	struct item items[IN_FLIGHT];
	struct item *free;
	const struct plan_step *failed;
	uint32_t status;
};

/* One request that is waited for. */
struct one {
	struct replay *replay;
	uint32_t status;
	bool ended;
};

static void one_ended(void *arg, const struct sw_result *result)
{
	struct one *one = arg;

	one->status = result->status;
	one->ended = true;
	if (result->status == SW_OK)
		dcache_found(&one->replay->dcache, OPTRACE_ROOT, result->fh,
			     SW_DIR, result->end);
}

static int turn_until(struct replay *replay, const bool *ended)
{
	while (!*ended) {
		if (sw_loop_turn(replay->loop, UINT64_MAX) != 0)
			return -1;
	}
	return 0;
}

static int find_root(struct replay *replay, char *error, size_t size)
{
	const char *directory = replay->options->directory;
	bool there = replay->options->tree == REPLAY_PREPARED;
	struct one one = { .replay = replay };
	int rc;

	if (there)
		sw_lookup(replay->client, sw_root(replay->client), directory,
			  one_ended, &one);
	else
		sw_mkdir(replay->client, sw_root(replay->client), directory,
			 0755, one_ended, &one);
	rc = turn_until(replay, &one.ended);
	if (rc == 0 && one.status == SW_OK)
		return 0;
	if (rc != 0)
		snprintf(error, size, "waiting failed: %s", strerror(errno));
	else if (act_outcome(one.status) == 'x')
		snprintf(error, size,
			 "\"%s\" is in the export already: remove it, or name "
			 "another directory with --directory",
			 directory);
	else if (there && act_outcome(one.status) == '-')
		snprintf(error, size,
			 "\"%s\" is not in the export: make the tree first, "
			 "with --tree prepare",
			 directory);
	else
		snprintf(error, size, "cannot %s \"%s\" in the export: %s",
			 there ? "look up" : "make", directory,
			 sw_status_name(replay->options->version, one.status));
	return -1;
}

static void made(void *arg, const struct sw_result *result)
{
	struct item *item = arg;
	struct maker *maker = item->maker;
	const struct plan_step *step = item->step;

	if (result->status != SW_OK && maker->failed == NULL) {
		maker->failed = step;
		maker->status = result->status;
	} else if (result->status == SW_OK && step->kind == PLAN_DIRECTORY) {
		dcache_found(&maker->replay->dcache, step->path, result->fh,
			     SW_DIR, result->end);
	}
	maker->pending--;
	item->next = maker->free;
	maker->free = item;
}

static void make_one(struct maker *maker, const struct plan_step *step,
		     const struct sw_fh *dir)
{
	struct replay *replay = maker->replay;
	struct replay_result *result = replay->result;
	const char *name = replay->trace->paths[step->path].name;
	const struct sw_target target = { .dir = dir, .name = name };
	struct item *item = maker->free;

	maker->free = item->next;
	maker->pending++;
	maker->next++;
	*item = (struct item){ .maker = maker, .step = step };
	switch (step->kind) {
	case PLAN_DIRECTORY:
		result->tree_directories++;
		sw_mkdir(replay->client, dir, name, 0755, made, item);
		break;
	case PLAN_LINK:
		result->tree_links++;
		sw_symlink(replay->client, dir, name, REPLAY_LINK_TARGET, made,
			   item);
		break;
	default:
		result->tree_files++;
		result->tree_bytes += step->size;
		sw_write_file(replay->client, &target, SW_WRITE | SW_CREATE,
			      0644, replay->data, step->size, made, item);
		break;
	}
}

/* As many as may be in flight; what is in a directory waits for it. */
static void make_some(struct maker *maker)
{
	struct replay *replay = maker->replay;
	const struct plan *plan = &replay->plan;

	while (maker->free != NULL && maker->next < plan->nbefore) {
		const struct plan_step *step = &plan->before[maker->next];
		uint32_t parent = replay->trace->paths[step->path].parent;
		const struct sw_fh *dir = &replay->dcache.of[parent].fh;

		if (dir->length == 0)
			return;
		make_one(maker, step, dir);
	}
}

static int make_all(struct replay *replay, char *error, size_t size)
{
	struct maker maker = { .replay = replay };

	for (unsigned i = 0; i < IN_FLIGHT; i++) {
		maker.items[i].next = maker.free;
		maker.free = &maker.items[i];
	}
	do {
		if (maker.failed == NULL)
			make_some(&maker);
		if (maker.pending > 0 &&
		    sw_loop_turn(replay->loop, UINT64_MAX) != 0) {
			snprintf(error, size, "waiting failed: %s",
				 strerror(errno));
			return -1;
		}
	} while (maker.pending > 0 ||
		 (maker.failed == NULL && maker.next < replay->plan.nbefore));
	if (maker.failed == NULL)
		return 0;
	snprintf(error, size, "cannot make \"%s\" in \"%s\": %s",
		 replay->trace->paths[maker.failed->path].text,
		 replay->options->directory,
		 sw_status_name(replay->options->version, maker.status));
	return -1;
}

int make_tree(struct replay *replay, char *error, size_t size)
{
	uint64_t begun = sw_now();
	int rc = find_root(replay, error, size);

	if (rc == 0 && replay->options->tree != REPLAY_PREPARED)
		rc = make_all(replay, error, size);
	dcache_clear(&replay->dcache);
	replay->result->tree_seconds = (double)(sw_now() - begun) / 1e9;
	return rc;
}
