/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The fake server's NFSv4. */
#ifndef FAKE4_H
#define FAKE4_H

#include "fake.h"

/* Begins a reply's record, and ends it. */
struct fake_reply *fake_begin(struct fake_reply *reply, struct wire *w,
			      uint32_t xid);
void fake_end(struct fake_reply *reply, struct wire *w);

/* Answers a compound: what is to be sent, which may be of the slot's memory. */
struct fake_reply *fake4_compound(struct fake_conn *conn, uint32_t xid,
				  struct wire *in, struct fake_reply *reply,
				  struct wire *w);

/* fake4_open.c: what the operations of these names do. */
void fake4_open_file(struct fake *fake, OPEN4args *a, OPEN4res *r);
void fake4_confirm_open(struct fake *fake, OPEN_CONFIRM4args *a,
			OPEN_CONFIRM4res *r);
void fake4_close_file(struct fake *fake, CLOSE4args *a, CLOSE4res *r);

/* The status of a request with that stateid; *owner: whose, NULL: anonymous. */
nfsstat4 fake4_find_stateid(struct fake *fake, const stateid4 *stateid,
			    struct fake_owner **owner);

#endif
