/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Files made and changed beside the server.  Paths begin at the directory
 * that files_open() was given.  The program ends with status 2 and a message
 * when one of these fails.
 */
#ifndef FRESHPROBE_FILES_H
#define FRESHPROBE_FILES_H

#include <stdint.h>
#include <sys/stat.h>

void files_open(const char *directory);

void file_mkdir(const char *path);
void file_rmdir(const char *path);

/* A new file of so many bytes. */
void file_create(const char *path, unsigned size);
void file_append(const char *path, unsigned size);
void file_truncate(const char *path, unsigned size);
void file_chmod(const char *path, unsigned mode);

/* Both times, as seconds. */
void file_utimes(const char *path, uint32_t seconds);
void file_unlink(const char *path);
void file_rename(const char *from, const char *to);
void file_link(const char *from, const char *to);

/* 0, or -1 if there is none. */
int file_stat(const char *path, struct stat *found);

/* Names in a directory, "." and ".." included. */
unsigned file_names(const char *path);

/* The directory with everything below. */
void file_remove_tree(const char *path);

#endif
