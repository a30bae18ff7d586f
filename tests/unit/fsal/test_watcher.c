// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * In what order the watcher passes a batch of events on. The kernel's group is
 * a socket here, and what hears of the events is below.
 */
#include "notify.c"

#include <stdio.h>
#include <sys/socket.h>

#include "cunit_main.h"

struct scale_module SCALE;

/** What was called, in order. */
static char heard[64 * 1024];
static size_t heard_len;
static struct scale_upcall up;
static bool watched_when_forgotten;
static struct scale_export served = { .fs_count = 1 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct notify_watch watch = { .path = "/watched",
				     .prefix = { 9, { 3 } } };
static int kernel;

static void hear(const char *what, const void *bytes, size_t len)
{
	int n = snprintf(heard + heard_len, sizeof(heard) - heard_len,
			 "%s %.*s\n", what, (int)len, (const char *)bytes);

	if (n > 0 && (size_t)n < sizeof(heard) - heard_len)
		heard_len += (size_t)n;
}

/* The handle in a key, of which the prefix and the type are 10 bytes. */
#define HANDLE(bytes, len) (const char *)(bytes) + 10, (len)-10

void mdx_doubt_name(struct mdx *c, struct mdx_key dir, const char *name,
		    size_t len)
{
	(void)c;
	(void)dir;
	hear("name", name, len);
}

void mdx_invalidate(struct mdx *c, struct mdx_key key, uint32_t what)
{
	(void)c;
	(void)what;
	hear("changed", HANDLE(key.bytes, key.len));
}

void mdx_forget(struct mdx *c, struct mdx_key key)
{
	(void)c;
	hear("forget", HANDLE(key.bytes, key.len));
}

int mdx_pool_drop_unused(struct mdx *c, struct mdx_key key)
{
	(void)c;
	hear("let go", HANDLE(key.bytes, key.len));
	return 0;
}

void mdx_invalidate_backend(struct mdx *c, uint8_t backend)
{
	(void)c;
	(void)backend;
	watched_when_forgotten = atomic_load(&served.fs[0].watched);
	hear("everything", "", 0);
}

struct scale_upcall *scale_upcall_begin(uint32_t id)
{
	(void)id;
	return &up;
}

void scale_upcall_tell(struct scale_upcall *to, const void *key, size_t len,
		       uint32_t flags)
{
	(void)to;
	(void)flags;
	hear("tell", HANDLE(key, len));
}

void scale_upcall_count(struct scale_upcall *to, enum scale_source source)
{
	(void)to;
	(void)source;
}

void scale_upcall_end(struct scale_upcall *to)
{
	(void)to;
}

void scale_live_each(uint8_t of,
		     void (*each)(const void *key, size_t len, int type,
				  void *arg),
		     void *arg)
{
	(void)of;
	(void)each;
	(void)arg;
}

void notify_watch_lock(void)
{
	pthread_mutex_lock(&lock);
}

void notify_watch_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

pthread_mutex_t *notify_watch_mutex(void)
{
	return &lock;
}

struct glist_head *notify_watches(void)
{
	static GLIST_HEAD(none);

	return &none;
}

struct notify_watch *notify_watch_find(const fsal_fsid_t *fsid)
{
	(void)fsid;
	return &watch;
}

void notify_watch_collect(struct glist_head *all)
{
	(void)all;
}

bool notify_watch_update(int epoll)
{
	(void)epoll;
	return false;
}

void notify_watch_lose(struct notify_watch *lost, const char *why)
{
	(void)why;
	close(lost->fd);
	lost->fd = -1;
}

void notify_watch_clear(void)
{
}

uint64_t notify_watch_mounts(const struct glist_head *all)
{
	(void)all;
	return 0;
}

bool notify_watch_beside(struct notify_watch *of, uint64_t now)
{
	(void)of;
	(void)now;
	return false;
}

/* --- Events -------------------------------------------------------------- */

static char batch[BATCH_BYTES];
static size_t batch_len;

static size_t record(char *at, uint8_t info_type, const char *handle,
		     const char *name)
{
	struct fanotify_event_info_fid fid = { .hdr.info_type = info_type };
	struct file_handle head = {
		.handle_bytes = (unsigned int)strlen(handle), .handle_type = 1
	};
	size_t len = sizeof(fid) + sizeof(head) + strlen(handle);

	memcpy(at + sizeof(fid), &head, sizeof(head));
	memcpy(at + sizeof(fid) + sizeof(head), handle, strlen(handle));
	if (name != NULL) {
		memcpy(at + len, name, strlen(name) + 1);
		len += strlen(name) + 1;
	}
	while (len % 8 != 0)
		at[len++] = '\0';
	fid.hdr.len = (uint16_t)len;
	memcpy(at, &fid, sizeof(fid));
	return len;
}

static void event(uint64_t mask, pid_t pid, const char *dir, const char *name,
		  const char *object)
{
	struct fanotify_event_metadata meta = {
		.vers = FANOTIFY_METADATA_VERSION,
		.metadata_len = sizeof(meta),
		.mask = mask,
		.fd = FAN_NOFD,
		.pid = pid,
	};
	char *at = batch + batch_len;
	size_t len = sizeof(meta);

	len += record(at + len, FAN_EVENT_INFO_TYPE_DFID_NAME, dir, name);
	len += record(at + len, FAN_EVENT_INFO_TYPE_FID, object, NULL);
	meta.event_len = (uint32_t)len;
	memcpy(at, &meta, sizeof(meta));
	batch_len += len;
}

static void pass(void)
{
	heard_len = 0;
	heard[0] = '\0';
	CU_ASSERT_EQUAL(write(kernel, batch, batch_len), (ssize_t)batch_len);
	batch_len = 0;
	(void)read_events(&watch);
}

#define FOREIGN 1 /* nobody's whose test this is */

/* Told of the directory after the first name, MDCACHE could ask for the second
 * one, and hear what was.
 */
static void test_engine_first(void)
{
	event(FAN_CREATE, FOREIGN, "dir", "one", "file1");
	event(FAN_DELETE, FOREIGN, "dir", "two", "file2");
	event(FAN_DELETE | FAN_ONDIR, FOREIGN, "dir", "three", "below");
	event(FAN_MODIFY, FOREIGN, "dir", "one", "file1");
	pass();
	CU_ASSERT_STRING_EQUAL(heard, "name one\nchanged dir\nchanged file1\n"
				      "name two\nchanged file2\nlet go file2\n"
				      "name three\nforget below\nlet go below\n"
				      "tell dir\ntell file1\ntell file2\n"
				      "tell below\n");
	/* In the next batch it is all new. */
	event(FAN_MODIFY, FOREIGN, "dir", "one", "file1");
	pass();
	CU_ASSERT_STRING_EQUAL(heard, "changed file1\ntell file1\n");
	/* It may have been replaced. */
	event(FAN_ATTRIB, FOREIGN, "dir", "one", "file1");
	pass();
	CU_ASSERT_STRING_EQUAL(heard,
			       "changed file1\nlet go file1\ntell file1\n");
}

static void test_own(void)
{
	event(FAN_CREATE, getpid(), "dir", "one", "file1");
	event(FAN_CREATE | FAN_ONDIR, getpid(), "dir", "client", "below");
	pass();
	CU_ASSERT_STRING_EQUAL(heard, "");
	/* Where Ganesha has directories of its own. */
	watch.holds_state = true;
	event(FAN_CREATE, getpid(), "dir", "one", "file1");
	event(FAN_CREATE | FAN_ONDIR, getpid(), "dir", "client", "below");
	event(FAN_ATTRIB | FAN_ONDIR, getpid(), "below", ".", "below");
	pass();
	watch.holds_state = false;
	CU_ASSERT_STRING_EQUAL(heard, "name client\nchanged dir\n"
				      "changed below\ntell dir\ntell below\n");
}

/* More objects than are noted: those of before are told of, and the directory
 * once more for what comes after.
 */
static void test_many(void)
{
	unsigned int dirs = 0, names = 0, last_dir = 0, last_name = 0;
	char name[16], line[32];
	const char *at;

	for (unsigned int i = 0; i < 600; i++) {
		snprintf(name, sizeof(name), "%03u", i);
		event(FAN_CREATE, FOREIGN, name, name, name + 1);
	}
	event(FAN_CREATE, FOREIGN, "000", "last", "last");
	pass();
	(void)snprintf(line, sizeof(line), "tell 000\n");
	for (at = heard; (at = strstr(at, line)) != NULL; at++) {
		dirs++;
		last_dir = (unsigned int)(at - heard);
	}
	for (at = heard; (at = strstr(at, "name ")) != NULL; at++) {
		names++;
		last_name = (unsigned int)(at - heard);
	}
	CU_ASSERT_EQUAL(names, 601);
	CU_ASSERT(dirs >= 1);
	CU_ASSERT(last_dir > last_name);
	CU_ASSERT_EQUAL(notes.count, 0);
}

/* A group that fails: what is stored from then on expires, and only then is
 * forgotten what does not.
 */
static void test_failure(void)
{
	glist_add_tail(&exports, &served.notify_node);
	atomic_store(&served.fs[0].watched, true);
	heard_len = 0;
	close(watch.fd);
	watch.fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	(void)read_events(&watch);
	CU_ASSERT_STRING_EQUAL(heard, "everything \n");
	CU_ASSERT_EQUAL(watch.fd, -1);
	CU_ASSERT(!watched_when_forgotten);
	glist_del(&served.notify_node);
}

static int setup(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) != 0)
		return -1;
	watch.fd = ends[0];
	kernel = ends[1];
	return 0;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "the engine first", test_engine_first },
		{ "own changes", test_own },
		{ "many objects", test_many },
		{ "a group that fails", test_failure },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("watcher", setup, tests);
}
