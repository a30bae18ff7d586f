/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* freshprobe local: how fast files change on this machine, without NFS. */
#ifndef FRESHPROBE_LOCAL_H
#define FRESHPROBE_LOCAL_H

#include <stdint.h>

/* For so many ns; prints a line of JSON: of each call, how many a second, and
 * the CPU time of one, us. */
int local_run(const char *directory, uint64_t duration);

#endif
