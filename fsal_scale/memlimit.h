/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file memlimit.h
 * @brief How much memory this process may use
 */
#ifndef SCALE_MEMLIMIT_H
#define SCALE_MEMLIMIT_H

#include <stdint.h>

struct memlimit {
	/** bytes; UINT64_MAX when nothing is known */
	uint64_t bytes;
	/** what sets the limit, for messages: "the machine's memory" or
	 *  "the memory limit of cgroup /..."
	 */
	char source[256];
};

/**
 * @brief Find the limit that comes first: of the machine or of a cgroup
 *
 * Looks at MemTotal and at memory.max (cgroup v2) or memory.limit_in_bytes
 * (v1) of this process's cgroup and of each one above it, as a container's
 * limit usually stands on an ancestor.
 *
 * @param[in]  proc    Where proc is mounted, usually "/proc"
 * @param[in]  cgroup  Where cgroups are mounted, usually "/sys/fs/cgroup"
 * @param[out] limit   The smallest limit found
 */
void memlimit_get(const char *proc, const char *cgroup, struct memlimit *limit);

#endif /* SCALE_MEMLIMIT_H */
