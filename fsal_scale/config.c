// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Reading the SCALE block with Ganesha's parser.
 *
 * The parameters are CONF_ITEM_PROC, the parser's hook for values that it
 * cannot read itself: Ganesha's integers know no suffixes.
 */
#include "scale.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "control.h"
#include "memlimit.h"

void scale_config_error(void *node, struct config_error_type *err_type,
			const char *fmt, ...)
{
	const struct config_node *n = node;
	va_list args;

	if (err_type->fp == NULL)
		return;
	fprintf(err_type->fp, "Config File (%s:%d): ",
		n != NULL && n->filename != NULL ? n->filename :
						   "<unknown file>",
		n != NULL ? n->linenumber : 0);
	va_start(args, fmt);
	vfprintf(err_type->fp, fmt, args);
	va_end(args);
	/* A form feed ends a message; see report_config_errors(). */
	fputc('\f', err_type->fp);
}

int scale_parse_number(const char *text, unsigned int kilo, uint64_t *value)
{
	static const char suffixes[] = "kmg";
	const char *suffix;
	uint64_t number;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno != 0)
		return -errno;
	if (end[0] != '\0') {
		suffix = strchr(suffixes, tolower((unsigned char)end[0]));
		if (suffix == NULL || end[1] != '\0')
			return -EINVAL;
		for (; suffix >= suffixes; suffix--) {
			if (__builtin_mul_overflow(number, kilo, &number))
				return -ERANGE;
		}
	}
	*value = number;
	return 0;
}

/*
 * Read one parameter's value and hold it to [min, max].
 * @return The number of errors, as Ganesha counts them.
 */
static int read_number(const char *token, const char *name, unsigned int kilo,
		       uint64_t min, uint64_t max, uint64_t *value, void *node,
		       struct config_error_type *err_type)
{
	const struct config_node *n = node;
	const char *sign = n->u.term.op_code ? n->u.term.op_code : "";
	/* Values of one statement are a ring with its head. */
	bool several = n->node.next != n->node.prev;
	uint64_t number = 0;
	int rc;

	rc = sign[0] != '\0' || several ?
		     -EINVAL :
		     scale_parse_number(token, kilo, &number);
	if (rc == 0 && (number < min || number > max))
		rc = -ERANGE;
	if (rc == 0) {
		*value = number;
		return 0;
	}
	if (rc == -ERANGE)
		scale_config_error(node, err_type,
				   "SCALE: %s = %s is out of range; "
				   "it must be from %" PRIu64 " to %" PRIu64,
				   name, token, min, max);
	else
		scale_config_error(node, err_type,
				   "SCALE: %s = %s%s%s is not a number; "
				   "write one whole number, or one with K, M "
				   "or G behind it in quotes, as in \"8M\"",
				   name, sign, token, several ? ", ..." : "");
	err_type->invalid = true;
	return 1;
}

static int read_max_files(const char *token, enum term_type hint,
			  struct config_item *item, void *param, void *node,
			  struct config_error_type *err_type)
{
	(void)hint;
	return read_number(token, item->name, 1000, 1, SCALE_MAX_ENTRIES, param,
			   node, err_type);
}

static int read_max_stats(const char *token, enum term_type hint,
			  struct config_item *item, void *param, void *node,
			  struct config_error_type *err_type)
{
	(void)hint;
	return read_number(token, item->name, 1000, 0, SCALE_MAX_ENTRIES, param,
			   node, err_type);
}

static int read_pagepool(const char *token, enum term_type hint,
			 struct config_item *item, void *param, void *node,
			 struct config_error_type *err_type)
{
	uint64_t *bytes = param;
	struct memlimit limit;
	int errors;

	(void)hint;
	errors = read_number(token, item->name, 1024, SCALE_MIN_PAGEPOOL,
			     INT64_MAX, bytes, node, err_type);
	if (errors != 0)
		return errors;

	memlimit_get("/proc", "/sys/fs/cgroup", &limit);
	if (*bytes <= limit.bytes)
		return 0;
	scale_config_error(node, err_type,
			   "SCALE: %s = %s is %" PRIu64
			   " bytes, more than %s (%" PRIu64
			   " bytes); make it smaller, or give the server "
			   "more memory",
			   item->name, token, *bytes, limit.source,
			   limit.bytes);
	err_type->invalid = true;
	return 1;
}

/* The defaults are set by the block's own init. */
static void *keep_default(void *link_mem, void *self_struct)
{
	(void)link_mem;
	return self_struct;
}

/* As CONF_ITEM_PROC, for a parameter that may stand only once. */
#define SCALE_PARAM(_name_, _handler_, _mem_)                                  \
	{                                                                      \
		.name = (_name_), .type = CONFIG_PROC, .flags = CONFIG_UNIQUE, \
		.u.proc.init = keep_default, .u.proc.handler = (_handler_),    \
		.off = offsetof(struct scale_config, _mem_)                    \
	}

static struct config_item scale_params[] = {
	SCALE_PARAM("maxFilesToCache", read_max_files, max_files),
	SCALE_PARAM("maxStatCache", read_max_stats, max_stats),
	SCALE_PARAM("pagepool", read_pagepool, pagepool),
	CONF_ITEM_STR("Control_Socket", 1, 107, SCALE_CONTROL_DEFAULT,
		      scale_config, control_socket),
	CONFIG_EOL
};

static struct config_block scale_block = {
	.dbus_interface_name = "org.ganesha.nfsd.config.scale",
	.blk_desc.name = SCALE_NAME,
	.blk_desc.type = CONFIG_BLOCK,
	.blk_desc.flags = CONFIG_UNIQUE,
	.blk_desc.u.blk.init = noop_conf_init,
	.blk_desc.u.blk.params = scale_params,
	.blk_desc.u.blk.commit = noop_conf_commit
};

int scale_config_load(struct scale_config *cfg, config_file_t file,
		      struct config_error_type *err_type)
{
	uint32_t errors = err_type->errors;
	struct memlimit limit;
	struct scale_config read = {
		.max_files = SCALE_DEFAULT_MAX_FILES,
		.max_stats = SCALE_DEFAULT_MAX_STATS,
	};
	int found;

	memlimit_get("/proc", "/sys/fs/cgroup", &limit);
	read.pagepool = MIN(SCALE_DEFAULT_PAGEPOOL, limit.bytes / 4);

	found = load_config_from_parse(file, &scale_block, &read, true,
				       err_type);
	/* An unknown parameter is reported and passed over, and does not
	 * count, as in the other blocks of ganesha.conf.
	 */
	if (err_type->errors != errors)
		return -EINVAL;
	*cfg = read;
	return found > 0 ? 0 : -ENOENT;
}
