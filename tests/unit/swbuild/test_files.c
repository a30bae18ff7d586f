// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The set stays in balance: a model of the directories takes what the
 * operations do, and no operation meets what it does not expect.
 */
#include "cunit_main.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "mix.h"

#define OPERATIONS 200000

enum state {
	AWAY,
	EMPTY,
	WHOLE
};

struct model {
	enum state *files;
	bool *made; /* by the number of the directory */
	unsigned away;
	unsigned empty;
	unsigned directories;
};

static void put(struct model *model, uint32_t file, enum state state)
{
	model->away -= model->files[file] == AWAY;
	model->empty -= model->files[file] == EMPTY;
	model->files[file] = state;
	model->away += state == AWAY;
	model->empty += state == EMPTY;
}

/* Does to the model what a server would do; false if it would refuse. */
static bool apply(struct model *model, const struct choice *c)
{
	switch (c->op) {
	case OP_STAT_NEGATIVE:
	case OP_OPEN_NEGATIVE:
		return strncmp(c->name, "none", 4) == 0;
	case OP_CREATE:
		if (model->files[c->file] != AWAY)
			return false;
		put(model, c->file, EMPTY);
		return true;
	case OP_WRITE_FILE:
	case OP_WRITE_NEW:
		if ((model->files[c->file] == AWAY) != c->absent)
			return false;
		put(model, c->file, WHOLE);
		return c->size > 0;
	case OP_UNLINK:
		if (model->files[c->file] == AWAY)
			return false;
		put(model, c->file, AWAY);
		return true;
	case OP_MKDIR:
	case OP_RMDIR:
		if (model->made[c->file] != (c->op == OP_RMDIR))
			return false;
		model->made[c->file] = c->op == OP_MKDIR;
		model->directories += c->op == OP_MKDIR ? 1 : -1;
		return true;
	case OP_READDIR:
		return true;
	default:
		return model->files[c->file] != AWAY;
	}
}

static bool step(struct files *files, struct model *model, enum op op)
{
	struct choice choice;
	bool done;

	files_choose(files, op, &choice);
	done = choice.directory < files->shape->directories &&
	       apply(model, &choice);
	files_done(files, &choice, done);
	return done;
}

/* Returns the upkeep operations that were needed. */
static unsigned run(const struct mix *mix, double scale)
{
	struct shape shape = shape_at(scale, 42);
	uint32_t total = shape_files(&shape);
	struct files files;
	struct model model = {
		.files = malloc(total * sizeof(*model.files)),
		.made = calloc(OPERATIONS, sizeof(*model.made)),
	};
	uint64_t state = 9;
	unsigned upkeep = 0;
	enum op op;

	if (!model.files || !model.made)
		abort();
	for (uint32_t i = 0; i < total; i++)
		model.files[i] = WHOLE;
	files_init(&files, &shape, 3);
	for (int i = 0; i < OPERATIONS; i++) {
		for (int n = 0; n < FILES_UPKEEP; n++) {
			op = files_upkeep(&files, mix_makes_files(mix));
			if (op == OP_NONE)
				break;
			CU_ASSERT_FATAL(step(&files, &model, op));
			upkeep++;
		}
		CU_ASSERT_FATAL(step(&files, &model, mix_draw(mix, &state)));
		CU_ASSERT_FATAL(model.away <= FILES_LIMIT + 1);
		CU_ASSERT_FATAL(model.empty <= FILES_LIMIT + 1);
		CU_ASSERT_FATAL(model.away <= total / 2);
		CU_ASSERT_FATAL(model.directories <= FILES_LIMIT + 1);
	}
	while ((op = files_restore(&files)) != OP_NONE)
		CU_ASSERT_FATAL(step(&files, &model, op));
	CU_ASSERT_EQUAL(model.away + model.empty + model.directories, 0);
	free(model.files);
	free(model.made);
	return upkeep;
}

static void mixes_balance(void)
{
	struct mix mix;

	/*
	 * Directories are removed by upkeep, about one in a hundred
	 * operations; the rest balances by itself, but for chance.
	 */
	CU_ASSERT(mix_find(&mix, "swbuild"));
	CU_ASSERT(run(&mix, 1) < OPERATIONS / 50);
	CU_ASSERT(run(&mix, 0.01) < OPERATIONS / 50);
	CU_ASSERT(run(&mix, 0.0001) < OPERATIONS / 10);
	CU_ASSERT(mix_find(&mix, "make"));
	CU_ASSERT(run(&mix, 1) < OPERATIONS / 50);
	CU_ASSERT(run(&mix, 0.0001) < OPERATIONS / 50);
}

/* Mixes that only make, only remove, or do neither. */
static void lopsided_mixes(void)
{
	static const enum op lopsided[] = { OP_CREATE, OP_WRITE_NEW, OP_UNLINK,
					    OP_MKDIR };
	struct mix mix;

	for (size_t i = 0; i < sizeof(lopsided) / sizeof(*lopsided); i++) {
		memset(&mix, 0, sizeof(mix));
		mix.share[OP_STAT] = 0.5;
		mix.share[lopsided[i]] = 0.5;
		CU_ASSERT(run(&mix, 0.01) > OPERATIONS / 3);
		CU_ASSERT(run(&mix, 0.0001) > OPERATIONS / 3);
	}
	memset(&mix, 0, sizeof(mix));
	mix.share[OP_READDIR] = 0.5;
	mix.share[OP_FSTAT] = 0.5;
	CU_ASSERT_EQUAL(run(&mix, 0.01), 0);
}

/* A server that refuses everything makes no one loop or run over. */
static void refusals(void)
{
	struct shape shape = shape_at(0.0001, 1);
	struct files files;
	struct choice choice;
	struct mix mix = { 0 };
	uint64_t state = 5;

	for (int op = 0; op < OP_COUNT; op++)
		mix.share[op] = op == OP_RMDIR ? 0 : 1.0 / (OP_COUNT - 1);
	files_init(&files, &shape, 0);
	for (int i = 0; i < OPERATIONS; i++) {
		enum op op = files_upkeep(&files, true);
		bool done = random() % 3 == 0;

		if (op != OP_NONE) {
			files_choose(&files, op, &choice);
			files_done(&files, &choice, done);
		}
		files_choose(&files, mix_draw(&mix, &state), &choice);
		files_done(&files, &choice, done);
		CU_ASSERT_FATAL(files.away.count <= LEAST_FILES / 2);
		CU_ASSERT_FATAL(files.empty.count <= LEAST_FILES / 4);
		CU_ASSERT_FATAL(files.made.count <= QUEUE_ROOM);
	}
}

static void shapes(void)
{
	struct shape full = shape_at(1, 0);

	CU_ASSERT_EQUAL(full.directories, 50);
	CU_ASSERT_EQUAL(full.files, 100);
	CU_ASSERT_EQUAL(shape_at(0.1, 0).directories, 5);
	CU_ASSERT_EQUAL(shape_at(0.1, 0).files, 100);
	CU_ASSERT_EQUAL(shape_at(0.01, 0).directories, 1);
	CU_ASSERT_EQUAL(shape_at(0.01, 0).files, 50);
	CU_ASSERT_EQUAL(shape_at(0.00001, 0).files, LEAST_FILES);
}

static void sizes(void)
{
	struct shape shape = shape_at(1, 77);
	double sum = 0, squares = 0;
	int within = 0, count = 20 * (int)shape_files(&shape);

	for (uint32_t process = 0; process < 20; process++)
		for (uint32_t file = 0; file < shape_files(&shape); file++) {
			double size = shape_size(&shape, process, file);

			CU_ASSERT(size >= 1 && size <= 2 * MEAN_SIZE);
			sum += size;
			squares += size * size;
			within += fabs(size - MEAN_SIZE) < MEAN_SIZE / 4.0;
		}
	CU_ASSERT_DOUBLE_EQUAL(sum / count, MEAN_SIZE, 60);
	CU_ASSERT_DOUBLE_EQUAL(
		sqrt(squares / count - sum / count * sum / count),
		MEAN_SIZE / 4.0, 60);
	/* Of a Gaussian 68.3% are within one standard deviation. */
	CU_ASSERT_DOUBLE_EQUAL((double)within / count, 0.683, 0.01);
	CU_ASSERT_EQUAL(shape_size(&shape, 3, 4), shape_size(&shape, 3, 4));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "mixes balance", mixes_balance },
		{ "lopsided mixes", lopsided_mixes },
		{ "refusals", refusals },
		{ "shapes", shapes },
		{ "sizes", sizes },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("files", NULL, tests);
}
