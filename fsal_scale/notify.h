/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file notify.h
 * @brief Freshness = notify: the kernel tells of changes beside this server
 *
 * One thread of the module, the watcher, listens to fanotify groups, one for
 * each file system that an export of FSAL VFS with Freshness = notify spans.
 * The mark is on the whole file system (FAN_MARK_FILESYSTEM), so that bind
 * mounts, paths outside the export and hard links are seen, too. An event says
 * which object, or which name in which directory, has changed, by the very
 * bytes of which VFS makes its handles (notify_event.h); so what is no longer
 * known is found without a path and without opening anything.
 *
 * Guarantee: from the moment that a file system is watched, and until it is
 * said not to be, what is stored of it needs no time to live. It holds because
 *
 * - an event comes after its change, and voids the tickets of all fetches that
 *   began before it was read: what was fetched before the change is either
 *   dropped, or never stored;
 * - what was stored before the mark was set is forgotten once it is;
 * - when events may have been lost (the queue overflows, the file system is
 *   unmounted, the group fails), everything of the backend is forgotten, here
 *   and, by the list of live objects (live.h), in MDCACHE; and where the events
 *   do not go on, the export's times to live hold from then on.
 *
 * The server's own changes bring events, too. They are known by the process id
 * and dropped, for the cache has seen to them already; not so while an export
 * without SCALE in the same server is of the same file system, nor those of
 * directories where Ganesha keeps its state of clients.
 *
 * MDCACHE has no tickets: an invalidation that meets a fetch is lost there. So
 * each is repeated a few milliseconds later and once again, and SCALE hands up
 * nothing with a longer life than a second.
 *
 * Some changes make no event: of the access time, of the space of a file whose
 * blocks are allocated later, writes by mapping and by Linux's asynchronous I/O
 * before the file is closed, chattr. For them the attributes of a regular file
 * are asked for again after a tenth of the time that neither it nor they had
 * been changed before, and Attr_TTL at the least: of a file that has not
 * changed for a week it is not likely that it changes in the next minute (V.
 * Cate, "Alex - a global file system", USENIX File Systems Workshop, 1992).
 */
#ifndef SCALE_NOTIFY_H
#define SCALE_NOTIFY_H

#include "fsal_types.h"
#include "gsh_types.h"

struct scale_export;
struct scale_fs;

/**
 * @brief Watch the file systems of an export
 *
 * It has its slot of the engine (cache.h), and its backend's export. Says in
 * the log what is watched and what cannot be, and why.
 */
void scale_notify_join(struct scale_export *exp);

/** @brief The export goes. May be called again, and without a join. */
void scale_notify_leave(struct scale_export *exp);

/**
 * @brief An export's backend has shown a file system for the first time
 *
 * Says in fs->watched whether it is watched; where it is not, the watcher looks
 * at it soon.
 *
 * @param[in] fs   In the export's list already
 * @param[in] key  Of an object in it: are keys made as events make them?
 */
void scale_notify_learnt(struct scale_export *exp, struct scale_fs *fs,
			 const struct gsh_buffdesc *key);

/** @brief At the very end of the process: stop the watcher. */
void scale_notify_stop(void);

#endif /* SCALE_NOTIFY_H */
