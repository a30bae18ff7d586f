// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * swbuild-probe: does single operations for tests, and prints what the client
 * says of each.
 *
 *   swbuild-probe HOST EXPORT VERSION [SETTING=NUMBER]...
 *
 * reads commands, a line each, words separated by tabs (see probe_ops.c), and
 * answers each by a line of JSON.  The first line tells of the mount.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "probe.h"

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
	many.submit = strcmp(word(p, 1), "read") == 0 ? many_read :
							many_getattr;
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

static const struct command commands[] = {
	{ "many", many_ },
	{ "counters", counters },
	{ "unmount", unmount },
	{ NULL, NULL },
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

/* Runs the command if it is one of these. */
static bool run_in(struct probe *p, const struct command *commands_of)
{
	for (; commands_of->name; commands_of++)
		if (!strcmp(word(p, 0), commands_of->name)) {
			commands_of->run(p);
			return true;
		}
	return false;
}

static void run(struct probe *p, char *line)
{
	p->words = 0;
	line[strcspn(line, "\n")] = '\0';
	for (char *at = line; at && p->words < WORDS;)
		p->word[p->words++] = strsep(&at, "\t");
	p->answer = json_object();
	if (run_in(p, probe_operations) || run_in(p, commands)) {
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
