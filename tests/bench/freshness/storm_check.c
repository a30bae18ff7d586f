/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <err.h>
#include <sys/stat.h>
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>

#include "files.h"
#include "storm.h"

static void listing(const struct storm_directory *d, unsigned *all)
{
	unsigned named;

	if (ask_listing(&d->fh, "", &named, all) != NFS3_OK)
		*all = 0;
}

static nfsstat3 look(const struct storm_directory *d, char sort,
		     unsigned number, struct fh *found)
{
	struct storm_path path = storm_path(d, sort, number);

	return ask_lookup(&d->fh, path.text + path.name, found);
}

void storm_find(struct storm_directory *d, const struct fh *root)
{
	unsigned all;

	if (ask_lookup(root, d->path, &d->fh) != NFS3_OK)
		errx(2, "%s is not there", d->path);
	listing(d, &all);
	for (unsigned i = 0; i < STORM_FILES; i++) {
		struct fattr3 a;
		nfsstat3 status = look(d, 'f', i, &d->files[i]);

		if (status == NFS3_OK)
			status = ask_getattr(&d->files[i], &a);
		if (status != NFS3_OK)
			errx(2,
			     "file %u of %s was made, and the server says %s",
			     i, d->path, nfsstat3_to_str((int)status));
	}
	for (unsigned i = 0; i < STORM_NAMES; i++)
		look(d, 'n', i, NULL);
	for (unsigned i = 0; i < STORM_MOVED; i++) {
		look(d, 'a', i, NULL);
		look(d, 'b', i, NULL);
	}
}

void storm_ask(const struct storm_directory *d, uint64_t random)
{
	unsigned number = (unsigned)(random >> 16), all;
	struct fattr3 a;

	/* A listing asks the backend for all that has changed in it. */
	if (random % 200 == 0) {
		listing(d, &all);
		return;
	}
	switch (random % 20) {
	case 0:
	case 1:
	case 2:
		look(d, 'a', number % STORM_MOVED, NULL);
		break;
	case 3:
	case 4:
		look(d, 'b', number % STORM_MOVED, NULL);
		break;
	case 5:
	case 6:
	case 7:
		look(d, 'n', number % STORM_NAMES, NULL);
		break;
	default:
		ask_getattr(&d->files[number % STORM_FILES], &a);
	}
}

static bool right_attributes(const struct fh *file, const struct stat *s)
{
	struct fattr3 a;

	return ask_getattr(file, &a) == NFS3_OK &&
	       a.size == (size3)s->st_size &&
	       (a.mode & 07777) == (s->st_mode & 07777) &&
	       a.mtime.seconds == (unsigned)s->st_mtim.tv_sec &&
	       a.mtime.nseconds == (unsigned)s->st_mtim.tv_nsec;
}

static bool right_name(const struct storm_directory *d,
		       const struct storm_path *path)
{
	struct fattr3 a;
	struct stat s;
	struct fh found;
	bool there = file_stat(path->text, &s) == 0;
	nfsstat3 status = ask_lookup(&d->fh, path->text + path->name, &found);

	if (!there)
		return status == NFS3ERR_NOENT;
	return status == NFS3_OK && ask_getattr(&found, &a) == NFS3_OK &&
	       a.fileid == s.st_ino;
}

static void check_names(const struct storm_directory *d, char sort,
			unsigned count, struct storm_result *result)
{
	for (unsigned i = 0; i < count; i++) {
		struct storm_path path = storm_path(d, sort, i);

		result->checked++;
		result->names += !right_name(d, &path);
	}
}

void storm_check(const struct storm_directory *d, struct storm_result *result)
{
	unsigned all;

	for (unsigned i = 0; i < STORM_FILES; i++) {
		struct stat s;

		if (file_stat(storm_path(d, 'f', i).text, &s) < 0)
			errx(2, "somebody removed files of %s", d->path);
		result->checked++;
		result->attributes += !right_attributes(&d->files[i], &s);
	}
	check_names(d, 'n', STORM_NAMES, result);
	check_names(d, 'a', STORM_MOVED, result);
	check_names(d, 'b', STORM_MOVED, result);
	listing(d, &all);
	result->checked++;
	result->listings += all != file_names(d->path);
}
