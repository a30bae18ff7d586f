// SPDX-License-Identifier: LGPL-3.0-or-later
#include "command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu.h"
#include "progress.h"

#define ERROR_SIZE 512

static int complain(const char *wrong)
{
	progress_clear();
	fflush(stdout);
	fprintf(stderr, "swbuild: %s\n", wrong);
	return EXIT_CANNOT;
}

static int report(const struct replay_record *record)
{
	replay_print(record);
	if (!replay_write(record))
		return EXIT_CANNOT;
	return record->result->mismatches != 0 ? EXIT_INVALID : EXIT_FINE;
}

static int run(const struct options *options, const struct optrace *trace,
	       struct sw_loop *loop, struct sw_client *client)
{
	const struct server_options *server = &options->server;
	struct replay_options replay = options->replay.options;
	struct replay_result *result = calloc(1, sizeof(*result));
	struct replay_record record = {
		.options = options,
		.trace = trace,
		.result = result,
		.counters = sw_client_counters(client),
		.started = time(NULL),
	};
	char error[ERROR_SIZE];
	int status;

	if (result == NULL)
		return complain("there is no memory");
	replay.directory = server->directory;
	replay.version = server->version;
	replay.server = server->pid;
	if (!sw_mount_wait(client))
		status = complain(sw_client_error(client));
	else if (replay_run(loop, client, trace, &replay, result, error,
			    sizeof(error)) != 0)
		status = complain(error);
	else
		status = report(&record);
	sw_unmount_wait(client);
	free(result);
	return status;
}

static int connect_and_run(const struct options *options,
			   const struct optrace *trace)
{
	const struct sw_settings settings = options_client(&options->server, 0);
	struct sw_loop *loop = sw_loop_new();
	struct sw_client *client;
	char error[ERROR_SIZE];
	int status;

	if (loop == NULL)
		return complain("the system gives no event loop");
	client = sw_client_new(loop, &settings, error, sizeof(error));
	if (client == NULL) {
		status = complain(error);
	} else {
		status = run(options, trace, loop, client);
		sw_client_free(client);
	}
	sw_loop_free(loop);
	return status;
}

int replay_main(const struct options *options)
{
	struct optrace trace;
	int status = EXIT_CANNOT;

	progress_init(options->output.progress);
	if (optrace_read(&trace, options->replay.trace, "swbuild") == 0)
		status = connect_and_run(options, &trace);
	optrace_free(&trace);
	return status;
}
