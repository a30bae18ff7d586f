// SPDX-License-Identifier: LGPL-3.0-or-later
#include "ops.h"

#include <string.h>

static const char *const names[OP_COUNT] = {
	[OP_STAT] = "stat",
	[OP_STAT_NEGATIVE] = "stat_negative",
	[OP_FSTAT] = "fstat",
	[OP_LOOKUP] = "lookup",
	[OP_ACCESS] = "access",
	[OP_CHMOD] = "chmod",
	[OP_READ_FILE] = "read_file",
	[OP_OPEN_NEGATIVE] = "open_negative",
	[OP_WRITE_FILE] = "write_file",
	[OP_WRITE_NEW] = "write_new",
	[OP_CREATE] = "create",
	[OP_UNLINK] = "unlink",
	[OP_MKDIR] = "mkdir",
	[OP_RMDIR] = "rmdir",
	[OP_READDIR] = "readdir",
};

const char *op_name(enum op op)
{
	return names[op];
}

enum op op_find(const char *name)
{
	for (int op = 0; op < OP_COUNT; op++)
		if (strcmp(names[op], name) == 0)
			return (enum op)op;
	return OP_NONE;
}
