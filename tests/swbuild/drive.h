/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file drive.h
 * @brief The job of a point: operations when they are due
 */
#ifndef SWBUILD_DRIVE_H
#define SWBUILD_DRIVE_H

#include "team.h"

/**
 * Job: drives the processes below team->phase.processes until its end, and
 * counts in worker->tally what ends while it is measured; errors always.
 */
void drive_job(struct worker *worker);

#endif
