/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file target.h
 * @brief Doing something to an object that a command names
 *
 * An object is named by a path below its export's root, or by a client's file
 * handle in hex. Nothing that is done to find it is counted or delayed.
 */
#ifndef FAULT_TARGET_H
#define FAULT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Where the reason of a refusal goes. */
struct fault_reason {
	char text[200];
};

enum target_change {
	TARGET_BUMP,
	TARGET_HIDE,
	TARGET_SHOW
};

/**
 * @brief Make an up-call
 *
 * @param[in]  export_id  The export
 * @param[in]  object     The object
 * @param[in]  flags      FSAL_UP_INVALIDATE_*
 * @param[out] reason     Why not
 *
 * @return true when the layer above accepted it.
 */
bool target_invalidate(uint16_t export_id, const char *object, uint32_t flags,
		       struct fault_reason *reason);

/** @brief Change an object of a tree behind the back of all above. */
bool target_change(uint16_t export_id, const char *object,
		   enum target_change change, struct fault_reason *reason);

#endif /* FAULT_TARGET_H */
