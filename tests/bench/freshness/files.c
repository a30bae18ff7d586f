/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"
#include "nfsload.h"

enum {
	MOST_WRITTEN = 4096
};

static int top = -1;
static const char *top_path;

static void must(int result, const char *what, const char *path)
{
	if (result < 0)
		err(2, "%s %s/%s", what, top_path, path);
}

void files_open(const char *directory)
{
	top_path = directory;
	top = open(directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	must(top, "opening", "");
}

void file_mkdir(const char *path)
{
	must(mkdirat(top, path, 0755), "making the directory", path);
}

void file_rmdir(const char *path)
{
	must(unlinkat(top, path, AT_REMOVEDIR), "removing the directory", path);
}

static void write_to(const char *path, int flags, unsigned size)
{
	static const char bytes[MOST_WRITTEN];
	int fd = openat(top, path, O_WRONLY | O_CLOEXEC | flags, 0640);

	must(fd, "opening", path);
	if (size && write(fd, bytes, size) != (ssize_t)size)
		err(2, "writing %s/%s", top_path, path);
	/* Where a client holds data back, it is sent now. */
	must(close(fd), "closing", path);
}

void file_create(const char *path, unsigned size)
{
	write_to(path, O_CREAT | O_EXCL, size);
}

void file_append(const char *path, unsigned size)
{
	write_to(path, O_APPEND, size);
}

void file_truncate(const char *path, unsigned size)
{
	int fd = openat(top, path, O_WRONLY | O_CLOEXEC);

	must(fd, "opening", path);
	must(ftruncate(fd, size), "truncating", path);
	must(close(fd), "closing", path);
}

void file_chmod(const char *path, unsigned mode)
{
	must(fchmodat(top, path, mode, 0), "changing the mode of", path);
}

void file_utimes(const char *path, uint32_t seconds)
{
	struct timespec times[2] = { { .tv_sec = seconds },
				     { .tv_sec = seconds } };

	must(utimensat(top, path, times, 0), "changing the times of", path);
}

void file_unlink(const char *path)
{
	must(unlinkat(top, path, 0), "removing", path);
}

void file_rename(const char *from, const char *to)
{
	must(renameat(top, from, top, to), "renaming", from);
}

void file_link(const char *from, const char *to)
{
	must(linkat(top, from, top, to, 0), "linking", from);
}

int file_stat(const char *path, struct stat *found)
{
	int result = fstatat(top, path, found, AT_SYMLINK_NOFOLLOW);

	if (result < 0 && errno != ENOENT)
		err(2, "looking at %s/%s", top_path, path);
	return result;
}

static DIR *open_directory(const char *path)
{
	int fd = openat(top, path, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	DIR *directory;

	must(fd, "opening", path);
	directory = fdopendir(fd);
	if (!directory)
		err(2, "opening %s/%s", top_path, path);
	return directory;
}

unsigned file_names(const char *path)
{
	DIR *directory = open_directory(path);
	unsigned count = 0;

	while (readdir(directory))
		count++;
	closedir(directory);
	return count;
}

void file_remove_tree(const char *path)
{
	DIR *directory = open_directory(path);
	struct dirent *entry;
	char below[NAME_SIZE];

	while ((entry = readdir(directory))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (snprintf(below, sizeof(below), "%s/%s", path,
			     entry->d_name) >= (int)sizeof(below))
			errx(2, "a path below %s is too long", path);
		if (unlinkat(top, below, 0) == 0)
			continue;
		if (errno != EISDIR)
			must(-1, "removing", below);
		file_remove_tree(below);
	}
	closedir(directory);
	file_rmdir(path);
}
