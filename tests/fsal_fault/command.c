// SPDX-License-Identifier: LGPL-3.0-or-later
#include "command.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "count.h"
#include "inject.h"
#include "report.h"
#include "target.h"

#define MAX_WORDS 8

/** A command's words, and what is behind each of them. */
struct words {
	unsigned int count;
	char *word[MAX_WORDS];
	struct fault_reason reason;
};

static bool __attribute__((format(printf, 2, 3)))
refuse(struct words *words, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(words->reason.text, sizeof(words->reason.text), fmt, args);
	va_end(args);
	return false;
}

/** Operations that a command is about. */
struct op_set {
	bool has[FAULT_NUM_OPS];
};

static bool add_op(struct op_set *ops, const char *name)
{
	bool found = false;

	for (int op = 0; op < FAULT_NUM_OPS; op++) {
		if (strcmp(name, "all") == 0 ?
			    fault_ops[op].class == FAULT_CALL :
			    strcmp(name, fault_ops[op].name) == 0)
			ops->has[op] = found = true;
	}
	return found;
}

static bool read_ops(struct words *words, const char *text, struct op_set *ops)
{
	char *copy = gsh_strdup(text);
	char *rest = copy;
	const char *name;
	bool ok = true;

	memset(ops, 0, sizeof(*ops));
	while (ok && (name = strsep(&rest, ",")) != NULL) {
		if (!add_op(ops, name))
			ok = refuse(words,
				    "there is no operation %.50s; info lists "
				    "them, and all is every call",
				    name);
	}
	gsh_free(copy);
	return ok;
}

static bool read_number(struct words *words, const char *text, double min,
			double max, double *number)
{
	char *end;

	errno = 0;
	*number = strtod(text, &end);
	if (errno == 0 && end != text && *end == '\0' && *number >= min &&
	    *number <= max)
		return true;
	return refuse(words, "%.50s is not a number from %g to %g", text, min,
		      max);
}

/** The longest delay: an hour, in microseconds. */
#define MAX_DELAY 3.6e9

static bool read_delay(struct words *words, unsigned int first,
		       struct fault_delay *delay)
{
	const char *kind = words->word[first];
	unsigned int numbers = words->count - first - 1;

	memset(delay, 0, sizeof(*delay));
	if (strcmp(kind, "none") == 0 && numbers == 0)
		delay->kind = DELAY_NONE;
	else if (strcmp(kind, "fixed") == 0 && numbers == 1)
		delay->kind = DELAY_FIXED;
	else if (strcmp(kind, "uniform") == 0 && numbers == 2)
		delay->kind = DELAY_UNIFORM;
	else if (strcmp(kind, "exponential") == 0 && numbers == 1)
		delay->kind = DELAY_EXPONENTIAL;
	else
		return refuse(words, "a delay is none, fixed US, "
				     "uniform MIN MAX or exponential MEAN");
	if (numbers > 0 && !read_number(words, words->word[first + 1], 0,
					MAX_DELAY, &delay->a))
		return false;
	return numbers < 2 || read_number(words, words->word[first + 2],
					  delay->a, MAX_DELAY, &delay->b);
}

static bool set_delay(struct words *words, bool async)
{
	struct op_set ops;
	struct fault_delay delay;

	if (!read_ops(words, words->word[1], &ops) ||
	    !read_delay(words, 2, &delay))
		return false;
	for (int op = 0; op < FAULT_NUM_OPS; op++) {
		struct fault_rule rule;

		if (!ops.has[op])
			continue;
		if (async && op != FAULT_OP_read2 && op != FAULT_OP_write2)
			return refuse(words, "only read2 and write2 can be "
					     "completed later");
		rule = fault_get_rule(op);
		*(async ? &rule.async : &rule.latency) = delay;
		fault_set_rule(op, &rule);
	}
	return true;
}

static bool cmd_latency(struct words *words, json_t *answer)
{
	(void)answer;
	return set_delay(words, false);
}

static bool cmd_async(struct words *words, json_t *answer)
{
	(void)answer;
	return set_delay(words, true);
}

static bool cmd_capacity(struct words *words, json_t *answer)
{
	double servers = 1;
	double rate = 0;

	(void)answer;
	if (strcmp(words->word[1], "none") != 0 &&
	    !read_number(words, words->word[1], 0.01, 1e9, &rate))
		return false;
	if (words->count > 2 &&
	    !read_number(words, words->word[2], 1, FAULT_MAX_SERVERS, &servers))
		return false;
	fault_set_capacity(rate, (unsigned int)servers);
	return true;
}

static bool read_failure(struct words *words, struct fault_failure *failure)
{
	double number;
	unsigned int i = 3;

	*failure = (struct fault_failure){ .rate = 1, .next = UINT64_MAX };
	if (!fault_error_number(words->word[2], &failure->error))
		return refuse(words,
			      "there is no error %.50s; take none or one of "
			      "%.100s...",
			      words->word[2],
			      "STALE, IO, NOENT, ACCESS, DELAY");
	if (words->count > i + 1 && strcmp(words->word[i], "rate") == 0) {
		if (!read_number(words, words->word[i + 1], 0, 1,
				 &failure->rate))
			return false;
		i += 2;
	} else if (words->count > i + 1 &&
		   strcmp(words->word[i], "next") == 0) {
		if (!read_number(words, words->word[i + 1], 1, 1e15, &number))
			return false;
		failure->next = (uint64_t)number;
		i += 2;
	}
	if (words->count > i && strcmp(words->word[i], "after") == 0) {
		failure->after = true;
		i++;
	}
	return words->count == i ||
	       refuse(words,
		      "fail OPS ERROR [rate P | next N] [after]: "
		      "%.50s is none of them",
		      words->word[i]);
}

static bool cmd_fail(struct words *words, json_t *answer)
{
	struct fault_failure failure;
	struct op_set ops;

	(void)answer;
	if (!read_ops(words, words->word[1], &ops) ||
	    !read_failure(words, &failure))
		return false;
	for (int op = 0; op < FAULT_NUM_OPS; op++) {
		struct fault_rule rule;

		if (!ops.has[op])
			continue;
		rule = fault_get_rule(op);
		rule.failure = failure;
		fault_set_rule(op, &rule);
	}
	return true;
}

static bool cmd_hold(struct words *words, json_t *answer)
{
	bool after = words->count > 2 && strcmp(words->word[2], "after") == 0;
	struct op_set ops;

	(void)answer;
	if (words->count > 2 && !after)
		return refuse(words, "hold OPS [after]: %.50s is not after",
			      words->word[2]);
	if (!read_ops(words, words->word[1], &ops))
		return false;
	for (int op = 0; op < FAULT_NUM_OPS; op++) {
		struct fault_rule rule;

		if (!ops.has[op])
			continue;
		rule = fault_get_rule(op);
		rule.hold = after ? HOLD_AFTER : HOLD_BEFORE;
		fault_set_rule(op, &rule);
	}
	return true;
}

static bool cmd_go(struct words *words, json_t *answer)
{
	(void)words;
	(void)answer;
	fault_go();
	return true;
}

static bool cmd_clear(struct words *words, json_t *answer)
{
	static const struct fault_rule nothing;

	for (int op = 0; op < FAULT_NUM_OPS; op++)
		fault_set_rule(op, &nothing);
	fault_set_capacity(0, 1);
	return cmd_go(words, answer);
}

static bool read_export_id(struct words *words, const char *text, int *id)
{
	double number;

	if (!read_number(words, text, 0, UINT16_MAX, &number))
		return false;
	*id = (int)number;
	return true;
}

static bool cmd_counts(struct words *words, json_t *answer)
{
	struct fault_counts sum;
	int export_id = -1;

	if (words->count > 1 &&
	    !read_export_id(words, words->word[1], &export_id))
		return false;
	if (!fault_sum_counts(export_id, &sum))
		return refuse(words, "no FAULT export %d", export_id);
	fault_report_counts(&sum, answer);
	return true;
}

static bool cmd_reset(struct words *words, json_t *answer)
{
	(void)words;
	(void)answer;
	fault_reset_counts();
	return true;
}

static bool cmd_info(struct words *words, json_t *answer)
{
	(void)words;
	fault_report_info(answer);
	return true;
}

static bool read_flags(struct words *words, const char *text, uint32_t *flags)
{
	static const struct {
		const char *name;
		uint32_t flags;
	} names[] = {
		{ "attrs", FSAL_UP_INVALIDATE_ATTRS },
		{ "acl", FSAL_UP_INVALIDATE_ACL },
		{ "content", FSAL_UP_INVALIDATE_CONTENT },
		{ "dir_populated", FSAL_UP_INVALIDATE_DIR_POPULATED },
		{ "dir_chunks", FSAL_UP_INVALIDATE_DIR_CHUNKS },
		{ "close", FSAL_UP_INVALIDATE_CLOSE },
		{ "fs_locations", FSAL_UP_INVALIDATE_FS_LOCATIONS },
		{ "sec_label", FSAL_UP_INVALIDATE_SEC_LABEL },
		{ "parent", FSAL_UP_INVALIDATE_PARENT },
		{ "cache", FSAL_UP_INVALIDATE_CACHE },
	};
	char *copy = gsh_strdup(text);
	char *rest = copy;
	const char *name;
	bool ok = true;

	*flags = 0;
	while (ok && (name = strsep(&rest, ",")) != NULL) {
		size_t i = 0;

		while (i < sizeof(names) / sizeof(names[0]) &&
		       strcmp(name, names[i].name) != 0)
			i++;
		if (i < sizeof(names) / sizeof(names[0]))
			*flags |= names[i].flags;
		else
			ok = refuse(words,
				    "there is no flag %.50s; take attrs, acl, "
				    "content, dir_populated, dir_chunks, close,"
				    " fs_locations, sec_label, parent or cache",
				    name);
	}
	gsh_free(copy);
	return ok;
}

static bool cmd_invalidate(struct words *words, json_t *answer)
{
	uint32_t flags;
	int id;

	(void)answer;
	return read_export_id(words, words->word[1], &id) &&
	       read_flags(words, words->word[2], &flags) &&
	       target_invalidate(id, words->word[3], flags, &words->reason);
}

static bool change(struct words *words, enum target_change change)
{
	int id;

	return read_export_id(words, words->word[1], &id) &&
	       target_change(id, words->word[2], change, &words->reason);
}

static bool cmd_bump(struct words *words, json_t *answer)
{
	(void)answer;
	return change(words, TARGET_BUMP);
}

static bool cmd_hide(struct words *words, json_t *answer)
{
	(void)answer;
	return change(words, TARGET_HIDE);
}

static bool cmd_show(struct words *words, json_t *answer)
{
	(void)answer;
	return change(words, TARGET_SHOW);
}

static const struct command {
	const char *name;
	/** words, with the name; the last one goes to the line's end */
	unsigned int min, max;
	bool (*run)(struct words *words, json_t *answer);
} commands[] = {
	{ "counts", 1, 2, cmd_counts },
	{ "reset", 1, 1, cmd_reset },
	{ "info", 1, 1, cmd_info },
	{ "latency", 3, 5, cmd_latency },
	{ "async", 3, 5, cmd_async },
	{ "capacity", 2, 3, cmd_capacity },
	{ "fail", 3, 6, cmd_fail },
	{ "hold", 2, 3, cmd_hold },
	{ "go", 1, 1, cmd_go },
	{ "clear", 1, 1, cmd_clear },
	{ "invalidate", 4, 4, cmd_invalidate },
	{ "bump", 3, 3, cmd_bump },
	{ "hide", 3, 3, cmd_hide },
	{ "show", 3, 3, cmd_show },
};

static const struct command *find_command(const char *line)
{
	size_t len = strcspn(line, " \t\r\n");

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strlen(commands[i].name) == len &&
		    strncmp(line, commands[i].name, len) == 0)
			return &commands[i];
	}
	return NULL;
}

/* Split a line; the last of max words may have blanks. */
static void split(char *line, unsigned int max, struct words *words)
{
	size_t len = strlen(line);

	while (len > 0 && strchr(" \t\r\n", line[len - 1]) != NULL)
		line[--len] = '\0';
	words->count = 0;
	while (*(line += strspn(line, " \t")) != '\0') {
		words->word[words->count++] = line;
		if (words->count == max)
			break;
		line += strcspn(line, " \t");
		if (*line != '\0')
			*line++ = '\0';
	}
}

bool fault_command(char *line, char **answer)
{
	const struct command *command;
	struct words words = { .count = 0 };
	json_t *object = json_object();
	bool ok;

	line += strspn(line, " \t\n");
	command = find_command(line);
	if (command == NULL) {
		ok = refuse(&words, "there is no command %.50s; see fault.h",
			    line);
	} else {
		split(line, command->max, &words);
		ok = words.count < command->min ?
			     refuse(&words, "%s needs %u words after it",
				    command->name, command->min - 1) :
			     command->run(&words, object);
	}
	/* jansson refuses what is not UTF-8. */
	if (!ok && json_object_set_new(object, "error",
				       json_string(words.reason.text)) != 0)
		json_object_set_new(object, "error",
				    json_string("the command is not UTF-8"));
	*answer = json_dumps(object, JSON_COMPACT);
	json_decref(object);
	return ok;
}
