/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Open owners of NFSv4.  An owner has one file open at a time: its OPEN,
 * OPEN_CONFIRM and CLOSE follow one another, as NFSv4.0's sequence ids demand,
 * and opens of different files do not wait for each other.  The owner given
 * back last is used next, so that the server has seen most of them before and
 * asks for no OPEN_CONFIRM.
 */
#ifndef SWBUILD_OWNERS_H
#define SWBUILD_OWNERS_H

#include <stdbool.h>
#include <stdint.h>

struct owner {
	struct owner *next; /* free */
	struct owner *all;
	uint64_t id;	 /* its name at the server */
	uint32_t seqid;	 /* NFSv4.0: that the next request has */
	uint32_t client; /* of which client id (a count) seqid is */
};

struct owners {
	struct owner *free;
	struct owner *all;
	uint64_t made;
};

/* An owner that has nothing open; NULL if there is no memory. */
struct owner *owners_take(struct owners *owners);

void owners_give(struct owners *owners, struct owner *owner);

/* Gives back one whose sequence the server knows otherwise: its name is not
 * used again. */
void owners_retire(struct owners *owners, struct owner *owner);

/* Frees all, those that are taken too. */
void owners_free(struct owners *owners);

/* The seqid for the next request under client id number `client`. */
uint32_t owner_seqid(struct owner *owner, uint32_t client);

/*
 * The server answered a request that has a seqid by `status`; `reached`: the
 * operation itself did, not one before it in the compound.
 */
void owner_answered(struct owner *owner, uint32_t status, bool reached);

#endif
