// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The list of exports, each with its counts.
 */
#include "count.h"

#include "export_mgr.h"

struct fault_counts fault_others;

static struct glist_head exports = GLIST_HEAD_INIT(exports);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(atomic_uint_fast64_t *to, const atomic_uint_fast64_t *from)
{
	for (int op = 0; op < FAULT_NUM_OPS; op++)
		atomic_fetch_add(&to[op], atomic_load(&from[op]));
}

static void add_counts(struct fault_counts *to, const struct fault_counts *from)
{
	add(to->calls, from->calls);
	add(to->failed, from->failed);
}

static void zero(struct fault_counts *counts)
{
	for (int op = 0; op < FAULT_NUM_OPS; op++) {
		atomic_store(&counts->calls[op], 0);
		atomic_store(&counts->failed[op], 0);
	}
}

void fault_count_export(struct fault_export *exp)
{
	PTHREAD_MUTEX_lock(&lock);
	glist_add_tail(&exports, &exp->node);
	PTHREAD_MUTEX_unlock(&lock);
}

void fault_forget_export(struct fault_export *exp)
{
	PTHREAD_MUTEX_lock(&lock);
	glist_del(&exp->node);
	add_counts(&fault_others, &exp->counts);
	PTHREAD_MUTEX_unlock(&lock);
}

/* Under the lock. */
static struct fault_export *find(uint16_t export_id)
{
	struct glist_head *node;

	glist_for_each(node, &exports) {
		struct fault_export *exp =
			glist_entry(node, struct fault_export, node);

		if (exp->export.export_id == export_id)
			return exp;
	}
	return NULL;
}

struct fault_export *fault_get_export(uint16_t export_id)
{
	struct gsh_export *owner = get_gsh_export(export_id);
	struct fault_export *exp;

	if (owner == NULL)
		return NULL;
	PTHREAD_MUTEX_lock(&lock);
	exp = find(export_id);
	PTHREAD_MUTEX_unlock(&lock);
	/* One that was removed may still be in the list beside a new one. */
	if (exp == NULL || exp->export.owning_export != owner) {
		put_gsh_export(owner);
		return NULL;
	}
	return exp;
}

bool fault_sum_counts(int export_id, struct fault_counts *sum)
{
	struct glist_head *node;
	bool found = export_id < 0;

	zero(sum);
	PTHREAD_MUTEX_lock(&lock);
	if (found)
		add_counts(sum, &fault_others);
	glist_for_each(node, &exports) {
		struct fault_export *exp =
			glist_entry(node, struct fault_export, node);

		if (export_id >= 0 && exp->export.export_id != export_id)
			continue;
		add_counts(sum, &exp->counts);
		found = true;
	}
	PTHREAD_MUTEX_unlock(&lock);
	return found;
}

void fault_reset_counts(void)
{
	struct glist_head *node;

	PTHREAD_MUTEX_lock(&lock);
	zero(&fault_others);
	glist_for_each(node, &exports)
		zero(&glist_entry(node, struct fault_export, node)->counts);
	PTHREAD_MUTEX_unlock(&lock);
}

void fault_each_export(void (*cb)(const struct fault_export *exp, void *arg),
		       void *arg)
{
	struct glist_head *node;

	PTHREAD_MUTEX_lock(&lock);
	glist_for_each(node, &exports)
		cb(glist_entry(node, struct fault_export, node), arg);
	PTHREAD_MUTEX_unlock(&lock);
}
