// SPDX-License-Identifier: LGPL-3.0-or-later
/* swbuild-probe's commands of single operations, and what they answer. */
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *word(const struct probe *p, int i)
{
	return i < p->words ? p->word[i] : "";
}

uint64_t number(const struct probe *p, int i)
{
	return strtoull(word(p, i), NULL, 0);
}

/* ---- answers ---- */

void set(json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value))
		abort();
}

static json_t *time_json(const struct timespec *t)
{
	return json_integer((json_int_t)t->tv_sec * 1000000000 + t->tv_nsec);
}

static json_t *attrs_json(const struct sw_attrs *attrs)
{
	json_t *object = json_object();

	set(object, "type", json_integer(attrs->type));
	set(object, "mode", json_integer(attrs->mode));
	set(object, "nlink", json_integer(attrs->nlink));
	set(object, "size", json_integer((json_int_t)attrs->size));
	set(object, "fileid", json_integer((json_int_t)attrs->fileid));
	set(object, "atime", time_json(&attrs->atime));
	set(object, "mtime", time_json(&attrs->mtime));
	set(object, "ctime", time_json(&attrs->ctime));
	return object;
}

void on_done(void *arg, const struct sw_result *result)
{
	struct probe *p = arg;

	p->done = true;
	p->status = result->status;
	p->file = result->file;
	p->count = result->count;
	p->eof = result->eof;
	if (result->fh)
		p->fh = *result->fh;
	set(p->answer, "status",
	    json_string(sw_status_name(p->version, result->status)));
	set(p->answer, "rpcs", json_integer(result->rpcs));
	set(p->answer, "count", json_integer((json_int_t)result->count));
	set(p->answer, "access", json_integer(result->access));
	set(p->answer, "eof", json_boolean(result->eof));
	set(p->answer, "ordered",
	    json_boolean(result->start <= result->end &&
			 (!result->sent || (result->start <= result->sent &&
					    result->sent <= result->end))));
	if (result->attrs)
		set(p->answer, "attrs", attrs_json(result->attrs));
	if (result->data)
		set(p->answer, "data",
		    json_stringn(result->data, result->count));
}

void wait_for(struct probe *p)
{
	while (!p->done)
		if (sw_loop_turn(p->loop, UINT64_MAX))
			abort();
	p->done = false;
}

/* ---- paths ---- */

/*
 * The handle of what a path leads to, but its last word: *last, which is empty
 * for the root.  False if it does not exist; the answer says so.
 */
static bool walk(struct probe *p, const char *path, struct sw_fh *dir,
		 const char **last)
{
	char name[SW_NAME_MAX + 1];

	*dir = *sw_root(p->client);
	for (;;) {
		size_t length;

		path += strspn(path, "/");
		length = strcspn(path, "/");
		if (!path[length] || length > SW_NAME_MAX)
			break;
		memcpy(name, path, length);
		name[length] = '\0';
		sw_lookup(p->client, dir, name, on_done, p);
		wait_for(p);
		if (p->status)
			return false;
		*dir = p->fh;
		path += length;
	}
	*last = path;
	return true;
}

static bool find(struct probe *p, const char *path, struct sw_fh *fh)
{
	const char *last;

	if (!walk(p, path, fh, &last))
		return false;
	if (!*last)
		return true;
	sw_lookup(p->client, fh, last, on_done, p);
	wait_for(p);
	*fh = p->fh;
	return !p->status;
}

/* ---- commands ---- */

static void lookup(struct probe *p)
{
	struct sw_fh fh;

	find(p, word(p, 1), &fh);
}

static void getattr(struct probe *p)
{
	struct sw_fh fh;

	if (!find(p, word(p, 1), &fh))
		return;
	sw_getattr(p->client, &fh, on_done, p);
	wait_for(p);
}

static void access_(struct probe *p)
{
	struct sw_fh fh;

	if (!find(p, word(p, 1), &fh))
		return;
	sw_access(p->client, &fh, (uint32_t)number(p, 2), on_done, p);
	wait_for(p);
}

static void setattr(struct probe *p)
{
	struct sw_setattr how = {
		.set = (uint32_t)number(p, 2),
		.mode = (uint32_t)number(p, 3),
		.size = number(p, 3),
		.atime.tv_sec = (time_t)number(p, 3),
		.mtime.tv_sec = (time_t)number(p, 3),
	};
	struct sw_fh fh;

	if (!find(p, word(p, 1), &fh))
		return;
	sw_setattr(p->client, &fh, &how, on_done, p);
	wait_for(p);
}

static void readlink_(struct probe *p)
{
	struct sw_fh fh;

	if (!find(p, word(p, 1), &fh))
		return;
	sw_readlink(p->client, &fh, on_done, p);
	wait_for(p);
}

static void mkdir_(struct probe *p)
{
	struct sw_fh dir;
	const char *name;

	if (!walk(p, word(p, 1), &dir, &name))
		return;
	sw_mkdir(p->client, &dir, name, (uint32_t)number(p, 2), on_done, p);
	wait_for(p);
}

static void symlink_(struct probe *p)
{
	struct sw_fh dir;
	const char *name;

	if (!walk(p, word(p, 1), &dir, &name))
		return;
	sw_symlink(p->client, &dir, name, word(p, 2), on_done, p);
	wait_for(p);
}

static void remove_(struct probe *p)
{
	struct sw_fh dir;
	const char *name;

	if (!walk(p, word(p, 1), &dir, &name))
		return;
	if (!strcmp(word(p, 0), "rmdir"))
		sw_rmdir(p->client, &dir, name, on_done, p);
	else
		sw_remove(p->client, &dir, name, on_done, p);
	wait_for(p);
}

static void rename_(struct probe *p)
{
	struct sw_fh from;
	struct sw_fh to;
	const char *from_name;
	const char *to_name;

	if (!walk(p, word(p, 1), &from, &from_name) ||
	    !walk(p, word(p, 2), &to, &to_name))
		return;
	sw_rename(p->client, &from, from_name, &to, to_name, on_done, p);
	wait_for(p);
}

static void link_(struct probe *p)
{
	struct sw_fh fh;
	struct sw_fh dir;
	const char *name;

	if (!find(p, word(p, 1), &fh) || !walk(p, word(p, 2), &dir, &name))
		return;
	sw_link(p->client, &fh, &dir, name, on_done, p);
	wait_for(p);
}

static void on_entry(void *arg, const struct sw_entry *entry)
{
	struct probe *p = arg;
	json_t *entries = json_object_get(p->answer, "entries");
	json_t *value = json_object();

	set(value, "fileid", json_integer((json_int_t)entry->fileid));
	set(value, "handle", json_boolean(entry->fh));
	if (entry->attrs)
		set(value, "attrs", attrs_json(entry->attrs));
	if (json_object_setn_new(entries, entry->name, entry->length, value))
		abort();
}

/* readdir PATH PLUS BYTES: all pages. */
static void readdir_(struct probe *p)
{
	struct sw_cursor at = { 0 };
	struct sw_fh fh;
	int pages = 0;

	if (!find(p, word(p, 1), &fh))
		return;
	set(p->answer, "entries", json_object());
	do {
		sw_readdir(p->client, &fh, &at, number(p, 2),
			   (uint32_t)number(p, 3), on_entry, on_done, p);
		wait_for(p);
		pages++;
	} while (!p->status && !p->eof);
	set(p->answer, "pages", json_integer(pages));
}

static void on_data(void *arg, uint64_t offset, const void *data,
		    uint64_t count)
{
	struct probe *p = arg;

	if (offset + count > DATA_MOST)
		abort();
	memcpy(p->data + offset, data, count);
	if (offset + count > p->length)
		p->length = offset + count;
}

/* Fills in a target: path, and "name", "handle" or "both" says by what. */
bool target(struct probe *p, const char *path, const char *by,
	    struct sw_target *t, struct sw_fh *dir, struct sw_fh *fh)
{
	*t = (struct sw_target){ 0 };
	if (strcmp(by, "name") != 0) {
		if (!find(p, path, fh))
			return false;
		t->fh = fh;
	}
	if (strcmp(by, "handle") != 0) {
		if (!walk(p, path, dir, &t->name))
			return false;
		t->dir = dir;
	}
	return true;
}

/* read PATH BY SIZE: the whole file, to the file that the last word names. */
static void read_(struct probe *p)
{
	struct sw_target t;
	struct sw_fh dir;
	struct sw_fh fh;
	FILE *out;

	if (!target(p, word(p, 1), word(p, 2), &t, &dir, &fh))
		return;
	p->length = 0;
	sw_read_file(p->client, &t, number(p, 3), on_data, on_done, p);
	wait_for(p);
	out = fopen(word(p, 4), "wb");
	if (!out || fwrite(p->data, 1, p->length, out) != p->length ||
	    fclose(out))
		abort();
}

/* write PATH BY FLAGS MODE FILE: the local file's content. */
static void write_(struct probe *p)
{
	struct sw_target t;
	struct sw_fh dir;
	struct sw_fh fh;
	FILE *in = fopen(word(p, 5), "rb");

	if (!in)
		abort();
	p->length = fread(p->data, 1, DATA_MOST, in);
	fclose(in);
	if (!target(p, word(p, 1), word(p, 2), &t, &dir, &fh))
		return;
	sw_write_file(p->client, &t, (uint32_t)number(p, 3),
		      (uint32_t)number(p, 4), p->data, p->length, on_done, p);
	wait_for(p);
}

static struct sw_file **file_of(struct probe *p)
{
	uint64_t i = number(p, 1);

	if (i >= OPEN_MOST)
		abort();
	return &p->open[i];
}

/* open ID PATH BY FLAGS MODE */
static void open_(struct probe *p)
{
	struct sw_target t;
	struct sw_fh dir;
	struct sw_fh fh;

	if (!target(p, word(p, 2), word(p, 3), &t, &dir, &fh))
		return;
	sw_open(p->client, &t, (uint32_t)number(p, 4), (uint32_t)number(p, 5),
		on_done, p);
	wait_for(p);
	*file_of(p) = p->file;
}

static void close_(struct probe *p)
{
	sw_close(p->client, *file_of(p), on_done, p);
	wait_for(p);
}

/* pread ID OFFSET COUNT */
static void pread_(struct probe *p)
{
	sw_read(p->client, *file_of(p), number(p, 2), (uint32_t)number(p, 3),
		on_done, p);
	wait_for(p);
}

/* pwrite ID OFFSET TEXT STABLE */
static void pwrite_(struct probe *p)
{
	sw_write(p->client, *file_of(p), number(p, 2), word(p, 3),
		 (uint32_t)strlen(word(p, 3)), number(p, 4), on_done, p);
	wait_for(p);
}

static void commit(struct probe *p)
{
	sw_commit(p->client, *file_of(p), on_done, p);
	wait_for(p);
}

/* ---- */

const struct command probe_operations[] = {
	{ "lookup", lookup },	   { "getattr", getattr },
	{ "access", access_ },	   { "setattr", setattr },
	{ "mkdir", mkdir_ },	   { "symlink", symlink_ },
	{ "readlink", readlink_ }, { "remove", remove_ },
	{ "rmdir", remove_ },	   { "rename", rename_ },
	{ "link", link_ },	   { "readdir", readdir_ },
	{ "read", read_ },	   { "write", write_ },
	{ "open", open_ },	   { "close", close_ },
	{ "pread", pread_ },	   { "pwrite", pwrite_ },
	{ "commit", commit },	   { NULL, NULL },
};
