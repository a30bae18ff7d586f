/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file stats_dbus.h
 * @brief The main counters for Ganesha's own tool: ganesha_stats fsal SCALE
 */
#ifndef SCALE_STATS_DBUS_H
#define SCALE_STATS_DBUS_H

struct fsal_module;

/**
 * @brief Offer the module's statistics on Ganesha's D-Bus interface
 *
 * Sets .stats and the methods fsal_extract_stats and fsal_reset_stats. To be
 * called once, when the module has been registered.
 *
 * A reset moves the point from which this interface counts; what the control
 * socket shows only grows.
 *
 * @param[in,out] module  SCALE's
 */
void scale_stats_dbus_init(struct fsal_module *module);

#endif /* SCALE_STATS_DBUS_H */
