/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Many threads against a backend that is a few arrays. Each answer of the cache
 * must have been true at some moment of the call: not older than the last
 * change that had been finished before it, not newer than the last one that had
 * begun when it returned. Limits are small, so everything is evicted all the
 * time, and invalidations fall in between.
 */
#include <pthread.h>

#include "engine_test.h"

#define THREADS 4
#define FILES	300
#define DIRS	4
#define NAMES	200
#define OPS	20000 /* times ENGINE_TEST_FACTOR of the environment */

/* Versions: `begun` is what the backend says, `done` what was acknowledged. */
static struct truth {
	pthread_mutex_t lock; /* of one change at a time */
	_Atomic uint64_t begun, done;
} file[FILES], name[DIRS][NAMES];

static struct mdx *cache;
static atomic_int wrong;
static unsigned int ops;

#define DIR_KEY(d) test_key(1000000 + (d))

static uint32_t rnd(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 20);
}

static void complain(const char *what, uint64_t got, uint64_t least,
		     uint64_t most)
{
	if (atomic_fetch_add(&wrong, 1) < 10)
		fprintf(stderr, "%s: %llu, not in %llu..%llu\n", what,
			(unsigned long long)got, (unsigned long long)least,
			(unsigned long long)most);
}

static void fetch_file(unsigned int i)
{
	uint64_t ticket = mdx_ticket(cache);
	struct mdx_attrs a = test_attrs(atomic_load(&file[i].begun));

	/* Every seventh file has values that need an aside. */
	if (i % 7 == 0)
		a.generation = a.size + 1;
	mdx_put(cache, ticket, test_key(i), &a, MDX_FOREVER);
}

static void get_file(unsigned int i)
{
	uint64_t least = atomic_load(&file[i].done), most;
	struct mdx_answer a;

	if (mdx_get(cache, test_key(i), MDX_NUMBERS, &a)) {
		fetch_file(i);
		return;
	}
	most = atomic_load(&file[i].begun);
	if (a.attrs.size < least || a.attrs.size > most)
		complain("file", a.attrs.size, least, most);
	if (a.attrs.fileid != a.attrs.size * 7 + 1 ||
	    (i % 7 == 0 && a.attrs.generation != a.attrs.size + 1))
		complain("torn", a.attrs.fileid, a.attrs.size, i);
}

static void change_file(unsigned int i, bool tell)
{
	struct mdx_change ch;
	struct mdx_attrs a;
	uint64_t v;

	mdx_change_init(&ch);
	mdx_change_entry(cache, &ch, test_key(i));
	pthread_mutex_lock(&file[i].lock);
	v = atomic_fetch_add(&file[i].begun, 1) + 1;
	pthread_mutex_unlock(&file[i].lock);
	a = test_attrs(v);
	if (i % 7 == 0)
		a.generation = a.size + 1;
	mdx_changed_entry(cache, &ch, test_key(i), tell ? &a : NULL,
			  MDX_FOREVER, 0);
	/* Acknowledged: at least this version from now on. */
	for (uint64_t d = atomic_load(&file[i].done); d < v;)
		if (atomic_compare_exchange_weak(&file[i].done, &d, v))
			break;
}

/* A name's version says what it is: absent if it is a multiple of 4, else the
 * file of that number. */
static bool target(uint64_t version, unsigned int n, unsigned int *i)
{
	*i = (unsigned int)((version * 31 + n) % FILES);
	return version % 4 != 0;
}

static size_t spell(unsigned int n, char *text)
{
	return (size_t)sprintf(
		text, "name-%u%.*s", n, (int)(n % 60),
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		"xxxxxxxxxxxx");
}

/* Is there a version between the two that says this? */
static bool possible(unsigned int n, uint64_t least, uint64_t most, bool exists,
		     unsigned int i)
{
	for (uint64_t v = least; v <= most; v++) {
		unsigned int t;

		if (target(v, n, &t) == exists && (!exists || t == i))
			return true;
	}
	return false;
}

static void look_up(unsigned int d, unsigned int n)
{
	uint64_t least = atomic_load(&name[d][n].done), most;
	struct mdx_answer child;
	char text[80];
	size_t len = spell(n, text);
	unsigned int i = 0;
	int rc = mdx_lookup(cache, DIR_KEY(d), text, len, &child);

	most = atomic_load(&name[d][n].begun);
	if (rc == 0 || rc == -ENOENT) {
		uint64_t number = 0;

		if (rc == 0)
			memcpy(&number, child.key + 8, sizeof(number));
		if (!possible(n, least, most, rc == 0, (unsigned int)number))
			complain(rc ? "absent name" : "name", number, least,
				 most);
		return;
	}
	/* Not known: fetch it. */
	uint64_t ticket = mdx_ticket(cache);
	uint64_t v = atomic_load(&name[d][n].begun);

	if (target(v, n, &i)) {
		struct mdx_key key;

		fetch_file(i);
		key = test_key(i);
		mdx_name_put(cache, ticket, DIR_KEY(d), text, len, &key,
			     MDX_FOREVER);
	} else {
		mdx_name_put(cache, ticket, DIR_KEY(d), text, len, NULL,
			     MDX_FOREVER);
	}
}

static void change_name(unsigned int d, unsigned int n, bool tell)
{
	struct mdx_change ch;
	struct mdx_key key;
	char text[80];
	size_t len = spell(n, text);
	unsigned int i;
	uint64_t v;
	bool exists;

	mdx_change_init(&ch);
	mdx_change_name(cache, &ch, DIR_KEY(d), text, len);
	v = atomic_fetch_add(&name[d][n].begun, 1) + 1;
	exists = target(v, n, &i);
	if (exists)
		fetch_file(i);
	key = test_key(i);
	mdx_changed_name(cache, &ch, DIR_KEY(d), text, len,
			 !tell	? MDX_NAME_UNKNOWN :
			 exists ? MDX_NAME_PRESENT :
				  MDX_NAME_ABSENT,
			 tell && exists ? &key : NULL, MDX_FOREVER);
	for (uint64_t done = atomic_load(&name[d][n].done); done < v;)
		if (atomic_compare_exchange_weak(&name[d][n].done, &done, v))
			break;
}

static void populate(unsigned int d)
{
	struct mdx_population p;

	if (mdx_populate_begin(cache, DIR_KEY(d), &p))
		return;
	for (unsigned int n = 0; n < NAMES; n++) {
		char text[80];
		size_t len = spell(n, text);
		unsigned int i;

		if (target(atomic_load(&name[d][n].begun), n, &i)) {
			struct mdx_key key = test_key(i);

			mdx_populate_add(cache, &p, text, len, &key);
		}
	}
	mdx_populate_end(cache, &p, true, MDX_FOREVER, MDX_FOREVER);
}

struct seen {
	unsigned int d;
	uint64_t last;
	uint64_t least[NAMES];
	bool present[NAMES];
};

static bool each(const struct mdx_dirent *e, void *arg)
{
	struct seen *s = arg;
	char text[MDX_NAME_MAX + 1];
	unsigned int n = 0;

	if (e->cookie <= s->last)
		complain("cookie order", e->cookie, s->last, 0);
	s->last = e->cookie;
	memcpy(text, e->name, e->len);
	text[e->len] = '\0';
	sscanf(text, "name-%u", &n);
	if (n < NAMES)
		s->present[n] = true;
	return true;
}

static void iterate(unsigned int d)
{
	struct seen s = { .d = d };

	for (unsigned int n = 0; n < NAMES; n++)
		s.least[n] = atomic_load(&name[d][n].done);
	if (mdx_readdir(cache, DIR_KEY(d), 0, each, &s) != 0)
		return;
	for (unsigned int n = 0; n < NAMES; n++) {
		uint64_t most = atomic_load(&name[d][n].begun);
		bool ok = false;

		for (uint64_t v = s.least[n]; v <= most; v++)
			ok |= (v % 4 != 0) == s.present[n];
		if (!ok)
			complain("iteration", n, s.least[n], most);
	}
}

static void *work(void *arg)
{
	uint64_t state = 0x9e3779b97f4a7c15u * ((uintptr_t)arg + 1);

	for (unsigned int op = 0; op < ops; op++) {
		unsigned int i = rnd(&state) % FILES;
		unsigned int d = rnd(&state) % DIRS;
		unsigned int n = rnd(&state) % NAMES;
		unsigned int what = rnd(&state) % 1000;
		char text[80];

		if (what < 350)
			get_file(i);
		else if (what < 400)
			change_file(i, what & 1);
		else if (what < 850)
			look_up(d, n);
		else if (what < 900)
			change_name(d, n, what % 8);
		else if (what < 920)
			mdx_invalidate(cache, test_key(i),
				       what & 1 ? MDX_ALL : MDX_MTIME);
		else if (what < 930)
			mdx_invalidate_name(cache, DIR_KEY(d), text,
					    spell(n, text));
		else if (what < 935)
			mdx_forget(cache, test_key(i));
		else if (what < 938)
			mdx_forget(cache, DIR_KEY(d));
		else if (what < 940)
			mdx_invalidate_names(cache, DIR_KEY(d));
		else if (what < 941)
			mdx_invalidate_all(cache);
		else if (what < 950)
			populate(d);
		else if (what < 970)
			iterate(d);
		else if (what < 985) {
			if (!mdx_pin(cache, test_key(i))) {
				get_file(i);
				mdx_unpin(cache, test_key(i));
			}
		} else if (what < 990) {
			mdx_trim(cache, 2);
		} else {
			mdx_promote(cache, test_key(i));
		}
	}
	return NULL;
}

static void run(uint64_t files, uint64_t stats, uint64_t bytes,
		unsigned int shards)
{
	pthread_t t[THREADS];
	struct mdx_usage u;

	cache = test_cache(files, stats, bytes, shards);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	mdx_usage(cache, &u);
	CU_ASSERT(u.bytes <= bytes);
	CU_ASSERT(u.files <= files);
	CU_ASSERT(u.stats <= stats);
	CU_ASSERT_EQUAL(atomic_load(&wrong), 0);
	/* It was a test: answers were given, and everything happened. */
	CU_ASSERT(test_counter(cache, MDX_C_HIT) > ops / 20);
	CU_ASSERT(test_counter(cache, MDX_C_NAME_HIT) > ops / 20);
	CU_ASSERT(test_counter(cache, MDX_C_NAME_NEGATIVE) > ops / 200);
	mdx_destroy(cache);
}

static void test_roomy(void)
{
	run(1000, 1000, 64 * MIB, 1);
}

static void test_tight_counts(void)
{
	run(40, 100, 64 * MIB, 2);
}

static void test_tight_memory(void)
{
	run(1000, 1000, MIB + MIB / 4, 4);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "with room for all", test_roomy },
		{ "with little room by count", test_tight_counts },
		{ "with little room by memory", test_tight_memory },
		CU_TEST_INFO_NULL
	};

	const char *factor = getenv("ENGINE_TEST_FACTOR");

	ops = OPS * (factor ? (unsigned int)atoi(factor) : 1);
#ifdef __SANITIZE_THREAD__
	ops /= 4; /* it takes its time */
#endif
	return cunit_main("threads", NULL, tests);
}
