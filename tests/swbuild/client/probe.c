// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * swbuild-probe: does single operations for tests, and prints what the client
 * says of each.
 *
 *   swbuild-probe HOST EXPORT VERSION [SETTING=NUMBER]...
 *
 * reads commands, a line each, words separated by tabs (see commands[]), and
 * answers each by a line of JSON.  The first line tells of the mount.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "client.h"

#define WORDS	  8
#define OPEN_MOST 64
#define DATA_MOST (64u << 20)

struct probe {
	struct sw_loop *loop;
	struct sw_client *client;
	enum sw_version version;
	char *word[WORDS];
	int words;
	json_t *answer;
	bool done;
	uint32_t status;
	struct sw_fh fh;
	struct sw_file *file;
	uint64_t count;
	bool eof;
	struct sw_file *open[OPEN_MOST];
	char *data; /* what was read, or is written */
	uint64_t length;
};

static const char *word(const struct probe *p, int i)
{
	return i < p->words ? p->word[i] : "";
}

static uint64_t number(const struct probe *p, int i)
{
	return strtoull(word(p, i), NULL, 0);
}

/* ---- answers ---- */

static void set(json_t *object, const char *key, json_t *value)
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

static void on_done(void *arg, const struct sw_result *result)
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

static void wait_for(struct probe *p)
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
static bool target(struct probe *p, const char *path, const char *by,
		   struct sw_target *t, struct sw_fh *dir, struct sw_fh *fh)
{
	*t = (struct sw_target){ 0 };
	if (strcmp(by, "name")) {
		if (!find(p, path, fh))
			return false;
		t->fh = fh;
	}
	if (strcmp(by, "handle")) {
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

/* ---- many at once ---- */

struct many {
	struct probe *probe;
	struct sw_fh fh;
	struct sw_target target;
	void (*submit)(struct many *many);
	uint64_t left;
	uint64_t ended;
	uint64_t failed;
};

static void on_one(void *arg, const struct sw_result *result)
{
	struct many *many = arg;

	many->ended++;
	many->failed += result->status != 0;
	if (many->left) {
		many->left--;
		many->submit(many);
	}
}

static void many_getattr(struct many *many)
{
	sw_getattr(many->probe->client, &many->fh, on_one, many);
}

static void many_read(struct many *many)
{
	sw_read_file(many->probe->client, &many->target, 0, NULL, on_one, many);
}

static double cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* many getattr|read PATH COUNT DEPTH: that often, so many at once. */
static void many_(struct probe *p)
{
	struct many many = { .probe = p, .left = number(p, 3) };
	uint64_t all = many.left;
	uint64_t depth = number(p, 4);
	struct sw_fh dir;
	double used;
	uint64_t began;

	if (!target(p, word(p, 2), "both", &many.target, &dir, &many.fh))
		return;
	many.submit = strcmp(word(p, 1), "read") ? many_getattr : many_read;
	used = cpu();
	began = sw_now();
	for (uint64_t i = 0; i < depth && many.left; i++) {
		many.left--;
		many.submit(&many);
	}
	while (many.ended < all)
		if (sw_loop_turn(p->loop, UINT64_MAX))
			abort();
	set(p->answer, "status", json_string("OK"));
	set(p->answer, "ended", json_integer((json_int_t)many.ended));
	set(p->answer, "failed", json_integer((json_int_t)many.failed));
	set(p->answer, "seconds", json_real((double)(sw_now() - began) / 1e9));
	set(p->answer, "cpu_us", json_real((cpu() - used) * 1e6 / (double)all));
}

/* ---- */

static void counters(struct probe *p)
{
	const struct sw_counters *c = sw_client_counters(p->client);

#define COUNTER(name) set(p->answer, #name, json_integer((json_int_t)c->name))
	COUNTER(requests);
	COUNTER(bytes_out);
	COUNTER(bytes_in);
	COUNTER(resent);
	COUNTER(reconnects);
	COUNTER(delays);
	COUNTER(graces);
	COUNTER(expired);
	COUNTER(clientids);
	COUNTER(sessions);
	COUNTER(bad_slots);
	COUNTER(bad_seqids);
	COUNTER(reopened);
	COUNTER(reopens_failed);
	COUNTER(confirms);
	COUNTER(renews);
	COUNTER(waits);
	set(p->answer, "pending", json_integer(sw_client_pending(p->client)));
	set(p->answer, "depth", json_integer(sw_client_depth(p->client)));
	set(p->answer, "rsize", json_integer(sw_client_rsize(p->client)));
	set(p->answer, "wsize", json_integer(sw_client_wsize(p->client)));
}

static void unmount(struct probe *p)
{
	sw_unmount(p->client, on_done, p);
	wait_for(p);
	set(p->answer, "error", json_string(sw_client_error(p->client)));
}

static const struct {
	const char *name;
	void (*run)(struct probe *p);
} commands[] = {
	{ "lookup", lookup },	   { "getattr", getattr },
	{ "access", access_ },	   { "setattr", setattr },
	{ "mkdir", mkdir_ },	   { "symlink", symlink_ },
	{ "readlink", readlink_ }, { "remove", remove_ },
	{ "rmdir", remove_ },	   { "rename", rename_ },
	{ "link", link_ },	   { "readdir", readdir_ },
	{ "read", read_ },	   { "write", write_ },
	{ "open", open_ },	   { "close", close_ },
	{ "pread", pread_ },	   { "pwrite", pwrite_ },
	{ "commit", commit },	   { "many", many_ },
	{ "counters", counters },  { "unmount", unmount },
};

static void answer(struct probe *p)
{
	if (json_dumpf(p->answer, stdout, JSON_COMPACT))
		abort();
	putchar('\n');
	fflush(stdout);
	json_decref(p->answer);
	p->answer = NULL;
}

static void run(struct probe *p, char *line)
{
	p->words = 0;
	line[strcspn(line, "\n")] = '\0';
	for (char *at = line; at && p->words < WORDS;)
		p->word[p->words++] = strsep(&at, "\t");
	p->answer = json_object();
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(word(p, 0), commands[i].name)) {
			commands[i].run(p);
			answer(p);
			return;
		}
	fprintf(stderr, "swbuild-probe: no command \"%s\"\n", word(p, 0));
	exit(2);
}

static void take_setting(struct sw_settings *s, char *text)
{
	char *value = strchr(text, '=');
	uint32_t n;

	if (!value)
		return;
	*value++ = '\0';
	n = (uint32_t)strtoul(value, NULL, 0);
	if (!strcmp(text, "port"))
		s->port = (uint16_t)n;
	else if (!strcmp(text, "mount_port"))
		s->mount_port = (uint16_t)n;
	else if (!strcmp(text, "connections"))
		s->connections = n;
	else if (!strcmp(text, "depth"))
		s->depth = n;
	else if (!strcmp(text, "uid"))
		s->uid = n;
	else if (!strcmp(text, "gid"))
		s->gid = n;
	else if (!strcmp(text, "rsize"))
		s->rsize = n;
	else if (!strcmp(text, "wsize"))
		s->wsize = n;
}

int main(int argc, char **argv)
{
	struct probe p = { 0 };
	struct sw_settings settings = { 0 };
	char error[512];
	char *line = NULL;
	size_t size = 0;
	bool mounted;

	if (argc < 4 || !sw_version_parse(argv[3], &settings.version)) {
		fprintf(stderr, "usage: swbuild-probe HOST EXPORT VERSION "
				"[SETTING=NUMBER]...\n");
		return 2;
	}
	settings.host = argv[1];
	settings.export = argv[2];
	for (int i = 4; i < argc; i++)
		take_setting(&settings, argv[i]);
	p.version = settings.version;
	p.loop = sw_loop_new();
	p.data = malloc(DATA_MOST);
	if (!p.loop || !p.data)
		abort();
	p.client = sw_client_new(p.loop, &settings, error, sizeof(error));
	mounted = p.client && sw_mount_wait(p.client);
	p.answer = json_object();
	set(p.answer, "mounted", json_boolean(mounted));
	if (!mounted)
		set(p.answer, "error",
		    json_string(p.client ? sw_client_error(p.client) : error));
	answer(&p);
	while (mounted && getline(&line, &size, stdin) >= 0)
		run(&p, line);
	free(line);
	sw_client_free(p.client);
	sw_loop_free(p.loop);
	free(p.data);
	return mounted ? 0 : 1;
}
