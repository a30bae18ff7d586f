// SPDX-License-Identifier: LGPL-3.0-or-later
#include "notify_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <xxhash.h>

#include "FSAL/fsal_localfs.h"
#include "nfs_core.h"

/** For how long an export beside SCALE is thought to be there. */
#define BESIDE_NS (UINT64_C(10) * 1000 * 1000 * 1000)

static struct glist_head watches = GLIST_HEAD_INIT(watches);
static pthread_mutex_t watch_lock = PTHREAD_MUTEX_INITIALIZER;

void notify_watch_lock(void)
{
	PTHREAD_MUTEX_lock(&watch_lock);
}

void notify_watch_unlock(void)
{
	PTHREAD_MUTEX_unlock(&watch_lock);
}

pthread_mutex_t *notify_watch_mutex(void)
{
	return &watch_lock;
}

struct glist_head *notify_watches(void)
{
	return &watches;
}

struct notify_watch *notify_watch_find(const fsal_fsid_t *fsid)
{
	struct glist_head *node;

	glist_for_each(node, &watches) {
		struct notify_watch *watch =
			glist_entry(node, struct notify_watch, node);

		if (watch->fsid.major == fsid->major &&
		    watch->fsid.minor == fsid->minor)
			return watch;
	}
	return NULL;
}

static void set_prefix(struct notify_watch *watch,
		       const struct fsal_filesystem *fs)
{
	struct fsal_fsid__ fsid = fs->fsid;
	int len;

	watch->fsid_type = fs->fsid_type;
	watch->prefix.bytes[0] = (uint8_t)fs->fsid_type;
	len = encode_fsid((char *)watch->prefix.bytes + 1,
			  (int)sizeof(watch->prefix.bytes) - 1, &fsid,
			  fs->fsid_type);
	watch->unlike = len < 0;
	watch->prefix.len = (uint8_t)(1 + MAX(len, 0));
}

static void identify(struct notify_watch *watch,
		     const struct fsal_filesystem *fs)
{
	watch->dev = makedev(fs->dev.major, fs->dev.minor);
	set_prefix(watch, fs);
	watch->gone = false;
}

/*
 * A file system that an export has. Its path is where it was mounted first.
 * What an export that is served has stored of it may be older than its mark.
 */
static void want(const struct fsal_filesystem *fs, bool served)
{
	fsal_fsid_t fsid = { fs->fsid.major, fs->fsid.minor };
	struct notify_watch *watch = notify_watch_find(&fsid);

	if (watch == NULL) {
		watch = gsh_calloc(1, sizeof(*watch));
		watch->fsid = fsid;
		watch->fd = -1;
		watch->path = gsh_strdup(fs->path);
		identify(watch, fs);
		glist_add_tail(&watches, &watch->node);
	}
	if (watch->gone)
		identify(watch, fs);
	if (served && watch->fd < 0)
		watch->tainted = true;
	if (!watch->wanted && strcmp(watch->path, fs->path) != 0) {
		gsh_free(watch->path);
		watch->path = gsh_strdup(fs->path);
	}
	watch->wanted = true;
}

static bool is_below(const char *path, const char *top)
{
	size_t len = strlen(top);

	while (len > 1 && top[len - 1] == '/')
		len--;
	return strncmp(path, top, len) == 0 &&
	       (len == 1 || path[len] == '/' || path[len] == '\0');
}

/*
 * Has the export something of a file system to show? VFS claims the one that
 * holds the directory in which the export's is mounted, too, as soon as
 * Ganesha asks for the parent of the export's root.
 */
static bool shows(const struct scale_export *exp,
		  const struct fsal_filesystem *fs)
{
	const char *path = scale_stats_about(exp->stats).path;
	const struct glist_head *maps = &exp->export.sub_export->filesystems;
	const struct glist_head *node;

	if (!is_below(path, fs->path))
		return true;
	for (node = maps->next; node != maps; node = node->next) {
		const struct fsal_filesystem *other =
			glist_entry(node, struct fsal_filesystem_export_map,
				    on_filesystems)
				->fs;

		if (other->pathlen > fs->pathlen && is_below(path, other->path))
			return false;
	}
	return true;
}

void notify_watch_collect(struct glist_head *exports)
{
	struct glist_head *node, *map_node;

	glist_for_each(node, &watches)
		glist_entry(node, struct notify_watch, node)->wanted = false;
	PTHREAD_RWLOCK_rdlock(&fs_lock);
	glist_for_each(node, exports) {
		struct scale_export *exp =
			glist_entry(node, struct scale_export, notify_node);

		glist_for_each(map_node, &exp->export.sub_export->filesystems) {
			const struct fsal_filesystem *fs =
				glist_entry(map_node,
					    struct fsal_filesystem_export_map,
					    on_filesystems)
					->fs;

			if (shows(exp, fs))
				want(fs, exp->notify_served);
		}
	}
	PTHREAD_RWLOCK_unlock(&fs_lock);
}

static const char *init_error(int error)
{
	switch (error) {
	case EPERM:
		return "the server lacks CAP_SYS_ADMIN, which fanotify needs";
	case EINVAL:
		return "the kernel's fanotify does not tell of names and objects (Linux 5.17 does)";
	case ENOSYS:
		return "the kernel has no fanotify";
	case EMFILE:
		return "there are too many fanotify groups (sysctl fs.fanotify.max_user_groups)";
	default:
		return strerror(error);
	}
}

static const char *mark_error(int error)
{
	switch (error) {
	case EPERM:
		return "the server lacks CAP_SYS_ADMIN, which fanotify needs";
	case EXDEV:
		return "fanotify cannot mark a btrfs subvolume";
	case ENODEV:
		return "its file system has no id";
	case EOPNOTSUPP:
		return "its file system has no handles that fanotify could report";
	case ENOSPC:
		return "there are too many fanotify marks (sysctl fs.fanotify.max_user_marks)";
	default:
		return strerror(error);
	}
}

/* The root of the file system; -1: it is not there, or another one is. */
static int open_root(const struct notify_watch *watch)
{
	int root = open(watch->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (root < 0)
		return -1;
	if (fstat(root, &st) != 0 || st.st_dev != watch->dev) {
		close(root);
		errno = ESTALE;
		return -1;
	}
	return root;
}

static int mark(int group, int root)
{
	return fanotify_mark(group, FAN_MARK_ADD | FAN_MARK_FILESYSTEM,
			     NOTIFY_MASK, root, NULL);
}

/*
 * Is it changed through this kernel only, and by nothing below it? Of what
 * other machines do in a cluster's file system there are no events, nor of what
 * is done to the layers of an overlay.
 */
static bool is_local(int root)
{
	static const unsigned int local[] = {
		EXT4_SUPER_MAGIC,  XFS_SUPER_MAGIC,   BTRFS_SUPER_MAGIC,
		F2FS_SUPER_MAGIC,  TMPFS_MAGIC,	      REISERFS_SUPER_MAGIC,
		NILFS_SUPER_MAGIC, UDF_SUPER_MAGIC,   MSDOS_SUPER_MAGIC,
		EXFAT_SUPER_MAGIC, ISOFS_SUPER_MAGIC, 0x3153464a /* JFS */,
		0x7366746e /* NTFS */
	};
	struct statfs st;

	if (fstatfs(root, &st) != 0)
		return false;
	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
		if ((unsigned int)st.f_type == local[i])
			return true;
	}
	return false;
}

/** @return NULL, or why it cannot be watched. */
static const char *try_watch(struct notify_watch *watch, int epoll)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = watch };
	const char *why = NULL;
	int group, root;

	if (watch->unlike)
		return "its handles are not those that fanotify reports";
	root = open_root(watch);
	if (root < 0)
		return errno == ESTALE ? "it is no longer mounted there" :
					 strerror(errno);
	if (!is_local(root)) {
		close(root);
		return "its file system is not one that is known to be changed by this machine alone";
	}
	group = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK |
				      FAN_REPORT_DFID_NAME_TARGET,
			      O_RDONLY);
	if (group < 0)
		why = init_error(errno);
	else if (mark(group, root) != 0)
		why = mark_error(errno);
	else if (epoll_ctl(epoll, EPOLL_CTL_ADD, group, &event) != 0)
		why = strerror(errno);
	close(root);
	if (why == NULL)
		watch->fd = group;
	else if (group >= 0)
		close(group);
	return why;
}

static void say_not(struct notify_watch *watch, const char *why)
{
	if (strcmp(watch->why_not, why) == 0)
		return;
	(void)snprintf(watch->why_not, sizeof(watch->why_not), "%s", why);
	LogWarn(COMPONENT_FSAL,
		"FSAL SCALE does not watch %s: %s; changes beside this server show when the times to live are over (Attr_TTL and others)",
		watch->path, why);
}

void notify_watch_lose(struct notify_watch *watch, const char *why)
{
	close(watch->fd);
	watch->fd = -1;
	watch->tainted = true;
	watch->lasting = false;
	say_not(watch, why);
}

/* Set again, a mark that is there is as it was. */
static const char *still_watched(const struct notify_watch *watch)
{
	const char *why = NULL;
	int root;

	if (watch->unlike)
		return "its handles are not those that fanotify reports";
	root = open_root(watch);
	if (root < 0)
		return "it is no longer mounted there";
	if (mark(watch->fd, root) != 0)
		why = mark_error(errno);
	close(root);
	return why;
}

static bool has_state(const struct notify_watch *watch)
{
	const char *root = nfs_param.nfsv4_param.recov_root;
	struct stat st;

	return root != NULL && stat(root, &st) == 0 && st.st_dev == watch->dev;
}

/* @return true when everything has to be forgotten. */
static bool update_one(struct notify_watch *watch, int epoll)
{
	const char *why;
	bool forget;

	if (!watch->wanted) {
		if (watch->fd >= 0)
			close(watch->fd);
		watch->fd = -1;
		watch->why_not[0] = '\0';
		watch->tainted = true;
		watch->gone = true;
		return false;
	}
	if (watch->fd >= 0) {
		why = still_watched(watch);
		if (why != NULL)
			notify_watch_lose(watch, why);
		watch->holds_state = has_state(watch);
		return why != NULL;
	}
	why = try_watch(watch, epoll);
	if (why != NULL) {
		/* What was stored while it was watched, before it went. */
		forget = watch->lasting;
		watch->lasting = false;
		watch->tainted = true;
		say_not(watch, why);
		return forget;
	}
	watch->holds_state = has_state(watch);
	watch->why_not[0] = '\0';
	LogEvent(
		COMPONENT_FSAL,
		"FSAL SCALE watches %s: changes beside this server show at once",
		watch->path);
	forget = watch->tainted;
	watch->tainted = false;
	watch->lasting = true;
	return forget;
}

bool notify_watch_update(int epoll)
{
	struct glist_head *node;
	bool forget = false;

	glist_for_each(node, &watches) {
		if (update_one(glist_entry(node, struct notify_watch, node),
			       epoll))
			forget = true;
	}
	return forget;
}

void notify_watch_clear(void)
{
	struct glist_head *node, *next;

	glist_for_each_safe(node, next, &watches) {
		struct notify_watch *watch =
			glist_entry(node, struct notify_watch, node);

		if (watch->fd >= 0)
			close(watch->fd);
		glist_del(&watch->node);
		gsh_free(watch->path);
		gsh_free(watch);
	}
}

uint64_t notify_watch_mounts(const struct glist_head *exports)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	const struct glist_head *node;
	struct mntent *mount, entry;
	char buf[2 * PATH_MAX];
	uint64_t sum = 0;

	if (mounts == NULL)
		return 0;
	while ((mount = getmntent_r(mounts, &entry, buf, sizeof(buf))) !=
	       NULL) {
		for (node = exports->next; node != exports; node = node->next) {
			const struct scale_export *exp = glist_entry(
				node, struct scale_export, notify_node);

			if (is_below(mount->mnt_dir,
				     scale_stats_about(exp->stats).path))
				sum = XXH3_64bits_withSeed(
					mount->mnt_dir, strlen(mount->mnt_dir),
					sum);
		}
	}
	endmntent(mounts);
	return sum;
}

bool notify_watch_beside(struct notify_watch *watch, uint64_t now_ns)
{
	struct fsal_fsid__ fsid = { watch->fsid.major, watch->fsid.minor };
	struct fsal_filesystem *fs;
	struct glist_head *node;

	PTHREAD_RWLOCK_rdlock(&fs_lock);
	fs = lookup_fsid_locked(&fsid, watch->fsid_type);
	if (fs != NULL) {
		glist_for_each(node, &fs->exports) {
			const struct fsal_export *above =
				glist_entry(node,
					    struct fsal_filesystem_export_map,
					    on_exports)
					->exp->super_export;

			if (above == NULL || above->fsal != &SCALE.module) {
				watch->beside_until = now_ns + BESIDE_NS;
				break;
			}
		}
	}
	PTHREAD_RWLOCK_unlock(&fs_lock);
	return now_ns < watch->beside_until;
}
