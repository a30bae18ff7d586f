/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file act.h
 * @brief One operation of a trace on its way: internal to the replay
 *
 * An act walks to its path, asks what its operation needs, ends with an
 * outcome, and does the hidden steps that follow it.
 */
#ifndef SWBUILD_ACT_H
#define SWBUILD_ACT_H

#include <string.h>

#include "dcache.h"
#include "order.h"
#include "replay.h"

/* Of links that are made: traces do not tell where they lead. */
#define REPLAY_LINK_TARGET "not-in-the-trace"

/* The parts of a replay that acts use. */
struct replay {
	struct sw_loop *loop;
	struct sw_client *client;
	const struct optrace *trace;
	const struct replay_options *options;
	struct replay_result *result;
	struct plan plan;
	struct order order;
	struct dcache dcache;
	uint8_t *data; /* what is written, as much as the longest write */
	bool by_name;  /* opens by name: NFSv4 */
	/* Tells that an act has ended; it may be used again afterwards. */
	void (*ended)(struct replay *replay, struct act *act);
};

struct act {
	struct replay *replay;
	struct act *next; /* in a list of acts that wait or are free */
	const struct optrace_op *op;
	uint32_t number; /* of the operation */
	uint64_t begun;
	uint64_t rpcs;
	uint32_t status; /* the last answer's */
	bool quiet;	 /* a hidden step: nothing is counted */

	/* The walk. */
	uint32_t nodes[OPTRACE_MAX_DEPTH];
	unsigned depth;
	unsigned at;
	struct act *waiting; /* who waits for this act's lookup */
	void (*walked)(struct act *act, char outcome);
	struct sw_fh dir; /* of the last component */
	struct sw_fh fh;  /* after a walk to the end */
	enum sw_type type;
	bool fresh;    /* the last component was looked up just now */
	uint64_t size; /* as far as known, or UINT64_MAX */

	/* The request, or several of one kind. */
	enum procedure procedure;
	void (*answered)(struct act *act, const struct sw_result *result);
	unsigned pending;

	/* Data. */
	struct sw_file *file;
	uint32_t piece;	 /* bytes a request */
	uint32_t failed; /* the status of one that failed */

	/* Listings. */
	struct sw_cursor cursor;
	uint64_t asked;

	/* Changes of dcache. */
	struct sw_fh from_dir;
	struct sw_fh moved; /* what is renamed or linked */
	enum sw_type moved_type;
	uint32_t new_path;

	const struct plan_step *steps; /* hidden ones to do */
	size_t nsteps;
};

/* act.c: the machinery. */

/** The callback of all requests of acts. */
void act_answer(void *act, const struct sw_result *result);

/** To be called before a request is submitted with act_answer(). */
void act_expect(struct act *act, enum procedure procedure,
		void (*answered)(struct act *act,
				 const struct sw_result *result));

/**
 * @brief Look a path up
 *
 * walked() gets '+', with fh, type and fresh set; '-' missing, 'd' a
 * component is no directory, '!' another error.  `dir` is set when all but the
 * last component are there: then `at` is depth - 1 or depth.
 */
void act_walk(struct act *act, uint32_t path,
	      void (*walked)(struct act *act, char outcome));

/** The same without the last component. */
void act_walk_above(struct act *act, uint32_t path,
		    void (*walked)(struct act *act, char outcome));

/** Is only the last component missing? */
bool act_last_missing(const struct act *act);

/** The outcome of a status. */
char act_outcome(uint32_t status);

/** Ends the operation with what became of it. */
void act_done(struct act *act, char outcome);

/** Begins the operation whose number is set. */
void act_begin(struct act *act);

static inline void act_copy_handle(struct sw_fh *to, const struct sw_fh *from)
{
	to->length = from->length;
	memcpy(to->data, from->data, from->length);
}

/** Takes note of a file's size, if the answer tells it. */
static inline void act_note_size(struct act *act,
				 const struct sw_result *result)
{
	if (result->attrs != NULL)
		act->size = result->attrs->size;
}

/* ask.c, data.c, change.c: what an operation does. */
void act_ask(struct act *act);	  /* S l Q F A H X L E Y */
void act_list(struct act *act);	  /* D */
void act_open(struct act *act);	  /* O W C */
void act_change(struct act *act); /* T M K U V R */

/** Ends the operation with the READLINK of a link that it follows. */
void act_follow(struct act *act);

/** Closes act->file and ends the operation. */
void act_close(struct act *act);

#endif
