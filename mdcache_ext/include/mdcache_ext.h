/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * mdcache_ext: a compact, byte-budgeted cache of file metadata.
 *
 * The library knows nothing of any file server. It remembers what a backend
 * file system has said (attributes of objects, names in directories, names that
 * do not exist) and says it again, quickly, until it is told that it may no
 * longer be true. Every answer is either right or "not known": when in doubt,
 * the engine forgets.
 *
 * Terms
 *   key         backend id (0..255) and 1 to 128 opaque bytes, the name of an
 *               object. Two keys are one object if and only if they are equal.
 *   entry       what is known of one object.
 *   stat tier   entries with attributes only (about 125 bytes each, all told,
 *               with a key of 27 bytes).
 *   file tier   entries that may also hold names, pages and pins (about 225).
 *   promotion   stat tier to file tier: on use as a directory, for data, by
 *pin. demotion    file tier to stat tier: names and pages go, attributes stay.
 *   name        an entry of a directory that points at a child (about 31 bytes
 *               with 11 letters); or a negative name, known not to exist.
 *   complete    all names of a directory are held: absence is an answer.
 *   ticket      a point of time, taken before the backend is asked. Whatever is
 *               invalidated or changed after that point cannot be stored with
 *               that ticket.
 *   fresh       an answer may be given until its time to live is over.
 *   pin         a use (an open file) that keeps an entry in the file tier.
 *
 * Guarantees
 *   - An answer was true at the backend at some moment after the last
 *     invalidation or change of what it is about, provided that the caller
 *     follows the two protocols below.
 *   - mdx_get, mdx_lookup and mdx_readdir take no lock and write nothing that
 *     other CPUs read but a mark in what they found (and a counter of the CPU).
 *     Under constant change of the very same entry they fall back to its lock.
 *   - No lock is held for longer than a bounded number of steps (one leaf of
 *     names, one block of memory), however large a directory is.
 *   - The memory held never passes limits.max_bytes. What has no room is not
 *     kept; that is -ENOSPC, and not an error of the caller's operation.
 *   - The engine never calls back under a lock or in an RCU read section.
 *
 * Protocol of a fetch
 *	t = mdx_ticket(c);
 *	... ask the backend ...
 *	mdx_put(c, t, ...); mdx_name_put(c, t, ...);	as many as were learnt
 *
 * Protocol of a change (create, setattr, unlink, rename, ...)
 *	mdx_change_init(&ch);
 *	mdx_change_entry(c, &ch, ...); mdx_change_name(c, &ch, ...);
 *	... ask the backend ...
 *	mdx_changed_entry(c, &ch, ...); mdx_changed_name(c, &ch, ...);
 * with exactly one "changed" for each target, whether the backend succeeded or
 * not. A rename finishes its new name before its old one, so that an onlooker
 * sees both for a moment (as rename(2) allows) but never none.
 *
 * Threads: every function may be called from any thread at any time, except
 * that nothing may run during mdx_destroy, and that nothing may be called from
 * inside an RCU read section or a signal handler. Threads need no registration.
 *
 * Errors are negative errno values. Functions that return void cannot fail.
 * Times are milliseconds unless said otherwise; they are kept in quarter
 * seconds and rounded down, so that nothing outlives its time.
 */
#ifndef MDCACHE_EXT_H
#define MDCACHE_EXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "mdcache_ext_counters.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MDX_KEY_MAX	 128 /* bytes of a key */
#define MDX_NAME_MAX	 255 /* bytes of a name; 1 is the least */
#define MDX_BLOB_MAX	 600 /* bytes of a symlink target or parent key */
#define MDX_BACKENDS	 256 /* backend ids */
#define MDX_COOKIE_FIRST 3   /* 0, 1 and 2 are never cookies */
#define MDX_COOKIE_LAST	 (((uint64_t)1 << 62) - 1)

struct mdx;	       /* one cache */
struct mdx_attachment; /* a reference-counted object of the caller's */
struct mdx_handle;     /* an object in the handle pool */
struct mdx_flight;     /* a fetch in progress that others wait for */

/* --- Keys and attributes ------------------------------------------------- */

struct mdx_key {
	const void *bytes; /* not kept after the call */
	uint8_t len;	   /* 1..MDX_KEY_MAX, others are -EINVAL */
	uint8_t backend;
};

/* What of struct mdx_attrs is valid. Each bit is a group of its own. */
enum mdx_mask {
	MDX_TYPE = 1 << 0,
	MDX_MODE = 1 << 1,
	MDX_NLINK = 1 << 2,
	MDX_OWNER = 1 << 3,
	MDX_GROUP = 1 << 4,
	MDX_SIZE = 1 << 5,
	MDX_SPACE = 1 << 6,
	MDX_FSID = 1 << 7,
	MDX_FILEID = 1 << 8,
	MDX_RDEV = 1 << 9,
	MDX_ATIME = 1 << 10,
	MDX_BTIME = 1 << 11,
	MDX_CTIME = 1 << 12,
	MDX_MTIME = 1 << 13,
	MDX_CHANGE = 1 << 14,
	MDX_GENERATION = 1 << 15,
	MDX_NUMBERS = 0xffff, /* all of the above */
	MDX_ACL = 1 << 16,    /* attrs.acl */
	MDX_OTHER = 1 << 17,  /* attrs.other */
	MDX_LINK = 1 << 18,   /* blob: symlink target */
	MDX_PARENT = 1 << 19, /* blob: parent directory's key */
	MDX_ALL = 0xfffff
};

/* All values are stored exactly, whatever they are. Seconds must lie within
 * 34 bits signed (years 1698 to 2242) or are stored at a cost of 64 bytes. */
struct mdx_attrs {
	uint32_t valid; /* enum mdx_mask */
	uint32_t type;	/* 0..15, the caller's own numbering */
	uint32_t mode;
	uint32_t nlink;
	uint64_t owner;
	uint64_t group;
	uint64_t size;	/* bytes */
	uint64_t space; /* bytes */
	uint64_t fsid_major;
	uint64_t fsid_minor;
	uint64_t fileid;
	uint64_t rdev;
	uint64_t change;
	uint64_t generation;
	struct timespec atime; /* tv_nsec 0..999999999 */
	struct timespec btime; /* creation */
	struct timespec ctime;
	struct timespec mtime;
	struct mdx_attachment *acl;   /* valid and NULL: known to have none */
	struct mdx_attachment *other; /* likewise */
};

#define MDX_FOREVER UINT32_MAX /* a time to live without an end */

/* What mdx_get and mdx_lookup tell of an entry. */
struct mdx_answer {
	struct mdx_attrs attrs; /* attrs.valid: what is known and fresh */
	uint32_t expired;	/* groups in attrs that were true once */
	uint32_t left_ms;	/* remaining life, MDX_FOREVER if endless */
	bool file_tier;
	bool pinned;
	uint8_t backend;
	uint8_t key_len;
	uint8_t key[MDX_KEY_MAX];
};

/* --- The cache itself ---------------------------------------------------- */

struct mdx_limits {
	uint64_t max_files; /* entries of the file tier, pinned ones too, but
			       those may exceed it; at least 1 */
	uint64_t max_stats; /* entries of the stat tier; 0: no demotion, no
			       entries but those of the file tier */
	uint64_t max_bytes; /* memory of all entries, names, tables and
			       attachments; at least 1 MiB */
};

struct mdx_pool_limits {
	uint32_t max_handles; /* those in use may exceed it */
	uint32_t max_fds;     /* of those that are not in use */
	uint64_t max_charge;  /* sum of the charges given to mdx_pool_add */
};

struct mdx_params {
	struct mdx_limits limits;
	struct mdx_pool_limits pool;
	unsigned int shards; /* power of two up to 256; 0: chosen by limits.
				One shard replaces exactly, many in parallel. */
	/* Drops one reference of an object given to mdx_attach. Runs on the
	 * engine's own thread, may block, must not call mdx_destroy. */
	void (*attachment_release)(void *object, void *arg);
	/* Gives up an object given to mdx_pool_add. The same thread and rules. */
	void (*handle_release)(void *object, void *arg);
	/* Milliseconds of a clock that never goes back; NULL: CLOCK_MONOTONIC.
	 * Called on hits: it must be quick. */
	uint64_t (*now_ms)(void *arg);
	void *arg; /* given to each callback */
};

/* Sensible values: 100,000 files, 1,000,000 stats, 256 MiB. */
void mdx_params_init(struct mdx_params *params);

/* Makes a cache and starts its thread (signals blocked, named "mdx").
 * -EINVAL: a limit out of range; -ENOMEM; -EAGAIN: no thread. */
int mdx_create(const struct mdx_params *params, struct mdx **cache);

/* Frees everything and runs all outstanding release callbacks before it
 * returns. No flight may be open and no handle in use. NULL is allowed. */
void mdx_destroy(struct mdx *c);

/* Changes limits while running. -EINVAL: a limit out of range, or max_bytes
 * less than what was sized in mdx_create (some 35 KiB a shard, and 2 percent of
 * max_bytes as it was) and 512 KiB for entries; nothing is changed then.
 * Growth is immediate. For a smaller max_bytes -EINPROGRESS says that the
 * engine's thread gives memory back in small steps; mdx_trim does it at once.
 * Until then nothing more is taken. What lies among pinned entries is given
 * back when the pins go, an attachment's charge when it has been released. */
int mdx_set_limits(struct mdx *c, const struct mdx_limits *limits);
void mdx_get_limits(const struct mdx *c, struct mdx_limits *limits);

/* Up to `steps` steps (each bounded) towards the limits, on the caller's
 * thread. True when there is nothing left to do: the limits hold, but for what
 * is said above. */
bool mdx_trim(struct mdx *c, unsigned int steps);

struct mdx_usage {
	uint64_t files;	  /* entries, pinned included */
	uint64_t stats;	  /* entries */
	uint64_t pinned;  /* entries */
	uint64_t names;	  /* names, negative ones included */
	uint64_t bytes;	  /* memory held, the figure max_bytes bounds */
	uint64_t used;	  /* bytes of it that hold something */
	uint64_t handles; /* in the pool */
	uint64_t fds;	  /* open in the pool */
	uint64_t charge;  /* of the pool */
	uint64_t lock_ns; /* longest shard lock hold so far; 0 unless built
			     with MDX_LOCK_TIMING */
};
void mdx_usage(struct mdx *c, struct mdx_usage *usage);

/* Waits until every release callback that was due at the call has run. */
void mdx_quiesce(struct mdx *c);

/* The sum of each counter over all CPUs; `values` has MDX_COUNTER_COUNT. */
void mdx_counters(const struct mdx *c, uint64_t *values);
const char *mdx_counter_name(unsigned int counter);    /* "hit", ... */
const char *mdx_counter_meaning(unsigned int counter); /* one line */

/* --- Entries ------------------------------------------------------------- */

/* A ticket: to be taken before the backend is asked. 0 is never valid. */
uint64_t mdx_ticket(struct mdx *c);

/* Finds an entry. `want` (enum mdx_mask) are the attributes needed,
 * MDX_LINK and MDX_PARENT too (mdx_blob_get reads those). 0: all of them are in
 * answer->attrs (as is whatever else is known). -ENOENT: no such entry.
 * -ESTALE: some are unknown, expired or invalidated (answer holds the rest). If
 * `want` has MDX_ACL or MDX_OTHER and 0 is returned, the caller owns one
 * reference of attrs.acl or attrs.other (NULL: known to have none) and gives it
 * back with mdx_detach; otherwise the two are NULL and their bits in
 * attrs.valid tell only whether they are known. `answer` may be NULL if `want`
 * has neither. */
int mdx_get(struct mdx *c, struct mdx_key key, uint32_t want,
	    struct mdx_answer *answer);

/* Stores what the backend said: the groups in attrs->valid replace what is
 * known, others stay as they are. The entry is made if need be (stat tier, or
 * file tier if max_stats is 0). ttl_ms is for the whole entry: its fresh-until
 * becomes now + ttl_ms, and groups that had expired are dropped.
 * MDX_ACL, MDX_OTHER: the engine takes references of its own.
 * -ESTALE: the ticket was void, nothing stored. -ENOSPC. -EINVAL. */
int mdx_put(struct mdx *c, uint64_t ticket, struct mdx_key key,
	    const struct mdx_attrs *attrs, uint32_t ttl_ms);

/* The blobs of an entry: `which` is MDX_LINK or MDX_PARENT. Get returns the
 * length (copies up to `size` bytes), -ENOENT, or -ESTALE as mdx_get. Put adds
 * to an existing entry, of which it has the life; -ENOENT without one, -E2BIG
 * over MDX_BLOB_MAX, and as mdx_put. */
int mdx_blob_get(struct mdx *c, struct mdx_key key, uint32_t which, void *buf,
		 size_t size);
int mdx_blob_put(struct mdx *c, uint64_t ticket, struct mdx_key key,
		 uint32_t which, const void *bytes, size_t len);

/* A use as an open file: promotes (makes the entry if need be) and keeps it.
 * Counted. -ENOSPC: no memory, not pinned. Unpin without pin: -EINVAL. */
int mdx_pin(struct mdx *c, struct mdx_key key);
int mdx_unpin(struct mdx *c, struct mdx_key key);

/* Promotes an entry for use of its data. 0, -ENOENT or -ENOSPC. */
int mdx_promote(struct mdx *c, struct mdx_key key);

/* The attachment of a file-tier entry for its data (pages). It goes at
 * demotion and with MDX_PAGES in mdx_invalidate. Set promotes; NULL takes it
 * away; -ENOENT: no entry. Get returns a reference for the caller, or NULL. */
int mdx_pages_set(struct mdx *c, struct mdx_key key,
		  struct mdx_attachment *pages);
struct mdx_attachment *mdx_pages_get(struct mdx *c, struct mdx_key key);

/* --- Invalidation: each voids the tickets taken before ------------------- */

enum {
	MDX_PAGES = 1 << 20
}; /* only for mdx_invalidate */

/* Groups of one entry are no longer known. An entry that is not there, too:
 * a fetch of it in progress will not be stored. */
void mdx_invalidate(struct mdx *c, struct mdx_key key, uint32_t mask);
/* The object is gone (ESTALE, removed): the entry goes with its names, and the
 * names that point at it no longer do. A pinned entry stays, empty. Within a
 * change, call it after the targets are finished: its stamps might meet theirs.
 */
void mdx_forget(struct mdx *c, struct mdx_key key);
/* Whether this name exists is no longer known; the directory is not complete. */
void mdx_invalidate_name(struct mdx *c, struct mdx_key dir, const char *name,
			 size_t len);
/* The same, but the directory stays complete, for whoever says this tells of
 * every change: of this name alone the backend has to be asked. When most names
 * are known from that alone, all are forgotten. */
void mdx_doubt_name(struct mdx *c, struct mdx_key dir, const char *name,
		    size_t len);
/* All names of a directory, positive and negative; O(1). */
void mdx_invalidate_names(struct mdx *c, struct mdx_key dir);
/* Everything of one backend, or everything; O(1), memory follows lazily. Pinned
 * entries stay, empty. */
void mdx_invalidate_backend(struct mdx *c, uint8_t backend);
void mdx_invalidate_all(struct mdx *c);

/* --- Names --------------------------------------------------------------- */

/* Looks a name up in a directory.
 * 0: it exists and `child` tells of it, as mdx_get with want 0 (child->attrs
 *    may be partly or wholly unknown, the key is always given).
 * -ENOENT: it does not exist. -ESTALE: it exists, but which object it is has
 * been forgotten. -ENODATA: not known. -EINVAL: bad length. */
int mdx_lookup(struct mdx *c, struct mdx_key dir, const char *name, size_t len,
	       struct mdx_answer *child);

/* Stores a name learnt by a fetch. child NULL: it does not exist. The child's
 * entry must have been put before (else the name is stored without it, and
 * lookups say -ESTALE). Makes and promotes the directory's entry.
 * -ESTALE: ticket void. -ENOSPC. -EINVAL. */
int mdx_name_put(struct mdx *c, uint64_t ticket, struct mdx_key dir,
		 const char *name, size_t len, const struct mdx_key *child,
		 uint32_t ttl_ms);

/* The cookie of a name in this directory: 62 bits of a hash of the name alone,
 * so that it outlives eviction and restart; of names whose hashes are equal,
 * the later one to be stored takes the next free cookie, and only while it is
 * stored is that remembered. */
uint64_t mdx_cookie(struct mdx *c, struct mdx_key dir, const char *name,
		    size_t len);

struct mdx_dirent {
	uint64_t cookie;  /* of this name: give it back to go on after it */
	const char *name; /* not terminated */
	uint8_t len;
	bool known;		 /* child is valid; else ask the backend */
	bool doubtful;		 /* not known, and it may not exist */
	struct mdx_answer child; /* as by mdx_lookup */
};

/* Calls `each` for the names after `cookie` (0: all) in cookie order, outside
 * of locks, until it returns false. Names that exist from the first to the
 * last call of an iteration are given exactly once; names that come or go in
 * between, at most once.
 * 0: end of directory. 1: stopped by `each`. -ENODATA: the directory is not
 * complete (any more); what was given so far was right. */
int mdx_readdir(struct mdx *c, struct mdx_key dir, uint64_t cookie,
		bool (*each)(const struct mdx_dirent *, void *), void *arg);

bool mdx_is_complete(struct mdx *c, struct mdx_key dir);
/* For how many milliseconds more; 0: it is not. */
uint32_t mdx_complete_left(struct mdx *c, struct mdx_key dir);
/* Have names of it been changed (mdx_changed_name) since the oldest of those
 * that are known? Foreign changes of the time before may then be unknown, and
 * hidden from whoever compares the directory's attributes. ago_ms: since the
 * first such change. */
bool mdx_names_changed(struct mdx *c, struct mdx_key dir, uint64_t *ago_ms);

/* Population of a directory: begin (before the backend is asked; drops the
 * names held so far), add every name, end. Changes made meanwhile are kept, and
 * foreign ones that were announced leave the directory incomplete. A second
 * begin takes over: the first one's adds and end are then void (-ESTALE). */
struct mdx_population {
	uint64_t ticket; /* for mdx_put of the children */
	uint64_t id;
	uint8_t backend, key_len;
	uint8_t key[MDX_KEY_MAX];
};
int mdx_populate_begin(struct mdx *c, struct mdx_key dir,
		       struct mdx_population *p);
/* As mdx_name_put (the names count from populate_end on, with its time to
 * live); -ESTALE also means: the population is void, or this name
 * was changed since begin (what is known of it then is newer). */
int mdx_populate_add(struct mdx *c, struct mdx_population *p, const char *name,
		     size_t len, const struct mdx_key *child);
/* 0: the directory is complete for ttl_ms, and the absence of a name an answer
 * for absent_ms, if that is less. -ESTALE: something was lost or invalidated
 * meanwhile, or `all` is false (the backend failed). */
int mdx_populate_end(struct mdx *c, struct mdx_population *p, bool all,
		     uint32_t ttl_ms, uint32_t absent_ms);

/* --- Changes ------------------------------------------------------------- */

#define MDX_CHANGE_MAX 8 /* targets of one change */

struct mdx_change {
	unsigned int count;
	uint64_t stamps[2 * MDX_CHANGE_MAX]; /* the engine's */
};

enum mdx_outcome {
	MDX_NAME_UNKNOWN, /* nobody knows: the directory is incomplete */
	MDX_NAME_KEEP,	  /* as before: the operation failed and did nothing */
	MDX_NAME_ABSENT,  /* it does not exist now */
	MDX_NAME_PRESENT  /* it is `child` now */
};

enum mdx_change_flags {
	/* The entry is as before: the operation failed and did nothing. */
	MDX_KEEP = 1 << 0
};

void mdx_change_init(struct mdx_change *ch);
/* Declare a target, before the backend is asked; voids the tickets on it.
 * -E2BIG after MDX_CHANGE_MAX targets, -EINVAL. */
int mdx_change_entry(struct mdx *c, struct mdx_change *ch, struct mdx_key key);
int mdx_change_name(struct mdx *c, struct mdx_change *ch, struct mdx_key dir,
		    const char *name, size_t len);
/* Finish a target: voids its tickets again and sets what is known now. If
 * another change or invalidation of the same target met this one, it becomes
 * unknown instead (-ESTALE). attrs: as in mdx_put, and what it does not name is
 * unknown; NULL: all unknown, unless MDX_KEEP. Blobs stay. */
int mdx_changed_entry(struct mdx *c, struct mdx_change *ch, struct mdx_key key,
		      const struct mdx_attrs *attrs, uint32_t ttl_ms,
		      unsigned int flags);
int mdx_changed_name(struct mdx *c, struct mdx_change *ch, struct mdx_key dir,
		     const char *name, size_t len, enum mdx_outcome outcome,
		     const struct mdx_key *child, uint32_t ttl_ms);

/* --- Single flight ------------------------------------------------------- */

/* Of several callers who miss on one thing, one fetches. name NULL: the entry
 * itself; len 0 with a name: the directory's population.
 * 1: you fetch; call mdx_flight_done(*flight). 0: another fetched, look again.
 * -ETIMEDOUT: it takes too long, fetch without storing or give up. Otherwise
 * the fetcher's error. -ENOMEM: fetch without a flight. */
int mdx_flight_join(struct mdx *c, struct mdx_key key, const char *name,
		    size_t len, uint32_t timeout_ms,
		    struct mdx_flight **flight);
/* `result`: 0, or the negative error that those who wait are to return. */
void mdx_flight_done(struct mdx *c, struct mdx_flight *flight, int result);

/* --- Attachments --------------------------------------------------------- */

/* Takes over one reference of `object` (not NULL) and returns a reference of
 * its attachment: the same one for the same object, so that equal ACLs, which
 * the caller has made one object, are counted once. `charge` bytes count in
 * max_bytes. attachment_release is called once for each reference taken over,
 * when it is surplus or no longer needed.
 * NULL: no memory; the reference is still the caller's. */
struct mdx_attachment *mdx_attach(struct mdx *c, void *object, size_t charge);
void *mdx_attachment_object(const struct mdx_attachment *a);
/* Gives a reference back. NULL is allowed. */
void mdx_detach(struct mdx *c, struct mdx_attachment *a);

/* --- Handle pool --------------------------------------------------------- */

/* Finds the object pooled for a key: 0 and in use until mdx_pool_put, or
 * -ENOENT. */
int mdx_pool_get(struct mdx *c, struct mdx_key key, struct mdx_handle **h);
/* Gives an object to the pool, in use by the caller. `charge` bytes are an
 * estimate of its memory, `fds` the descriptors it has open.
 * -EEXIST: there is one already; *h is that one, in use by the caller, and the
 * caller merges `object`, which is still its own, into it.
 * -ENOMEM: `object` is still the caller's. */
int mdx_pool_add(struct mdx *c, struct mdx_key key, void *object,
		 uint64_t charge, uint32_t fds, struct mdx_handle **h);
/* Leaves an object with the pool if it has room for it: nothing is evicted for
 * its sake, and until it is used it is the first to go. For those of which many
 * come at once and few will be used.
 * -EEXIST: there is one of that key. -ENOSPC: no room. -ENOMEM. With any of
 * these `object` is still the caller's. */
int mdx_pool_offer(struct mdx *c, struct mdx_key key, void *object,
		   uint64_t charge, uint32_t fds);
void *mdx_handle_object(const struct mdx_handle *h);
/* The object, in use by the caller, has `fds` descriptors open now. */
void mdx_pool_set_fds(struct mdx *c, struct mdx_handle *h, uint32_t fds);
/* No longer in use. Unused objects stay while the limits allow, the most
 * recently used ones longest. */
void mdx_pool_put(struct mdx *c, struct mdx_handle *h);
/* Drops the object of a key: 0, -ENOENT, or -EBUSY: in use, and it will be
 * dropped at the last put; it is not found any more. */
int mdx_pool_drop(struct mdx *c, struct mdx_key key);
/* The same, but an object that is in use (-EBUSY) stays, and is found. */
int mdx_pool_drop_unused(struct mdx *c, struct mdx_key key);
/* The same two for all objects of a backend. */
void mdx_pool_drop_backend(struct mdx *c, uint8_t backend);
void mdx_pool_drop_backend_unused(struct mdx *c, uint8_t backend);
void mdx_pool_set_limits(struct mdx *c, const struct mdx_pool_limits *limits);

#ifdef __cplusplus
}
#endif
#endif
