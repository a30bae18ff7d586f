// SPDX-License-Identifier: LGPL-3.0-or-later
/* The client's small parts: slots, owners, the loop, XDR in place. */
#include "cunit_main.h"
#include "impl.h"
#include "protocol.h"

/* ---- slots ---- */

static struct slots slots;

static void test_slots(void)
{
	slots_init(&slots, 3);
	CU_ASSERT_EQUAL(slots_highest(&slots), 0);
	for (int i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(slots_take(&slots), i);
	CU_ASSERT_EQUAL(slots_take(&slots), -1);
	CU_ASSERT_EQUAL(slots_highest(&slots), 2);
	CU_ASSERT_EQUAL(slots.busy, 3);
	/* The lowest free one, and its next sequence id. */
	CU_ASSERT_EQUAL(slots.sequence[1], 1);
	slots_release(&slots, 1, true);
	CU_ASSERT_EQUAL(slots.sequence[1], 2);
	slots_release(&slots, 0, false);
	CU_ASSERT_EQUAL(slots.sequence[0], 1);
	CU_ASSERT_EQUAL(slots_take(&slots), 0);
	slots_release(&slots, 2, true);
	CU_ASSERT_EQUAL(slots_highest(&slots), 0);
}

static void test_slots_many(void)
{
	slots_init(&slots, UINT32_MAX);
	CU_ASSERT_EQUAL(slots.granted, SLOTS_MAX);
	for (int i = 0; i < SLOTS_MAX; i++)
		CU_ASSERT_EQUAL(slots_take(&slots), i);
	CU_ASSERT_EQUAL(slots_take(&slots), -1);
	CU_ASSERT_EQUAL(slots_highest(&slots), SLOTS_MAX - 1);
	slots_release(&slots, 700, true);
	CU_ASSERT_EQUAL(slots_take(&slots), 700);
	slots_init(&slots, 0);
	CU_ASSERT_EQUAL(slots_take(&slots), 0);
	CU_ASSERT_EQUAL(slots_take(&slots), -1);
}

static void test_slots_target(void)
{
	slots_init(&slots, 100);
	slots_target(&slots, 64);
	CU_ASSERT_EQUAL(slots.usable, 65);
	for (int i = 0; i < 65; i++)
		CU_ASSERT_EQUAL(slots_take(&slots), i);
	CU_ASSERT_EQUAL(slots_take(&slots), -1);
	slots_target(&slots, UINT32_MAX);
	CU_ASSERT_EQUAL(slots_take(&slots), 65);
	/* Those above a lower target end, and are not taken again. */
	slots_target(&slots, 0);
	slots_release(&slots, 65, true);
	slots_release(&slots, 3, true);
	CU_ASSERT_EQUAL(slots_take(&slots), -1);
	slots_release(&slots, 0, true);
	CU_ASSERT_EQUAL(slots_take(&slots), 0);
}

/* ---- owners ---- */

static void test_owners(void)
{
	struct owners owners = { 0 };
	struct owner *one = owners_take(&owners);
	struct owner *two = owners_take(&owners);
	uint64_t name = one->id;

	CU_ASSERT_NOT_EQUAL(one->id, two->id);
	CU_ASSERT_EQUAL(owner_seqid(one, 1), 0);
	owner_answered(one, NFS4_OK, true);
	CU_ASSERT_EQUAL(owner_seqid(one, 1), 1);
	owner_answered(one, NFS4ERR_NOENT, true);
	CU_ASSERT_EQUAL(owner_seqid(one, 1), 2);
	owner_answered(one, NFS4ERR_STALE, false);
	owner_answered(one, NFS4ERR_BAD_SEQID, true);
	owner_answered(one, NFS4ERR_STALE_CLIENTID, true);
	CU_ASSERT_EQUAL(owner_seqid(one, 1), 2);
	/* Another client id's owners begin anew. */
	CU_ASSERT_EQUAL(owner_seqid(one, 2), 0);
	owners_give(&owners, two);
	owners_give(&owners, one);
	CU_ASSERT_PTR_EQUAL(owners_take(&owners), one);
	owners_retire(&owners, one);
	CU_ASSERT_PTR_EQUAL(owners_take(&owners), one);
	CU_ASSERT_NOT_EQUAL(one->id, name);
	CU_ASSERT_NOT_EQUAL(one->id, two->id);
	owners_free(&owners);
}

/* ---- XDR ---- */

static void test_wire(void)
{
	uint64_t room[16];
	struct wire w;
	uint32_t length;
	struct sw_fh fh = { 3, "abc" };
	struct sw_fh back;
	uint8_t *end;

	memset(room, 0xff, sizeof(room));
	wire_encode(&w, room, sizeof(room));
	put_u32(&w, 0x01020304);
	put_u64(&w, UINT64_C(0x1122334455667788));
	put_string(&w, "hello");
	put_fh(&w, &fh);
	put_opaque(&w, NULL, 0);
	CU_ASSERT_FALSE(w.bad);
	end = wire_at(&w);
	CU_ASSERT_EQUAL(end - (uint8_t *)room, 4 + 8 + 12 + 8 + 4);
	CU_ASSERT_EQUAL(memcmp(room,
			       "\1\2\3\4\x11\x22\x33\x44\x55\x66\x77\x88"
			       "\0\0\0\5hello\0\0\0\0\0\0\3abc\0",
			       32),
			0);
	wire_decode(&w, room, (uint32_t)(end - (uint8_t *)room));
	CU_ASSERT_EQUAL(get_u32(&w), 0x01020304);
	CU_ASSERT_EQUAL(get_u64(&w), UINT64_C(0x1122334455667788));
	CU_ASSERT_EQUAL(memcmp(get_opaque(&w, &length), "hello", 5), 0);
	CU_ASSERT_EQUAL(length, 5);
	get_fh(&w, &back);
	CU_ASSERT_EQUAL(back.length, 3);
	skip_opaque(&w);
	CU_ASSERT_FALSE(w.bad);
	CU_ASSERT_EQUAL(get_u32(&w), 0);
	CU_ASSERT_TRUE(w.bad);
}

/* Lengths that a broken server could send. */
static void test_wire_hostile(void)
{
	uint64_t room[32] = { 0 };
	struct wire w;
	uint32_t length;
	struct sw_fh fh;

	for (uint32_t i = 0; i < 4; i++) {
		wire_encode(&w, room, sizeof(room));
		put_u32(&w, UINT32_MAX - i);
		wire_decode(&w, room, sizeof(room));
		CU_ASSERT_PTR_NULL(get_opaque(&w, &length));
		CU_ASSERT_EQUAL(length, 0);
		CU_ASSERT_TRUE(w.bad);
	}
	wire_encode(&w, room, sizeof(room));
	put_u32(&w, SW_FH_MAX + 1);
	wire_decode(&w, room, sizeof(room));
	get_fh(&w, &fh);
	CU_ASSERT_TRUE(w.bad);
	CU_ASSERT_EQUAL(fh.length, 0);
	wire_encode(&w, room, 8);
	put_u64(&w, 1);
	CU_ASSERT_FALSE(w.bad);
	put_u32(&w, 1);
	CU_ASSERT_TRUE(w.bad);
}

/* ---- the loop ---- */

static int fired[8];
static int fires;

static void note(void *arg)
{
	fired[fires++] = (int)(intptr_t)arg;
}

static void test_timers(void)
{
	struct sw_loop *loop = sw_loop_new();
	struct sw_timer timer[5] = { 0 };
	uint64_t now = sw_now();
	static const int order[] = { 3, 1, 4, 0, 2 };

	fires = 0;
	for (int i = 0; i < 5; i++) {
		timer[i].fire = note;
		timer[i].arg = (void *)(intptr_t)i;
		sw_timer_set(loop, &timer[i],
			     now + (uint64_t)(order[i] + 1) * MS);
	}
	sw_timer_cancel(loop, &timer[1]); /* of 1: the second */
	sw_timer_set(loop, &timer[3], now + 9 * MS);
	sw_timer_cancel(loop, &timer[1]);
	while (sw_now() < now + 20 * MS)
		CU_ASSERT_EQUAL(sw_loop_turn(loop, now + 20 * MS), 0);
	CU_ASSERT_EQUAL(fires, 4);
	CU_ASSERT_EQUAL(fired[0], 4);
	CU_ASSERT_EQUAL(fired[1], 0);
	CU_ASSERT_EQUAL(fired[2], 2);
	CU_ASSERT_EQUAL(fired[3], 3);
	CU_ASSERT_TRUE(sw_loop_idle(loop) > 10 * MS);
	sw_loop_free(loop);
}

static struct sw_loop *task_loop;
static struct sw_task tasks[3];

static void note_and_set(void *arg)
{
	note(arg);
	sw_task_set(task_loop, &tasks[0]);
	sw_task_cancel(task_loop, &tasks[2]);
}

static void test_tasks(void)
{
	task_loop = sw_loop_new();
	fires = 0;
	for (int i = 0; i < 3; i++)
		tasks[i] = (struct sw_task){ .run = note,
					     .arg = (void *)(intptr_t)i };
	tasks[1].run = note_and_set;
	for (int i = 0; i < 3; i++)
		sw_task_set(task_loop, &tasks[i]);
	sw_task_set(task_loop, &tasks[0]);
	sw_loop_turn(task_loop, UINT64_MAX);
	CU_ASSERT_EQUAL(fires, 2);
	/* What a task sets is for the next turn, which does not wait. */
	sw_loop_turn(task_loop, UINT64_MAX);
	CU_ASSERT_EQUAL(fires, 3);
	CU_ASSERT_EQUAL(fired[2], 0);
	sw_loop_free(task_loop);
}

/* ---- names ---- */

static void test_names(void)
{
	enum sw_version version;

	CU_ASSERT_TRUE(sw_version_parse("4", &version));
	CU_ASSERT_EQUAL(version, SW_V40);
	CU_ASSERT_TRUE(sw_version_parse("4.1", &version));
	CU_ASSERT_EQUAL(version, SW_V41);
	CU_ASSERT_FALSE(sw_version_parse("4.2", &version));
	CU_ASSERT_STRING_EQUAL(sw_version_name(SW_V3), "3");
	CU_ASSERT_STRING_EQUAL(sw_status_name(SW_V3, 10008), "NFS3ERR_JUKEBOX");
	CU_ASSERT_STRING_EQUAL(sw_status_name(SW_V41, 10008), "NFS4ERR_DELAY");
	CU_ASSERT_STRING_EQUAL(sw_status_name(SW_V40, SW_ERR_LOST),
			       "SW_ERR_LOST");
	CU_ASSERT_STRING_EQUAL(sw_status_name(SW_V3, 4711), "status 4711");
	CU_ASSERT_STRING_EQUAL(sw_status_name(SW_V3, 0), "OK");
}

static void test_settings(void)
{
	struct sw_settings settings = { .host = "127.0.0.1",
					.export = "export",
					.version = SW_V3 };
	struct sw_loop *loop = sw_loop_new();
	char error[256] = "";
	char path[1100];

	CU_ASSERT_PTR_NULL(
		sw_client_new(loop, &settings, error, sizeof(error)));
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "\"export\""));
	settings.export = "/export";
	settings.host = "";
	CU_ASSERT_PTR_NULL(
		sw_client_new(loop, &settings, error, sizeof(error)));
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "host"));
	settings.host = "127.0.0.1";
	memset(path, '/', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	settings.export = path;
	CU_ASSERT_PTR_NULL(
		sw_client_new(loop, &settings, error, sizeof(error)));
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "too long"));
	for (int i = 0; i < 41; i++)
		memcpy(path + 2 * i, "/d", 3);
	CU_ASSERT_PTR_NULL(
		sw_client_new(loop, &settings, error, sizeof(error)));
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "40 names"));
	settings.export = "/export";
	settings.connections = 257;
	CU_ASSERT_PTR_NULL(
		sw_client_new(loop, &settings, error, sizeof(error)));
	CU_ASSERT_PTR_NOT_NULL(strstr(error, "at most 256"));
	sw_loop_free(loop);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "slots", test_slots },
		{ "as many slots as there can be", test_slots_many },
		{ "slots' target", test_slots_target },
		{ "owners", test_owners },
		{ "XDR", test_wire },
		{ "XDR with lengths that cannot be", test_wire_hostile },
		{ "timers", test_timers },
		{ "tasks", test_tasks },
		{ "names of versions and statuses", test_names },
		{ "settings that cannot be", test_settings },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("parts", NULL, tests);
}
