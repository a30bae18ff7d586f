// SPDX-License-Identifier: LGPL-3.0-or-later
/* NFSv4.0 against a server with faults: owners, seqids, the lease. */
#include "check.h"

static void test_life(void)
{
	begin(SW_V40, 2, 0);
	CU_ASSERT_EQUAL(sw_client_depth(fake.client), 128);
	CU_ASSERT_EQUAL(sw_client_rsize(fake.client), 1024);
	CU_ASSERT_EQUAL(fake.done[NFS4_OP_SETCLIENTID_CONFIRM], 1);
	getattr();
	CU_ASSERT_EQUAL(got.result.rpcs, 1);
	end();
}

/* An owner is confirmed once; the one given back last is used next. */
static void test_owners(void)
{
	struct sw_file *file;
	struct sw_file *other;

	begin(SW_V40, 1, 0);
	for (int i = 0; i < 3; i++)
		close_file(open_file(SW_READ));
	CU_ASSERT_EQUAL(counters()->confirms, 1);
	CU_ASSERT_EQUAL(fake.owners, 1);
	file = open_file(SW_READ);
	other = open_file(SW_WRITE);
	CU_ASSERT_EQUAL(counters()->confirms, 2);
	CU_ASSERT_EQUAL(fake.owners, 2);
	close_file(file);
	close_file(other);
	CU_ASSERT_EQUAL(counters()->bad_seqids, 0);
	end();
}

/* A failed OPEN counts, too, but not every status does. */
static void test_failed_open(void)
{
	struct sw_target target = { &fake_fh, "file", NULL };

	begin(SW_V40, 1, 0);
	close_file(open_file(SW_READ));
	fake.exists = false;
	sw_open(fake.client, &target, SW_READ, 0, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), NFS4ERR_NOENT);
	CU_ASSERT_PTR_NULL(got.result.file);
	close_file(open_file(SW_WRITE | SW_CREATE));
	/* PUTFH fails: the OPEN is not got to. */
	fail(NFS4_OP_PUTFH, NFS4ERR_STALE, 1);
	sw_open(fake.client, &target, SW_READ, 0, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), NFS4ERR_STALE);
	close_file(open_file(SW_READ));
	fail(NFS4_OP_OPEN, NFS4ERR_RESOURCE, 1);
	sw_open(fake.client, &target, SW_READ, 0, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), NFS4ERR_RESOURCE);
	close_file(open_file(SW_READ));
	CU_ASSERT_EQUAL(counters()->bad_seqids, 0);
	CU_ASSERT_EQUAL(fake.owners, 1);
	end();
}

static void test_bad_seqid(void)
{
	begin(SW_V40, 1, 0);
	close_file(open_file(SW_READ));
	fake.owner[0].seqid += 5;
	close_file(open_file(SW_READ));
	CU_ASSERT_EQUAL(counters()->bad_seqids, 1);
	CU_ASSERT_EQUAL(fake.owners, 2);
	end();
}

static void test_delay_and_grace(void)
{
	begin(SW_V40, 1, 0);
	fail(NFS4_OP_READ, NFS4ERR_DELAY, 2);
	sw_read_file(fake.client, &(struct sw_target){ &fake_fh, "file", NULL },
		     0, NULL, on_outcome, fresh());
	CU_ASSERT_EQUAL(status(), SW_OK);
	CU_ASSERT_EQUAL(got.result.count, 5);
	CU_ASSERT_EQUAL(counters()->delays, 2);
	fake.grace = true;
	sw_read_file(fake.client, &(struct sw_target){ &fake_fh, "file", NULL },
		     0, NULL, on_outcome, fresh());
	fake_run(&fake, 100 * MS);
	CU_ASSERT_FALSE(got.done);
	fake.grace = false;
	CU_ASSERT_EQUAL(status(), SW_OK);
	CU_ASSERT_TRUE(counters()->graces >= 3);
	end();
}

static void test_server_restarted(void)
{
	struct sw_file *file;

	begin(SW_V40, 1, 0);
	file = open_file(SW_WRITE);
	fake_reboot(&fake);
	write_text(file, "again");
	CU_ASSERT_EQUAL(counters()->clientids, 1);
	CU_ASSERT_EQUAL(counters()->reopened, 1);
	CU_ASSERT_EQUAL(fake.reclaims, 1);
	fake.grace = false;
	close_file(file);
	close_file(open_file(SW_READ));
	end();
}

/* The server has forgotten the lease, and is in no grace. */
static void test_lease_expired(void)
{
	struct sw_file *file;

	begin(SW_V40, 1, 0);
	file = open_file(SW_WRITE);
	fake_expire(&fake);
	write_text(file, "expired");
	CU_ASSERT_EQUAL(counters()->clientids, 1);
	CU_ASSERT_EQUAL(counters()->reopened, 1);
	CU_ASSERT_EQUAL(fake.reclaims, 0);
	close_file(file);
	/* And while nothing is open: an OPEN is what learns of it. */
	fake_expire(&fake);
	close_file(open_file(SW_READ));
	CU_ASSERT_EQUAL(counters()->clientids, 2);
	end();
}

static void test_close_of_lost_state(void)
{
	struct sw_file *file;

	begin(SW_V40, 1, 0);
	file = open_file(SW_WRITE);
	fake_expire(&fake);
	close_file(file);
	getattr();
	end();
}

static void test_renew(void)
{
	fake_start(&fake, SW_V40, 1, 0);
	fake.lease = 1;
	CU_ASSERT_FATAL(sw_mount_wait(fake.client));
	fake_run(&fake, 1200 * MS);
	CU_ASSERT_EQUAL(fake.done[NFS4_OP_RENEW], 1);
	CU_ASSERT_EQUAL(counters()->renews, 1);
	fake_expire(&fake);
	fake_run(&fake, 1200 * MS);
	CU_ASSERT_EQUAL(counters()->clientids, 1);
	getattr();
	end();
}

/* The reply to each request that counts is lost, and is got by asking again. */
static void test_replies_lost(void)
{
	static const uint32_t operations[] = { NFS4_OP_OPEN,
					       NFS4_OP_OPEN_CONFIRM,
					       NFS4_OP_WRITE, NFS4_OP_CLOSE };

	for (size_t i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
		struct sw_file *file;

		begin(SW_V40, 1, 0);
		fake.cut_op = operations[i];
		fake.cut_times = 1;
		file = open_file(SW_WRITE);
		write_text(file, "once");
		close_file(file);
		CU_ASSERT_EQUAL(fake.replays, 1);
		CU_ASSERT_EQUAL(fake.done[operations[i]], 1);
		CU_ASSERT_EQUAL(counters()->bad_seqids, 0);
		CU_ASSERT_EQUAL(counters()->resent, 1);
		end();
	}
}

static void test_version_refused(void)
{
	fake_start(&fake, SW_V40, 1, 0);
	fake.accept_stat = PROG_MISMATCH;
	CU_ASSERT_FALSE(sw_mount_wait(fake.client));
	CU_ASSERT_TRUE(says("127.0.0.1 port 2049 does not serve NFSv4.0"));
	CU_ASSERT_TRUE(says("versions 3 to 3"));
	CU_ASSERT_TRUE(says("--version"));
	fake_stop(&fake);
}

static void test_export_refused(void)
{
	fake_start(&fake, SW_V40, 1, 0);
	fail(NFS4_OP_LOOKUP, NFS4ERR_NOENT, 1);
	CU_ASSERT_FALSE(sw_mount_wait(fake.client));
	CU_ASSERT_TRUE(says("the export /export: NFS4ERR_NOENT"));
	CU_ASSERT_TRUE(says("pseudo path"));
	fake_stop(&fake);
	fake_start(&fake, SW_V40, 1, 0);
	fail(NFS4_OP_LOOKUP, NFS4ERR_WRONGSEC, 1);
	CU_ASSERT_FALSE(sw_mount_wait(fake.client));
	CU_ASSERT_TRUE(says("sec=sys"));
	fake_stop(&fake);
}

/* The longest path that is taken fits into a request. */
static void test_long_export(void)
{
	static char path[1025];
	char *old;

	fake_start(&fake, SW_V40, 1, 0);
	memset(path, 'n', sizeof(path) - 1);
	for (int i = 0; i < 40; i++)
		path[i * 25] = '/';
	old = fake.client->export;
	fake.client->export = path;
	CU_ASSERT_TRUE(sw_mount_wait(fake.client));
	CU_ASSERT_EQUAL(fake.done[NFS4_OP_LOOKUP], 40);
	fake.client->export = old;
	end();
}

static void test_no_server(void)
{
	fake_start(&fake, SW_V40, 1, 0);
	fake.refuse_connects = 1;
	CU_ASSERT_FALSE(sw_mount_wait(fake.client));
	CU_ASSERT_TRUE(says("cannot connect to 127.0.0.1 port 2049"));
	CU_ASSERT_TRUE(says("Connection refused"));
	fake_stop(&fake);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "mounted and unmounted", test_life },
		{ "owners", test_owners },
		{ "failed opens", test_failed_open },
		{ "BAD_SEQID", test_bad_seqid },
		{ "DELAY, GRACE", test_delay_and_grace },
		{ "the server restarted", test_server_restarted },
		{ "the lease expired", test_lease_expired },
		{ "a close of lost state", test_close_of_lost_state },
		{ "RENEW", test_renew },
		{ "lost replies", test_replies_lost },
		{ "a version is refused", test_version_refused },
		{ "an export is refused", test_export_refused },
		{ "a long export", test_long_export },
		{ "no server", test_no_server },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("nfs40", NULL, tests);
}
