// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * What is read from the kernel's events, whole or broken, and what is said
 * twice. That the kernel's events are like these, and VFS's handles like the
 * keys, is tested with both (tests/integration/test_beside.py).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cunit_main.h"
#include "notify_event.h"
#include "notify_notes.h"
#include "notify_repeat.h"

static const struct notify_prefix prefix = { 9, { 3, 1, 2, 3, 4, 5, 6, 7, 8 } };

/** An event under construction. */
static union {
	struct fanotify_event_metadata meta;
	char bytes[1024];
} ev;

static void begin(uint64_t mask)
{
	memset(&ev, 0xee, sizeof(ev));
	ev.meta = (struct fanotify_event_metadata){
		.event_len = sizeof(ev.meta),
		.vers = FANOTIFY_METADATA_VERSION,
		.metadata_len = sizeof(ev.meta),
		.mask = mask,
		.fd = FAN_NOFD,
		.pid = 42,
	};
}

/* The kernel pads a record to 4 bytes, behind the name's 0. */
static void record(uint8_t info_type, int handle_type, const char *handle,
		   const char *name)
{
	struct fanotify_event_info_fid fid = { .hdr.info_type = info_type };
	struct file_handle head = { .handle_bytes =
					    (unsigned int)strlen(handle),
				    .handle_type = handle_type };
	char *at = ev.bytes + ev.meta.event_len;
	size_t len = sizeof(fid) + sizeof(head) + strlen(handle);

	memcpy(at + sizeof(fid), &head, sizeof(head));
	memcpy(at + sizeof(fid) + sizeof(head), handle, strlen(handle));
	if (name != NULL) {
		memcpy(at + len, name, strlen(name) + 1);
		len += strlen(name) + 1;
	}
	while (len % 4 != 0)
		at[len++] = '\0';
	fid.hdr.len = (uint16_t)len;
	memcpy(at, &fid, sizeof(fid));
	ev.meta.event_len += (uint32_t)len;
}

static bool is_key(const struct notify_key *key, const char *bytes, size_t len)
{
	return key->len == len && memcmp(key->bytes, bytes, len) == 0;
}

#define KEY(text) "\x43\1\2\3\4\5\6\7\10\x81" text, 10 + sizeof(text) - 1

static void test_name(void)
{
	struct notify_event e;

	begin(FAN_CREATE | FAN_ONDIR);
	record(FAN_EVENT_INFO_TYPE_DFID_NAME, 0x81, "parent", "new");
	record(FAN_EVENT_INFO_TYPE_FID, 0x81, "child", NULL);
	CU_ASSERT(notify_event_read(&ev.meta, &prefix, &e));
	CU_ASSERT_EQUAL(e.mask, FAN_CREATE | FAN_ONDIR);
	CU_ASSERT_EQUAL(e.pid, 42);
	CU_ASSERT(is_key(&e.dir, KEY("parent")));
	CU_ASSERT(is_key(&e.object, KEY("child")));
	CU_ASSERT_PTR_NOT_NULL_FATAL(e.name);
	CU_ASSERT_EQUAL(e.name_len, 3);
	CU_ASSERT_STRING_EQUAL(e.name, "new");

	/* The child's handle may be missing; not the directory's. */
	begin(FAN_DELETE);
	record(FAN_EVENT_INFO_TYPE_DFID_NAME, 0x81, "parent", "old");
	CU_ASSERT(notify_event_read(&ev.meta, &prefix, &e));
	CU_ASSERT_EQUAL(e.object.len, 0);
	begin(FAN_DELETE);
	record(FAN_EVENT_INFO_TYPE_FID, 0x81, "child", NULL);
	CU_ASSERT(!notify_event_read(&ev.meta, &prefix, &e));
	begin(FAN_MOVED_TO);
	record(FAN_EVENT_INFO_TYPE_DFID, 0x81, "parent", NULL);
	CU_ASSERT(!notify_event_read(&ev.meta, &prefix, &e));
}

static void test_object(void)
{
	struct notify_event e;

	begin(FAN_MODIFY);
	record(FAN_EVENT_INFO_TYPE_DFID_NAME, 0x81, "parent", "f");
	record(FAN_EVENT_INFO_TYPE_FID, 0x81, "child", NULL);
	CU_ASSERT(notify_event_read(&ev.meta, &prefix, &e));
	CU_ASSERT(is_key(&e.object, KEY("child")));
	/* A directory's own: as its name in itself, or without one. */
	begin(FAN_ATTRIB | FAN_ONDIR);
	record(FAN_EVENT_INFO_TYPE_DFID_NAME, 0x81, "self", ".");
	CU_ASSERT(notify_event_read(&ev.meta, &prefix, &e));
	CU_ASSERT(is_key(&e.object, KEY("self")));
	CU_ASSERT_PTR_NULL(e.name);
	begin(FAN_ATTRIB | FAN_ONDIR);
	record(FAN_EVENT_INFO_TYPE_DFID, 0x81, "self", NULL);
	CU_ASSERT(notify_event_read(&ev.meta, &prefix, &e));
	CU_ASSERT(is_key(&e.object, KEY("self")));
	/* Of nothing. */
	begin(FAN_ATTRIB);
	CU_ASSERT(!notify_event_read(&ev.meta, &prefix, &e));
	/* A record that is not known yet is passed over. */
	begin(FAN_ATTRIB);
	record(200, 0x81, "what", "ever");
	record(FAN_EVENT_INFO_TYPE_FID, 0x81, "child", NULL);
	CU_ASSERT(notify_event_read(&ev.meta, &prefix, &e));
	CU_ASSERT(is_key(&e.object, KEY("child")));
}

/* As FSAL VFS writes types of one, two and four bytes. */
static void test_types(void)
{
	struct notify_key key;

	CU_ASSERT(notify_key_make(&prefix, 1, "abc", 3, &key));
	CU_ASSERT(is_key(&key, "\x43\1\2\3\4\5\6\7\10\1abc", 13));
	CU_ASSERT(notify_key_make(&prefix, 0x1234, "abc", 3, &key));
	CU_ASSERT(is_key(&key,
			 "\x83\1\2\3\4\5\6\7\10\x34\x12"
			 "abc",
			 14));
	CU_ASSERT(notify_key_make(&prefix, 0x12345678, "abc", 3, &key));
	CU_ASSERT(is_key(&key,
			 "\xc3\1\2\3\4\5\6\7\10\x78\x56\x34\x12"
			 "abc",
			 16));
	CU_ASSERT(!notify_key_make(&prefix, 1, ev.bytes, 50, &key));
	CU_ASSERT_EQUAL(key.len, 0);
	CU_ASSERT(notify_key_make(&prefix, 1, ev.bytes, 49, &key));
	CU_ASSERT_EQUAL(key.len, NOTIFY_KEY_MAX);
}

/* Whatever is in it, nothing behind the event is read. */
static void test_broken(void)
{
	struct fanotify_event_info_fid fid;
	struct notify_event e;

	begin(FAN_CREATE);
	record(FAN_EVENT_INFO_TYPE_DFID_NAME, 0x81, "parent", "new");
	/* Cut off at each length, in memory of just that size. */
	for (uint32_t len = sizeof(ev.meta); len < ev.meta.event_len; len++) {
		struct fanotify_event_metadata *cut = malloc(len);

		memcpy(cut, &ev, len);
		cut->event_len = len;
		CU_ASSERT(!notify_event_read(cut, &prefix, &e));
		free(cut);
	}
	/* A handle longer than its record, a record longer than the event, one
	 * without a length, a name without an end.
	 */
	begin(FAN_ATTRIB);
	record(FAN_EVENT_INFO_TYPE_FID, 1, "child", NULL);
	((struct file_handle *)(ev.bytes + sizeof(ev.meta) + sizeof(fid)))
		->handle_bytes = 100;
	CU_ASSERT(!notify_event_read(&ev.meta, &prefix, &e));
	begin(FAN_ATTRIB);
	record(FAN_EVENT_INFO_TYPE_FID, 1, "child", NULL);
	((struct fanotify_event_info_fid *)(ev.bytes + sizeof(ev.meta)))
		->hdr.len = 200;
	CU_ASSERT(!notify_event_read(&ev.meta, &prefix, &e));
	((struct fanotify_event_info_fid *)(ev.bytes + sizeof(ev.meta)))
		->hdr.len = 0;
	CU_ASSERT(!notify_event_read(&ev.meta, &prefix, &e));
	begin(FAN_CREATE);
	record(FAN_EVENT_INFO_TYPE_DFID_NAME, 1, "parent", "names");
	memset(ev.bytes + ev.meta.event_len - 4, 'x', 4);
	CU_ASSERT(!notify_event_read(&ev.meta, &prefix, &e));
	/* No handle. */
	begin(FAN_ATTRIB);
	record(FAN_EVENT_INFO_TYPE_FID, 1, "", NULL);
	CU_ASSERT(!notify_event_read(&ev.meta, &prefix, &e));
}

static void test_repeats(void)
{
	static struct notify_repeats q = { .delay_ns = 100 };
	struct notify_key key = { .len = 4 };
	struct notify_repeat item;

	CU_ASSERT_EQUAL(notify_repeat_due(&q), UINT64_MAX);
	CU_ASSERT(notify_repeat_put(&q, 1000, &key, 1));
	CU_ASSERT_EQUAL(notify_repeat_due(&q), 1100);
	/* The same again is one, and due from the last time on. */
	CU_ASSERT(notify_repeat_put(&q, 1050, &key, 2));
	CU_ASSERT_EQUAL(q.count, 1);
	CU_ASSERT_EQUAL(notify_repeat_due(&q), 1150);
	item = notify_repeat_take(&q);
	CU_ASSERT_EQUAL(item.flags, 3);
	CU_ASSERT_EQUAL(item.key.len, 4);
	CU_ASSERT_EQUAL(notify_repeat_due(&q), UINT64_MAX);
	/* Full, and over the end of the ring. */
	for (unsigned int i = 0; i < NOTIFY_REPEATS; i++) {
		memcpy(key.bytes, &i, sizeof(i));
		CU_ASSERT(notify_repeat_put(&q, i, &key, 1));
	}
	key.bytes[3] = 1;
	CU_ASSERT(!notify_repeat_put(&q, 9999, &key, 1));
	for (unsigned int i = 0; i < NOTIFY_REPEATS; i++) {
		unsigned int n;

		item = notify_repeat_take(&q);
		memcpy(&n, item.key.bytes, sizeof(n));
		CU_ASSERT_EQUAL(n, i);
		CU_ASSERT_EQUAL(item.due_ns, i + 100);
	}
	CU_ASSERT_EQUAL(q.count, 0);
}

static void test_notes(void)
{
	static struct notify_notes notes;
	struct notify_key key = { .len = 8 };

	for (int round = 0; round < 2; round++) {
		for (uint64_t i = 0; i < NOTIFY_NOTES; i++) {
			memcpy(key.bytes, &i, sizeof(i));
			CU_ASSERT_EQUAL(notify_note(&notes, &key, 1),
					NOTIFY_NEW);
			CU_ASSERT_EQUAL(notify_note(&notes, &key, 1),
					NOTIFY_SAID);
		}
		/* Full; what is there is still known. */
		CU_ASSERT_EQUAL(notify_note(&notes, &key, 3), NOTIFY_NEW);
		CU_ASSERT_EQUAL(notify_note(&notes, &key, 2), NOTIFY_SAID);
		key.len = 7;
		CU_ASSERT_EQUAL(notify_note(&notes, &key, 1), NOTIFY_FULL);
		key.len = 8;
		CU_ASSERT_EQUAL(notes.count, NOTIFY_NOTES);
		CU_ASSERT_EQUAL(notes.items[NOTIFY_NOTES - 1].flags, 3);
		notify_notes_clear(&notes);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "an event of a name", test_name },
		{ "an event of an object", test_object },
		{ "types of handles", test_types },
		{ "broken events", test_broken },
		{ "repeats", test_repeats },
		{ "notes", test_notes },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("notify", NULL, tests);
}
