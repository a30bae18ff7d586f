/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* What the files of NFSv4 share. */
#ifndef SWBUILD_NFS4_H
#define SWBUILD_NFS4_H

#include "impl.h"

/* ---- nfs4.c: compounds ---- */

/* Begins an operation of the compound. */
void put_op(struct wire *w, uint32_t number);

/* A compound around the coding's operations; protocol.encode, .decode. */
void nfs4_encode(struct op *op, struct wire *w);
uint32_t nfs4_decode(struct op *op, struct wire *w, struct reply *reply);

/*
 * The next result must be that of operation `number`: its status; what follows
 * it is not read yet.
 */
uint32_t next_op(struct op *op, struct wire *w, struct reply *reply,
		 uint32_t number);

/* An OPEN by its handle: the version knows how to, and it is known. */
bool open_by_handle(const struct op *op);

/* PUTROOTFH, LOOKUPs along the export's path, GETFH, GETATTR. */
extern const struct coding nfs4_root;
extern const struct coding nfs4_confirm;
/* An OPEN of op->file anew: CLAIM_PREVIOUS, or as at first. */
extern const struct coding nfs4_reclaim;
extern const struct coding nfs4_reopen;

/* nfs4_reply.c: the results of `codings`. */
uint32_t get_getattr4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_lookup4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_access4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_setattr4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_create4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_readlink4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_remove4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_rename4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_link4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_readdir4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_open4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_reopen4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_confirm4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_close4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_read4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_write4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_commit4(struct op *op, struct wire *w, struct reply *reply);
uint32_t get_root4(struct op *op, struct wire *w, struct reply *reply);

/* ---- session41.c ---- */

void put_sequence(struct op *op, struct wire *w);
/* The status of the SEQUENCE that a reply begins with. */
uint32_t get_sequence(struct op *op, struct wire *w, struct reply *reply);
/* Makes a new session, and a new client id if that is lost. */
void session_renew(struct sw_client *client);

/* ---- client40.c ---- */

/* Makes a new client id. */
void clientid40_renew(struct sw_client *client);

/* ---- recover.c ---- */

enum verdict judge4(struct op *op, struct reply *reply);

/*
 * A step of making a client id or session: whether the reply is good.  If not,
 * it is sent anew after a pause, or the client has failed.
 */
bool step_good(struct op *op, const struct reply *reply, const char *doing);

/* Finds the export, then client_mounted(). */
void find_root(struct sw_client *client);

/* Operations wait from now on, until client_ready(). */
void recover_begin(struct sw_client *client);

/* What files have at the server is lost. */
void files_stale(struct sw_client *client);

/* ---- reopen.c ---- */

/*
 * Reclaims all files that have lost their state, or opens them anew; then
 * calls `done`.  complete: NFSv4.1's RECLAIM_COMPLETE is due, too.
 */
void reopen_all(struct sw_client *client, bool complete,
		void (*done)(struct sw_client *client));

/* Closes all files; then calls `done`. */
void close_all(struct sw_client *client,
	       void (*done)(struct sw_client *client));

#endif
