/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * An NFS client without caches, for load: one asynchronous interface over
 * NFSv3, NFSv4.0 and NFSv4.1.
 *
 * A client belongs to one loop (loop.h) and its thread.  Operations are
 * submitted by the functions below and end in a callback, never from inside
 * the submitting function.  Any number may be submitted: what the protocol
 * does not let out yet (an NFSv4.1 slot, the depth that the settings give)
 * waits its turn in order.  A callback may submit, and may not free the client.
 *
 * What a function is given is copied (handles, names, attributes), except the
 * data of a write, which must stay until the callback.  What a callback is
 * given is valid inside it only.
 *
 * Faults that a client has to live with are handled here and counted
 * (struct sw_counters): DELAY and JUKEBOX, GRACE, lost leases, sessions and
 * connections.  The caller sees a longer time, or, after `patience`, the
 * status.  Any other NFS status is the operation's answer.
 *
 * Protocol types and constants are those of the FSAL SDK's nfs23.h and
 * nfsv41.h.  Its codecs serve where a session is set up; libganesha_nfsd.so
 * does not export those of NFSv3, and those of NFSv4 allocate and copy what
 * they decode, so the operations' own are here, in place, over libntirpc's
 * XDR; the tests compare them with the SDK's.
 */
#ifndef SWBUILD_CLIENT_H
#define SWBUILD_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "loop.h"

enum sw_version {
	SW_V3 = 30,
	SW_V40 = 40,
	SW_V41 = 41
};

/* "3", "4.0" (or "4"), "4.1" to *version; false if it is none of them. */
bool sw_version_parse(const char *text, enum sw_version *version);
const char *sw_version_name(enum sw_version version);

#define SW_FH_MAX     128
#define SW_NAME_MAX   255
#define SW_TARGET_MAX 1023 /* of a symbolic link that is made */

/*
 * A file handle.  Functions read `length` and so many bytes, no more, so a
 * caller with many may keep them cut short.
 */
struct sw_fh {
	uint8_t length;
	uint8_t data[SW_FH_MAX];
};

enum sw_type {
	SW_TYPE_NONE,
	SW_REG,
	SW_DIR,
	SW_BLK,
	SW_CHR,
	SW_LNK,
	SW_SOCK,
	SW_FIFO,
}; /* the numbers of ftype3 and nfs_ftype4 */

struct sw_attrs {
	enum sw_type type;
	uint32_t mode; /* permissions, without the type */
	uint32_t nlink;
	uint64_t size;
	uint64_t used;
	uint64_t fileid;
	uint64_t change; /* NFSv4; 0 by NFSv3 */
	struct timespec atime;
	struct timespec mtime;
	struct timespec ctime;
};

/* What a setattr sets: a mask of these, and the values. */
#define SW_SET_MODE	 0x01u
#define SW_SET_SIZE	 0x02u
#define SW_SET_ATIME	 0x04u /* to the value given */
#define SW_SET_MTIME	 0x08u
#define SW_SET_ATIME_NOW 0x10u /* to the server's time */
#define SW_SET_MTIME_NOW 0x20u

struct sw_setattr {
	uint32_t set;
	uint32_t mode;
	uint64_t size;
	struct timespec atime;
	struct timespec mtime;
};

/* ACCESS bits; the same in both protocols. */
#define SW_ACCESS_READ	  0x01u
#define SW_ACCESS_LOOKUP  0x02u
#define SW_ACCESS_MODIFY  0x04u
#define SW_ACCESS_EXTEND  0x08u
#define SW_ACCESS_DELETE  0x10u
#define SW_ACCESS_EXECUTE 0x20u

/*
 * Statuses besides the protocol's own (0 is OK in both).  SW_ERR_LOST: the
 * client has failed for good (sw_client_error()), or was closed.
 * SW_ERR_REPLY: a reply that cannot be decoded.  SW_ERR_ARGUMENT: a name or
 * target that is too long or empty.  SW_ERR_RPC: the RPC layer refused (an
 * AUTH_ERROR, PROC_UNAVAIL, ...).
 */
#define SW_OK		0u
#define SW_ERR_LOST	0xf0000001u
#define SW_ERR_REPLY	0xf0000002u
#define SW_ERR_ARGUMENT 0xf0000003u
#define SW_ERR_RPC	0xf0000004u

/* "NFS3ERR_NOENT", "NFS4ERR_DELAY", "SW_ERR_LOST"; "status 12345" if unknown
 * (of the thread: until the next call). */
const char *sw_status_name(enum sw_version version, uint32_t status);

struct sw_client;
struct sw_file; /* an open file */

/* How an operation ended. */
struct sw_result {
	uint32_t status;
	uint32_t rpcs;	/* requests it took, those sent again included */
	uint64_t start; /* when it was submitted */
	uint64_t sent;	/* when its first request was let out */
	uint64_t end;
	const struct sw_attrs *attrs; /* of the object; NULL: not told */
	const struct sw_fh *fh;	      /* of the object found, made or opened */
	struct sw_file *file; /* opened: the caller's until sw_close() */
	const void *data;     /* read; readlink: the target, no NUL */
	uint64_t count;	   /* bytes read, written or of the target; entries */
	uint64_t verifier; /* WRITE and COMMIT: the server's, as a number */
	uint32_t access;
	bool eof;
};

/* Called once for each operation. */
typedef void (*sw_done)(void *arg, const struct sw_result *result);

/* ---- the client ---- */

struct sw_settings {
	const char *host;   /* name or address */
	const char *export; /* "/path": the MOUNT path or pseudo path */
	enum sw_version version;
	uint16_t port;	      /* 0: 2049; by NFSv3 the portmapper's word */
	uint16_t mount_port;  /* 0: the portmapper's word */
	uint32_t connections; /* 0: 1 */
	/* Requests in flight at most; 0: 64 for each connection.  NFSv4.1:
	 * slots asked for. */
	uint32_t depth;
	uint32_t uid;
	uint32_t gid;
	/* A READ's and WRITE's largest, at most what the server takes; 0: 1 MiB
	 */
	uint32_t rsize;
	uint32_t wsize;
	uint64_t patience; /* ns to go on trying; 0: 120 s */
	const char *name;  /* unique on this machine; NULL: made up */
};

/* What was done besides the operations' own requests, and what went wrong. */
struct sw_counters {
	uint64_t requests; /* RPC calls, all of them */
	uint64_t bytes_out;
	uint64_t bytes_in;
	uint64_t resent;     /* calls sent again after a lost connection */
	uint64_t reconnects; /* connections lost and made anew */
	uint64_t delays;     /* NFS4ERR_DELAY, NFS3ERR_JUKEBOX */
	uint64_t graces;     /* NFS4ERR_GRACE */
	uint64_t expired;    /* EXPIRED, STALE_CLIENTID, STALE_STATEID, ... */
	uint64_t clientids;  /* client ids made after the first */
	uint64_t sessions;   /* sessions made after the first */
	uint64_t bad_slots;  /* BADSLOT, SEQ_MISORDERED, ... */
	uint64_t bad_seqids; /* NFSv4.0: BAD_SEQID */
	uint64_t reopened;   /* open files opened again */
	uint64_t reopens_failed;
	uint64_t confirms; /* OPEN_CONFIRM */
	uint64_t renews;   /* RENEW, and SEQUENCE alone */
	uint64_t waits;	   /* requests that waited for a slot or for depth */
};

/*
 * A client, not yet connected.  NULL if the settings cannot be; `error` (of
 * `size` bytes) then says why.
 */
struct sw_client *sw_client_new(struct sw_loop *loop,
				const struct sw_settings *settings, char *error,
				size_t size);

/*
 * Connects, makes the client id and the session that the version needs, and
 * finds the export: the result's fh and attrs are its root's.  When it fails,
 * sw_client_error() says what the server refused, and the remedy.
 */
void sw_mount(struct sw_client *client, sw_done done, void *arg);

/* The same, running the loop until it is done.  Returns false if it failed. */
bool sw_mount_wait(struct sw_client *client);

/* The export's root, after sw_mount(). */
const struct sw_fh *sw_root(const struct sw_client *client);

/*
 * Ends in order what is kept at the server (open files, session, client id;
 * NFSv3: UMNT) and closes the connections.  Requests that are in flight are
 * waited for; operations that still wait end with SW_ERR_LOST.
 */
void sw_unmount(struct sw_client *client, sw_done done, void *arg);
void sw_unmount_wait(struct sw_client *client);

/* Frees the client, its open files too.  Callbacks are not called. */
void sw_client_free(struct sw_client *client);

/* Why it failed: one line, or "" if it has not. */
const char *sw_client_error(const struct sw_client *client);

const struct sw_counters *sw_client_counters(const struct sw_client *client);

/* Operations that have not ended. */
uint32_t sw_client_pending(const struct sw_client *client);

/* Requests that may be in flight: NFSv4.1: what the server granted. */
uint32_t sw_client_depth(const struct sw_client *client);

/* What READ and WRITE carry at most, bytes; after sw_mount(). */
uint32_t sw_client_rsize(const struct sw_client *client);
uint32_t sw_client_wsize(const struct sw_client *client);

/* ---- operations on names and objects: one request each ---- */

/* fh and attrs. */
void sw_lookup(struct sw_client *client, const struct sw_fh *dir,
	       const char *name, sw_done done, void *arg);

/* attrs. */
void sw_getattr(struct sw_client *client, const struct sw_fh *fh, sw_done done,
		void *arg);

/* access (of the SW_ACCESS_ bits wanted); attrs by NFSv3. */
void sw_access(struct sw_client *client, const struct sw_fh *fh,
	       uint32_t wanted, sw_done done, void *arg);

/* attrs.  By NFSv4 the size is set with the anonymous stateid. */
void sw_setattr(struct sw_client *client, const struct sw_fh *fh,
		const struct sw_setattr *set, sw_done done, void *arg);

/* fh and attrs. */
void sw_mkdir(struct sw_client *client, const struct sw_fh *dir,
	      const char *name, uint32_t mode, sw_done done, void *arg);
void sw_symlink(struct sw_client *client, const struct sw_fh *dir,
		const char *name, const char *target, sw_done done, void *arg);

/* data and count: the target. */
void sw_readlink(struct sw_client *client, const struct sw_fh *fh, sw_done done,
		 void *arg);

void sw_remove(struct sw_client *client, const struct sw_fh *dir,
	       const char *name, sw_done done, void *arg);
void sw_rmdir(struct sw_client *client, const struct sw_fh *dir,
	      const char *name, sw_done done, void *arg);
void sw_rename(struct sw_client *client, const struct sw_fh *from_dir,
	       const char *from, const struct sw_fh *to_dir, const char *to,
	       sw_done done, void *arg);
void sw_link(struct sw_client *client, const struct sw_fh *fh,
	     const struct sw_fh *dir, const char *name, sw_done done,
	     void *arg);

/* Where a listing is; zeroed: at its beginning.  Stays until the callback. */
struct sw_cursor {
	uint64_t cookie;
	uint8_t verifier[8];
};

struct sw_entry {
	const char *name; /* not ended by NUL */
	uint32_t length;
	uint64_t fileid;
	uint64_t cookie;
	const struct sw_attrs *attrs; /* plus only; NULL: not told */
	const struct sw_fh *fh;	      /* plus only; NULL: not told */
};

typedef void (*sw_each)(void *arg, const struct sw_entry *entry);

/*
 * One page of a directory: each entry is given to `each` (NULL: only
 * counted), then done() has count and eof.  *at is moved behind the page.
 * "." and ".." are left out.  plus: with attributes and handles.  bytes: the
 * reply's size at most; 0: 32 KiB.
 */
void sw_readdir(struct sw_client *client, const struct sw_fh *dir,
		struct sw_cursor *at, bool plus, uint32_t bytes, sw_each each,
		sw_done done, void *arg);

/* ---- open files ---- */

/*
 * Which file: by its name, by its handle, or both.  By NFSv3 the handle is
 * enough, and a name alone costs a LOOKUP.  NFSv4.0 opens by name, NFSv4.1 by
 * handle (CLAIM_FH) if that is given; without a name NFSv4.0 reads and writes
 * by the anonymous stateid.
 */
struct sw_target {
	const struct sw_fh *dir; /* with name; or NULL */
	const char *name;
	const struct sw_fh *fh; /* or NULL */
};

#define SW_READ	    0x01u
#define SW_WRITE    0x02u
#define SW_CREATE   0x04u /* by name; made if it is not there */
#define SW_EXCL	    0x08u /* with SW_CREATE: EXIST if it is there (GUARDED) */
#define SW_TRUNCATE 0x10u /* with SW_CREATE: to no bytes */

/*
 * Opens a file: file and fh, attrs if the protocol tells them.  mode: of a
 * file that is made.  NFSv3 knows no open: a CREATE, a LOOKUP, or nothing at
 * all is sent (rpcs is 0 then).
 */
void sw_open(struct sw_client *client, const struct sw_target *target,
	     uint32_t flags, uint32_t mode, sw_done done, void *arg);

/* Closes it; `file` is gone, whatever the status.  NFSv3: nothing is sent. */
void sw_close(struct sw_client *client, struct sw_file *file, sw_done done,
	      void *arg);

const struct sw_fh *sw_file_handle(const struct sw_file *file);

/* One READ: data, count, eof; attrs by NFSv3.  At most rsize bytes. */
void sw_read(struct sw_client *client, struct sw_file *file, uint64_t offset,
	     uint32_t count, sw_done done, void *arg);

/* One WRITE of at most wsize bytes; count; attrs.  stable: FILE_SYNC. */
void sw_write(struct sw_client *client, struct sw_file *file, uint64_t offset,
	      const void *data, uint32_t count, bool stable, sw_done done,
	      void *arg);

/* Commits what was written without `stable`. */
void sw_commit(struct sw_client *client, struct sw_file *file, sw_done done,
	       void *arg);

/* ---- whole files: one operation, whose time is all of it ---- */

/* Called for each piece that is read, in no certain order. */
typedef void (*sw_sink)(void *arg, uint64_t offset, const void *data,
			uint64_t count);

/*
 * Opens, reads to the end, closes.  count: bytes read.  sink may be NULL.
 * size: how large the caller thinks the file is, so that all READs of a large
 * one go out together; 0: not known.
 */
void sw_read_file(struct sw_client *client, const struct sw_target *target,
		  uint64_t size, sw_sink sink, sw_done done, void *arg);

/*
 * Opens (flags as sw_open(), SW_WRITE is implied), writes the data, closes:
 * fh, count, and attrs if told.  One WRITE is FILE_SYNC; more are unstable, and
 * a COMMIT follows, as the Linux client does.  count 0 makes an empty file.
 */
void sw_write_file(struct sw_client *client, const struct sw_target *target,
		   uint32_t flags, uint32_t mode, const void *data,
		   uint64_t count, sw_done done, void *arg);

#endif
