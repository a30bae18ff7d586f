// SPDX-License-Identifier: LGPL-3.0-or-later
#include "requests.h"

const char *procedure_name(enum procedure procedure)
{
	static const char *const names[PROC_COUNT] = {
		[PROC_LOOKUP] = "LOOKUP",   [PROC_GETATTR] = "GETATTR",
		[PROC_ACCESS] = "ACCESS",   [PROC_READLINK] = "READLINK",
		[PROC_READDIR] = "READDIR", [PROC_OPEN] = "OPEN",
		[PROC_CLOSE] = "CLOSE",	    [PROC_READ] = "READ",
		[PROC_WRITE] = "WRITE",	    [PROC_COMMIT] = "COMMIT",
		[PROC_SETATTR] = "SETATTR", [PROC_MKDIR] = "MKDIR",
		[PROC_SYMLINK] = "SYMLINK", [PROC_LINK] = "LINK",
		[PROC_REMOVE] = "REMOVE",   [PROC_RMDIR] = "RMDIR",
		[PROC_RENAME] = "RENAME",
	};

	return names[procedure];
}

void requests_add(struct requests *requests, enum procedure procedure,
		  const struct sw_result *result)
{
	if (result->rpcs == 0)
		return;
	requests->rpcs[procedure] += result->rpcs;
	latency_add(&requests->latency[procedure], result->end - result->start);
}
