/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file command.h
 * @brief The commands that fault.h lists
 */
#ifndef FAULT_COMMAND_H
#define FAULT_COMMAND_H

#include <stdbool.h>

/**
 * @brief Run a command
 *
 * @param[in]  line    The command; it is taken apart in place
 * @param[out] answer  One line of JSON, without its end; free() it
 *
 * @return false when it was refused; the answer tells why.
 */
bool fault_command(char *line, char **answer);

#endif /* FAULT_COMMAND_H */
