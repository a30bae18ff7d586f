/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <err.h>
#include <stdio.h>
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw.h>

#include "files.h"
#include "kinds.h"

enum {
	SIZE = 10,
	LARGER = 2 * SIZE,
	SMALLER = 3,
	MODE = 0604,
	SECONDS = 1000000000
};

struct path {
	char text[PATH_SIZE + 16];
};

static struct path in(const struct object *o, const char *name)
{
	struct path path;

	snprintf(path.text, sizeof(path.text), "%s/%s", o->path, name);
	return path;
}

static void make_file(const struct object *o, const char *name)
{
	file_create(in(o, name).text, SIZE);
}

static void make_directory(const struct object *o, const char *name)
{
	file_mkdir(in(o, name).text);
}

/* A name of the object's directory -> handle number `i`. */
static void find(struct object *o, const char *path, int i)
{
	nfsstat3 status = ask_path(&o->directory, path, &o->handles[i]);

	if (status != NFS3_OK)
		errx(2, "%s/%s was made, and the server says %s", o->path, path,
		     nfsstat3_to_str((int)status));
}

static void prepare_file(const struct object *o)
{
	make_file(o, "file");
}

static void find_file(struct object *o)
{
	find(o, "file", 0);
}

static bool attributes(const struct object *o, struct fattr3 *a)
{
	return ask_getattr(&o->handles[0], a) == NFS3_OK;
}

static bool has_size(const struct object *o, size3 size)
{
	struct fattr3 a;

	return attributes(o, &a) && a.size == size;
}

static bool old_size(const struct object *o)
{
	return has_size(o, SIZE);
}

/* A name leads to handle number `i`. */
static bool leads(const struct fh *directory, const char *name,
		  const struct object *o, int i)
{
	struct fh found;

	return ask_lookup(directory, name, &found) == NFS3_OK &&
	       fh_same(&found, &o->handles[i]);
}

static bool missing(const struct fh *directory, const char *name)
{
	return ask_lookup(directory, name, NULL) == NFS3ERR_NOENT;
}

/* ---- attributes of a file ---- */

static void append(const struct object *o)
{
	file_append(in(o, "file").text, LARGER - SIZE);
}

static bool appended(const struct object *o)
{
	return has_size(o, LARGER);
}

static void truncated(const struct object *o)
{
	file_truncate(in(o, "file").text, SMALLER);
}

static bool is_truncated(const struct object *o)
{
	return has_size(o, SMALLER);
}

static void change_mode(const struct object *o)
{
	file_chmod(in(o, "file").text, MODE);
}

static bool mode_changed(const struct object *o)
{
	struct fattr3 a;

	return attributes(o, &a) && (a.mode & 07777) == MODE;
}

static void change_times(const struct object *o)
{
	file_utimes(in(o, "file").text, SECONDS);
}

static bool times_changed(const struct object *o)
{
	struct fattr3 a;

	return attributes(o, &a) && a.mtime.seconds == SECONDS;
}

static void add_link(const struct object *o)
{
	file_link(in(o, "file").text, in(o, "link").text);
}

static bool one_link(const struct object *o)
{
	struct fattr3 a;

	return attributes(o, &a) && a.nlink == 1;
}

static bool two_links(const struct object *o)
{
	struct fattr3 a;

	return attributes(o, &a) && a.nlink == 2;
}

/* ---- names ---- */

static void find_nothing(struct object *o)
{
	(void)o;
}

static void create(const struct object *o)
{
	make_file(o, "new");
}

static bool not_created(const struct object *o)
{
	return missing(&o->directory, "new");
}

static bool created(const struct object *o)
{
	return ask_lookup(&o->directory, "new", NULL) == NFS3_OK;
}

static bool listed(const struct object *o, unsigned times)
{
	unsigned named, all;

	return ask_listing(&o->directory, "new", &named, &all) == NFS3_OK &&
	       named == times && all == 3 + times;
}

static bool not_listed(const struct object *o)
{
	return listed(o, 0);
}

static bool listed_once(const struct object *o)
{
	return listed(o, 1);
}

static void remove_file(const struct object *o)
{
	file_unlink(in(o, "file").text);
}

static bool file_there(const struct object *o)
{
	return leads(&o->directory, "file", o, 0);
}

static bool removed(const struct object *o)
{
	return missing(&o->directory, "file");
}

static void prepare_two(const struct object *o)
{
	make_file(o, "file");
	make_file(o, "next");
}

static void find_two(struct object *o)
{
	find(o, "file", 0);
	find(o, "next", 1);
}

static void replace(const struct object *o)
{
	file_rename(in(o, "next").text, in(o, "file").text);
}

static bool replaced(const struct object *o)
{
	return leads(&o->directory, "file", o, 1) &&
	       missing(&o->directory, "next");
}

/* ---- directories ---- */

static void prepare_move(const struct object *o)
{
	make_directory(o, "from");
	make_directory(o, "from/d");
	make_directory(o, "to");
}

static void find_move(struct object *o)
{
	find(o, "from", 0);
	find(o, "to", 1);
	find(o, "from/d", 2);
}

static void move(const struct object *o)
{
	file_rename(in(o, "from/d").text, in(o, "to/e").text);
}

static bool not_moved(const struct object *o)
{
	return leads(&o->handles[0], "d", o, 2) && missing(&o->handles[1], "e");
}

static bool moved(const struct object *o)
{
	return missing(&o->handles[0], "d") && leads(&o->handles[1], "e", o, 2);
}

static bool old_parent(const struct object *o)
{
	return leads(&o->handles[2], "..", o, 0);
}

static bool new_parent(const struct object *o)
{
	return leads(&o->handles[2], "..", o, 1);
}

static void prepare_directory(const struct object *o)
{
	make_directory(o, "d");
}

static void find_directory(struct object *o)
{
	find(o, "d", 0);
}

static void remake(const struct object *o)
{
	file_rmdir(in(o, "d").text);
	make_directory(o, "d");
}

static bool not_remade(const struct object *o)
{
	return leads(&o->directory, "d", o, 0);
}

static bool remade(const struct object *o)
{
	struct fh found;

	return ask_lookup(&o->directory, "d", &found) == NFS3_OK &&
	       !fh_same(&found, &o->handles[0]);
}

const struct kind kinds[] = {
	{ "append", prepare_file, find_file, old_size, append, appended },
	{ "truncate", prepare_file, find_file, old_size, truncated,
	  is_truncated },
	{ "chmod", prepare_file, find_file, old_size, change_mode,
	  mode_changed },
	{ "utimes", prepare_file, find_file, old_size, change_times,
	  times_changed },
	{ "link", prepare_file, find_file, one_link, add_link, two_links },
	{ "create", prepare_file, find_nothing, not_created, create, created },
	{ "create-listed", prepare_file, find_nothing, not_listed, create,
	  listed_once },
	{ "remove", prepare_file, find_file, file_there, remove_file, removed },
	{ "replace", prepare_two, find_two, file_there, replace, replaced },
	{ "move", prepare_move, find_move, not_moved, move, moved },
	{ "move-parent", prepare_move, find_move, old_parent, move,
	  new_parent },
	{ "remake", prepare_directory, find_directory, not_remade, remake,
	  remade },
	{ 0 }
};
