/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file freshness.h
 * @brief How it is known that what is cached is still true
 *
 *     FSAL {
 *         Name = SCALE;
 *         Freshness = auto;    # off, ttl, upcall, ask, notify
 *         Attr_TTL = 60;       # seconds; 0: always ask; -1: for ever
 *         Name_TTL = 60;
 *         Negative_TTL = 60;
 *         FSAL { Name = VFS; }
 *     }
 *
 * off     Nothing is cached for this export.
 * ttl     What the backend said is taken for true for so many seconds. A
 *         change through this server shows at once; one made elsewhere, when
 *         the time is over, or when the directory's change attribute tells of
 *         it. A change through this server hides one made elsewhere from that
 *         attribute; the time since the directory was listed goes on, and no
 *         change of one's own makes it longer.
 * upcall  The backend tells of foreign changes; nothing expires. GLUSTER does
 *         not tell of all (gluster.h), so there the times to live hold, too.
 * notify  The kernel tells (notify.h); nothing expires but what changes without
 *         a word. File systems that it does not tell of go by the times to
 *         live.
 * ask     Attributes are asked of the backend each time; names are taken for
 *         true while the directory's change attribute is what it was. For
 *         backends that have a coherent cache of their own (CEPH).
 *
 * Ganesha's MDCACHE, above SCALE, has a time to live of its own: the export's
 * Attr_Expiration_Time. SCALE hands up what is left of its own, so they do not
 * add up (for names see names_above.h); but "always ask" (ask, and
 * Attr_TTL = 0) needs it to be 0.
 */
#ifndef SCALE_FRESHNESS_H
#define SCALE_FRESHNESS_H

#include <stdbool.h>
#include <stdint.h>

#include "config_parsing.h"
#include "fsal_types.h"

struct fsal_obj_handle;
struct mdx_attrs;
struct scale_export;

enum scale_freshness_mode {
	SCALE_AUTO,
	SCALE_OFF,
	SCALE_TTL,
	SCALE_UPCALL,
	SCALE_ASK,
	SCALE_NOTIFY
};

/** The times to live, in the engine's milliseconds; 0: never served. */
struct scale_freshness {
	enum scale_freshness_mode mode;
	/** the administrator did not choose it */
	bool automatic;
	uint32_t attr_ms;
	uint32_t name_ms;
	uint32_t negative_ms;
	/** of upcall: changes are told only of objects that the handle pool
	 * holds, and everything expires; see gluster.h */
	bool by_handle;
};

/** What stands in the FSAL block. */
struct scale_freshness_config {
	uint32_t mode;
	int32_t attr_ttl;
	int32_t name_ttl;
	int32_t negative_ttl;
};

/** "Not said": the export's Attr_Expiration_Time, or 60 s. */
#define SCALE_TTL_DEFAULT (-2)

/**
 * @brief Settle on a mode, and check it
 *
 * The current export is the one that is being configured.
 *
 * @param[in]     cfg       What the administrator wrote
 * @param[in]     backend   The backend's name
 * @param[in]     node      For error messages
 * @param[in,out] err_type  Ganesha's collected errors
 * @param[out]    fresh     The result
 *
 * @return false when the configuration was refused (and reported).
 */
bool scale_freshness_settle(const struct scale_freshness_config *cfg,
			    const char *backend, void *node,
			    struct config_error_type *err_type,
			    struct scale_freshness *fresh);

/** @brief A mode with the times to live that were written, or the defaults. */
void scale_freshness_ttl(const struct scale_freshness_config *cfg,
			 enum scale_freshness_mode mode,
			 struct scale_freshness *fresh);

/** @brief Is what MDCACHE sees the same but for times to live? */
bool scale_freshness_alike(const struct scale_freshness *a,
			   const struct scale_freshness *b);

/** @brief The name of a mode, as it is written. */
const char *scale_freshness_mode_name(enum scale_freshness_mode mode);

/** @brief Are all foreign changes of this file system announced? */
bool scale_freshness_announced(const struct scale_export *exp,
			       const fsal_fsid_t *fsid);

/**
 * @brief The time to live of attributes, in the engine's milliseconds
 *
 * @param[in] attrs  With MDX_FSID and, if it is known, MDX_MTIME
 */
uint32_t scale_freshness_attrs(const struct scale_export *exp,
			       const struct mdx_attrs *attrs);

/** @brief Of a name in a directory of this file system, there or not. */
uint32_t scale_freshness_name_ms(const struct scale_export *exp,
				 const fsal_fsid_t *fsid, bool exists);

#endif /* SCALE_FRESHNESS_H */
