/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file live.h
 * @brief The objects that MDCACHE holds, of exports whose changes are announced
 *
 * MDCACHE cannot be told that everything has changed, only that an object has.
 * When announcements were lost, each object that it may hold must be named: so
 * they are listed while they live. The list is divided by the object's address,
 * each part under a lock of its own.
 */
#ifndef SCALE_LIVE_H
#define SCALE_LIVE_H

#include <stddef.h>
#include <stdint.h>

struct scale_obj;

/** @brief An object has been made. */
void scale_live_add(struct scale_obj *obj);

/** @brief It is about to be freed. */
void scale_live_remove(struct scale_obj *obj);

/**
 * @brief Name each object of a slot
 *
 * Those that come or go meanwhile may be left out. No lock is held while
 * @a each runs.
 *
 * @param[in] each  Given the backend's key, and whether it is a directory
 */
void scale_live_each(uint8_t slot,
		     void (*each)(const void *key, size_t len, int type,
				  void *arg),
		     void *arg);

#endif /* SCALE_LIVE_H */
