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

#endif
