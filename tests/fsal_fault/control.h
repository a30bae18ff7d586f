/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file control.h
 * @brief The control socket, served by a thread of its own
 */
#ifndef FAULT_CONTROL_H
#define FAULT_CONTROL_H

#include <stdbool.h>

/**
 * @brief Listen
 *
 * @param[in] path  Of the Unix socket; one that is left from a server that is
 *                  gone is replaced
 *
 * @return false when an error was reported.
 */
bool fault_control_start(const char *path);

/** @brief End the thread and take the socket away. */
void fault_control_stop(void);

#endif /* FAULT_CONTROL_H */
