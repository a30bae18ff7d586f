// SPDX-License-Identifier: LGPL-3.0-or-later
/* NFSv4.1 against a server with faults: sessions, slots, recovery. */
#include "check.h"

static void test_life(void)
{
	begin(SW_V41, 3, 0);
	CU_ASSERT_EQUAL(sw_client_depth(fake.client), 16);
	CU_ASSERT_EQUAL(sw_client_rsize(fake.client), 1024);
	CU_ASSERT_EQUAL(fake.done[NFS4_OP_RECLAIM_COMPLETE], 1);
	/* The first connection is the session's own. */
	CU_ASSERT_EQUAL(fake.bound, 2);
	getattr();
	CU_ASSERT_EQUAL(got.result.rpcs, 1);
	CU_ASSERT_EQUAL(fake.replays, 0);
	CU_ASSERT_TRUE(got.result.start <= got.result.sent);
	CU_ASSERT_TRUE(got.result.sent <= got.result.end);
	sw_unmount_wait(fake.client);
	CU_ASSERT_EQUAL(fake.done[NFS4_OP_DESTROY_SESSION], 1);
	CU_ASSERT_EQUAL(fake.done[NFS4_OP_DESTROY_CLIENTID], 1);
	end();
}

static void test_minor_version_refused(void)
{
	fake_start(&fake, SW_V41, 1, 0);
	fake.minor_served = 0;
	CU_ASSERT_FALSE(sw_mount_wait(fake.client));
	CU_ASSERT_TRUE(says("127.0.0.1 port 2049, NFSv4.1"));
	CU_ASSERT_TRUE(says("NFS4ERR_MINOR_VERS_MISMATCH"));
	CU_ASSERT_TRUE(says("--version"));
	fake_stop(&fake);
}

static void test_delay(void)
{
	begin(SW_V41, 1, 0);
	fail(NFS4_OP_GETATTR, NFS4ERR_DELAY, 3);
	getattr();
	CU_ASSERT_EQUAL(counters()->delays, 3);
	CU_ASSERT_EQUAL(got.result.rpcs, 4);
	/* 10, 20 and 40 ms. */
	CU_ASSERT_TRUE(got.result.end - got.result.start >= 70 * MS);
	fake.fail_op = NFS4_OP_SEQUENCE;
	fake.fail_times = 1;
	getattr();
	CU_ASSERT_EQUAL(counters()->delays, 4);
	end();
}

static void test_grace(void)
{
	struct sw_file *file;

	begin(SW_V41, 1, 0);
	fail(NFS4_OP_OPEN, NFS4ERR_GRACE, 2);
	file = open_file(SW_READ);
	CU_ASSERT_EQUAL(counters()->graces, 2);
	close_file(file);
	end();
}

/* What does not get better is the operation's status, after all patience. */
static void test_patience(void)
{
	begin(SW_V41, 1, 0);
	fake.client->patience = SECOND / 5;
	fail(NFS4_OP_GETATTR, NFS4ERR_DELAY, UINT32_MAX);
	sw_getattr(fake.client, &fake_fh, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), NFS4ERR_DELAY);
	fake.fail_times = 0;
	end();
}

static void test_session_lost(void)
{
	struct sw_file *file;

	begin(SW_V41, 1, 0);
	file = open_file(SW_WRITE);
	fake_end_session(&fake);
	write_text(file, "after");
	CU_ASSERT_EQUAL(fake.done[NFS4_OP_WRITE], 1);
	CU_ASSERT_EQUAL(counters()->sessions, 1);
	CU_ASSERT_EQUAL(counters()->clientids, 0);
	CU_ASSERT_EQUAL(counters()->reopened, 0);
	fail(NFS4_OP_SEQUENCE, NFS4ERR_DEADSESSION, 1);
	getattr();
	CU_ASSERT_EQUAL(counters()->sessions, 2);
	close_file(file);
	end();
}

static void test_misordered(void)
{
	begin(SW_V41, 1, 0);
	fail(NFS4_OP_SEQUENCE, NFS4ERR_SEQ_MISORDERED, 1);
	mkdir_once(NFS4_OP_CREATE);
	fail(NFS4_OP_SEQUENCE, NFS4ERR_BADSLOT, 1);
	getattr();
	CU_ASSERT_EQUAL(counters()->bad_slots, 2);
	CU_ASSERT_EQUAL(counters()->sessions, 2);
	end();
}

static void test_lease_expired(void)
{
	struct sw_file *file;

	begin(SW_V41, 1, 0);
	file = open_file(SW_WRITE);
	fake_expire(&fake);
	write_text(file, "expired");
	CU_ASSERT_EQUAL(counters()->clientids, 1);
	CU_ASSERT_EQUAL(counters()->reopened, 1);
	CU_ASSERT_EQUAL(fake.reclaims, 0);
	CU_ASSERT_EQUAL(fake.done[NFS4_OP_RECLAIM_COMPLETE], 2);
	close_file(file);
	end();
}

/* The server has one file's state no more, but the client's. */
static void test_stateid_revoked(void)
{
	struct sw_file *file;

	begin(SW_V41, 1, 0);
	file = open_file(SW_WRITE);
	fake.owner[0].open = false;
	write_text(file, "revoked");
	CU_ASSERT_EQUAL(counters()->clientids, 0);
	CU_ASSERT_EQUAL(counters()->reopened, 1);
	close_file(file);
	end();
}

static void test_file_gone(void)
{
	struct sw_file *file;

	begin(SW_V41, 1, 0);
	file = open_file(SW_WRITE);
	fake_expire(&fake);
	fake.exists = false;
	sw_write(fake.client, file, 0, "x", 1, true, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), NFS4ERR_BAD_STATEID);
	CU_ASSERT_EQUAL(counters()->reopens_failed, 1);
	getattr();
	sw_close(fake.client, file, on_outcome, fresh());
	CU_ASSERT_TRUE(fake_wait(&fake, &got));
	end();
}

static void test_server_restarted(void)
{
	struct sw_file *file;

	begin(SW_V41, 2, 0);
	file = open_file(SW_WRITE);
	fake_reboot(&fake);
	write_text(file, "again");
	CU_ASSERT_EQUAL(fake.reclaims, 1);
	CU_ASSERT_EQUAL(counters()->reopened, 1);
	CU_ASSERT_EQUAL(counters()->clientids, 1);
	CU_ASSERT_EQUAL(counters()->reconnects, 2);
	close_file(file);
	end();
}

/* A request that was done is not done again: the slot has its reply. */
static void test_reply_lost(void)
{
	begin(SW_V41, 1, 0);
	fake.cut_op = NFS4_OP_CREATE;
	fake.cut_times = 1;
	mkdir_once(NFS4_OP_CREATE);
	CU_ASSERT_EQUAL(fake.replays, 1);
	CU_ASSERT_EQUAL(counters()->resent, 1);
	CU_ASSERT_EQUAL(counters()->reconnects, 1);
	CU_ASSERT_EQUAL(fake.bound, 1);
	/* A getattr's reply is not kept; it is simply asked again. */
	fake.cut_op = NFS4_OP_GETATTR;
	fake.cut_times = 1;
	getattr();
	CU_ASSERT_EQUAL(counters()->bad_slots, 1);
	getattr();
	end();
}

static void test_many_cut(void)
{
	struct outcome many[48] = { 0 };

	begin(SW_V41, 2, 0);
	fake.hold = true;
	for (int i = 0; i < 48; i++)
		sw_getattr(fake.client, &fake_fh, on_outcome, &many[i]);
	fake_run(&fake, 20 * MS);
	CU_ASSERT_EQUAL(fake.most_at_once, 16);
	fake.hold = false;
	fake.refuse_connects = 3;
	fake_cut(&fake);
	for (int i = 0; i < 48; i++) {
		CU_ASSERT_TRUE(fake_wait(&fake, &many[i]));
		CU_ASSERT_EQUAL(many[i].result.status, SW_OK);
		CU_ASSERT_EQUAL(many[i].count, 1);
	}
	CU_ASSERT_EQUAL(counters()->resent, 16);
	CU_ASSERT_EQUAL(counters()->waits, 32);
	end();
}

/* The server takes slots back, and gives them again. */
static void test_target(void)
{
	struct outcome many[16] = { 0 };

	begin(SW_V41, 1, 0);
	fake.target = 1;
	getattr();
	fake.highest_slot = 0;
	fake.hold = true;
	for (int i = 0; i < 16; i++)
		sw_getattr(fake.client, &fake_fh, on_outcome, &many[i]);
	fake_run(&fake, 10 * MS);
	CU_ASSERT_EQUAL(fake.most_at_once, 2);
	fake.target = 7;
	fake_answer(&fake);
	for (int i = 0; i < 16; i++)
		CU_ASSERT_TRUE(fake_wait(&fake, &many[i]));
	CU_ASSERT_EQUAL(fake.highest_slot, 7);
	end();
}

static void test_connection_lost_for_good(void)
{
	begin(SW_V41, 1, 0);
	fake.client->patience = SECOND / 5;
	fake.refuse_connects = UINT32_MAX;
	fake_cut(&fake);
	sw_getattr(fake.client, &fake_fh, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), SW_ERR_LOST);
	CU_ASSERT_TRUE(says("lost the connection"));
	/* Whoever comes later hears the same. */
	sw_getattr(fake.client, &fake_fh, on_outcome, fresh());
	CU_ASSERT_FALSE(got.done);
	CU_ASSERT_EQUAL(status(), SW_ERR_LOST);
	fake_stop(&fake);
}

static void test_lease_kept(void)
{
	fake_start(&fake, SW_V41, 1, 0);
	fake.lease = 1;
	CU_ASSERT_FATAL(sw_mount_wait(fake.client));
	fake_run(&fake, 1200 * MS);
	CU_ASSERT_EQUAL(counters()->renews, 1);
	/* It is by this that an idle client learns of a new server. */
	fake_end_session(&fake);
	fake_run(&fake, 1200 * MS);
	CU_ASSERT_EQUAL(counters()->sessions, 1);
	end();
}

static void test_whole_files(void)
{
	struct sw_target target = { &fake_fh, "file", &fake_fh };
	uint8_t data[3000];

	begin(SW_V41, 1, 0);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7);
	fake.short_io = 700;
	sw_write_file(fake.client, &target, SW_CREATE | SW_TRUNCATE, 0600, data,
		      sizeof(data), on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), SW_OK);
	CU_ASSERT_EQUAL(got.result.count, sizeof(data));
	CU_ASSERT_EQUAL(memcmp(fake.file, data, sizeof(data)), 0);
	/* OPEN, 3 times (700 + 324 or 252) WRITE, COMMIT, CLOSE */
	CU_ASSERT_EQUAL(got.result.rpcs, 9);
	CU_ASSERT_EQUAL(fake.done[NFS4_OP_COMMIT], 1);
	sw_read_file(fake.client, &target, 0, NULL, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), SW_OK);
	CU_ASSERT_EQUAL(got.result.count, sizeof(data));
	CU_ASSERT_EQUAL(fake.done[NFS4_OP_CLOSE], 2);
	end();
}

/* What is in flight ends well, and what waits is lost. */
static void test_unmounted_in_flight(void)
{
	struct outcome many[20] = { 0 };
	struct sw_file *file;

	begin(SW_V41, 1, 0);
	file = open_file(SW_WRITE);
	CU_ASSERT_PTR_NOT_NULL(file);
	fake.hold = true;
	for (int i = 0; i < 20; i++)
		sw_getattr(fake.client, &fake_fh, on_outcome, &many[i]);
	fake_run(&fake, 5 * MS);
	sw_unmount(fake.client, on_outcome, fresh());
	fake_run(&fake, 5 * MS);
	CU_ASSERT_FALSE(got.done);
	fake_answer(&fake);
	CU_ASSERT_EQUAL(status(), SW_OK);
	for (int i = 0; i < 20; i++) {
		CU_ASSERT_EQUAL(many[i].count, 1);
		CU_ASSERT_EQUAL(many[i].result.status,
				i < 16 ? SW_OK : SW_ERR_LOST);
	}
	CU_ASSERT_EQUAL(fake.done[NFS4_OP_CLOSE], 1);
	CU_ASSERT_EQUAL(fake.done[NFS4_OP_DESTROY_CLIENTID], 1);
	/* The file is the caller's still, if it is closed already. */
	close_file(file);
	end();
}

static void test_bad_names(void)
{
	char name[SW_NAME_MAX + 2];

	begin(SW_V41, 1, 0);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	sw_lookup(fake.client, &fake_fh, name, on_outcome, fresh());
	CU_ASSERT_FALSE(got.done);
	CU_ASSERT_EQUAL(status(), SW_ERR_ARGUMENT);
	name[SW_NAME_MAX] = '\0';
	sw_lookup(fake.client, &fake_fh, name, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), SW_OK);
	end();
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "mounted and unmounted", test_life },
		{ "a minor version is refused", test_minor_version_refused },
		{ "DELAY", test_delay },
		{ "GRACE", test_grace },
		{ "DELAY for ever", test_patience },
		{ "BADSESSION, DEADSESSION", test_session_lost },
		{ "SEQ_MISORDERED, BADSLOT", test_misordered },
		{ "the lease expired", test_lease_expired },
		{ "a stateid was revoked", test_stateid_revoked },
		{ "an open file is gone", test_file_gone },
		{ "the server restarted", test_server_restarted },
		{ "a reply was lost", test_reply_lost },
		{ "many requests on lost connections", test_many_cut },
		{ "the target of the highest slot", test_target },
		{ "no connection any more", test_connection_lost_for_good },
		{ "the lease is kept", test_lease_kept },
		{ "whole files, in short pieces", test_whole_files },
		{ "unmounted with requests in flight",
		  test_unmounted_in_flight },
		{ "names that are too long", test_bad_names },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("nfs41", NULL, tests);
}
