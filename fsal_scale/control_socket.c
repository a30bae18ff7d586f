// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The control socket's place in the file system.
 *
 * Whoever can connect is told the paths of exports, so that the directory must
 * keep others out. Its mode does: the mode of a socket is no protection
 * everywhere, and between bind(2) and chmod(2) it would be none at all, with
 * the umask of 0 that Ganesha runs with.
 */
#include "control_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* How long another server that starts just now may hold the directory. */
#define LOCK_TRIES    100
#define LOCK_PAUSE_NS 10000000

struct complaint {
	char *text;
	size_t size;
};

__attribute__((format(printf, 3, 4))) static int
complain(struct complaint *why, int rc, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why->text, why->size, fmt, args);
	va_end(args);
	return rc;
}

static int check_directory(const char *dir, const struct stat *st,
			   struct complaint *why)
{
	if (st->st_uid != geteuid())
		return complain(why, -EPERM,
				"the directory %s belongs to user %u, not to "
				"the server's user %u; give it to that user, "
				"or name another one in Control_Socket",
				dir, st->st_uid, geteuid());
	if ((st->st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return complain(why, -EPERM,
				"others may enter the directory %s (mode "
				"%04o); make it 0700, or name another one in "
				"Control_Socket",
				dir, st->st_mode & 07777);
	return 0;
}

/*
 * Open the directory, made if it is missing, and lock it.
 * @return A descriptor, or a negative errno value.
 */
static int open_directory(const char *dir, struct complaint *why)
{
	struct timespec pause = { .tv_nsec = LOCK_PAUSE_NS };
	struct stat st;
	int fd;
	int rc;

	if (mkdir(dir, S_IRWXU) != 0 && errno != EEXIST) {
		rc = -errno;
		return complain(why, rc, "the directory %s cannot be made: %s",
				dir, strerror(-rc));
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		rc = errno == ENOTDIR || errno == ELOOP ? -EPERM : -errno;
		return complain(why, rc,
				rc == -EPERM ?
					"%s is a symbolic link or no directory "
					"(%s); name the directory itself in "
					"Control_Socket" :
					"the directory %s cannot be opened: %s",
				dir, strerror(errno));
	}
	rc = fstat(fd, &st) != 0 ?
		     complain(why, -errno, "%s: %s", dir, strerror(errno)) :
		     check_directory(dir, &st, why);
	for (int i = 0; rc == 0 && flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
		if (i == LOCK_TRIES)
			rc = complain(why, -EADDRINUSE,
				      "another process keeps the directory %s "
				      "locked; end it, or name another one in "
				      "Control_Socket",
				      dir);
		else
			nanosleep(&pause, NULL);
	}
	if (rc == 0)
		return fd;
	close(fd);
	return rc;
}

/* Take away the socket of a server that is dead. */
static int clear_place(const struct sockaddr_un *addr, struct complaint *why)
{
	struct stat st;
	int error = 0;
	int fd;

	if (lstat(addr->sun_path, &st) != 0) {
		if (errno == ENOENT)
			return 0;
		return complain(why, -errno, "%s: %s", addr->sun_path,
				strerror(errno));
	}
	if (!S_ISSOCK(st.st_mode))
		return complain(why, -EADDRINUSE,
				"%s is not a socket; remove it, or name "
				"another place in Control_Socket",
				addr->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return complain(why, -errno, "no socket: %s", strerror(errno));
	if (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) != 0)
		error = errno;
	close(fd);
	/* EAGAIN: it is alive, and busy. */
	if (error != ECONNREFUSED)
		return complain(why, -EADDRINUSE,
				"another server answers at %s; end it, or "
				"name another place in Control_Socket",
				addr->sun_path);
	if (unlink(addr->sun_path) != 0 && errno != ENOENT)
		return complain(why, -errno,
				"the socket %s of a dead server cannot be "
				"removed: %s",
				addr->sun_path, strerror(errno));
	return 0;
}

static int bind_and_listen(const struct sockaddr_un *addr, int backlog,
			   struct control_socket *sock, struct complaint *why)
{
	struct stat st;
	int rc;
	int fd;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return complain(why, -errno, "no socket: %s", strerror(errno));
	/* The mode that bind(2) makes the file with. */
	if (fchmod(fd, S_IRUSR | S_IWUSR) != 0 ||
	    bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) != 0) {
		rc = -errno;
		close(fd);
		return complain(why, rc, "%s cannot be bound: %s",
				addr->sun_path, strerror(-rc));
	}
	if (lstat(addr->sun_path, &st) != 0 || listen(fd, backlog) != 0) {
		rc = -errno;
		unlink(addr->sun_path);
		close(fd);
		return complain(why, rc, "%s cannot be listened at: %s",
				addr->sun_path, strerror(-rc));
	}
	sock->fd = fd;
	sock->dev = st.st_dev;
	sock->ino = st.st_ino;
	memcpy(sock->path, addr->sun_path, sizeof(sock->path));
	return 0;
}

int control_socket_open(const char *path, int backlog,
			struct control_socket *sock, char *text, size_t size)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct complaint why = { .text = text, .size = size };
	char dir[sizeof(addr.sun_path)];
	char *slash;
	int dirfd;
	int rc;

	if (path[0] != '/')
		return complain(&why, -EINVAL,
				"%s is not an absolute path; begin it with /",
				path);
	if (strlen(path) >= sizeof(addr.sun_path))
		return complain(&why, -EINVAL,
				"the path %s is too long for a socket; the "
				"limit is %zu bytes",
				path, sizeof(addr.sun_path) - 1);
	memcpy(addr.sun_path, path, strlen(path));
	memcpy(dir, addr.sun_path, sizeof(dir));
	slash = strrchr(dir, '/');
	if (slash == dir || slash[1] == '\0')
		return complain(&why, -EINVAL,
				"%s does not name a file in a directory of "
				"its own, as /run/ganesha-scale/control does",
				path);
	*slash = '\0';

	dirfd = open_directory(dir, &why);
	if (dirfd < 0)
		return dirfd;
	rc = clear_place(&addr, &why);
	if (rc == 0)
		rc = bind_and_listen(&addr, backlog, sock, &why);
	close(dirfd);
	return rc;
}

void control_socket_close(struct control_socket *sock)
{
	struct stat st;

	if (lstat(sock->path, &st) == 0 && st.st_dev == sock->dev &&
	    st.st_ino == sock->ino)
		unlink(sock->path);
	close(sock->fd);
}

bool control_socket_trusts(int fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0 &&
	       (peer.uid == 0 || peer.uid == geteuid());
}
