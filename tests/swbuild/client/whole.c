// SPDX-License-Identifier: LGPL-3.0-or-later
/* Whole files: chains of operations that count as one. */
#include "impl.h"

#include <stdlib.h>

#define WINDOW 8 /* READs or WRITEs of one file in flight */

struct piece {
	struct chain *chain;
	uint64_t offset;
	uint32_t count; /* 0: free */
};

struct chain {
	struct chain *next_free;
	struct chain *any; /* client->all_chains */
	struct sw_client *client;
	sw_done done;
	void *arg;
	struct sw_file *file;
	bool writes;
	bool known;   /* size is the file's, not a guess */
	bool reached; /* a READ said eof */
	uint32_t flags;
	const uint8_t *data;
	uint64_t size;
	uint64_t next; /* offset of the next piece */
	uint32_t busy;
	bool unstable;
	uint64_t verifier;
	sw_sink sink;
	struct sw_result result;
	struct sw_attrs attrs;
	struct sw_fh fh;
	struct piece piece[WINDOW];
};

static void go_on(struct chain *chain);

static struct chain *chain_new(struct sw_client *client, sw_done done,
			       void *arg)
{
	struct chain *chain = client->free_chain;
	struct chain *any;

	if (chain) {
		client->free_chain = chain->next_free;
	} else {
		chain = malloc(sizeof(*chain));
		if (!chain)
			abort();
		chain->any = client->all_chains;
		client->all_chains = chain;
	}
	any = chain->any;
	memset(chain, 0, sizeof(*chain));
	chain->any = any;
	chain->client = client;
	chain->done = done;
	chain->arg = arg;
	chain->result.start = sw_now();
	client->pending++;
	return chain;
}

void chains_free(struct sw_client *client)
{
	while (client->all_chains) {
		struct chain *chain = client->all_chains;

		client->all_chains = chain->any;
		free(chain);
	}
}

static void finish(struct chain *chain)
{
	struct sw_client *client = chain->client;

	chain->result.end = sw_now();
	client->pending--;
	chain->done(chain->arg, &chain->result);
	chain->next_free = client->free_chain;
	client->free_chain = chain;
}

/* What each part of it adds to the whole. */
static void add(struct chain *chain, const struct sw_result *result)
{
	struct sw_result *whole = &chain->result;

	whole->rpcs += result->rpcs;
	if (!whole->sent)
		whole->sent = result->sent;
	if (!whole->status)
		whole->status = result->status;
	if (result->attrs) {
		chain->attrs = *result->attrs;
		whole->attrs = &chain->attrs;
	}
}

static void on_close(void *arg, const struct sw_result *result)
{
	struct chain *chain = arg;

	add(chain, result);
	finish(chain);
}

static void close_it(struct chain *chain)
{
	sw_close(chain->client, chain->file, on_close, chain);
}

static void on_commit(void *arg, const struct sw_result *result)
{
	struct chain *chain = arg;

	add(chain, result);
	chain->client->inner = true;
	if (result->status || result->verifier == chain->verifier) {
		close_it(chain);
	} else {
		/* The server began anew, and lost what was not committed. */
		chain->verifier = 0;
		chain->next = 0;
		chain->result.count = 0;
		go_on(chain);
	}
	chain->client->inner = false;
}

static void read_answered(struct chain *chain, struct piece *piece,
			  const struct sw_result *result)
{
	if (chain->sink && result->count)
		chain->sink(chain->arg, piece->offset, result->data,
			    result->count);
	if (result->attrs) {
		chain->size = result->attrs->size;
		chain->known = true;
	}
	chain->reached |= result->eof || !result->count;
}

static void write_answered(struct chain *chain, const struct sw_result *result)
{
	if (!chain->verifier)
		chain->verifier = result->verifier;
	else if (chain->verifier != result->verifier)
		chain->verifier = UINT64_MAX; /* the COMMIT will not fit */
}

static void send_piece(struct chain *chain, struct piece *piece);

static void on_piece(void *arg, const struct sw_result *result)
{
	struct piece *piece = arg;
	struct chain *chain = piece->chain;

	add(chain, result);
	if (!result->status) {
		chain->result.count += result->count;
		if (chain->writes)
			write_answered(chain, result);
		else
			read_answered(chain, piece, result);
		piece->offset += result->count;
		piece->count -= (uint32_t)(result->count < piece->count ?
						   result->count :
						   piece->count);
	}
	chain->client->inner = true;
	/* The server may do less than it was asked to. */
	if (!result->status && result->count && piece->count &&
	    (chain->writes ||
	     (!result->eof && (!chain->known || piece->offset < chain->size))))
		send_piece(chain, piece);
	else {
		piece->count = 0;
		chain->busy--;
		go_on(chain);
	}
	chain->client->inner = false;
}

static void send_piece(struct chain *chain, struct piece *piece)
{
	if (chain->writes)
		sw_write(chain->client, chain->file, piece->offset,
			 chain->data + piece->offset, piece->count,
			 !chain->unstable, on_piece, piece);
	else
		sw_read(chain->client, chain->file, piece->offset, piece->count,
			on_piece, piece);
}

static struct piece *free_piece(struct chain *chain)
{
	for (uint32_t i = 0; i < WINDOW; i++)
		if (!chain->piece[i].count)
			return &chain->piece[i];
	return NULL;
}

/* Whether there is something to read that is not asked for yet. */
static bool more(const struct chain *chain)
{
	if (chain->result.status)
		return false;
	if (chain->next < chain->size)
		return !chain->reached;
	/* Nobody has told the size: step by step, until a READ says eof. */
	return !chain->writes && !chain->known && !chain->reached &&
	       !chain->busy;
}

/* Sends what may be sent; when all is answered, goes to the end. */
static void go_on(struct chain *chain)
{
	struct sw_client *client = chain->client;
	uint32_t most = chain->writes ? client->wsize : client->rsize;

	while (chain->busy < WINDOW && more(chain)) {
		struct piece *piece = free_piece(chain);
		uint64_t left = chain->next < chain->size ?
					chain->size - chain->next :
					most;

		piece->chain = chain;
		piece->offset = chain->next;
		piece->count = (uint32_t)(left < most ? left : most);
		chain->next += piece->count;
		chain->busy++;
		send_piece(chain, piece);
	}
	if (chain->busy)
		return;
	if (chain->writes && chain->unstable && !chain->result.status)
		sw_commit(client, chain->file, on_commit, chain);
	else
		close_it(chain);
}

static void on_truncate(void *arg, const struct sw_result *result)
{
	struct chain *chain = arg;

	chain->client->inner = true;
	add(chain, result);
	go_on(chain);
	chain->client->inner = false;
}

static void on_open(void *arg, const struct sw_result *result)
{
	struct chain *chain = arg;

	add(chain, result);
	if (result->status) {
		finish(chain);
		return;
	}
	chain->file = result->file;
	chain->fh = *result->fh;
	chain->result.fh = &chain->fh;
	if (chain->writes) {
		chain->result.attrs = NULL; /* of before the writes */
	} else if (result->attrs) {
		chain->size = result->attrs->size;
		chain->known = true;
	}
	chain->client->inner = true;
	if (chain->writes && chain->flags & SW_TRUNCATE &&
	    !(chain->flags & SW_CREATE))
		file_truncate(chain->client, chain->file, on_truncate, chain);
	else
		go_on(chain);
	chain->client->inner = false;
}

static void start(struct chain *chain, const struct sw_target *target,
		  uint32_t mode)
{
	bool inner = chain->client->inner;

	chain->client->inner = true;
	sw_open(chain->client, target, chain->flags, mode, on_open, chain);
	chain->client->inner = inner;
}

void sw_read_file(struct sw_client *client, const struct sw_target *target,
		  uint64_t size, sw_sink sink, sw_done done, void *arg)
{
	struct chain *chain = chain_new(client, done, arg);

	chain->flags = SW_READ;
	chain->size = size;
	chain->sink = sink;
	start(chain, target, 0);
}

void sw_write_file(struct sw_client *client, const struct sw_target *target,
		   uint32_t flags, uint32_t mode, const void *data,
		   uint64_t count, sw_done done, void *arg)
{
	struct chain *chain = chain_new(client, done, arg);

	chain->writes = true;
	chain->flags = flags | SW_WRITE;
	chain->data = data;
	chain->size = count;
	chain->unstable = count > client->wsize;
	start(chain, target, mode);
}
