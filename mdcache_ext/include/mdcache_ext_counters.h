/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* The counters of mdcache_ext: what happened, by reason. All only grow. */
#ifndef MDCACHE_EXT_COUNTERS_H
#define MDCACHE_EXT_COUNTERS_H

/* X(symbol, name, meaning) */
#define MDX_COUNTERS(X)                                                        \
	X(HIT, "hit", "entry found with all that was wanted")                  \
	X(MISS, "miss", "entry not in the cache")                              \
	X(MISS_EXPIRED, "miss_expired", "entry found, past its time to live")  \
	X(MISS_INVALID, "miss_invalid",                                        \
	  "entry found, wanted attributes unknown or invalidated")             \
	X(NAME_HIT, "name_hit", "name found, with its child")                  \
	X(NAME_NEGATIVE, "name_negative", "negative name found")               \
	X(NAME_COMPLETE, "name_complete",                                      \
	  "name known not to exist because its directory is complete")         \
	X(NAME_MISS, "name_miss", "name not known")                            \
	X(NAME_ORPHAN, "name_orphan", "name found, its child forgotten")       \
	X(NAME_EXPIRED, "name_expired", "name found, past its time to live")   \
	X(READDIR, "readdir", "directory iterations answered from memory")     \
	X(READDIR_MISS, "readdir_miss",                                        \
	  "iterations of incomplete directories")                              \
	X(PUT, "put", "answers of the backend stored in an entry")             \
	X(PUT_VOID, "put_void", "answers not stored, their ticket was void")   \
	X(PUT_NOSPACE, "put_nospace", "answers not stored for want of memory") \
	X(NAME_PUT, "name_put", "names stored")                                \
	X(NAME_VOID, "name_void", "names not stored, their ticket was void")   \
	X(NAME_NOSPACE, "name_nospace", "names not stored for want of memory") \
	X(CHANGE, "change", "changes finished")                                \
	X(CHANGE_LOST, "change_lost",                                          \
	  "changes that met another one, what they changed is unknown")        \
	X(INSERT, "insert", "entries made")                                    \
	X(EVICT, "evict", "entries evicted from the stat tier")                \
	X(EVICT_FILE, "evict_file", "entries evicted from the file tier")      \
	X(DEMOTE, "demote", "entries moved from file tier to stat tier")       \
	X(PROMOTE, "promote", "entries moved from stat tier to file tier")     \
	X(EVICT_LEAF, "evict_leaf", "leaves of names evicted")                 \
	X(STEAL, "steal", "blocks of memory taken from another use")           \
	X(TRIM, "trim", "blocks of memory given back to the system")           \
	X(FORGET, "forget", "entries forgotten because the object is gone")    \
	X(INVALIDATE, "invalidate", "invalidations of one entry")              \
	X(INVALIDATE_NAME, "invalidate_name", "invalidations of one name")     \
	X(DOUBT_NAME, "doubt_name",                                            \
	  "names put in doubt, with the directory as complete as it was")      \
	X(INVALIDATE_NAMES, "invalidate_names",                                \
	  "invalidations of all names of a directory")                         \
	X(INVALIDATE_ALL, "invalidate_all",                                    \
	  "invalidations of a backend or of everything")                       \
	X(POPULATE, "populate", "populations that made a directory complete")  \
	X(POPULATE_FAIL, "populate_fail", "populations that did not")          \
	X(INCOMPLETE, "incomplete", "directories that ceased to be complete")  \
	X(PIN, "pin", "pins")                                                  \
	X(FLIGHT_LEAD, "flight_lead", "fetches led")                           \
	X(FLIGHT_WAIT, "flight_wait", "fetches waited for")                    \
	X(FLIGHT_TIMEOUT, "flight_timeout", "waits that took too long")        \
	X(READ_RETRY, "read_retry", "reads repeated because of a writer")      \
	X(READ_LOCKED, "read_locked", "reads that resorted to the lock")       \
	X(COLLISION, "collision", "names stored at a cookie not their own")    \
	X(POOL_HIT, "pool_hit", "handles found in the pool")                   \
	X(POOL_MISS, "pool_miss", "handles not found in the pool")             \
	X(POOL_EVICT, "pool_evict", "handles evicted from the pool")           \
	X(POOL_MERGE, "pool_merge", "handles given to the pool twice")         \
	X(POOL_OFFER, "pool_offer", "handles that the pool had room for")      \
	X(POOL_FULL, "pool_full", "handles that it had no room for")

enum mdx_counter {
#define MDX_COUNTER_ENUM(symbol, name, meaning) MDX_C_##symbol,
	MDX_COUNTERS(MDX_COUNTER_ENUM)
#undef MDX_COUNTER_ENUM
	MDX_COUNTER_COUNT
};

#endif
