// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Up-calls: do they reach MDCACHE, with its keys and its vector, and are they
 * dropped when nobody may hear them?
 */
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

#include "fixture.h"
#include "fridgethr.h"

static struct {
	const char *method;
	const struct fsal_up_vector *vec;
	char key[SCALE_KEY_MAX];
	size_t len;
	struct fsal_export *ctx_export;
	uint32_t flags;
} event;

static sem_t in_event;
static sem_t go_on;
static bool block_events;
static sem_t queued; /* posted at the end of an event that closes */

static void see_event(const char *method, const struct fsal_up_vector *vec,
		      const struct gsh_buffdesc *key, uint32_t flags)
{
	event.method = method;
	event.vec = vec;
	event.len = key->len;
	memcpy(event.key, key->addr, key->len);
	event.flags = flags;
	event.ctx_export = op_ctx != NULL ? op_ctx->fsal_export : NULL;
	if (block_events) {
		sem_post(&in_event);
		sem_wait(&go_on);
	}
	if ((flags & FSAL_UP_INVALIDATE_CLOSE) != 0)
		sem_post(&queued);
}

static fsal_status_t see_invalidate(const struct fsal_up_vector *vec,
				    struct gsh_buffdesc *key, uint32_t flags)
{
	see_event("invalidate", vec, key, flags);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t see_try_release(const struct fsal_up_vector *vec,
				     struct gsh_buffdesc *key, uint32_t flags)
{
	see_event("try_release", vec, key, flags);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t see_update(const struct fsal_up_vector *vec,
				struct gsh_buffdesc *key,
				struct fsal_attrlist *attr, uint32_t flags)
{
	(void)attr;
	see_event("update", vec, key, flags);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static state_status_t see_lock_grant(const struct fsal_up_vector *vec,
				     struct gsh_buffdesc *file, void *owner,
				     fsal_lock_param_t *lock_param)
{
	(void)owner;
	(void)lock_param;
	see_event("lock_grant", vec, file, 0);
	return STATE_SUCCESS;
}

static state_status_t see_lock_avail(const struct fsal_up_vector *vec,
				     struct gsh_buffdesc *file, void *owner,
				     fsal_lock_param_t *lock_param)
{
	(void)owner;
	(void)lock_param;
	see_event("lock_avail", vec, file, 0);
	return STATE_SUCCESS;
}

static state_status_t see_layoutrecall(const struct fsal_up_vector *vec,
				       struct gsh_buffdesc *handle,
				       layouttype4 layout_type, bool changed,
				       const struct pnfs_segment *segment,
				       void *cookie,
				       struct layoutrecall_spec *spec)
{
	(void)layout_type;
	(void)changed;
	(void)segment;
	(void)cookie;
	(void)spec;
	see_event("layoutrecall", vec, handle, 0);
	return STATE_SUCCESS;
}

static state_status_t see_delegrecall(const struct fsal_up_vector *vec,
				      struct gsh_buffdesc *handle)
{
	see_event("delegrecall", vec, handle, 0);
	return STATE_SUCCESS;
}

static struct fsal_export *listening_export(const char *block)
{
	super.invalidate = see_invalidate;
	super.update = see_update;
	super.try_release = see_try_release;
	super.lock_grant = see_lock_grant;
	super.lock_avail = see_lock_avail;
	super.layoutrecall = see_layoutrecall;
	super.delegrecall = see_delegrecall;
	super.up_fsal_export = (struct fsal_export *)&super;
	memset(&event, 0, sizeof(event));
	return make_export(block, NULL);
}

static void check_event(const char *method, struct fsal_export *exp,
			bool translated)
{
	uint32_t id = scale_export(exp)->upcall.backend_id;

	CU_ASSERT_STRING_EQUAL(event.method ? event.method : "nothing", method);
	CU_ASSERT_PTR_EQUAL(event.vec, &super);
	CU_ASSERT_EQUAL(event.len, translated ? 7 : 3);
	CU_ASSERT(memcmp(event.key, "key", 3) == 0);
	if (translated)
		CU_ASSERT(memcmp(event.key + 3, &id, sizeof(id)) == 0);
	memset(&event, 0, sizeof(event));
}

/* Each method, by a vector's own pointers or by those of the queue. */
static void each_method(const struct fsal_up_vector *methods,
			const struct fsal_up_vector *up,
			struct fsal_export *exp)
{
	struct gsh_buffdesc key = { .addr = "key", .len = 3 };
	struct req_op_context *was = op_ctx;
	fsal_status_t status;

	/* A backend's thread has no context, as a rule. */
	op_ctx = NULL;
	status = methods->invalidate(up, &key, FSAL_UP_INVALIDATE_ATTRS);
	CU_ASSERT_FALSE(FSAL_IS_ERROR(status));
	CU_ASSERT_EQUAL(event.flags, FSAL_UP_INVALIDATE_ATTRS);
	check_event("invalidate", exp, true);
	methods->update(up, &key, NULL, 0);
	check_event("update", exp, true);
	methods->try_release(up, &key, 0);
	check_event("try_release", exp, true);

	/* By another thread, as an invalidation that also closes. */
	status = methods->invalidate_close(up, &key, FSAL_UP_INVALIDATE_ATTRS);
	CU_ASSERT_FALSE(FSAL_IS_ERROR(status));
	sem_wait(&queued);
	CU_ASSERT_EQUAL(event.flags,
			FSAL_UP_INVALIDATE_ATTRS | FSAL_UP_INVALIDATE_CLOSE);
	check_event("invalidate", exp, true);

	CU_ASSERT_EQUAL(methods->lock_grant(up, &key, NULL, NULL),
			STATE_SUCCESS);
	check_event("lock_grant", exp, false);
	CU_ASSERT_EQUAL(methods->lock_avail(up, &key, NULL, NULL),
			STATE_SUCCESS);
	check_event("lock_avail", exp, false);
	CU_ASSERT_EQUAL(methods->layoutrecall(up, &key, LAYOUT4_NFSV4_1_FILES,
					      true, NULL, NULL, NULL),
			STATE_SUCCESS);
	check_event("layoutrecall", exp, false);
	CU_ASSERT_EQUAL(methods->delegrecall(up, &key), STATE_SUCCESS);
	check_event("delegrecall", exp, false);
	op_ctx = was;
}

static void test_up(void)
{
	struct fsal_export *exp = listening_export(SCALE_ON("FAKE"));
	const struct fsal_up_vector *up = fake_below(exp)->up;
	struct gsh_buffdesc key = { .addr = "key", .len = 3 };

	each_method(up, up, exp);

	/* From a call of the backend's, MDCACHE's export is to be current. */
	op_ctx->fsal_export = exp->sub_export;
	up->try_release(up, &key, 0);
	CU_ASSERT_PTR_EQUAL(event.ctx_export, super.up_fsal_export);
	CU_ASSERT_PTR_EQUAL(op_ctx->fsal_export, exp->sub_export);

	remove_export(exp);
}

/* Ganesha's queue (up_async_*) takes this way to a vector's methods. */
static void test_up_queued(void)
{
	struct fsal_export *exp = listening_export(SCALE_ON("FAKE"));
	const struct fsal_up_vector *up = fake_below(exp)->up;
	struct gsh_buffdesc key = { .addr = "key", .len = 3 };

	each_method(up->up_fsal_export->up_ops, up, exp);
	remove_export(exp);

	/* It may come by when the export is gone. */
	up->up_fsal_export->up_ops->update(up, &key, NULL, 0);
	CU_ASSERT_EQUAL(up->up_fsal_export->up_ops->delegrecall(up, &key),
			STATE_NOT_FOUND);
	CU_ASSERT_PTR_NULL(event.method);
}

/* A key longer than any can be is refused, not copied. */
static void test_up_long_key(void)
{
	static char bytes[SCALE_KEY_MAX];
	struct fsal_export *exp = listening_export(SCALE_ON("FAKE"));
	const struct fsal_up_vector *up = fake_below(exp)->up;
	struct gsh_buffdesc key = { .addr = bytes, .len = sizeof(bytes) };

	up->invalidate(up, &key, 0);
	CU_ASSERT_PTR_NULL(event.method);
	key.len = SCALE_KEY_MAX - SCALE_KEY_ID_BYTES;
	up->invalidate(up, &key, 0);
	CU_ASSERT_PTR_NOT_NULL(event.method);
	remove_export(exp);
}

/* Events that come too early or too late are dropped. */
static void test_up_early_and_late(void)
{
	struct fsal_export *exp = listening_export(SCALE_ON("FAKE"));
	const struct fsal_up_vector *up = fake_below(exp)->up;
	struct gsh_buffdesc key = { .addr = "key", .len = 3 };

	super.up_ready = false;
	up->invalidate(up, &key, 0);
	CU_ASSERT_EQUAL(up->lock_grant(up, &key, NULL, NULL), STATE_NOT_FOUND);
	CU_ASSERT_PTR_NULL(event.method);
	super.up_ready = true;
	up->invalidate(up, &key, 0);
	check_event("invalidate", exp, true);

	op_ctx->fsal_export = exp;
	exp->exp_ops.unexport(exp, NULL);
	up->invalidate(up, &key, 0);
	CU_ASSERT_PTR_NULL(event.method);

	remove_export(exp);
	up->invalidate(up, &key, 0);
	up->try_release(up, &key, 0);
	CU_ASSERT_EQUAL(up->delegrecall(up, &key), STATE_NOT_FOUND);
	CU_ASSERT_PTR_NULL(event.method);
}

/*
 * GLUSTER brings all events of a volume by the first export it made, which may
 * have been removed; where keys are shared, the other exports must hear them.
 */
static void test_up_sibling(void)
{
	struct fsal_export *one = listening_export(SCALE_ON("GLUSTER"));
	struct fsal_export *two = listening_export(SCALE_ON("GLUSTER"));
	struct fsal_export *other = listening_export(SCALE_ON("VFS"));
	const struct fsal_up_vector *up = fake_below(one)->up;
	struct gsh_buffdesc key = { .addr = "key", .len = 3 };

	op_ctx->fsal_export = one;
	/* From here on MDCACHE finds nothing by this export. */
	one->exp_ops.prepare_unexport(one);
	up->invalidate(up, &key, 0);
	check_event("invalidate", two, true);
	one->exp_ops.unexport(one, NULL);
	up->invalidate(up, &key, 0);
	check_event("invalidate", two, true);
	remove_export(one);
	up->invalidate(up, &key, 0);
	check_event("invalidate", two, true);
	remove_export(two);
	up->invalidate(up, &key, 0);
	CU_ASSERT_PTR_NULL(event.method);
	remove_export(other);
}

static void *bring_event(void *arg)
{
	const struct fsal_up_vector *up = arg;
	struct gsh_buffdesc key = { .addr = "key", .len = 3 };

	up->invalidate(up, &key, 0);
	return NULL;
}

static int unexported;

static void *unexport(void *arg)
{
	struct fsal_export *exp = arg;
	struct req_op_context own = { .ctx_export = &gsh, .fsal_export = exp };

	op_ctx = &own;
	exp->exp_ops.unexport(exp, obj);
	__atomic_store_n(&unexported, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

/*
 * Something is on its way (in_event has been posted): unexport must not return
 * before it has ended.
 */
static void check_unexport_waits(struct fsal_export *exp)
{
	pthread_t admin_thread;

	unexported = 0;
	sem_wait(&in_event);
	pthread_create(&admin_thread, NULL, unexport, exp);
	usleep(50000);
	CU_ASSERT_EQUAL(__atomic_load_n(&unexported, __ATOMIC_SEQ_CST), 0);
	sem_post(&go_on);
	pthread_join(admin_thread, NULL);
	CU_ASSERT_EQUAL(__atomic_load_n(&unexported, __ATOMIC_SEQ_CST), 1);
	CU_ASSERT_STRING_EQUAL(fake_call.method, "unexport");
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[1], sub_of(obj));
	block_events = false;
	remove_export(exp);
}

static void test_up_unexport_waits(void)
{
	struct fsal_export *exp = listening_export(SCALE_ON("FAKE"));
	pthread_t event_thread;

	block_events = true;
	pthread_create(&event_thread, NULL, bring_event,
		       (void *)fake_below(exp)->up);
	check_unexport_waits(exp);
	pthread_join(event_thread, NULL);
}

static void test_up_close_waits(void)
{
	struct fsal_export *exp = listening_export(SCALE_ON("FAKE"));
	const struct fsal_up_vector *up = fake_below(exp)->up;
	struct gsh_buffdesc key = { .addr = "key", .len = 3 };

	block_events = true;
	up->invalidate_close(up, &key, 0);
	check_unexport_waits(exp);
	sem_wait(&queued);
}

static int setup(void)
{
	/* As Ganesha's own: a job waits for the thread to be free again. */
	struct fridgethr_params params = { .thr_max = 1,
					   .deferment = fridgethr_defer_queue };

	sem_init(&in_event, 0, 0);
	sem_init(&go_on, 0, 0);
	sem_init(&queued, 0, 0);
	if (fixture_setup() != 0)
		return -1;
	return fridgethr_init(&general_fridge, "test", &params);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "up-calls", test_up },
		{ "queued up-calls", test_up_queued },
		{ "long keys", test_up_long_key },
		{ "early and late up-calls", test_up_early_and_late },
		{ "up-calls for the export beside", test_up_sibling },
		{ "unexport waits for up-calls", test_up_unexport_waits },
		{ "unexport waits for a queued close", test_up_close_waits },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("upcall", setup, tests);
}
