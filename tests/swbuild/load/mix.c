// SPDX-License-Identifier: LGPL-3.0-or-later
#include "mix.h"

#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

/*
 * `make`: the mean of two recorded clean builds, git's and a Linux
 * tinyconfig's, per cent of all system calls that name or use a file:
 *
 *	               git  linux  mean
 *	stat            3.4    2.1   2.75
 *	stat, absent   10.6    0.7   5.65
 *	fstat          11.5   34.4  22.95
 *	open and read  10.6   34.3  22.45
 *	open, absent   61.4   26.2  43.80
 *	readlink        1.8    1.6   1.70
 *	create          0.5    0.2   0.35
 *
 * Most of the readlink calls are of names that are no links, which costs a
 * client a LOOKUP and no READLINK.  A build writes what it creates.  What the
 * table leaves out (0.35) removes it again.
 */
static const struct {
	const char *name;
	double share[OP_COUNT];
} built_in[] = {
	{ "swbuild",
	  { [OP_STAT] = 70,
	    [OP_WRITE_FILE] = 7,
	    [OP_READ_FILE] = 6,
	    [OP_ACCESS] = 6,
	    [OP_CHMOD] = 5,
	    [OP_READDIR] = 2,
	    [OP_UNLINK] = 2,
	    [OP_MKDIR] = 1,
	    [OP_CREATE] = 1 } },
	{ "make",
	  { [OP_STAT] = 2.75,
	    [OP_STAT_NEGATIVE] = 5.65,
	    [OP_FSTAT] = 22.95,
	    [OP_READ_FILE] = 22.45,
	    [OP_OPEN_NEGATIVE] = 43.8,
	    [OP_LOOKUP] = 1.7,
	    [OP_WRITE_NEW] = 0.35,
	    [OP_UNLINK] = 0.35 } },
};

static void normalise(struct mix *mix)
{
	double total = 0;

	for (int op = 0; op < OP_COUNT; op++)
		total += mix->share[op];
	for (int op = 0; op < OP_COUNT; op++)
		mix->share[op] /= total;
}

bool mix_find(struct mix *mix, const char *name)
{
	for (size_t i = 0; i < sizeof(built_in) / sizeof(*built_in); i++) {
		if (strcmp(built_in[i].name, name) != 0)
			continue;
		snprintf(mix->name, sizeof(mix->name), "%s", name);
		memcpy(mix->share, built_in[i].share, sizeof(mix->share));
		normalise(mix);
		return true;
	}
	return false;
}

/* Reads one line; NULL, or what is wrong with it. */
static const char *read_line(struct mix *mix, char *line)
{
	char *place, *end;
	const char *name, *number;
	enum op op;
	double share;

	line[strcspn(line, "#\n")] = '\0';
	name = strtok_r(line, " \t\r", &place);
	if (!name)
		return NULL;
	op = op_find(name);
	if (op == OP_NONE)
		return "there is no such operation: swbuild --help lists them";
	if (op == OP_RMDIR)
		return "rmdir cannot be asked for: leave it out, directories "
		       "made by mkdir are removed by themselves";
	number = strtok_r(NULL, " \t\r", &place);
	if (!number || strtok_r(NULL, " \t\r", &place))
		return "a line is an operation and its share: \"stat 70\"";
	errno = 0;
	share = strtod(number, &end);
	if (end == number || *end || errno || !isfinite(share) || share <= 0 ||
	    share > 1e6)
		return "the share must be a number over 0: \"stat 70\"";
	if (mix->share[op] > 0)
		return "the operation was named before: keep one of the lines";
	mix->share[op] = share;
	return NULL;
}

int mix_read(struct mix *mix, const char *path, char *wrong, size_t room)
{
	FILE *file = fopen(path, "re");
	char *line = NULL, *copy;
	size_t size = 0;
	unsigned number = 0, operations = 0;
	int status = -1;

	if (!file) {
		snprintf(wrong, room,
			 "no mix \"%s\": the mixes are swbuild and make, and "
			 "as a file it cannot be read: %s",
			 path, strerror(errno));
		return -1;
	}
	memset(mix, 0, sizeof(*mix));
	while (getline(&line, &size, file) > 0) {
		const char *complaint = read_line(mix, line);

		number++;
		if (complaint) {
			snprintf(wrong, room, "%s:%u: %s", path, number,
				 complaint);
			goto out;
		}
	}
	for (int op = 0; op < OP_COUNT; op++)
		operations += mix->share[op] > 0;
	if (ferror(file) || operations == 0) {
		snprintf(wrong, room,
			 "%s: no operation in it: write lines like \"stat 70\"",
			 path);
		goto out;
	}
	copy = strdup(path);
	if (copy)
		snprintf(mix->name, sizeof(mix->name), "%s", basename(copy));
	free(copy);
	normalise(mix);
	status = 0;
out:
	free(line);
	fclose(file);
	return status;
}

enum op mix_draw(const struct mix *mix, uint64_t *state)
{
	double place = random_unit(state);
	enum op last = OP_NONE;

	for (int op = 0; op < OP_COUNT; op++) {
		if (mix->share[op] <= 0)
			continue;
		last = (enum op)op;
		if (place < mix->share[op])
			break;
		place -= mix->share[op];
	}
	return last;
}

bool mix_makes_files(const struct mix *mix)
{
	return mix->share[OP_CREATE] > 0 || mix->share[OP_WRITE_NEW] > 0;
}
