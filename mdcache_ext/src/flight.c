/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "flight.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>

#include "cache.h"
#include "mem.h"

void flight_init(struct flights *f)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	for (unsigned int i = 0; i < FLIGHT_STRIPES; i++) {
		pthread_mutex_init(&f->stripe[i].lock, NULL);
		pthread_cond_init(&f->stripe[i].landed, &attr);
		f->stripe[i].first = NULL;
	}
	pthread_condattr_destroy(&attr);
}

void flight_destroy(struct flights *f)
{
	for (unsigned int i = 0; i < FLIGHT_STRIPES; i++) {
		pthread_mutex_destroy(&f->stripe[i].lock);
		pthread_cond_destroy(&f->stripe[i].landed);
	}
}

static XXH128_hash_t identify(const struct mdx *c, struct mdx_key key,
			      const char *name, size_t len)
{
	uint8_t bytes[2 + MDX_KEY_MAX + 1 + MDX_NAME_MAX];
	size_t n = 0;

	bytes[n++] = key.backend;
	bytes[n++] = key.len;
	memcpy(bytes + n, key.bytes, key.len);
	n += key.len;
	bytes[n++] = name ? (len ? 1 : 2) : 0;
	if (name && len)
		memcpy(bytes + n, name, len);
	return XXH3_128bits_withSeed(bytes, n + (name ? len : 0), c->seed);
}

static void deadline(struct timespec *t, uint32_t ms)
{
	clock_gettime(CLOCK_MONOTONIC, t);
	t->tv_sec += ms / 1000;
	t->tv_nsec += (long)(ms % 1000) * 1000000;
	if (t->tv_nsec >= 1000000000) {
		t->tv_nsec -= 1000000000;
		t->tv_sec++;
	}
}

static struct flight_stripe *stripe_of(struct mdx *c, uint64_t what)
{
	return &c->flights.stripe[what % FLIGHT_STRIPES];
}

/* The last one who has to do with a flight that has landed frees it. */
static void leave(struct mdx_flight *f)
{
	if (--f->users == 0)
		mem_free(f);
}

static int wait_for(struct mdx *c, struct flight_stripe *s,
		    struct mdx_flight *f, uint32_t timeout_ms)
{
	struct timespec until;
	int rc = 0;

	count(&c->counters, MDX_C_FLIGHT_WAIT);
	deadline(&until, timeout_ms);
	f->users++;
	while (!f->landed && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&s->landed, &s->lock, &until);
	rc = f->landed ? f->result : -ETIMEDOUT;
	leave(f);
	if (rc == -ETIMEDOUT)
		count(&c->counters, MDX_C_FLIGHT_TIMEOUT);
	return rc;
}

int mdx_flight_join(struct mdx *c, struct mdx_key key, const char *name,
		    size_t len, uint32_t timeout_ms, struct mdx_flight **flight)
{
	struct flight_stripe *s;
	struct mdx_flight *f;
	XXH128_hash_t what;
	int rc;

	*flight = NULL;
	if (!key_sane(key) || (name && len > MDX_NAME_MAX))
		return -EINVAL;
	what = identify(c, key, name, len);
	s = stripe_of(c, what.low64);
	pthread_mutex_lock(&s->lock);
	for (f = s->first; f; f = f->next)
		if (f->what[0] == what.low64 && f->what[1] == what.high64)
			break;
	if (f) {
		rc = wait_for(c, s, f, timeout_ms);
	} else {
		f = mem_alloc(sizeof(*f));
		rc = f ? 1 : -ENOMEM;
	}
	if (rc == 1) {
		f->what[0] = what.low64;
		f->what[1] = what.high64;
		f->users = 1;
		f->next = s->first;
		s->first = f;
		*flight = f;
		count(&c->counters, MDX_C_FLIGHT_LEAD);
	}
	pthread_mutex_unlock(&s->lock);
	return rc;
}

void mdx_flight_done(struct mdx *c, struct mdx_flight *flight, int result)
{
	struct flight_stripe *s = stripe_of(c, flight->what[0]);
	struct mdx_flight **at = &s->first;

	pthread_mutex_lock(&s->lock);
	while (*at != flight)
		at = &(*at)->next;
	*at = flight->next;
	flight->landed = 1;
	flight->result = result < 0 ? result : 0;
	leave(flight);
	pthread_cond_broadcast(&s->landed);
	pthread_mutex_unlock(&s->lock);
}
