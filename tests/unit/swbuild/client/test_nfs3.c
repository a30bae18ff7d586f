// SPDX-License-Identifier: LGPL-3.0-or-later
/* NFSv3 against a server with faults. */
#include "check.h"

static void test_life(void)
{
	begin(SW_V3, 3, 0);
	CU_ASSERT_EQUAL(sw_client_rsize(fake.client), 4096);
	getattr();
	CU_ASSERT_EQUAL(got.result.rpcs, 1);
	end();
}

static void test_jukebox(void)
{
	begin(SW_V3, 1, 0);
	fail(NFSPROC3_GETATTR, NFS3ERR_JUKEBOX, 2);
	getattr();
	CU_ASSERT_EQUAL(counters()->delays, 2);
	CU_ASSERT_EQUAL(got.result.rpcs, 3);
	fail(NFSPROC3_GETATTR, NFS3ERR_STALE, 1);
	sw_getattr(fake.client, &fake_fh, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), NFS3ERR_STALE);
	end();
}

/* The same xid goes out again, so the server's memory answers. */
static void test_reply_lost(void)
{
	begin(SW_V3, 1, 0);
	fake.cut_op = NFSPROC3_MKDIR;
	fake.cut_times = 1;
	mkdir_once(NFSPROC3_MKDIR);
	CU_ASSERT_EQUAL(fake.replays, 1);
	CU_ASSERT_EQUAL(counters()->resent, 1);
	CU_ASSERT_EQUAL(counters()->reconnects, 1);
	CU_ASSERT_EQUAL(got.result.rpcs, 2);
	end();
}

static void test_depth(void)
{
	struct outcome many[12] = { 0 };

	begin(SW_V3, 2, 5);
	fake.hold = true;
	for (int i = 0; i < 12; i++)
		sw_getattr(fake.client, &fake_fh, on_outcome, &many[i]);
	fake_run(&fake, 10 * MS);
	CU_ASSERT_EQUAL(fake.most_at_once, 5);
	CU_ASSERT_EQUAL(sw_client_pending(fake.client), 12);
	fake_answer(&fake);
	for (int i = 0; i < 12; i++)
		CU_ASSERT_TRUE(fake_wait(&fake, &many[i]));
	CU_ASSERT_EQUAL(counters()->waits, 7);
	end();
}

static void test_version_refused(void)
{
	fake_start(&fake, SW_V3, 1, 0);
	fake.accept_stat = PROG_MISMATCH;
	CU_ASSERT_FALSE(sw_mount_wait(fake.client));
	CU_ASSERT_TRUE(says("does not serve NFSv3"));
	fake_stop(&fake);
}

/* An open and a close are nothing in NFSv3. */
static void test_open_by_handle(void)
{
	struct sw_target target = { .fh = &fake_fh };

	begin(SW_V3, 1, 0);
	sw_open(fake.client, &target, SW_READ, 0, on_outcome, fresh());
	CU_ASSERT_FALSE(got.done);
	CU_ASSERT_EQUAL(status(), SW_OK);
	CU_ASSERT_EQUAL(got.result.rpcs, 0);
	CU_ASSERT_EQUAL(got.result.sent, 0);
	CU_ASSERT_EQUAL(memcmp(got.fh.data, "file", 4), 0);
	close_file(got.result.file);
	end();
}

/* What is left when the client goes is told nobody, and leaks nothing. */
static void test_freed_in_flight(void)
{
	begin(SW_V3, 1, 2);
	fake.hold = true;
	for (int i = 0; i < 5; i++)
		sw_getattr(fake.client, &fake_fh, on_outcome, fresh());
	sw_read_file(fake.client, &(struct sw_target){ .fh = &fake_fh }, 0,
		     NULL, on_outcome, fresh());
	fake_run(&fake, 5 * MS);
	fake_stop(&fake);
	CU_ASSERT_EQUAL(got.count, 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "mounted and unmounted", test_life },
		{ "JUKEBOX", test_jukebox },
		{ "a lost reply", test_reply_lost },
		{ "depth", test_depth },
		{ "a version is refused", test_version_refused },
		{ "opened by its handle", test_open_by_handle },
		{ "freed with requests in flight", test_freed_in_flight },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("nfs3", NULL, tests);
}
