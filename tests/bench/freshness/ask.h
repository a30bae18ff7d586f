/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Questions to the server by NFSv3, one at a time.  The program ends with
 * status 2 and a message if the server does not answer.
 */
#ifndef FRESHPROBE_ASK_H
#define FRESHPROBE_ASK_H

#include <stdbool.h>
#include <stdint.h>
#include <nfsc/libnfs.h>
#include <nfsc/libnfs-raw-nfs.h>

struct fh {
	uint32_t length;
	char bytes[NFS3_FHSIZE];
};

/* Connects to the server of this machine; the export's root handle. */
void ask_mount(const char *export, struct fh *root);

bool fh_same(const struct fh *a, const struct fh *b);

/* Each returns NFS's status; what it fills in is right if that is NFS3_OK. */
nfsstat3 ask_getattr(const struct fh *object, struct fattr3 *attributes);

/* found may be NULL. */
nfsstat3 ask_lookup(const struct fh *directory, const char *name,
		    struct fh *found);

/* The whole directory by READDIRPLUS; how often name is in it, and all. */
nfsstat3 ask_listing(const struct fh *directory, const char *name,
		     unsigned *found, unsigned *all);

/* A path below `from`, one LOOKUP after the other. */
nfsstat3 ask_path(const struct fh *from, const char *path, struct fh *found);

/* Requests so far. */
uint64_t ask_count(void);

#endif
