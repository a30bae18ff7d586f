/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsload.h"
#include "memory.h"

enum {
	MOST_DEPTH = 1024
};

/* The server is given up when it answers nothing for so long. */
#define SILENCE_NS 60000000000

/* More requests than any directory needs. */
#define MOST_PAGES 1000000

/* A mixing function (splitmix64): item number in, random bits out. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

/* Which handle and which names item `number` has. */
static void choose(struct request *r)
{
	struct run *run = r->run;
	uint64_t handles = run->of->count, names = run->names.count;
	uint64_t number = r->number, handle, name, random;

	if (!names)
		names = 1;
	switch (run->order) {
	case ALONG:
		name = number % names;
		handle = number / names % handles;
		break;
	case ACROSS:
		handle = number % handles;
		name = number / handles % names;
		break;
	default:
		random = mix(run->seed + number);
		handle = random % handles;
		name = mix(random) % names;
	}
	r->target = set_handle(run->of, handle);
	if (run->names.count)
		names_get(&run->names, name, r->name);
	if (run->new_names.count)
		names_get(&run->new_names, name % run->new_names.count,
			  r->new_name);
}

static void send_next(struct request *r)
{
	r->sent = now_ns();
	if (r->run->operation->send(r) < 0)
		request_failed(r, "a request could not be sent");
}

/* Begins the slot's next item, unless the run is over or it is not due. */
static void begin_item(struct request *r)
{
	struct run *run = r->run;

	if (run->error || run->started_items >= run->wanted ||
	    (run->deadline && now_ns() >= run->deadline)) {
		run->busy--;
		return;
	}
	if (run->rate > 0) {
		uint64_t due =
			run->began + (uint64_t)((double)run->started_items *
						1e9 / run->rate);

		if (due > now_ns()) {
			r->due = due;
			return;
		}
	}
	r->number = run->started_items++;
	r->step = 0;
	r->pages = 0;
	r->cookie = 0;
	memset(r->verifier, 0, sizeof(r->verifier));
	choose(r);
	send_next(r);
}

void request_replied(struct request *r, int status, const char *status_name,
		     bool more)
{
	struct run *run = r->run;

	samples_add(&run->samples, now_ns() - r->sent, status, status_name);
	if (more && ++r->pages > MOST_PAGES) {
		request_failed(r, "a directory does not end");
		return;
	}
	if (more) {
		send_next(r);
		return;
	}
	run->items++;
	if (run->pause)
		r->due = now_ns() + run->pause;
	else
		begin_item(r);
}

void request_failed(struct request *r, const char *message)
{
	if (!r->run->error)
		r->run->error = message;
}

void request_keep(struct request *r, const void *bytes, uint32_t length)
{
	struct run *run = r->run;

	if (run->keep && run->kept_seen++ % run->keep_every == 0)
		set_add(run->keep, bytes, length);
}

/* Wakes slots that are due; ns until the next one, or -1. */
static int64_t wake_slots(struct request *slots, const struct run *run)
{
	uint64_t now = now_ns(), next = UINT64_MAX;

	if (!run->pause && run->rate <= 0)
		return -1;
	for (unsigned i = 0; i < run->depth; i++) {
		struct request *r = &slots[i];

		if (!r->due)
			continue;
		if (r->due <= now) {
			r->due = 0;
			begin_item(r);
		}
		if (r->due && r->due < next)
			next = r->due;
	}
	return next == UINT64_MAX ? -1 : (int64_t)(next - now);
}

static void end_now(struct request *slots, struct run *run)
{
	run->wanted = 0;
	for (unsigned i = 0; i < run->depth; i++) {
		if (slots[i].due) {
			slots[i].due = 0;
			run->busy--;
		}
	}
}

static void perform(struct run *run)
{
	struct request *slots = must_alloc(run->depth, sizeof(*slots));
	uint64_t heard = now_ns();

	for (unsigned i = 0; i < run->depth && !run->error; i++) {
		slots[i].run = run;
		slots[i].rpc = session_context(
			run->server, run->of->version,
			i % (unsigned)run->server->connections, &run->error);
	}
	run->busy = run->error ? 0 : run->depth;
	run->began = now_ns();
	for (unsigned i = 0; i < run->depth && !run->error; i++)
		begin_item(&slots[i]);
	while (run->busy > 0 && !run->error) {
		int64_t timeout = wake_slots(slots, run);
		uint64_t replies = run->samples.count;
		bool input_came = false;

		if (!run->busy)
			break;
		run->error = session_wait(timeout < 0 ? SILENCE_NS : timeout,
					  run->until_input, &input_came);
		if (input_came)
			end_now(slots, run);
		if (run->samples.count > replies || run->pause || timeout >= 0)
			heard = now_ns();
		else if (!run->error && now_ns() - heard >= SILENCE_NS)
			run->error = "no answer from the server for 60 s";
	}
	/* After an error replies may still come: the program ends soon. */
	if (!run->error)
		free(slots);
}

static const char *parse_order(struct run *run, const char *order)
{
	if (!strcmp(order, "along"))
		run->order = ALONG;
	else if (!strcmp(order, "across"))
		run->order = ACROSS;
	else if (!strcmp(order, "random"))
		run->order = RANDOM;
	else
		return "order is along, across or random";
	return NULL;
}

static const char *parse_names(struct run *run, json_t *names,
			       json_t *new_names)
{
	unsigned needs = run->operation->needs;
	const char *error = NULL;

	if (!(needs & NEEDS_NAMES) != !names)
		return names ? "the operation takes no \"names\"" :
			       "the operation needs \"names\"";
	if (!(needs & NEEDS_NEW_NAMES) != !new_names)
		return new_names ? "the operation takes no \"new_names\"" :
				   "the operation needs \"new_names\"";
	if (names)
		error = names_parse(&run->names, names);
	if (!error && new_names)
		error = names_parse(&run->new_names, new_names);
	return error;
}

static const char *parse_sets(struct run *run, const char *of,
			      const char *targets, const char *keep)
{
	run->of = set_find(of);
	if (!run->of || !run->of->count)
		return "\"of\" names no set with handles";
	run->targets = targets ? set_find(targets) : NULL;
	if (targets && (!run->targets || !run->targets->count ||
			run->targets->version != run->of->version))
		return "\"targets\" names no set of the version with handles";
	if (keep && (!strcmp(keep, of) || (targets && !strcmp(keep, targets))))
		return "\"keep\" must not be a set that is read";
	if (keep)
		run->keep = set_new(keep, run->of->version);
	return NULL;
}

static const char *parse(struct run *run, json_t *command)
{
	const char *op, *of, *targets = NULL, *keep = NULL, *order = "along";
	json_t *names = NULL, *new_names = NULL;
	json_int_t count = 0, keep_every = 1, seed = 1;
	int depth = 1, pause_us = 0, until_input = 0, bytes = 32768;
	double seconds = 0, rate = 0;
	const char *error;
	json_error_t wrong;

	if (json_unpack_ex(command, &wrong, JSON_STRICT,
			   "{s:s, s:s, s?:s, s?:s, s?:s, s?:o, s?:o, s?:I, "
			   "s?:I, s?:I, s?:i, s?:i, s?:b, s?:i, s?:F, s?:F}",
			   "op", &op, "of", &of, "targets", &targets, "keep",
			   &keep, "order", &order, "names", &names, "new_names",
			   &new_names, "count", &count, "keep_every",
			   &keep_every, "seed", &seed, "depth", &depth,
			   "pause_us", &pause_us, "until_input", &until_input,
			   "reply_bytes", &bytes, "seconds", &seconds, "rate",
			   &rate)) {
		static char text[sizeof(wrong.text) + 32];

		snprintf(text, sizeof(text), "bad command: %s", wrong.text);
		return text;
	}
	error = parse_sets(run, of, targets, keep);
	if (!error)
		error = parse_order(run, order);
	if (error)
		return error;
	run->operation = run->of->version == 3 ? operation3(op) :
						 operation4(op);
	if (!run->operation)
		return "the version has no such \"op\"";
	if ((run->operation->needs & NEEDS_TARGETS) && !run->targets)
		return "the operation needs \"targets\"";
	error = parse_names(run, names, new_names);
	if (error)
		return error;
	if (count < 0 || keep_every < 1 || depth < 1 || depth > MOST_DEPTH ||
	    pause_us < 0 || bytes < 512 || seconds < 0 || rate < 0)
		return "a number is out of its range";
	run->seed = mix((uint64_t)seed);
	run->keep_every = (uint64_t)keep_every;
	run->depth = (unsigned)depth;
	run->pause = (uint64_t)pause_us * 1000;
	run->rate = rate;
	run->until_input = until_input;
	run->reply_bytes = (uint32_t)bytes;
	if (seconds > 0)
		run->deadline = now_ns() + (uint64_t)(seconds * 1e9);
	if (count)
		run->wanted = (uint64_t)count;
	else if (seconds > 0 || until_input)
		run->wanted = UINT64_MAX;
	else
		run->wanted = run->of->count *
			      (run->names.count ? run->names.count : 1);
	return NULL;
}

static json_t *failure(const char *error)
{
	return json_pack("{s:s}", "error", error);
}

static json_t *mount_command(const struct server *server, json_t *command)
{
	const char *op, *export, *keep, *error;
	struct set *root;
	int version;

	if (json_unpack(command, "{s:s, s:s, s:i, s:s!}", "op", &op, "export",
			&export, "version", &version, "keep", &keep) ||
	    (version != 3 && version != 4))
		return failure("mount needs \"export\", \"version\" (3 or 4) "
			       "and \"keep\"");
	root = set_new(keep, version);
	error = session_mount(server, version, export, root);
	return error ? failure(error) :
		       json_pack("{s:s, s:i}", "op", "mount", "kept", 1);
}

json_t *run_command(const struct server *server, json_t *command)
{
	struct run run = { .server = server };
	const char *op = json_string_value(json_object_get(command, "op"));
	const char *error;
	uint64_t began;
	json_t *report;
	double seconds;

	if (op && !strcmp(op, "mount"))
		return mount_command(server, command);
	error = parse(&run, command);
	if (error)
		return failure(error);
	samples_init(&run.samples);
	began = now_ns();
	perform(&run);
	seconds = (double)(now_ns() - began) / 1e9;
	report = run.error ?
			 failure(run.error) :
			 json_pack("{s:s, s:i, s:I, s:f}", "op", op, "version",
				   run.of->version, "items",
				   (json_int_t)run.items, "seconds", seconds);
	if (!run.error) {
		samples_report(&run.samples, report);
		if (run.entries)
			json_object_set_new(
				report, "entries",
				json_integer((json_int_t)run.entries));
		if (run.keep)
			json_object_set_new(
				report, "kept",
				json_integer((json_int_t)run.keep->count));
	}
	samples_free(&run.samples);
	return report;
}
