/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file gluster.h
 * @brief Whether GLUSTER's up-calls can be relied on, and for how long
 *
 * A brick tells of a change those clients that have used the object in the
 * last features.cache-invalidation-timeout seconds, if
 * features.cache-invalidation is on at all. gfapi hands it on only for an
 * object of which its user has a handle; and if its own cache of attributes
 * (performance.stat-prefetch) does not listen as well
 * (performance.cache-invalidation), what is then asked is answered with what
 * was. Only glusterd knows these options, so it is asked.
 *
 * So over GLUSTER all expires under Freshness = upcall, too, as under ttl. What
 * the up-calls add is that a change is seen at once where the handle pool holds
 * the object (objects in use, and what was listed last).
 */
#ifndef SCALE_GLUSTER_H
#define SCALE_GLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scale_freshness;
struct scale_freshness_config;

/** What glusterd has said of a volume. */
struct scale_gluster_verdict {
	/** they tell of changes, and for long enough */
	bool tells;
	/** the objects that each brick keeps in memory */
	uint32_t inodes;
	/** in plain words, with what to do about it where it does not */
	char why[1024];
};

/**
 * @brief Gets a volfile, as gluster_spec_get() does
 *
 * @return 0 or a negative errno value
 */
typedef int scale_gluster_get(void *arg, const char *id, char **text);

/**
 * @brief Look at a volume's volfile and those of its bricks
 *
 * @param[in]  volume   Its name
 * @param[in]  seconds  For how long a brick must remember a client at least
 * @param[in]  get      Where they come from
 * @param[in]  arg      For @a get
 * @param[out] verdict  The result
 */
void scale_gluster_judge(const char *volume, uint32_t seconds,
			 scale_gluster_get *get, void *arg,
			 struct scale_gluster_verdict *verdict);

/**
 * @brief Settle on upcall or ttl for an export of GLUSTER, and log which
 *
 * Does nothing where the backend is another one or the administrator has
 * chosen another way. The current export is the one that is being configured.
 *
 * @param[in]     cfg           What the administrator wrote
 * @param[in]     backend       The backend's name
 * @param[in]     backend_node  Its FSAL block
 * @param[in]     served        How the export is kept fresh, where it is
 *                              served already: that stays. Else NULL.
 * @param[in,out] fresh         As scale_freshness_settle() left it
 */
void scale_gluster_settle(const struct scale_freshness_config *cfg,
			  const char *backend, void *backend_node,
			  const struct scale_freshness *served,
			  struct scale_freshness *fresh);

/** @brief The name of the volume in GLUSTER's FSAL block; "" for none. */
void scale_gluster_volume(void *backend_node, char *name, size_t size);

#endif /* SCALE_GLUSTER_H */
