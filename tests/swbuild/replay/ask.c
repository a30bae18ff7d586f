// SPDX-License-Identifier: LGPL-3.0-or-later
/* Operations that ask: attributes, access, links, listings. */
#include "act.h"

static void ended(struct act *act, const struct sw_result *result)
{
	act_done(act, act_outcome(result->status));
}

static void get_attributes(struct act *act)
{
	act_expect(act, PROC_GETATTR, ended);
	sw_getattr(act->replay->client, &act->fh, act_answer, act);
}

/* Where the link leads is not known: the outcome is the trace's. */
static void followed(struct act *act, const struct sw_result *result)
{
	if (result->status == SW_OK)
		act_done(act, act->op->outcome);
	else
		act_done(act, act_outcome(result->status));
}

void act_follow(struct act *act)
{
	act_expect(act, PROC_READLINK, followed);
	sw_readlink(act->replay->client, &act->fh, act_answer, act);
}

static void walked(struct act *act, char outcome)
{
	char op = act->op->op;
	uint32_t wanted = op == 'X' ? SW_ACCESS_EXECUTE :
			  op == 'H' ? SW_ACCESS_LOOKUP :
				      SW_ACCESS_READ | SW_ACCESS_EXECUTE;

	if (outcome != '+' || op == 'E') {
		act_done(act, outcome);
	} else if (act->type == SW_LNK && strchr("SAHXQ", op) != NULL) {
		act_follow(act);
	} else if (op == 'H' && act->type != SW_DIR) {
		act_done(act, 'd');
	} else if (strchr("AHX", op) != NULL) {
		act_expect(act, PROC_ACCESS, ended);
		sw_access(act->replay->client, &act->fh, wanted, act_answer,
			  act);
	} else if (op == 'L') {
		if (act->type != SW_LNK) {
			act_done(act, 'n');
			return;
		}
		act_expect(act, PROC_READLINK, ended);
		sw_readlink(act->replay->client, &act->fh, act_answer, act);
	} else if (act->fresh && op != 'Q') {
		act_done(act, '+');
	} else {
		get_attributes(act);
	}
}

void act_ask(struct act *act)
{
	const struct dentry *dentry = &act->replay->dcache.of[act->op->path];

	if (act->op->op == 'Y') {
		act_done(act, act->op->outcome);
	} else if (act->op->op == 'F' && dentry->fh.length != 0) {
		act_copy_handle(&act->fh, &dentry->fh);
		get_attributes(act);
	} else {
		act_walk(act, act->op->path, walked);
	}
}

/* ---- listings ---- */

static void read_page(struct act *act);

static void entry_read(void *arg, const struct sw_entry *entry)
{
	struct act *act = arg;
	uint32_t path = children_find(&act->replay->plan.children,
				      act->op->path, entry->name,
				      entry->length);

	if (path != OPTRACE_NONE)
		dcache_listed(&act->replay->dcache, path, entry, act->asked,
			      sw_now());
}

static void page_read(struct act *act, const struct sw_result *result)
{
	if (result->status == SW_OK && !result->eof && result->count > 0)
		read_page(act);
	else
		act_done(act, act_outcome(result->status));
}

static void read_page(struct act *act)
{
	act->asked = sw_now();
	act_expect(act, PROC_READDIR, page_read);
	sw_readdir(act->replay->client, &act->fh, &act->cursor, true, 0,
		   entry_read, act_answer, act);
}

static void directory_walked(struct act *act, char outcome)
{
	if (outcome != '+') {
		act_done(act, outcome);
	} else if (act->type == SW_LNK) {
		act_follow(act);
	} else if (act->type != SW_DIR) {
		act_done(act, 'd');
	} else {
		act->cursor = (struct sw_cursor){ 0 };
		read_page(act);
	}
}

void act_list(struct act *act)
{
	act_walk(act, act->op->path, directory_walked);
}
