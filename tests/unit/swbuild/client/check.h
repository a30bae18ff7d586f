/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What the tests against the fake server do again and again. */
#ifndef CHECK_H
#define CHECK_H

#include "cunit_main.h"
#include "fake.h"

static struct fake fake;
static struct outcome got;

/* Where the next operation's outcome goes. */
static inline struct outcome *fresh(void)
{
	memset(&got, 0, sizeof(got));
	return &got;
}

static inline const struct sw_counters *counters(void)
{
	return sw_client_counters(fake.client);
}

static inline void begin(enum sw_version version, uint32_t connections,
			 uint32_t depth)
{
	fake_start(&fake, version, connections, depth);
	CU_ASSERT_FATAL(sw_mount_wait(fake.client));
}

static inline void end(void)
{
	sw_unmount_wait(fake.client);
	CU_ASSERT_FALSE(fake.wrong);
	CU_ASSERT_EQUAL(sw_client_pending(fake.client), 0);
	fake_stop(&fake);
}

/* Waits for what was submitted with on_outcome and &got; its status. */
static inline uint32_t status(void)
{
	CU_ASSERT_FATAL(fake_wait(&fake, &got));
	CU_ASSERT_EQUAL(got.count, 1);
	return got.result.status;
}

static inline void getattr(void)
{
	sw_getattr(fake.client, &fake_fh, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), SW_OK);
	CU_ASSERT_EQUAL(got.result.rpcs ? got.result.attrs != NULL : 0, 1);
}

/* One directory is made, and once. */
static inline void mkdir_once(uint32_t operation)
{
	sw_mkdir(fake.client, &fake_fh, "d", 0755, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), SW_OK);
	CU_ASSERT_EQUAL(fake.done[operation], 1);
}

static inline void write_text(struct sw_file *file, const char *text)
{
	sw_write(fake.client, file, 0, text, (uint32_t)strlen(text), true,
		 on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), SW_OK);
	CU_ASSERT_EQUAL(memcmp(fake.file, text, strlen(text)), 0);
}

static inline void close_file(struct sw_file *file)
{
	sw_close(fake.client, file, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), SW_OK);
}

static inline struct sw_file *open_file(uint32_t flags)
{
	struct sw_file *file = fake_open(&fake, flags);

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	return file;
}

static inline void fail(uint32_t operation, uint32_t how, uint32_t times)
{
	fake.fail_op = operation;
	fake.fail_status = how;
	fake.fail_times = times;
}

static inline bool says(const char *text)
{
	return strstr(sw_client_error(fake.client), text) != NULL;
}

#endif
