/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file permit.h
 * @brief Who may be told what is known of a directory's names
 *
 * Ganesha decides by mode bits and ACLs who may search a directory, before it
 * asks for a name. A backend that is asked with the user's own credentials may
 * decide otherwise: behind PROXY_V4 a server squashes root, a GLUSTER volume
 * has options of its own. There, what one user was told must not be told to
 * another who would have been refused. So for such backends a name is answered
 * from memory only to those whom the backend has itself let search (or list)
 * that directory within the last minute; the first question of each user about
 * each directory goes down. A refusal is neither remembered nor shared.
 *
 * Attributes and link targets are given to whoever has the handle, as NFS
 * itself does.
 *
 * The permits are in a table of fixed size: each is 64 bits, 44 of them of a
 * hash keyed by a secret. Replacing one costs its user a question.
 */
#ifndef SCALE_PERMIT_H
#define SCALE_PERMIT_H

#include "object.h"

enum scale_permit {
	SCALE_MAY_SEARCH = 1,
	SCALE_MAY_READ
};

/** @brief Does this backend decide per user? */
bool scale_decides_per_user(const char *backend);

/** @brief May the current user be answered from memory? */
bool scale_permitted(const struct scale_export *exp,
		     const struct scale_obj *dir, enum scale_permit what);

/** @brief The backend has let the current user do this. */
void scale_permit(const struct scale_export *exp, const struct scale_obj *dir,
		  enum scale_permit what);

/** @brief Who may do what in the directory with this key may have changed. */
void scale_permits_forget(const void *key, size_t len);

#endif /* SCALE_PERMIT_H */
