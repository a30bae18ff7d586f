/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* Answers: what of a copied entry may be told now. */
#ifndef MDX_GET_H
#define MDX_GET_H

#include "cache.h"

/* Copies an entry by key: without a lock if that works soon, else with it.
 * False: it is not known. Within an RCU read section, which it may leave and
 * enter again. */
bool get_snap(struct mdx *c, struct mdx_key key, uint64_t hash, struct snap *s);

/* What is known and fresh of a copied entry; returns the valid groups. */
uint32_t get_fill(const struct mdx *c, const struct snap *s,
		  struct mdx_answer *answer);

#endif
