/* SPDX-License-Identifier: LGPL-3.0-or-later */
#ifndef MDX_NAME_PUT_H
#define MDX_NAME_PUT_H

#include "names.h"

/* The record of a name whose child is this (with its entry, if it is there);
 * NULL: of a name that does not exist. Not under a lock. */
void name_record(struct mdx *c, const struct mdx_key *child, struct record *r);

#endif
