/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * nfsload: a client that sends NFSv3 and NFSv4.0 requests as fast as the
 * server answers them, many in flight, from one thread.
 *
 * It remembers file handles in named sets, so that a later command can use
 * what an earlier one found.
 */
#ifndef NFSLOAD_H
#define NFSLOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NAME_SIZE 256

struct rpc_context;

/* ---- sets.c: file handles by the name of their set ---- */

struct handle {
	const char *bytes;
	uint32_t length;
};

struct set {
	char *name;
	int version; /* 3 or 4: the versions' handles differ */
	uint64_t count;
	uint64_t room;
	uint64_t *ends; /* ends[i]: where handle i ends in bytes */
	char *bytes;
	size_t size;
	struct set *next;
};

/* NULL if there is none. */
struct set *set_find(const char *name);

/* The set, emptied if it was there. */
struct set *set_new(const char *name, int version);

void set_add(struct set *s, const void *bytes, uint32_t length);

/* Handle i; valid until something is added to the set. */
struct handle set_handle(const struct set *s, uint64_t i);

/* Forgets all sets. */
void sets_free(void);

/* ---- names.c: the names that a command asks for ---- */

struct names {
	json_t *list;	    /* borrowed from the command; or NULL: then */
	const char *prefix; /* the name is prefix, and a number */
	int digits;	    /* of so many digits */
	uint64_t first;
	uint64_t count;
};

/*
 * Reads a list of names or {"prefix", "digits", "first", "count"}.
 * NULL, or what is wrong with it.
 */
const char *names_parse(struct names *names, json_t *value);

/* Name i, which must be less than count. */
void names_get(const struct names *names, uint64_t i, char name[NAME_SIZE]);

/* ---- samples.c: latencies and statuses ---- */

struct samples {
	uint64_t *latencies; /* ns */
	uint64_t count;
	uint64_t room;
	json_t *statuses;    /* the status's name -> how often */
	int last_status;     /* the status that last_name belongs to */
	uint64_t last_count; /* not yet in statuses */
	const char *last_name;
};

void samples_init(struct samples *s);
void samples_add(struct samples *s, uint64_t latency, int status,
		 const char *status_name);

/* Adds count, percentiles and statuses to a report. */
void samples_report(struct samples *s, json_t *report);
void samples_free(struct samples *s);

/* ---- session.c: connections to the server ---- */

/* The server's address and ports; contexts are made when first needed. */
struct server {
	const char *address;
	int port;
	int mount_port;
	int connections;
};

/* Connection number `i` of a version; NULL with a message if it fails. */
struct rpc_context *session_context(const struct server *server, int version,
				    unsigned i, const char **error);

/* The handle of an export's root into a set.  NULL, or what went wrong. */
const char *session_mount(const struct server *server, int version,
			  const char *export, struct set *keep);

/*
 * Waits up to timeout_ns (-1: for ever) for the server and handles what came;
 * with `input`, also for standard input.  NULL, or what went wrong.
 */
const char *session_wait(int64_t timeout_ns, bool input, bool *input_came);

void session_close(void);

/* ---- run.c: one command ---- */

enum order {
	ALONG,
	ACROSS,
	RANDOM
};

struct operation;

struct run {
	const struct operation *operation;
	const struct server *server;
	struct set *of;
	struct set *targets;
	struct set *keep;
	uint64_t keep_every;
	uint64_t kept_seen; /* offered to keep so far */
	struct names names;
	struct names new_names;
	enum order order;
	uint64_t seed;
	uint64_t wanted; /* items; UINT64_MAX with a time limit */
	uint64_t started_items;
	uint64_t deadline; /* ns, or 0 */
	uint64_t pause;	   /* ns between a slot's items */
	double rate;	   /* items a second of all slots, or 0: no limit */
	uint64_t began;	   /* ns: when item 0 was due */
	bool until_input;
	uint32_t reply_bytes; /* of READDIR and READ */
	unsigned depth;
	unsigned busy; /* slots with something in flight */
	uint64_t items;
	uint64_t entries;
	struct samples samples;
	const char *error;
};

/* One of the `depth` requests in flight. */
struct request {
	struct run *run;
	struct rpc_context *rpc;
	uint64_t number; /* of the item */
	uint64_t sent;	 /* ns */
	uint64_t due;	 /* ns: when a pause ends, or 0 */
	struct handle target;
	char name[NAME_SIZE];
	char new_name[NAME_SIZE];
	char made[64]; /* the handle of what the item made */
	uint32_t made_length;
	int step;
	unsigned pages; /* of a directory so far */
	uint64_t cookie;
	char verifier[8];
};

/* Runs one command; the report, or {"error": ...}. */
json_t *run_command(const struct server *server, json_t *command);

/*
 * Called by the operations on each reply.  `status` is NFS's; `more` is true
 * if the item needs another request, which is then sent.
 */
void request_replied(struct request *r, int status, const char *status_name,
		     bool more);

/* The server or the connection failed: ends the run. */
void request_failed(struct request *r, const char *message);

/* Offers a handle to the run's keep set. */
void request_keep(struct request *r, const void *bytes, uint32_t length);

/* ---- clock.c ---- */

/* CLOCK_MONOTONIC. */
uint64_t now_ns(void);

/* ---- ops3.c, ops4.c ---- */

enum {
	NEEDS_NAMES = 1,
	NEEDS_NEW_NAMES = 2,
	NEEDS_TARGETS = 4
};

struct operation {
	const char *name;
	unsigned needs;
	/* Sends the item's next request; 0, or -1 if it could not be. */
	int (*send)(struct request *r);
};

/* NULL if the version has no such operation. */
const struct operation *operation3(const char *name);
const struct operation *operation4(const char *name);

#endif
