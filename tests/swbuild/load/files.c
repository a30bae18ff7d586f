// SPDX-License-Identifier: LGPL-3.0-or-later
#include "files.h"

#include <stdio.h>

#include "random.h"

/*
 * Absent names: most requests of builds for names that do not exist are for
 * very few of them.
 */
#define ABSENT_NAMES  10 /* in a directory */
#define ABSENT_COMMON 75 /* per cent that ask the first directory's */

/* What passes `most` is forgotten: only a server that fails gets there. */
static void push(struct number_queue *q, uint32_t number, uint32_t most)
{
	if (q->count < most && q->count < QUEUE_ROOM)
		q->numbers[(q->first + q->count++) % QUEUE_ROOM] = number;
}

static uint32_t pop(struct number_queue *q)
{
	uint32_t number = q->numbers[q->first];

	q->first = (q->first + 1) % QUEUE_ROOM;
	q->count--;
	return number;
}

static bool contains(const struct number_queue *q, uint32_t number)
{
	for (unsigned i = 0; i < q->count; i++)
		if (q->numbers[(q->first + i) % QUEUE_ROOM] == number)
			return true;
	return false;
}

/* Of a tiny set, something must always be there. */
static void push_away(struct files *f, uint32_t file)
{
	push(&f->away, file, shape_files(f->shape) / 2);
}

static void push_empty(struct files *f, uint32_t file)
{
	push(&f->empty, file, shape_files(f->shape) / 4);
}

/* How many may be away before upkeep makes one again. */
static unsigned limit(const struct files *f)
{
	uint32_t few = shape_files(f->shape) / 4 - 1;

	return few < FILES_LIMIT ? few : FILES_LIMIT;
}

void files_init(struct files *f, const struct shape *shape, uint32_t process)
{
	*f = (struct files){ .shape = shape,
			     .process = process,
			     .random = shape->seed + process };
	random_next(&f->random);
}

static uint32_t any_file(struct files *f)
{
	uint32_t file;

	do {
		file = random_below(&f->random, shape_files(f->shape));
	} while (contains(&f->away, file));
	return file;
}

static void choose_file(struct files *f, struct choice *c, uint32_t file)
{
	c->file = file;
	c->directory = file / f->shape->files;
	c->size = shape_size(f->shape, f->process, file);
	name_file(c->name, f->shape, file);
}

static void choose_away(struct files *f, struct choice *c)
{
	c->absent = f->away.count > 0;
	choose_file(f, c, c->absent ? pop(&f->away) : any_file(f));
}

static void choose_absent(struct files *f, struct choice *c)
{
	if (random_below(&f->random, 100) >= ABSENT_COMMON)
		c->directory = random_below(&f->random, f->shape->directories);
	snprintf(c->name, sizeof(c->name), "none%u",
		 random_below(&f->random, ABSENT_NAMES));
	c->absent = true;
}

/* A made directory's place and name follow from its number. */
static void choose_made(const struct files *f, struct choice *c,
			uint32_t number)
{
	c->file = number;
	c->directory = number % f->shape->directories;
	snprintf(c->name, sizeof(c->name), "m%u", number);
}

static void choose_write(struct files *f, struct choice *c)
{
	/* One file stays away for create and write_new. */
	if (f->empty.count > 0)
		choose_file(f, c, pop(&f->empty));
	else if (f->away.count > 1)
		choose_away(f, c);
	else
		choose_file(f, c, any_file(f));
}

static uint32_t unlinkable(struct files *f)
{
	uint32_t file;

	do {
		file = any_file(f);
	} while (contains(&f->empty, file));
	return file;
}

void files_choose(struct files *f, enum op op, struct choice *c)
{
	*c = (struct choice){ .op = op, .file = NO_FILE };
	switch (op) {
	case OP_STAT_NEGATIVE:
	case OP_OPEN_NEGATIVE:
		choose_absent(f, c);
		break;
	case OP_WRITE_FILE:
		choose_write(f, c);
		break;
	case OP_WRITE_NEW:
	case OP_CREATE:
		choose_away(f, c);
		break;
	case OP_UNLINK:
		choose_file(f, c, unlinkable(f));
		break;
	case OP_MKDIR:
		choose_made(f, c, f->directories_made++);
		c->absent = true;
		break;
	case OP_RMDIR:
		choose_made(f, c, pop(&f->made));
		break;
	case OP_READDIR:
		c->directory = random_below(&f->random, f->shape->directories);
		break;
	default:
		choose_file(f, c, any_file(f));
		if (contains(&f->empty, c->file))
			c->size = 0;
		break;
	}
}

void files_done(struct files *f, const struct choice *c, bool succeeded)
{
	switch (c->op) {
	case OP_WRITE_FILE:
	case OP_WRITE_NEW:
		if (c->absent && !succeeded)
			push_away(f, c->file);
		break;
	case OP_CREATE:
		if (succeeded)
			push_empty(f, c->file);
		else if (c->absent)
			push_away(f, c->file);
		break;
	case OP_UNLINK:
		if (succeeded)
			push_away(f, c->file);
		break;
	case OP_MKDIR:
		if (succeeded)
			push(&f->made, c->file, QUEUE_ROOM);
		break;
	case OP_RMDIR:
		if (!succeeded)
			push(&f->made, c->file, QUEUE_ROOM);
		break;
	default:
		break;
	}
}

enum op files_upkeep(const struct files *f, bool makes_files)
{
	if (f->made.count > FILES_LIMIT)
		return OP_RMDIR;
	if (f->empty.count > limit(f))
		return OP_WRITE_FILE;
	if (f->away.count > limit(f))
		return OP_WRITE_NEW;
	if (makes_files && f->away.count == 0)
		return OP_UNLINK;
	return OP_NONE;
}

enum op files_restore(const struct files *f)
{
	if (f->made.count > 0)
		return OP_RMDIR;
	if (f->empty.count > 0)
		return OP_WRITE_FILE;
	return f->away.count > 0 ? OP_WRITE_NEW : OP_NONE;
}
