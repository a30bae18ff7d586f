// SPDX-License-Identifier: LGPL-3.0-or-later
/* Operations on data: open, read or write, close. */
#include "act.h"

static bool writes(const struct act *act)
{
	return act->op->op != 'O';
}

static void closed(struct act *act, const struct sw_result *result)
{
	/* An error of the data before it counts. */
	char outcome = act_outcome(act->failed != SW_OK ? act->failed :
							  result->status);

	if (act->failed != SW_OK)
		act->status = act->failed;
	act_done(act, outcome);
}

void act_close(struct act *act)
{
	struct sw_file *file = act->file;

	act->file = NULL;
	act_expect(act, PROC_CLOSE, closed);
	sw_close(act->replay->client, file, act_answer, act);
}

static void note_failure(struct act *act, const struct sw_result *result)
{
	if (result->status != SW_OK)
		act->failed = result->status;
}

static void committed(struct act *act, const struct sw_result *result)
{
	note_failure(act, result);
	act_close(act);
}

static void moved(struct act *act, const struct sw_result *result)
{
	struct replay_result *total = act->replay->result;

	note_failure(act, result);
	if (writes(act))
		total->bytes_written += result->count;
	else
		total->bytes_read += result->count;
	if (act->pending > 0)
		return;
	if (writes(act) && act->op->bytes > act->piece) {
		act_expect(act, PROC_COMMIT, committed);
		sw_commit(act->replay->client, act->file, act_answer, act);
	} else {
		act_close(act);
	}
}

/* All pieces at once; the client holds back what must wait. */
static void move_data(struct act *act)
{
	struct sw_client *client = act->replay->client;
	uint64_t bytes = act->op->bytes;
	uint64_t at = 0;

	/* Nobody reads behind a file's end. */
	if (!writes(act) && bytes > act->size)
		bytes = act->size;

	act->piece = writes(act) ? sw_client_wsize(client) :
				   sw_client_rsize(client);
	if (bytes == 0) {
		act_close(act);
		return;
	}
	for (; at < bytes; at += act->piece) {
		uint32_t count = bytes - at < act->piece ?
					 (uint32_t)(bytes - at) :
					 act->piece;

		act_expect(act, writes(act) ? PROC_WRITE : PROC_READ, moved);
		if (writes(act))
			sw_write(client, act->file, at, act->replay->data + at,
				 count, bytes <= act->piece, act_answer, act);
		else
			sw_read(client, act->file, at, count, act_answer, act);
	}
}

static void opened(struct act *act, const struct sw_result *result)
{
	struct dcache *dcache = &act->replay->dcache;
	uint32_t path = act->op->path;
	char outcome = act_outcome(result->status);

	if (act->op->op == 'C')
		dcache_changed(dcache, path, result->end);
	if (outcome == '+') {
		dcache_found(dcache, path, result->fh, SW_REG, result->end);
		act->file = result->file;
		act->failed = SW_OK;
		act_note_size(act, result);
		move_data(act);
		return;
	}
	if (outcome == '-')
		dcache_missing(dcache, path, result->end);
	else
		dcache_forget(dcache, path);
	act_done(act, outcome);
}

/* Creates it, or opens it if it is known to be there. */
static void open_file(struct act *act, bool known)
{
	struct replay *replay = act->replay;
	uint32_t path = act->op->path;
	struct sw_target target = {
		.dir = &act->dir,
		.name = replay->trace->paths[path].name,
		.fh = known ? &act->fh : NULL,
	};
	uint32_t flags = writes(act) ? SW_WRITE : SW_READ;

	if (act->op->op == 'C') {
		if (!known)
			flags |= SW_CREATE;
		if (!known && act->op->outcome == 'x')
			flags |= SW_EXCL;
		dcache_change(&replay->dcache, path, sw_now());
	}
	act_expect(act, PROC_OPEN, opened);
	sw_open(replay->client, &target, flags, 0644, act_answer, act);
}

static void checked(struct act *act, const struct sw_result *result)
{
	char outcome = act_outcome(result->status);

	act_note_size(act, result);
	if (outcome == '+')
		open_file(act, true);
	else
		act_done(act, outcome);
}

static void directory_opened(struct act *act, const struct sw_result *result)
{
	act_done(act, act_outcome(result->status));
}

/* NFSv3, and whatever is no plain file. */
static void walked(struct act *act, char outcome)
{
	bool creates = act->op->op == 'C';

	if (outcome == '-' && creates && act_last_missing(act)) {
		act_copy_handle(&act->dir, &act->fh);
		open_file(act, false);
	} else if (outcome != '+' || act->op->outcome == '!') {
		act_done(act, outcome);
	} else if (creates && act->op->outcome == 'x') {
		act_done(act, 'x');
	} else if (act->type == SW_LNK) {
		act_follow(act);
	} else if (act->type == SW_DIR && writes(act)) {
		act_done(act, 'r');
	} else if (act->type == SW_DIR) {
		act_expect(act, PROC_ACCESS, directory_opened);
		sw_access(act->replay->client, &act->fh, SW_ACCESS_LOOKUP,
			  act_answer, act);
	} else if (act->fresh) {
		open_file(act, true);
	} else {
		/* Close-to-open: its attributes may have changed. */
		act_expect(act, PROC_GETATTR, checked);
		sw_getattr(act->replay->client, &act->fh, act_answer, act);
	}
}

/* NFSv4 opens by name, be the name known or not. */
static void walked_above(struct act *act, char outcome)
{
	struct dcache *dcache = &act->replay->dcache;
	uint32_t path = act->op->path;
	enum dentry_state state;

	if (outcome == '+' && act->type != SW_DIR)
		outcome = 'd';
	if (outcome != '+') {
		act_done(act, outcome);
		return;
	}
	act->size = UINT64_MAX;
	state = dcache_get(dcache, path, sw_now());
	act_copy_handle(&act->dir, &act->fh);
	if (state == DENTRY_FOUND && act->op->outcome == 'x') {
		act_done(act, 'x');
	} else if (state == DENTRY_MISSING && act->op->op != 'C') {
		act_done(act, '-');
	} else {
		if (state == DENTRY_FOUND)
			act_copy_handle(&act->fh, &dcache->of[path].fh);
		open_file(act, state == DENTRY_FOUND);
	}
}

void act_open(struct act *act)
{
	uint32_t path = act->op->path;

	if (act->replay->by_name && act->op->outcome != '!' &&
	    act->replay->plan.kinds[path] == PLAN_FILE)
		act_walk_above(act, path, walked_above);
	else
		act_walk(act, path, walked);
}
