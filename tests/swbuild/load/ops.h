/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file ops.h
 * @brief The operations that a mix is made of
 *
 * They are what a program asks of a file system; ops_run.h says which requests
 * each becomes.
 */
#ifndef SWBUILD_OPS_H
#define SWBUILD_OPS_H

enum op {
	OP_STAT,	  /* attributes of a file, by its name */
	OP_STAT_NEGATIVE, /* the same of a name that does not exist */
	OP_FSTAT,	  /* attributes of the file that was used last */
	OP_LOOKUP,	  /* a name without a use for its attributes */
	OP_ACCESS,	  /* may a file be read and written? */
	OP_CHMOD,
	OP_READ_FILE,	  /* open, the whole of it, close */
	OP_OPEN_NEGATIVE, /* open of a name that does not exist */
	OP_WRITE_FILE,	  /* open, the whole of it, close */
	OP_WRITE_NEW,	  /* the same of a file that does not exist yet */
	OP_CREATE,	  /* an empty file */
	OP_UNLINK,
	OP_MKDIR,
	OP_RMDIR, /* of a directory that OP_MKDIR made */
	OP_READDIR,
	OP_COUNT,
	OP_NONE = OP_COUNT
};

/** The name in mixes and reports. */
const char *op_name(enum op op);

/** OP_NONE if there is no operation of that name. */
enum op op_find(const char *name);

#endif
