/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file shape.h
 * @brief What a file set consists of: how many files, their names and sizes
 *
 * Each process owns a directory pNNNNN with directories dNN and files fNNN in
 * them.  Everything follows from the shape, so that a set can be used again
 * by whoever knows its shape.
 */
#ifndef SWBUILD_SHAPE_H
#define SWBUILD_SHAPE_H

#include <stdint.h>

#define PROCESSES_PER_BUILD 5
#define OPS_PER_PROCESS	    100 /* per second */
#define OPS_PER_BUILD	    (PROCESSES_PER_BUILD * OPS_PER_PROCESS)

#define FULL_DIRECTORIES    50
#define FULL_FILES	    100	  /* in each directory */
#define MEAN_SIZE	    16384 /* bytes */
#define LEAST_FILES	    16	  /* of a process, however small the scale */
#define NAME_ROOM	    32

struct shape {
	double scale;	      /* 1 is the full set */
	uint32_t directories; /* of a process */
	uint32_t files;	      /* in each directory */
	uint32_t mean_size;
	uint64_t seed;
};

/** The shape at a scale: fewer directories first, then fewer files in one. */
struct shape shape_at(double scale, uint64_t seed);

/** The files of a process. */
uint32_t shape_files(const struct shape *shape);

/**
 * The size of a file in bytes: Gaussian, the standard deviation a quarter of
 * the mean, never under 1 nor over twice the mean.
 */
uint32_t shape_size(const struct shape *shape, uint32_t process, uint32_t file);

void name_process(char name[NAME_ROOM], uint32_t process);
void name_directory(char name[NAME_ROOM], uint32_t directory);
void name_file(char name[NAME_ROOM], const struct shape *shape, uint32_t file);

#endif
