// SPDX-License-Identifier: LGPL-3.0-or-later
#include "json_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static json_t *server_json(const struct server_options *o)
{
	return json_pack("{s:s, s:s, s:s, s:i, s:s}", "host", o->host, "export",
			 o->export, "nfs", sw_version_name(o->version),
			 "connections", (int)o->connections, "directory",
			 o->directory);
}

json_t *json_head(const struct options *options, time_t started)
{
	json_t *object = json_object();
	char text[32];
	struct tm tm;

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ",
		 gmtime_r(&started, &tm));
	json_object_set_new(object, "program", json_string("swbuild"));
	json_object_set_new(object, "version", json_string(SWBUILD_VERSION));
	json_object_set_new(object, "command", json_string(options->command));
	json_object_set_new(object, "started", json_string(text));
	if (options->output.label)
		json_object_set_new(object, "label",
				    json_string(options->output.label));
	json_object_set_new(object, "server", server_json(&options->server));
	return object;
}

json_t *json_summary(const struct summary *s)
{
	return json_pack("{s:f, s:f, s:f, s:f}", "mean", s->mean, "p50", s->p50,
			 "p99", s->p99, "max", s->max);
}

json_t *json_counters(const struct sw_counters *c)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "requests", (json_int_t)c->requests, "bytes_out",
			 (json_int_t)c->bytes_out, "bytes_in",
			 (json_int_t)c->bytes_in, "resent",
			 (json_int_t)c->resent, "reconnects",
			 (json_int_t)c->reconnects, "delays",
			 (json_int_t)c->delays, "graces", (json_int_t)c->graces,
			 "expired", (json_int_t)c->expired, "waits",
			 (json_int_t)c->waits);
}

bool json_write(json_t *json, const char *path)
{
	errno = 0;
	if (json_dump_file(json, path,
			   JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0)
		return true;
	fprintf(stderr, "swbuild: cannot write %s: %s\n", path,
		errno ? strerror(errno) : "the file system refused");
	return false;
}
