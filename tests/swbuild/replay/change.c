// SPDX-License-Identifier: LGPL-3.0-or-later
/* Operations that change names and attributes. */
#include "act.h"

static const char *name_of(const struct act *act, uint32_t path)
{
	return act->replay->trace->paths[path].name;
}

static void
begin_change(struct act *act, uint32_t path, enum procedure procedure,
	     void (*answered)(struct act *act, const struct sw_result *result))
{
	dcache_change(&act->replay->dcache, path, sw_now());
	act_expect(act, procedure, answered);
}

/* ---- T ---- */

static void attributes_set(struct act *act, const struct sw_result *result)
{
	act_done(act, act_outcome(result->status));
}

static void set_attributes(struct act *act, char outcome)
{
	const struct sw_setattr set = { .set = SW_SET_MTIME_NOW };

	if (outcome != '+' || act->op->outcome == '!') {
		act_done(act, outcome);
		return;
	}
	act_expect(act, PROC_SETATTR, attributes_set);
	sw_setattr(act->replay->client, &act->fh, &set, act_answer, act);
}

/* ---- M, K: something new ---- */

static void made(struct act *act, const struct sw_result *result)
{
	struct dcache *dcache = &act->replay->dcache;
	uint32_t path = act->new_path;
	char outcome = act_outcome(result->status);

	dcache_changed(dcache, path, result->end);
	if (outcome != '+') {
		dcache_forget(dcache, path);
		act_done(act, outcome);
		return;
	}
	dcache_found(dcache, path,
		     result->fh != NULL ? result->fh : &act->moved,
		     act->moved_type, result->end);
	if (result->file == NULL) {
		act_done(act, outcome);
		return;
	}
	act->file = result->file;
	act->failed = SW_OK;
	act_close(act);
}

static void make_directory(struct act *act)
{
	act->moved_type = SW_DIR;
	begin_change(act, act->new_path, PROC_MKDIR, made);
	sw_mkdir(act->replay->client, &act->fh, name_of(act, act->new_path),
		 0755, act_answer, act);
}

/* A symbolic link, or what has to be there in its place: see plan.h. */
static void make_symbolic_link(struct act *act)
{
	struct replay *replay = act->replay;
	const struct sw_target target = {
		.dir = &act->fh,
		.name = name_of(act, act->new_path),
	};

	switch (replay->plan.kinds[act->new_path]) {
	case PLAN_DIRECTORY:
		make_directory(act);
		break;
	case PLAN_FILE:
		act->moved_type = SW_REG;
		begin_change(act, act->new_path, PROC_OPEN, made);
		sw_open(replay->client, &target, SW_WRITE | SW_CREATE, 0644,
			act_answer, act);
		break;
	default:
		act->moved_type = SW_LNK;
		begin_change(act, act->new_path, PROC_SYMLINK, made);
		sw_symlink(replay->client, &act->fh, target.name,
			   REPLAY_LINK_TARGET, act_answer, act);
		break;
	}
}

static void place_walked(struct act *act, char outcome)
{
	struct replay *replay = act->replay;

	if (outcome == '+' && act->type != SW_DIR)
		outcome = 'd';
	if (outcome != '+' || act->op->outcome == '!') {
		act_done(act, outcome);
	} else if (dcache_get(&replay->dcache, act->new_path, sw_now()) ==
		   DENTRY_FOUND) {
		act_done(act, 'x');
	} else if (act->op->op == 'M') {
		make_directory(act);
	} else if (act->op->path2 == OPTRACE_NONE) {
		make_symbolic_link(act);
	} else {
		begin_change(act, act->new_path, PROC_LINK, made);
		sw_link(replay->client, &act->moved, &act->fh,
			name_of(act, act->new_path), act_answer, act);
	}
}

static void make_in(struct act *act, uint32_t path)
{
	act->new_path = path;
	act_walk_above(act, path, place_walked);
}

static void linked_walked(struct act *act, char outcome)
{
	if (outcome != '+') {
		act_done(act, outcome);
		return;
	}
	act_copy_handle(&act->moved, &act->fh);
	act->moved_type = act->type;
	make_in(act, act->op->path2);
}

/* ---- U, V ---- */

static void removed(struct act *act, const struct sw_result *result)
{
	struct dcache *dcache = &act->replay->dcache;
	char outcome = act_outcome(result->status);

	dcache_changed(dcache, act->op->path, result->end);
	if (outcome == '+')
		dcache_missing(dcache, act->op->path, result->end);
	else
		dcache_forget(dcache, act->op->path);
	act_done(act, outcome);
}

static void removed_walked(struct act *act, char outcome)
{
	struct sw_client *client = act->replay->client;
	const char *name = name_of(act, act->op->path);
	bool directory = act->op->op == 'V';

	if (outcome != '+' || act->op->outcome == '!') {
		act_done(act, outcome);
	} else if (directory != (act->type == SW_DIR)) {
		act_done(act, directory ? 'd' : 'r');
	} else if (directory) {
		begin_change(act, act->op->path, PROC_RMDIR, removed);
		sw_rmdir(client, &act->dir, name, act_answer, act);
	} else {
		begin_change(act, act->op->path, PROC_REMOVE, removed);
		sw_remove(client, &act->dir, name, act_answer, act);
	}
}

/* ---- R ---- */

static void renamed(struct act *act, const struct sw_result *result)
{
	struct dcache *dcache = &act->replay->dcache;
	char outcome = act_outcome(result->status);

	dcache_changed(dcache, act->op->path, result->end);
	dcache_changed(dcache, act->op->path2, result->end);
	if (outcome == '+') {
		dcache_missing(dcache, act->op->path, result->end);
		dcache_found(dcache, act->op->path2, &act->moved,
			     act->moved_type, result->end);
	} else {
		dcache_forget(dcache, act->op->path);
		dcache_forget(dcache, act->op->path2);
	}
	act_done(act, outcome);
}

static void target_walked(struct act *act, char outcome)
{
	bool missing = outcome == '-' && act_last_missing(act);

	if (outcome != '+' && !missing) {
		act_done(act, outcome);
		return;
	}
	dcache_change(&act->replay->dcache, act->op->path, sw_now());
	begin_change(act, act->op->path2, PROC_RENAME, renamed);
	sw_rename(act->replay->client, &act->from_dir,
		  name_of(act, act->op->path), missing ? &act->fh : &act->dir,
		  name_of(act, act->op->path2), act_answer, act);
}

static void source_walked(struct act *act, char outcome)
{
	if (outcome != '+' || act->op->outcome == '!' ||
	    act->op->path2 == OPTRACE_NONE) {
		act_done(act, outcome);
		return;
	}
	act_copy_handle(&act->from_dir, &act->dir);
	act_copy_handle(&act->moved, &act->fh);
	act->moved_type = act->type;
	act_walk(act, act->op->path2, target_walked);
}

void act_change(struct act *act)
{
	uint32_t path = act->op->path;

	switch (act->op->op) {
	case 'M':
		make_in(act, path);
		break;
	case 'K':
		if (act->op->path2 == OPTRACE_NONE)
			make_in(act, path);
		else
			act_walk(act, path, linked_walked);
		break;
	case 'R':
		act_walk(act, path, source_walked);
		break;
	case 'T':
		act_walk(act, path, set_attributes);
		break;
	default:
		act_walk(act, path, removed_walked);
		break;
	}
}
