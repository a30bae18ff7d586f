// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * swbuild: an NFS client that puts the load of software builds on a server.
 */
#include <string.h>

#include "load.h"
#include "options.h"
#include "plot.h"
#include "replay/command.h"

int main(int argc, char **argv)
{
	struct options options;
	int status;

	if (argc > 1 && strcmp(argv[1], "plot") == 0) {
		char name[] = "swbuild plot";

		argv[1] = name;
		return plot_main(argc - 1, argv + 1);
	}
	options_parse(&options, argc, argv);
	status = options.replay.trace ? replay_main(&options) :
					load_main(&options);
	options_free(&options);
	return status;
}
