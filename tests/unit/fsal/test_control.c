// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The control socket's answers, and what hostile clients cannot do to it.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "nfs_init.h"

#include "control.h"
#include "control_client.h"
#include "cunit_main.h"
#include "mdcache_ext.h"
#include "stats.h"

static char root[] = "/tmp/scale-control-XXXXXX";
static char dir[64];
static char path[128];

static int64_t integer(const json_t *value, const char *a, const char *b,
		       const char *c)
{
	value = json_object_get(value, a);
	if (b != NULL)
		value = json_object_get(value, b);
	if (c != NULL)
		value = json_object_get(value, c);
	return json_is_integer(value) ? json_integer_value(value) : -1;
}

/* The "error" of an answer that says "ok": false, or "". */
static const char *error_of(const json_t *answer)
{
	const char *text = json_string_value(json_object_get(answer, "error"));

	return json_is_false(json_object_get(answer, "ok")) && text != NULL ?
		       text :
		       "";
}

static void check_error(json_t *answer, const char *word)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(error_of(answer), word));
	CU_ASSERT_EQUAL(integer(answer, "scale", NULL, NULL), 1);
	json_decref(answer);
}

static void check_serves(void)
{
	json_t *answer = client_ask(path, STATS);

	CU_ASSERT(json_is_true(json_object_get(answer, "ok")));
	json_decref(answer);
}

static void test_version(void)
{
	json_t *answer = client_ask(path, "{\"command\":\"version\","
					  "\"scale\":1}\n");
	const json_t *server = json_object_get(answer, "server");

	CU_ASSERT(json_is_true(json_object_get(answer, "ok")));
	CU_ASSERT_EQUAL(integer(answer, "scale", NULL, NULL), 1);
	CU_ASSERT_EQUAL(integer(answer, "server", "pid", NULL), getpid());
	CU_ASSERT(integer(answer, "server", "started", NULL) >= 0);
	CU_ASSERT(json_string_length(json_object_get(server, "version")) > 0);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(answer, "commands")),
			2);
	json_decref(answer);
}

static void test_stats(void)
{
	struct scale_stats *stats = scale_stats_new(77, "/a\xff\"\n", "VFS");
	struct scale_stats *other = scale_stats_new(78, "/b", "MEM");
	const json_t *exports;
	const json_t *export;
	const json_t *call;
	json_t *answer;

	scale_stats_request(stats, SCALE_OP_LOOKUP, SCALE_OUTCOME_NEGATIVE);
	scale_stats_backend(stats, SCALE_OP_READDIR,
			    scale_stats_begin() - 2000000, true);
	scale_stats_invalidation(stats, SCALE_SOURCE_NOTIFY);
	scale_stats_request(other, SCALE_OP_LOOKUP, SCALE_OUTCOME_HIT);
	answer = client_ask(path, STATS);
	CU_ASSERT(json_is_null(json_object_get(answer, "cache")));
	exports = json_object_get(answer, "exports");
	CU_ASSERT_EQUAL(json_array_size(exports), 2);
	export = json_array_get(exports, 0);
	CU_ASSERT_EQUAL(integer(export, "id", NULL, NULL), 77);
	CU_ASSERT_STRING_EQUAL(
		json_string_value(json_object_get(export, "path")), "/a?\"\n");
	CU_ASSERT_EQUAL(integer(export, "requests", "lookup", "negative"), 1);
	CU_ASSERT_EQUAL(integer(export, "requests", "lookup", "hit"), 0);
	CU_ASSERT_EQUAL(integer(export, "requests", "getattrs", "hit"), -1);
	CU_ASSERT_EQUAL(integer(export, "calls", "readdir", "count"), 1);
	CU_ASSERT_EQUAL(integer(export, "calls", "readdir", "errors"), 1);
	call = json_object_get(json_object_get(export, "calls"), "readdir");
	CU_ASSERT(json_real_value(json_object_get(call, "mean_us")) >= 2000);
	CU_ASSERT(json_real_value(json_object_get(call, "max_us")) >= 2000);
	CU_ASSERT(json_real_value(json_object_get(call, "p50_us")) >= 2000);
	CU_ASSERT(json_real_value(json_object_get(call, "p99_us")) >= 2000);
	CU_ASSERT_EQUAL(integer(export, "invalidations", "notify", NULL), 1);
	export = json_array_get(exports, 1);
	CU_ASSERT_EQUAL(integer(export, "requests", "lookup", "negative"), 0);
	CU_ASSERT_EQUAL(integer(export, "requests", "lookup", "hit"), 1);
	export = json_object_get(answer, "total");
	CU_ASSERT_EQUAL(integer(export, "requests", "lookup", "negative"), 1);
	CU_ASSERT_EQUAL(integer(export, "requests", "lookup", "hit"), 1);
	CU_ASSERT_EQUAL(integer(export, "calls", "readdir", "count"), 1);
	CU_ASSERT_EQUAL(integer(export, "invalidations", "notify", NULL), 1);
	json_decref(answer);

	scale_stats_retire(stats);
	scale_stats_retire(other);
	answer = client_ask(path, STATS);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(answer, "exports")), 0);
	CU_ASSERT_EQUAL(integer(json_object_get(answer, "total"), "requests",
				"lookup", "negative"),
			1);
	json_decref(answer);
}

static void test_cache(void)
{
	struct mdx_attrs attrs = { .valid = MDX_NUMBERS };
	struct mdx_key key = { .bytes = "k", .len = 1 };
	const json_t *counters;
	const json_t *cache;
	struct mdx_params params;
	json_t *answer;
	struct mdx *c;

	mdx_params_init(&params);
	params.limits = (struct mdx_limits){ 100, 2000, 8 << 20 };
	CU_ASSERT_EQUAL_FATAL(mdx_create(&params, &c), 0);
	CU_ASSERT_EQUAL(mdx_put(c, mdx_ticket(c), key, &attrs, 1000), 0);
	scale_control_set_cache(c);
	answer = client_ask(path, STATS);
	cache = json_object_get(answer, "cache");
	CU_ASSERT_EQUAL(integer(cache, "limits", "maxFilesToCache", NULL), 100);
	CU_ASSERT_EQUAL(integer(cache, "limits", "maxStatCache", NULL), 2000);
	CU_ASSERT_EQUAL(integer(cache, "limits", "bytes", NULL), 8 << 20);
	CU_ASSERT_EQUAL(integer(cache, "usage", "stats", NULL), 1);
	CU_ASSERT_EQUAL(integer(cache, "usage", "files", NULL), 0);
	CU_ASSERT(integer(cache, "usage", "bytes", NULL) > 0);
	CU_ASSERT_EQUAL(integer(cache, "usage", "fds", NULL), 0);
	counters = json_object_get(cache, "counters");
	CU_ASSERT_EQUAL(json_object_size(counters), MDX_COUNTER_COUNT);
	CU_ASSERT_EQUAL(integer(counters, "put", NULL, NULL), 1);
	CU_ASSERT_EQUAL(
		json_object_size(json_object_get(
			json_object_get(answer, "meanings"), "counters")),
		MDX_COUNTER_COUNT);
	json_decref(answer);

	scale_control_set_cache(NULL);
	mdx_destroy(c);
	check_serves();
}

static void test_pieces(void)
{
	int fd = client_connect(path);
	json_t *answer;

	/* Half a line, then its rest with two more and half of a fourth. */
	CU_ASSERT(client_send(fd, STATS, 9));
	usleep(20000);
	CU_ASSERT(client_send(fd, &STATS[9], strlen(STATS) - 9));
	CU_ASSERT(client_send(fd, STATS STATS "{\"sca",
			      strlen(STATS STATS "{\"sca")));
	for (unsigned int i = 0; i < 3; i++) {
		answer = client_receive(fd);
		CU_ASSERT(json_is_true(json_object_get(answer, "ok")));
		json_decref(answer);
	}
	CU_ASSERT(client_send(fd, "le\": 2}\n", 8));
	check_error(client_receive(fd), "version 1");
	/* The end of the client while it asks. */
	CU_ASSERT(client_send(fd, STATS, 5));
	close(fd);
	check_serves();
}

static void test_wrong_requests(void)
{
	static const struct {
		const char *line;
		const char *word;
	} wrong[] = {
		{ "{}\n", "version 1" },
		{ "[1, 2]\n", "version 1" },
		{ "[]\n", "version 1" },
		{ "{\"scale\": \"1\", \"command\": \"stats\"}\n", "version 1" },
		{ "{\"scale\": 1.0, \"command\": \"stats\"}\n", "version 1" },
		{ "{\"scale\": 1}\n", "no command" },
		{ "{\"scale\": 1, \"command\": {\"stats\": 1}}\n",
		  "no command" },
		{ "{\"scale\": 1, \"command\": \"\"}\n", "does not know" },
		{ "{\"scale\": 1, \"command\": \"statss\"}\n",
		  "does not know" },
	};
	int fd = client_connect(path);
	json_t *answer;

	/* All on one connection, which goes on. */
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		CU_ASSERT(
			client_send(fd, wrong[i].line, strlen(wrong[i].line)));
		check_error(client_receive(fd), wrong[i].word);
	}
	CU_ASSERT(client_send(fd, STATS, strlen(STATS)));
	answer = client_receive(fd);
	CU_ASSERT(json_is_true(json_object_get(answer, "ok")));
	json_decref(answer);
	close(fd);
}

static void test_garbage(void)
{
	static char deep[4000];
	static const struct {
		const char *bytes;
		size_t len;
	} garbage[] = {
		{ "\n", 1 },
		{ "GET / HTTP/1.1\r\n\r\n", 18 },
		{ "{\"scale\": 1, \"command\": \"sta\n", 29 },
		{ "{\"scale\": 1, \"scale\": 1}\n", 25 },
		{ "{\"scale\": 1, \"command\": \"a\0b\"}\n", 31 },
		{ "\0\0\0\0\n", 5 },
		{ "{\"\xff\xfe\": 1}\n", 10 },
		{ "{\"scale\": 99999999999999999999}\n", 32 },
		{ "7\n", 2 },
		{ deep, sizeof(deep) },
	};

	memset(deep, '[', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = '\n';
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		int fd = client_connect(path);

		CU_ASSERT(client_send(fd, garbage[i].bytes, garbage[i].len));
		/* Too late, or not looked at. */
		client_send(fd, STATS, strlen(STATS));
		check_error(client_receive(fd), "not a line of JSON");
		CU_ASSERT(client_closed(fd));
		close(fd);
	}
	check_serves();
}

static void test_long_line(void)
{
	size_t size = 1 << 20;
	char *line = malloc(size);
	int fd = client_connect(path);

	memset(line, ' ', size);
	/* The server need not take all of it. */
	client_send(fd, line, size);
	check_error(client_receive(fd), "too long");
	CU_ASSERT(client_closed(fd));
	close(fd);

	/* The longest that may be: 4096 bytes with its newline. */
	snprintf(line, size, "%*s", 4096, STATS);
	fd = client_connect(path);
	CU_ASSERT(client_send(fd, line, 4096));
	json_t *answer = client_receive(fd);
	CU_ASSERT(json_is_true(json_object_get(answer, "ok")));
	json_decref(answer);
	close(fd);
	free(line);
}

static void test_many_clients(void)
{
	int fds[100];
	unsigned int served = 0;
	unsigned int refused = 0;

	for (size_t i = 0; i < 100; i++) {
		fds[i] = client_connect(path);
		CU_ASSERT_FATAL(fds[i] >= 0);
	}
	for (size_t i = 0; i < 100; i++) {
		json_t *answer;

		client_send(fds[i], STATS, strlen(STATS));
		answer = client_receive(fds[i]);
		if (json_is_true(json_object_get(answer, "ok")))
			served++;
		else if (strstr(error_of(answer), "too many clients") != NULL)
			refused++;
		json_decref(answer);
	}
	CU_ASSERT_EQUAL(served, SCALE_CONTROL_CLIENTS);
	CU_ASSERT_EQUAL(refused, 100 - SCALE_CONTROL_CLIENTS);
	for (size_t i = 0; i < 100; i++)
		close(fds[i]);
	check_serves();
}

/* Answers that are larger than a socket holds. */
enum {
	LARGE = 1500
};

static struct scale_stats *large[LARGE];

static void grow_answers(void)
{
	for (size_t i = 0; i < LARGE; i++)
		large[i] = scale_stats_new((uint16_t)i, "/an/export", "VFS");
}

static void shrink_answers(void)
{
	for (size_t i = 0; i < LARGE; i++)
		scale_stats_retire(large[i]);
}

static void test_disconnect(void)
{
	grow_answers();
	for (unsigned int i = 0; i < 20; i++) {
		char byte;
		int fd = client_connect(path);

		for (unsigned int n = 0; n < 3; n++)
			client_send(fd, STATS, strlen(STATS));
		/* Now the server is in the middle of the first answer. */
		CU_ASSERT_EQUAL(recv(fd, &byte, 1, 0), 1);
		close(fd);
	}
	check_serves();
	shrink_answers();
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Who does not ask, asks by and by, or does not listen keeps no place. */
static void test_slow_clients(void)
{
	double began = seconds();
	int deaf[4];
	int slow;
	int idle;

	grow_answers();
	for (size_t i = 0; i < 4; i++) {
		deaf[i] = client_connect(path);
		CU_ASSERT(client_send(deaf[i], STATS, strlen(STATS)));
	}
	idle = client_connect(path);
	slow = client_connect(path);
	while (seconds() < began + 11) {
		double asked = seconds();

		client_send(slow, " ", 1);
		check_serves();
		CU_ASSERT(seconds() - asked < 9);
		usleep(500000);
	}
	CU_ASSERT(client_closed(idle));
	CU_ASSERT(client_closed(slow));
	/* What they had been sent is there, and not all of it. */
	for (size_t i = 0; i < 4; i++) {
		CU_ASSERT_PTR_NULL(client_receive(deaf[i]));
		close(deaf[i]);
	}
	CU_ASSERT(seconds() - began < 25);
	close(idle);
	close(slow);
	shrink_answers();
}

static void test_other_user(void)
{
	int status = -1;
	pid_t child;

	/* Only root can try it. */
	CU_ASSERT_EQUAL_FATAL(geteuid(), 0);
	/* As if the directory had been opened by mistake. */
	CU_ASSERT_EQUAL(chmod(root, 0755), 0);
	CU_ASSERT_EQUAL(chmod(dir, 0755), 0);
	CU_ASSERT_EQUAL(chmod(path, 0666), 0);
	child = fork();
	if (child == 0) {
		json_t *answer;

		if (setgid(65534) != 0 || setuid(65534) != 0)
			_exit(2);
		answer = client_ask(path, STATS);
		_exit(strstr(error_of(answer), "only root") == NULL);
	}
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	check_serves();
	chmod(dir, 0700);
}

static void test_no_descriptors(void)
{
	double restored;
	struct rlimit old;
	struct rlimit none;
	json_t *answer;
	int other = client_connect(path);
	int fd = client_socket();
	int spare[SCALE_CONTROL_CLIENTS];

	/* When this is answered twice, the server has closed all that others
	 * closed before.
	 */
	for (unsigned int i = 0; i < 2; i++) {
		client_send(other, STATS, strlen(STATS));
		json_decref(client_receive(other));
	}
	/* poll(2) fails when it is given more than the process may have. */
	for (size_t i = 0; i < SCALE_CONTROL_CLIENTS; i++)
		spare[i] = dup(fd);
	getrlimit(RLIMIT_NOFILE, &old);
	none = old;
	/* The next free one is that which the server would accept with. */
	none.rlim_cur = (rlim_t)dup(fd);
	close((int)none.rlim_cur);
	setrlimit(RLIMIT_NOFILE, &none);
	CU_ASSERT(client_reach(fd, path));
	CU_ASSERT(client_send(fd, STATS, strlen(STATS)));
	/* It does not try again and again, but a second later. */
	usleep(400000);
	setrlimit(RLIMIT_NOFILE, &old);
	restored = seconds();
	answer = client_receive(fd);
	CU_ASSERT(seconds() - restored > 0.2);
	CU_ASSERT(json_is_true(json_object_get(answer, "ok")));
	json_decref(answer);
	for (size_t i = 0; i < SCALE_CONTROL_CLIENTS; i++)
		close(spare[i]);
	close(other);
	close(fd);
}

/* The thread has its name, and leaves signals to the others. */
static void test_thread(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	unsigned int found = 0;

	CU_ASSERT_PTR_NOT_NULL(tasks);
	if (tasks == NULL)
		return;
	while ((task = readdir(tasks)) != NULL) {
		bool ours = false;
		char line[320];
		FILE *f;

		snprintf(line, sizeof(line), "/proc/self/task/%s/status",
			 task->d_name);
		f = fopen(line, "r");
		if (f == NULL)
			continue;
		while (fgets(line, sizeof(line), f) != NULL) {
			ours = ours ||
			       strcmp(line, "Name:\tscale-control\n") == 0;
			if (ours && strncmp(line, "SigBlk:", 7) == 0) {
				found++;
				CU_ASSERT_PTR_NOT_NULL(
					strstr(line, "fffffffe7ffb"));
			}
		}
		fclose(f);
	}
	closedir(tasks);
	CU_ASSERT_EQUAL(found, 1);
}

static int setup(void)
{
	nfs_prereq_init("test", "localhost", NIV_EVENT, "STDERR", false);
	if (mkdtemp(root) == NULL)
		return -1;
	snprintf(dir, sizeof(dir), "%s/dir", root);
	snprintf(path, sizeof(path), "%s/control", dir);
	return scale_control_start(path);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "version", test_version },
		{ "stats", test_stats },
		{ "the cache's", test_cache },
		{ "the thread", test_thread },
		{ "pieces of lines", test_pieces },
		{ "wrong requests", test_wrong_requests },
		{ "garbage", test_garbage },
		{ "a long line", test_long_line },
		{ "many clients", test_many_clients },
		{ "disconnects", test_disconnect },
		{ "slow clients", test_slow_clients },
		{ "another user", test_other_user },
		{ "no descriptors", test_no_descriptors },
		CU_TEST_INFO_NULL,
	};
	int status = cunit_main("control", setup, tests);

	scale_control_stop();
	if (rmdir(dir) != 0 || rmdir(root) != 0)
		status = EXIT_FAILURE;
	return status;
}
