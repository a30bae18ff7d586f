/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file scale_config.h
 * @brief The SCALE block of ganesha.conf
 *
 *     SCALE {
 *         maxFilesToCache = 100000;   # entries of the file tier
 *         maxStatCache = 1000000;     # entries of the stat tier
 *         pagepool = "256M";          # bytes of data and file-tier metadata
 *     }
 *
 * Each value is a whole number; K, M or G behind it multiplies. A number of
 * entries counts in thousands, as people do, a size in bytes in 1024s. A value
 * with a suffix must be quoted: Ganesha's parser takes 256M for two words.
 */
#ifndef SCALE_CONFIG_H
#define SCALE_CONFIG_H

#include <stdint.h>

#include "config_parsing.h"

/** Entries are told apart by 32-bit references; IBM Storage Scale's limit. */
#define SCALE_MAX_ENTRIES UINT64_C(100000000)
/** Below this not even one file's pages and metadata would fit. */
#define SCALE_MIN_PAGEPOOL	(UINT64_C(1) << 20)

#define SCALE_DEFAULT_MAX_FILES UINT64_C(100000)
#define SCALE_DEFAULT_MAX_STATS UINT64_C(1000000)
/** The default pagepool, or a quarter of the memory where that is less. */
#define SCALE_DEFAULT_PAGEPOOL (UINT64_C(256) << 20)

struct scale_config {
	/** maxFilesToCache: entries of the file tier, at least 1 */
	uint64_t max_files;
	/** maxStatCache: entries of the stat tier, 0 for none */
	uint64_t max_stats;
	/** bytes; never more than the memory this process may use */
	uint64_t pagepool;
	/** where scalectl finds this server; "none" for nowhere. Allocated */
	char *control_socket;
};

/**
 * @brief Read the SCALE block, or take the defaults where there is none
 *
 * Errors are reported in Ganesha's own way: with file and line, into
 * @a err_type, which logs them.
 *
 * @param[out]    cfg       The values; untouched when one was refused
 * @param[in]     file      Ganesha's parsed configuration
 * @param[in,out] err_type  Ganesha's collected errors
 *
 * @return 0, -ENOENT when there is no SCALE block and the defaults were taken,
 *         or -EINVAL when a value was refused.
 */
int scale_config_load(struct scale_config *cfg, config_file_t file,
		      struct config_error_type *err_type);

/**
 * @brief Report an error at a node of the configuration
 *
 * As config_proc_error() does, which Ganesha does not export: file and line
 * of the node, then the message.
 */
void scale_config_error(void *node, struct config_error_type *err_type,
			const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * @brief Read a number with an optional suffix K, M or G (or k, m, g)
 *
 * @param[in]  text  The text, nothing before or after the number
 * @param[in]  kilo  What K stands for: 1000 or 1024; M and G are its powers
 * @param[out] value The number
 *
 * @return 0, -EINVAL when @a text is not such a number, -ERANGE when it does
 *         not fit.
 */
int scale_parse_number(const char *text, unsigned int kilo, uint64_t *value);

#endif /* SCALE_CONFIG_H */
