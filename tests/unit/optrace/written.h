/* SPDX-License-Identifier: LGPL-3.0-or-later */
/* A trace of lines that a test writes. */
#ifndef OPTRACE_WRITTEN_H
#define OPTRACE_WRITTEN_H

#include "optrace.h"

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* Reads `text` as a gzipped trace; returns what optrace_read() does. */
static inline int read_written(struct optrace *trace, const char *text)
{
	char path[] = "optrace-test.XXXXXX";
	int fd = mkstemp(path);
	gzFile out;
	int rc;

	CU_ASSERT_FATAL(fd >= 0);
	out = gzdopen(fd, "wb");
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	CU_ASSERT_FATAL(text[0] == '\0' || gzputs(out, text) > 0);
	CU_ASSERT_EQUAL_FATAL(gzclose(out), Z_OK);
	rc = optrace_read(trace, path, "test");
	unlink(path);
	return rc;
}

#endif
