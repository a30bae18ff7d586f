// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * S3-FIFO, plain and adaptive.
 *
 * What is new enters a small queue.  At its end, what was used often enough
 * moves to the main queue and the rest is evicted, but remembered as a ghost;
 * what comes back while it is a ghost enters the main queue at once.  The
 * main queue is a CLOCK.  So a scan passes through the small queue and leaves
 * the main queue alone (J. Yang, Y. Zhang, Z. Qiu, Y. Yue, K. V. Rashmi, "FIFO
 * queues are all you need for cache eviction", SOSP 2023).
 *
 * A small queue of a fixed size is the weakness: objects that come back after
 * a distance that the small queue does not reach, but LRU would, are missed
 * once more, each of them.  The adaptive form moves the target size, as ARC
 * does (N. Megiddo, D. Modha, "ARC: A Self-Tuning, Low Overhead Replacement
 * Cache", FAST 2003): ghosts are kept of both queues; one of the small queue
 * that is asked for again says that the small queue was too short, one of the
 * main queue the opposite.  A step is the larger the fewer ghosts of its kind
 * there are, for a rare ghost that hits says more; at most MAX_STEP.
 *
 * With shards, each has queues, target and ghosts of its own, as it would
 * have a lock; there are never more than leave SHARD_LEAST keys to each.
 */
#include "ghost.h"
#include "queue.h"

#include <stdlib.h>

#define MAX_STEP    8
#define SHARD_LEAST 256
#define TURNS_MAX   32
#define USES_MAX    3

enum where {
	NOWHERE,
	SMALL,
	MAIN
};

struct parameters {
	bool adaptive;
	uint8_t promote_uses; /* in the small queue, to enter the main queue */
	uint8_t small;	      /* per cent of the capacity, at first */
	uint8_t ghosts;	      /* per cent of the capacity */
	uint8_t shards;
};

struct shard {
	struct queue queues[3];
	struct ghost_table ghosts;
	uint32_t capacity;
	int64_t target; /* of the small queue's length */
};

struct state {
	const struct parameters *parameters;
	struct link *links;
	uint8_t *where;
	uint8_t *uses;
	struct shard *shards;
	unsigned nshards;
};

static uint64_t hash_key(uint32_t key)
{
	uint64_t z = key + 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Of bits that neither bucket nor fingerprint is made of. */
static struct shard *shard_of(const struct state *st, uint64_t hash)
{
	return &st->shards[(hash >> 32 & 0xffff) % st->nshards];
}

static void destroy(void *state)
{
	struct state *st = state;

	for (unsigned i = 0; st->shards != NULL && i < st->nshards; i++)
		ghost_table_free(&st->shards[i].ghosts);
	free(st->shards);
	free(st->links);
	free(st->where);
	free(st->uses);
	free(st);
}

static void *create(const struct policy *policy, const struct stream *s,
		    uint32_t capacity)
{
	const struct parameters *p = policy->parameters;
	struct state *st = calloc(1, sizeof(*st));
	bool failed;

	if (st == NULL)
		return NULL;
	st->parameters = p;
	st->nshards = p->shards;
	while (st->nshards > 1 && capacity / st->nshards < SHARD_LEAST)
		st->nshards /= 2;
	st->links = calloc((size_t)s->nkeys + 1, sizeof(*st->links));
	st->where = calloc((size_t)s->nkeys + 1, sizeof(*st->where));
	st->uses = calloc((size_t)s->nkeys + 1, sizeof(*st->uses));
	st->shards = calloc(st->nshards, sizeof(*st->shards));
	failed = st->links == NULL || st->where == NULL || st->uses == NULL ||
		 st->shards == NULL;
	for (unsigned i = 0; i < st->nshards && !failed; i++) {
		struct shard *sh = &st->shards[i];

		for (unsigned q = 0; q < 3; q++)
			sh->queues[q] = QUEUE_EMPTY;
		sh->capacity =
			capacity / st->nshards + (i < capacity % st->nshards);
		sh->target = sh->capacity * p->small / 100;
		failed = ghost_table_init(&sh->ghosts,
					  sh->capacity * p->ghosts / 100) != 0;
	}
	if (failed) {
		destroy(st);
		return NULL;
	}
	return st;
}

static void move(struct state *st, struct shard *sh, uint32_t key,
		 enum where to)
{
	if (st->where[key] != NOWHERE)
		queue_take(&sh->queues[st->where[key]], st->links, key);
	st->where[key] = to;
	if (to != NOWHERE)
		queue_push(&sh->queues[to], st->links, key);
}

/* Evict one; what earned another turn gets it on the way.  Bounded, for the
 * shard is locked: after TURNS_MAX, marks count no longer. */
static uint32_t evict(struct state *st, struct shard *sh)
{
	const struct parameters *p = st->parameters;
	const struct queue *small = &sh->queues[SMALL];
	const struct queue *main = &sh->queues[MAIN];

	for (unsigned turns = 0;; turns++) {
		bool from_small =
			small->length > 0 &&
			(small->length >= sh->target || main->length == 0);
		uint32_t key = from_small ? small->oldest : main->oldest;

		if (turns < TURNS_MAX && from_small &&
		    st->uses[key] >= p->promote_uses) {
			st->uses[key] = 0;
			move(st, sh, key, MAIN);
			continue;
		}
		if (turns < TURNS_MAX && !from_small && st->uses[key] > 0) {
			st->uses[key]--;
			move(st, sh, key, MAIN);
			continue;
		}
		if (from_small)
			ghost_table_add(&sh->ghosts, hash_key(key),
					GHOST_SMALL);
		else if (p->adaptive)
			ghost_table_add(&sh->ghosts, hash_key(key), GHOST_MAIN);
		move(st, sh, key, NOWHERE);
		return key;
	}
}

/* A ghost was asked for: its queue was too short. */
static void adapt(struct shard *sh, enum ghost hit)
{
	const uint32_t *count = sh->ghosts.count;
	int64_t step = count[1 - hit] / (count[hit] + 1);
	int64_t least = sh->capacity / 20;

	if (step < 1)
		step = 1;
	if (step > MAX_STEP)
		step = MAX_STEP;
	/* Twice as fast back: a small queue too long lets scans in. */
	sh->target += hit == GHOST_SMALL ? step : -2 * step;
	if (sh->target > sh->capacity - least)
		sh->target = sh->capacity - least;
	if (sh->target < least)
		sh->target = least;
}

static bool use(void *state, uint32_t key, size_t position, uint32_t *evicted)
{
	struct state *st = state;
	uint64_t hash = hash_key(key);
	struct shard *sh = shard_of(st, hash);
	enum ghost ghost;

	(void)position;
	*evicted = NO_KEY;
	if (st->where[key] != NOWHERE) {
		if (st->uses[key] < USES_MAX)
			st->uses[key]++;
		return true;
	}
	ghost = ghost_table_take(&sh->ghosts, hash);
	if (ghost != GHOST_NONE && st->parameters->adaptive)
		adapt(sh, ghost);
	if (sh->queues[SMALL].length + sh->queues[MAIN].length == sh->capacity)
		*evicted = evict(st, sh);
	st->uses[key] = 0;
	move(st, sh, key, ghost == GHOST_NONE ? SMALL : MAIN);
	return false;
}

static void drop(void *state, uint32_t key)
{
	struct state *st = state;

	move(st, shard_of(st, hash_key(key)), key, NOWHERE);
}

const struct policy policy_s3fifo = {
	.name = "s3fifo",
	.role = CANDIDATE,
	.text = "S3-FIFO, small queue of 10%",
	.parameters = &(const struct parameters){ .promote_uses = 2,
						  .small = 10,
						  .ghosts = 90,
						  .shards = 1 },
	.create = create,
	.destroy = destroy,
	.use = use,
	.remove = drop,
};

const struct policy policy_s3fifo_adaptive = {
	.name = "s3fifo-a",
	.role = CANDIDATE,
	.text = "S3-FIFO, the size of the small queue learned from ghosts",
	.parameters = &(const struct parameters){ .adaptive = true,
						  .promote_uses = 2,
						  .small = 50,
						  .ghosts = 100,
						  .shards = 1 },
	.create = create,
	.destroy = destroy,
	.use = use,
	.remove = drop,
};

const struct policy policy_s3fifo_sharded = {
	.name = "s3fifo-a16",
	.role = CHOSEN,
	.text = "the same in up to 16 shards of 256 entries and more",
	.parameters = &(const struct parameters){ .adaptive = true,
						  .promote_uses = 2,
						  .small = 50,
						  .ghosts = 100,
						  .shards = 16 },
	.create = create,
	.destroy = destroy,
	.use = use,
	.remove = drop,
};
