/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file cpu.h
 * @brief CPU time of this program and of the server
 */
#ifndef SWBUILD_CPU_H
#define SWBUILD_CPU_H

#include <sys/types.h>

/** Seconds that this program has used. */
double cpu_own(void);

/** Seconds that a process of this machine has used; negative: not known. */
double cpu_of(pid_t pid);

#endif
