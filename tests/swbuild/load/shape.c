// SPDX-License-Identifier: LGPL-3.0-or-later
#include "shape.h"

#include <math.h>
#include <stdio.h>

#include "random.h"

struct shape shape_at(double scale, uint64_t seed)
{
	struct shape shape = { .scale = scale,
			       .mean_size = MEAN_SIZE,
			       .seed = seed };
	double files = FULL_DIRECTORIES * FULL_FILES * scale;
	double directories = round(FULL_DIRECTORIES * scale);

	if (files < LEAST_FILES)
		files = LEAST_FILES;
	shape.directories = directories < 1 ? 1 : (uint32_t)directories;
	shape.files = (uint32_t)round(files / shape.directories);
	return shape;
}

uint32_t shape_files(const struct shape *shape)
{
	return shape->directories * shape->files;
}

uint32_t shape_size(const struct shape *shape, uint32_t process, uint32_t file)
{
	uint64_t state = shape->seed ^ ((uint64_t)process << 32) ^ file;
	double mean = shape->mean_size;
	double size;

	/* The method of Box and Muller. */
	random_next(&state);
	size = sqrt(-2 * log(1 - random_unit(&state)));
	size *= cos(2 * M_PI * random_unit(&state));
	size = round(mean + size * mean / 4);
	if (size < 1)
		return 1;
	return size > 2 * mean ? 2 * shape->mean_size : (uint32_t)size;
}

void name_process(char name[NAME_ROOM], uint32_t process)
{
	snprintf(name, NAME_ROOM, "p%05u", process);
}

void name_directory(char name[NAME_ROOM], uint32_t directory)
{
	snprintf(name, NAME_ROOM, "d%02u", directory);
}

void name_file(char name[NAME_ROOM], const struct shape *shape, uint32_t file)
{
	snprintf(name, NAME_ROOM, "f%03u", file % shape->files);
}
