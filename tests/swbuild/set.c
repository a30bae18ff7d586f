// SPDX-License-Identifier: LGPL-3.0-or-later
#include "set.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "set_names.h"

#define MARKER	      "swbuild.json"
#define MARKER_ROOM   1024
#define MARKER_FORMAT 1

static json_t *shape_json(const struct shape *shape, uint32_t processes)
{
	return json_pack("{s:i, s:I, s:I, s:I, s:I, s:I}", "format",
			 MARKER_FORMAT, "directories",
			 (json_int_t)shape->directories, "files",
			 (json_int_t)shape->files, "mean_size",
			 (json_int_t)shape->mean_size, "seed",
			 (json_int_t)shape->seed, "processes",
			 (json_int_t)processes);
}

static void note_job(struct worker *worker)
{
	struct team *team = worker->team;
	json_t *marker;
	char *text;
	uint32_t status;

	if (worker->number != 0)
		return;
	marker = shape_json(&team->shape, team->there);
	text = json_dumps(marker, JSON_COMPACT);
	json_decref(marker);
	if (!text) {
		worker_fail(worker, "there is no memory");
		return;
	}
	status = wait_write(worker, &team->root, MARKER, text, strlen(text));
	free(text);
	if (status != SW_OK)
		worker_fail_status(worker, "write", MARKER, status);
}

/* Is it the marker of a set of this shape?  -1: it is no marker. */
static int compare_marker(struct team *team, const char *text, size_t size)
{
	json_t *marker = json_loadb(text, size, 0, NULL);
	json_t *wanted;
	int same;

	if (!json_is_integer(json_object_get(marker, "format"))) {
		json_decref(marker);
		return -1;
	}
	team->there = (uint32_t)json_integer_value(
		json_object_get(marker, "processes"));
	wanted = shape_json(&team->shape, team->there);
	same = json_equal(marker, wanted);
	json_decref(marker);
	json_decref(wanted);
	return same;
}

/* Finds what is there; team->there is 0 if it cannot be used again. */
static void find_job(struct worker *worker)
{
	struct team *team = worker->team;
	const char *name = team->options->server.directory;
	struct names names = { 0 };
	char text[MARKER_ROOM];
	size_t size = 0;
	uint32_t status;
	int same;

	if (worker->number != 0)
		return;
	status = wait_directory(worker, sw_root(worker->client), name,
				&team->root);
	if (status != SW_OK) {
		worker_fail_status(worker, "make the directory", name, status);
		return;
	}
	status = wait_read(worker, &team->root, MARKER, text, sizeof(text),
			   &size);
	if (status == STATUS_NOENT)
		status = wait_list(worker, &team->root, &names);
	if (status != SW_OK)
		worker_fail_status(worker, "read", name, status);
	same = compare_marker(team, text, size);
	if (names.count > 0 || (size > 0 && same < 0))
		worker_fail(worker,
			    "the export has a directory %s that swbuild did "
			    "not make: give --directory another name, or "
			    "remove it",
			    name);
	if (same <= 0)
		team->there = 0;
	names_free(&names);
}

static int report(const char *wrong, char error[TEAM_ERROR])
{
	if (wrong)
		snprintf(error, TEAM_ERROR, "%s", wrong);
	return wrong ? -1 : 0;
}

int set_open(struct team *team, char error[TEAM_ERROR])
{
	return report(team_do(team, find_job), error);
}

int set_note(struct team *team, uint32_t processes, char error[TEAM_ERROR])
{
	team->there = processes;
	return report(team_do(team, note_job), error);
}

static void close_job(struct worker *worker)
{
	struct team *team = worker->team;
	const char *name = team->options->server.directory;
	uint32_t status;

	if (worker->number != 0)
		return;
	status = wait_remove(worker, &team->root, MARKER, false);
	if (status == SW_OK)
		status = wait_remove(worker, sw_root(worker->client), name,
				     true);
	if (status != SW_OK)
		worker_fail_status(worker, "remove the directory", name,
				   status);
}

int set_close(struct team *team, char error[TEAM_ERROR])
{
	return report(team_do(team, close_job), error);
}
