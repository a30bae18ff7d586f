/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What the files of swbuild-probe share. */
#ifndef SWBUILD_PROBE_H
#define SWBUILD_PROBE_H

#include <jansson.h>

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

/* A command: its name is word 0; it adds to the answer. */
struct command {
	const char *name;
	void (*run)(struct probe *p);
};

/* Of single operations; ends with a name of NULL. */
extern const struct command probe_operations[];

/* Word i of the command's line; "" if there is none.  And as a number. */
const char *word(const struct probe *p, int i);
uint64_t number(const struct probe *p, int i);

/* Adds to the answer. */
void set(json_t *object, const char *key, json_t *value);

/* Takes an operation's end; wait_for() runs the loop until it has. */
void on_done(void *arg, const struct sw_result *result);
void wait_for(struct probe *p);

/*
 * A target of a path, by its "name", its "handle" or "both"; dir and fh are
 * room for handles.  False, and the answer says why, if it is not there.
 */
bool target(struct probe *p, const char *path, const char *by,
	    struct sw_target *t, struct sw_fh *dir, struct sw_fh *fh);

#endif
