// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The watcher's thread: reads events, and tells the engine and MDCACHE.
 *
 * What it costs: the server's own changes bring events, too, and would wake the
 * watcher for each request. So after a batch with events of one's own it sleeps
 * for NAP_US before it reads the next one; on a server that changes nothing
 * itself a foreign change is seen at once.
 *
 * Of one batch each object is told of once: everything in it happened before
 * it was read, so what is fetched after the first telling is newer than all.
 * MDCACHE is told when the engine has heard of all of it (notify_notes.h).
 */
#include "notify.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "cache.h"
#include "learn.h"
#include "live.h"
#include "notify_notes.h"
#include "notify_repeat.h"
#include "notify_stats.h"
#include "notify_watch.h"

#define BATCH_BYTES (64 * 1024)
#define NAP_US	    2000

/** How often marks are looked after, with nothing to tell of a reason. */
#define UPDATE_MS 10000

/** How long what was lost is not said again. */
#define QUIET_MS UINT64_C(60000)

/** How long an export that is made waits until it is watched. */
#define JOIN_SECONDS 10

#define MS	     UINT64_C(1000000)

#define TELL_ATTRS   (FSAL_UP_INVALIDATE_ATTRS | FSAL_UP_INVALIDATE_ACL)
#define TELL_NAMES                                 \
	(TELL_ATTRS | FSAL_UP_INVALIDATE_CONTENT | \
	 FSAL_UP_INVALIDATE_DIR_POPULATED | FSAL_UP_INVALIDATE_DIR_CHUNKS)

/* Under the lock of the watches: */
static struct glist_head exports = GLIST_HEAD_INIT(exports);
static uint64_t mounts_sum;
static bool mounts_known;
static uint32_t backend_id;
static uint8_t slot;
static bool started;
static uint64_t updates_asked, updates_done;
static pthread_cond_t updated = PTHREAD_COND_INITIALIZER;

static pthread_t thread;
static int epoll_fd = -1;
static int wake_fd = -1;
static int mounts_fd = -1;
static atomic_bool stopping;

static _Atomic uint64_t counters[SCALE_NOTIFY_COUNT];

/* The watcher's own. */
static struct notify_repeats soon = { .delay_ns = 5 * MS };
static struct notify_repeats later = { .delay_ns = 60 * MS };
static struct notify_notes notes;

static void count(enum scale_notify_counter counter, uint64_t n)
{
	atomic_fetch_add_explicit(&counters[counter], n, memory_order_relaxed);
}

uint64_t scale_notify_counter(enum scale_notify_counter counter)
{
	return atomic_load_explicit(&counters[counter], memory_order_relaxed);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 * MS + (uint64_t)now.tv_nsec;
}

/* --- Telling ------------------------------------------------------------- */

static struct mdx_key engine_key(const struct notify_key *key)
{
	return (struct mdx_key){ key->bytes, key->len, slot };
}

static void tell_noted(void)
{
	struct scale_upcall *up = NULL;

	if (notes.count != 0)
		up = scale_upcall_begin(backend_id);
	for (unsigned int i = 0; up != NULL && i < notes.count; i++) {
		const struct notify_note *note = &notes.items[i];

		scale_upcall_tell(up, note->key.bytes, note->key.len,
				  note->flags);
		scale_upcall_count(up, SCALE_SOURCE_NOTIFY);
		count(SCALE_NOTIFY_TOLD, 1);
		if (!notify_repeat_put(&soon, now_ns(), &note->key,
				       note->flags))
			count(SCALE_NOTIFY_NOT_REPEATED, 1);
	}
	if (up != NULL)
		scale_upcall_end(up);
	notify_notes_clear(&notes);
}

/* @return false when the batch has said it already. */
static bool note(const struct notify_key *key, uint32_t flags)
{
	enum notify_noted noted = notify_note(&notes, key, flags);

	if (noted == NOTIFY_FULL) {
		tell_noted();
		noted = notify_note(&notes, key, flags);
	}
	return noted == NOTIFY_NEW;
}

/* An object's attributes; with TELL_NAMES, those of a directory, of which a
 * name has been told of apart.
 */
static void changed(const struct notify_key *key, uint32_t flags)
{
	uint32_t mask = SCALE_CHANGEABLE;

	if (key->len == 0 || !note(key, flags))
		return;
	if (flags & FSAL_UP_INVALIDATE_PARENT)
		mask |= MDX_PARENT;
	if ((flags & TELL_NAMES) == TELL_ATTRS)
		mask |= MDX_PAGES;
	mdx_invalidate(SCALE.cache, engine_key(key), mask);
}

/* What a handle in the pool keeps open is not freed. */
static void let_go(const struct notify_key *key)
{
	(void)mdx_pool_drop_unused(SCALE.cache, engine_key(key));
}

static void removed(const struct notify_key *key, bool directory)
{
	if (directory) {
		(void)note(key, FSAL_UP_INVALIDATE_CACHE);
		mdx_forget(SCALE.cache, engine_key(key));
	} else {
		changed(key, TELL_ATTRS);
	}
	let_go(key);
}

static void apply(const struct notify_event *event)
{
	bool directory = (event->mask & FAN_ONDIR) != 0;

	if (event->mask & NOTIFY_NAMES) {
		if (event->name_len <= MDX_NAME_MAX)
			mdx_doubt_name(SCALE.cache, engine_key(&event->dir),
				       event->name, event->name_len);
		changed(&event->dir, TELL_NAMES);
	}
	if ((event->mask & FAN_DELETE) && event->object.len != 0)
		removed(&event->object, directory);
	else if (directory && (event->mask & (FAN_MOVED_FROM | FAN_MOVED_TO)))
		changed(&event->object, TELL_ATTRS | FSAL_UP_INVALIDATE_PARENT);
	else if (event->mask & (NOTIFY_NAMES | NOTIFY_OBJECT))
		changed(&event->object, TELL_ATTRS);
	/* This may be all that is said of a file that another one replaced. */
	if ((event->mask & FAN_ATTRIB) && !directory && event->object.len != 0)
		let_go(&event->object);
}

static void tell_live(const void *key, size_t len, int type, void *arg)
{
	struct scale_upcall *up = arg;

	scale_upcall_tell(up, key, len,
			  type == DIRECTORY ? FSAL_UP_INVALIDATE_CACHE :
					      TELL_ATTRS);
	count(SCALE_NOTIFY_TOLD, 1);
}

/* Nothing that is stored can be relied on. */
static void forget_all(void)
{
	struct scale_upcall *up;

	count(SCALE_NOTIFY_FLUSHES, 1);
	mdx_invalidate_backend(SCALE.cache, slot);
	up = scale_upcall_begin(backend_id);
	if (up == NULL)
		return;
	scale_live_each(slot, tell_live, up);
	scale_upcall_end(up);
}

/* --- Reading ------------------------------------------------------------- */

/** What came of a batch. */
struct outcome {
	bool overflow;
	bool unreadable;
	bool own;
};

/* Ganesha makes and removes directories that hold its state of clients, and not
 * by an export.
 */
static bool of_own_state(const struct notify_watch *watch, uint64_t mask)
{
	return watch->holds_state && (mask & FAN_ONDIR) != 0 &&
	       (mask & NOTIFY_NAMES) != 0;
}

static struct outcome apply_batch(struct notify_watch *watch, const char *buf,
				  ssize_t size)
{
	const struct fanotify_event_metadata *meta = (const void *)buf;
	bool all = notify_watch_beside(watch, now_ns());
	struct outcome out = { .overflow = false };
	uint64_t events = 0, own = 0;
	pid_t self = getpid();

	for (; FAN_EVENT_OK(meta, size); meta = FAN_EVENT_NEXT(meta, size)) {
		struct notify_event event;

		events++;
		if (meta->mask & FAN_Q_OVERFLOW) {
			out.overflow = true;
			continue;
		}
		if (meta->pid == self) {
			own++;
			if (!all && !of_own_state(watch, meta->mask))
				continue;
		}
		if (!notify_event_read(meta, &watch->prefix, &event)) {
			count(SCALE_NOTIFY_UNREADABLE, 1);
			out.unreadable = true;
			continue;
		}
		apply(&event);
	}
	tell_noted();
	count(SCALE_NOTIFY_EVENTS, events);
	count(SCALE_NOTIFY_OWN, own);
	out.own = own != 0;
	return out;
}

/* Said now and then, for it may happen many times a second. */
static void missed(struct notify_watch *watch, const char *what)
{
	static uint64_t quiet_until;
	uint64_t now = now_ns();

	forget_all();
	if (now < quiet_until)
		return;
	quiet_until = now + QUIET_MS * MS;
	LogWarn(COMPONENT_FSAL,
		"FSAL SCALE: %s in %s; everything cached over VFS was forgotten (said once in %u s; scalectl stats counts it)",
		what, watch->path, (unsigned int)(QUIET_MS / 1000));
}

/*
 * Tells exports which of their file systems are watched. Under the lock.
 * @return true when one no longer is: what does not expire must be forgotten.
 */
static bool publish(void)
{
	struct glist_head *node;
	bool lost = false;

	glist_for_each(node, &exports) {
		struct scale_export *exp =
			glist_entry(node, struct scale_export, notify_node);
		unsigned int n = atomic_load(&exp->fs_count);

		for (unsigned int i = 0; i < n; i++) {
			const struct notify_watch *watch =
				notify_watch_find(&exp->fs[i].fsid);
			bool now = watch != NULL && watch->fd >= 0;

			if (atomic_exchange(&exp->fs[i].watched, now) && !now)
				lost = true;
		}
	}
	return lost;
}

/* @return true when the watcher should sleep a little. */
static bool read_events(struct notify_watch *watch)
{
	static char buf[BATCH_BYTES] __attribute__((
		aligned(__alignof__(struct fanotify_event_metadata))));
	bool overflow = false, unreadable = false, own = false;
	ssize_t size = 0;

	/* Not for ever, however much there is: others want to be read, too. */
	for (unsigned int i = 0; i < 32; i++) {
		struct outcome out;

		size = read(watch->fd, buf, sizeof(buf));
		if (size <= 0)
			break;
		out = apply_batch(watch, buf, size);
		overflow = overflow || out.overflow;
		unreadable = unreadable || out.unreadable;
		own = own || out.own;
		if (size < BATCH_BYTES / 2)
			break;
	}
	if (size < 0 && errno != EAGAIN && errno != EINTR) {
		notify_watch_lock();
		notify_watch_lose(watch, strerror(errno));
		(void)publish();
		notify_watch_unlock();
		forget_all();
		return false;
	}
	if (overflow) {
		count(SCALE_NOTIFY_OVERFLOWS, 1);
		missed(watch,
		       "more changes beside this server than the kernel keeps for it (sysctl fs.fanotify.max_queued_events)");
	} else if (unreadable) {
		missed(watch,
		       "a change that the kernel did not say what it is of");
	}
	return own;
}

static void repeat_due(void)
{
	struct scale_upcall *up = NULL;
	uint64_t now = now_ns();

	while (notify_repeat_due(&later) <= now ||
	       notify_repeat_due(&soon) <= now) {
		struct notify_repeat item;

		if (up == NULL)
			up = scale_upcall_begin(backend_id);
		if (notify_repeat_due(&later) <= now) {
			item = notify_repeat_take(&later);
		} else {
			item = notify_repeat_take(&soon);
			if (!notify_repeat_put(&later, now, &item.key,
					       item.flags))
				count(SCALE_NOTIFY_NOT_REPEATED, 1);
		}
		if (up == NULL)
			continue;
		scale_upcall_tell(up, item.key.bytes, item.key.len, item.flags);
		count(SCALE_NOTIFY_REPEATED, 1);
	}
	if (up != NULL)
		scale_upcall_end(up);
}

/* --- Keeping watches ----------------------------------------------------- */

static void update(void)
{
	uint64_t asked, sum;
	bool forget;

	notify_watch_lock();
	asked = updates_asked;
	notify_watch_collect(&exports);
	forget = notify_watch_update(epoll_fd);
	forget = publish() || forget;
	sum = notify_watch_mounts(&exports);
	forget = forget || (mounts_known && sum != mounts_sum);
	mounts_sum = sum;
	mounts_known = true;
	notify_watch_unlock();
	/* After the exports know: what is stored from here on has the life that
	 * it should have.
	 */
	if (forget)
		forget_all();
	notify_watch_lock();
	updates_done = asked;
	pthread_cond_broadcast(&updated);
	notify_watch_unlock();
}

static void wake(void)
{
	uint64_t one = 1;

	/* It only fails when it is awake already, or at the end. */
	if (write(wake_fd, &one, sizeof(one)) < 0)
		LogDebug(COMPONENT_FSAL, "the watcher is awake");
}

static int next_timeout(uint64_t next_update)
{
	uint64_t now = now_ns();
	uint64_t due = MIN(notify_repeat_due(&soon), notify_repeat_due(&later));

	due = MIN(due, next_update);
	return due <= now ? 0 : (int)((due - now + MS - 1) / MS);
}

static void *watcher(void *arg)
{
	uint64_t next_update = 0;

	(void)arg;
	SetNameFunction("scale-notify");
	while (!atomic_load(&stopping)) {
		struct epoll_event events[16];
		bool nap = false;
		uint64_t woken;
		int n;

		if (now_ns() >= next_update) {
			update();
			next_update = now_ns() + UPDATE_MS * MS;
		}
		n = epoll_wait(epoll_fd, events, 16, next_timeout(next_update));
		for (int i = 0; i < n; i++) {
			struct notify_watch *watch = events[i].data.ptr;

			if (watch != NULL) {
				nap = read_events(watch) || nap;
				continue;
			}
			/* Woken, or something was mounted or unmounted. */
			if (read(wake_fd, &woken, sizeof(woken)) < 0 &&
			    errno != EAGAIN)
				LogCrit(COMPONENT_FSAL,
					"The watcher's eventfd: %s",
					strerror(errno));
			next_update = 0;
		}
		repeat_due();
		if (nap && !atomic_load(&stopping))
			usleep(NAP_US);
	}
	return NULL;
}

/* Under the lock. */
static int start(void)
{
	struct epoll_event event = { .events = EPOLLIN };
	struct epoll_event mounts = { .events = EPOLLPRI | EPOLLERR };
	sigset_t all, before;
	int rc;

	if (started)
		return 0;
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	mounts_fd = open("/proc/self/mounts", O_RDONLY | O_CLOEXEC);
	if (epoll_fd < 0 || wake_fd < 0 ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wake_fd, &event) != 0)
		return -errno;
	if (mounts_fd < 0 ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, mounts_fd, &mounts) != 0)
		LogWarn(COMPONENT_FSAL,
			"FSAL SCALE is not told of mounts (/proc/self/mounts: %s): one that covers a directory of an export shows when names are asked for again",
			strerror(errno));
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, watcher, NULL);
	if (rc == 0)
		pthread_setname_np(thread, "scale-notify");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	started = rc == 0;
	return -rc;
}

/* --- What others call ---------------------------------------------------- */

void scale_notify_join(struct scale_export *exp)
{
	struct timespec until;
	uint64_t mine;
	int rc;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += JOIN_SECONDS;
	notify_watch_lock();
	backend_id = exp->upcall.backend_id;
	slot = exp->slot;
	rc = start();
	if (rc < 0) {
		LogWarn(COMPONENT_FSAL,
			"FSAL SCALE has no watcher: %s; changes beside this server show when the times to live are over (Attr_TTL and others)",
			strerror(-rc));
		notify_watch_unlock();
		return;
	}
	glist_add_tail(&exports, &exp->notify_node);
	mounts_known = false; /* there is one more to look below */
	mine = ++updates_asked;
	wake();
	while (updates_done < mine && rc == 0)
		rc = pthread_cond_timedwait(&updated, notify_watch_mutex(),
					    &until);
	exp->notify_served = true;
	notify_watch_unlock();
}

void scale_notify_leave(struct scale_export *exp)
{
	if (glist_null(&exp->notify_node))
		return;
	notify_watch_lock();
	glist_del(&exp->notify_node);
	mounts_known = false;
	wake();
	notify_watch_unlock();
}

void scale_notify_learnt(struct scale_export *exp, struct scale_fs *fs,
			 const struct gsh_buffdesc *key)
{
	struct notify_watch *watch;
	bool watched;

	if (glist_null(&exp->notify_node))
		return;
	notify_watch_lock();
	watch = notify_watch_find(&fs->fsid);
	/* The first byte also tells how long the handle's type is. */
	if (watch != NULL && !watch->unlike &&
	    (key->len <= watch->prefix.len ||
	     (((const uint8_t *)key->addr)[0] & 0x3f) !=
		     watch->prefix.bytes[0] ||
	     memcmp((const char *)key->addr + 1, watch->prefix.bytes + 1,
		    watch->prefix.len - 1u) != 0))
		watch->unlike = true;
	watched = watch != NULL && !watch->unlike && watch->fd >= 0;
	atomic_store(&fs->watched, watched);
	if (!watched)
		wake();
	notify_watch_unlock();
}

void scale_notify_each(void (*each)(const struct scale_notify_state *state,
				    void *arg),
		       void *arg)
{
	struct glist_head *node;

	notify_watch_lock();
	glist_for_each(node, notify_watches()) {
		const struct notify_watch *watch =
			glist_entry(node, struct notify_watch, node);
		const struct scale_notify_state state = {
			watch->path, watch->fd >= 0 ? NULL : watch->why_not
		};

		if (watch->wanted)
			each(&state, arg);
	}
	notify_watch_unlock();
}

void scale_notify_stop(void)
{
	if (!started)
		return;
	atomic_store(&stopping, true);
	wake();
	pthread_join(thread, NULL);
	notify_watch_lock();
	notify_watch_clear();
	started = false;
	notify_watch_unlock();
	close(epoll_fd);
	if (mounts_fd >= 0)
		close(mounts_fd);
	/* The eventfd stays: an export may yet leave. */
}
