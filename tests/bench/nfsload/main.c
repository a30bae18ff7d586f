/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nfsload.h"

static const char help[] =
	"usage: nfsload [OPTION...] <COMMANDS\n"
	"\n"
	"Sends NFS requests, many in flight, and prints their latencies.  Each\n"
	"line of the standard input is a command, a JSON object; each answer is\n"
	"a JSON line.  File handles are kept in named sets between commands.\n"
	"\n"
	"  {\"op\": \"mount\", \"export\": \"/vfs\", \"version\": 3, \"keep\": \"root\"}\n"
	"  {\"op\": \"lookup\", \"of\": \"root\", \"names\": [\"d\"], \"keep\": \"dir\"}\n"
	"  {\"op\": \"readdirplus\", \"of\": \"dir\", \"keep\": \"files\"}\n"
	"  {\"op\": \"getattr\", \"of\": \"files\", \"order\": \"random\",\n"
	"   \"depth\": 16, \"seconds\": 5}\n"
	"\n"
	"Operations: getattr access readlink lookup readdir; of version 3 also\n"
	"readdirplus read fsstat create remove churn (create and remove)\n"
	"write_churn (create, write 4 KiB, remove) mkdir rmdir symlink link (with \"targets\") rename (with \"new_names\").\n"
	"A name of version 4 may be a path: a/b.\n"
	"Members: of (a set), names (a list, or {\"prefix\", \"digits\", \"first\",\n"
	"\"count\"}), order (along: a handle's names one after the other; across;\n"
	"random, with seed), depth, count or seconds or until_input (the next\n"
	"line ends it), pause_us, rate (items a second at most), reply_bytes,\n"
	"keep, keep_every.\n"
	"\n"
	"  --server ADDRESS   default 127.0.0.1\n"
	"  --port N           default 2049\n"
	"  --mount-port N     default 20048\n"
	"  --connections N    TCP connections of each version, default 1\n"
	"  --help, --version\n"
	"\n"
	"Exit status: 0 done, 2 a command failed, 64 wrong usage.\n";

static int number(const char *text, const char *option, int least, int most)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end == text || *end || value < least || value > most) {
		fprintf(stderr,
			"nfsload: %s needs a number from %d to %d, not "
			"\"%s\"\n",
			option, least, most, text);
		exit(64);
	}
	return (int)value;
}

static void parse_options(int argc, char **argv, struct server *server)
{
	static const struct option options[] = {
		{ "server", required_argument, NULL, 's' },
		{ "port", required_argument, NULL, 'p' },
		{ "mount-port", required_argument, NULL, 'm' },
		{ "connections", required_argument, NULL, 'c' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			server->address = optarg;
			break;
		case 'p':
			server->port = number(optarg, "--port", 1, 65535);
			break;
		case 'm':
			server->mount_port =
				number(optarg, "--mount-port", 1, 65535);
			break;
		case 'c':
			server->connections =
				number(optarg, "--connections", 1, 32);
			break;
		case 'h':
			fputs(help, stdout);
			exit(0);
		case 'V':
			puts("nfsload " NFSLOAD_VERSION);
			exit(0);
		default:
			exit(64);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "nfsload: unknown argument \"%s\"\n",
			argv[optind]);
		exit(64);
	}
}

int main(int argc, char **argv)
{
	struct server server = { .address = "127.0.0.1",
				 .port = 2049,
				 .mount_port = 20048,
				 .connections = 1 };
	char *line = NULL;
	size_t room = 0;
	int status = 0;

	parse_options(argc, argv, &server);
	/* A line must not be read ahead: until_input polls for the next. */
	setvbuf(stdin, NULL, _IONBF, 0);
	while (!status && getline(&line, &room, stdin) > 0) {
		json_error_t wrong;
		json_t *command, *report;

		if (line[strspn(line, " \t\n")] == '\0')
			continue;
		command = json_loads(line, 0, &wrong);
		report = command ? run_command(&server, command) :
				   json_pack("{s:s}", "error", wrong.text);
		json_dumpf(report, stdout, JSON_COMPACT);
		putchar('\n');
		fflush(stdout);
		if (json_object_get(report, "error"))
			status = 2;
		json_decref(report);
		json_decref(command);
	}
	free(line);
	session_close();
	sets_free();
	return status;
}
