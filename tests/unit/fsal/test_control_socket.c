// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Where the control socket is bound, and where it is not.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "nfs_init.h"

#include "control.h"
#include "control_client.h"
#include "control_socket.h"
#include "cunit_main.h"

static char root[] = "/tmp/scale-socket-XXXXXX";
static char dir[64];
static char path[128];

/* Open the socket, and close it again. */
static int try_at(const char *at, const char *word)
{
	struct control_socket sock;
	char why[512] = "";
	int rc = control_socket_open(at, 4, &sock, why, sizeof(why));

	if (rc == 0)
		control_socket_close(&sock);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, word));
	return rc;
}

static bool is_there(const char *what)
{
	struct stat st;

	return lstat(what, &st) == 0;
}

/* A socket's file that nobody listens at. */
static void make_stale(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	memcpy(addr.sun_path, path, strlen(path));
	CU_ASSERT_EQUAL(bind(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(fd);
}

static void test_made(void)
{
	struct control_socket sock;
	char why[512];
	struct stat st;
	mode_t mask = umask(0);

	/* As in Ganesha, whose umask is 0. */
	CU_ASSERT_EQUAL_FATAL(
		control_socket_open(path, 4, &sock, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(umask(mask), 0);
	CU_ASSERT_EQUAL(lstat(dir, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode, S_IFDIR | 0700);
	CU_ASSERT_EQUAL(lstat(path, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode, S_IFSOCK | 0600);
	control_socket_close(&sock);
	CU_ASSERT_FALSE(is_there(path));
}

static void test_unsafe_directories(void)
{
	char link[128];
	char at[192];

	CU_ASSERT_EQUAL(chmod(dir, 0701), 0);
	CU_ASSERT_EQUAL(try_at(path, "0701"), -EPERM);
	CU_ASSERT_EQUAL(chmod(dir, 0750), 0);
	CU_ASSERT_EQUAL(try_at(path, "0700"), -EPERM);
	CU_ASSERT_EQUAL(chmod(dir, 0700), 0);
	CU_ASSERT_EQUAL(try_at(path, ""), 0);

	/* Only root can try it. */
	CU_ASSERT_EQUAL_FATAL(geteuid(), 0);
	CU_ASSERT_EQUAL(chown(dir, 65534, 65534), 0);
	CU_ASSERT_EQUAL(try_at(path, "65534"), -EPERM);
	CU_ASSERT_EQUAL(chown(dir, 0, 0), 0);

	snprintf(link, sizeof(link), "%s/link", root);
	snprintf(at, sizeof(at), "%s/control", link);
	CU_ASSERT_EQUAL(symlink(dir, link), 0);
	CU_ASSERT_EQUAL(try_at(at, "symbolic link"), -EPERM);
	CU_ASSERT_FALSE(is_there(path));
	unlink(link);
	close(open(link, O_CREAT | O_WRONLY, 0600));
	CU_ASSERT_EQUAL(try_at(at, "no directory"), -EPERM);
	unlink(link);
}

static void test_impossible_paths(void)
{
	char longer[200] = "/";

	memset(longer + 1, 'x', sizeof(longer) - 2);
	CU_ASSERT_EQUAL(try_at(longer, "too long"), -EINVAL);
	CU_ASSERT_EQUAL(try_at("run/control", "absolute"), -EINVAL);
	CU_ASSERT_EQUAL(try_at("/control", "directory of its own"), -EINVAL);
	CU_ASSERT_EQUAL(try_at("/tmp/", "directory of its own"), -EINVAL);
	CU_ASSERT_EQUAL(try_at("/nonexistent/scale/control",
			       "/nonexistent/scale"),
			-ENOENT);
}

static void test_taken(void)
{
	struct control_socket sock;
	char why[512];

	CU_ASSERT_EQUAL_FATAL(
		control_socket_open(path, 1, &sock, why, sizeof(why)), 0);
	CU_ASSERT_EQUAL(try_at(path, "another server"), -EADDRINUSE);
	/* Nor when its backlog is full. */
	CU_ASSERT_EQUAL(try_at(path, "another server"), -EADDRINUSE);
	CU_ASSERT_EQUAL(try_at(path, "another server"), -EADDRINUSE);
	CU_ASSERT(is_there(path));
	/* The file of another server is not removed. */
	unlink(path);
	make_stale();
	control_socket_close(&sock);
	CU_ASSERT(is_there(path));
	/* A dead server's is replaced. */
	CU_ASSERT_EQUAL(try_at(path, ""), 0);
	CU_ASSERT_FALSE(is_there(path));

	close(open(path, O_CREAT | O_WRONLY, 0600));
	CU_ASSERT_EQUAL(try_at(path, "not a socket"), -EADDRINUSE);
	CU_ASSERT(is_there(path));
	unlink(path);
}

static void test_locked(void)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	CU_ASSERT_EQUAL(flock(fd, LOCK_EX), 0);
	CU_ASSERT_EQUAL(try_at(path, "locked"), -EADDRINUSE);
	close(fd);
	CU_ASSERT_EQUAL(try_at(path, ""), 0);
}

static void test_start_and_stop(void)
{
	json_t *answer;

	scale_control_stop();
	CU_ASSERT_EQUAL(scale_control_start(NULL), 0);
	CU_ASSERT_EQUAL(scale_control_start(""), 0);
	CU_ASSERT_EQUAL(scale_control_start("None"), 0);
	CU_ASSERT_EQUAL(scale_control_start("relative"), -EINVAL);
	make_stale();
	for (unsigned int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(scale_control_start(path), 0);
		CU_ASSERT_EQUAL(scale_control_start(path), 0);
		answer = client_ask(path, STATS);
		CU_ASSERT(json_is_true(json_object_get(answer, "ok")));
		json_decref(answer);
		/* Also while a client is there. */
		int fd = client_connect(path);

		client_send(fd, STATS, 5);
		scale_control_stop();
		CU_ASSERT(client_closed(fd));
		close(fd);
		CU_ASSERT_FALSE(is_there(path));
		CU_ASSERT_PTR_NULL(client_ask(path, STATS));
	}
	scale_control_stop();
}

static int setup(void)
{
	nfs_prereq_init("test", "localhost", NIV_EVENT, "STDERR", false);
	if (mkdtemp(root) == NULL)
		return -1;
	snprintf(dir, sizeof(dir), "%s/dir", root);
	snprintf(path, sizeof(path), "%s/control", dir);
	return 0;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "made", test_made },
		{ "unsafe directories", test_unsafe_directories },
		{ "impossible paths", test_impossible_paths },
		{ "taken", test_taken },
		{ "locked", test_locked },
		{ "start and stop", test_start_and_stop },
		CU_TEST_INFO_NULL,
	};
	int status = cunit_main("control socket", setup, tests);

	if (rmdir(dir) != 0 || rmdir(root) != 0)
		status = EXIT_FAILURE;
	return status;
}
