// SPDX-License-Identifier: LGPL-3.0-or-later
#include "measure.h"

#include "simulate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const unsigned percents[] = { 1, 5, 10, 20, 40 };

#define NPERCENTS (sizeof(percents) / sizeof(percents[0]))

static int measure_tiers(struct cell *c, unsigned policy)
{
	uint32_t files = c->capacity / 4;
	struct tier_result r;
	int rc;

	/* The optimum knows the future of one tier only. */
	if (policy == POLICY_OPTIMUM)
		return 0;
	rc = simulate_tiers(policies[policy], c->stream, files,
			    c->capacity - files, &r);
	c->tier_misses[policy] = r.misses;
	c->tier_data_misses[policy] = r.data_misses;
	return rc;
}

static int measure_cell(struct cell *c, bool tiers)
{
	int rc = 0;

	for (unsigned i = 0; policies[i] != NULL && rc == 0; i++) {
		c->misses[i] = simulate(policies[i], c->stream, c->capacity);
		if (c->misses[i] < 0)
			rc = (int)c->misses[i];
		c->tier_misses[i] = -1;
		c->tier_data_misses[i] = -1;
		if (rc == 0 && tiers && c->stream->ndata > 0)
			rc = measure_tiers(c, i);
	}
	return rc;
}

int measure(struct measurement *m, const struct stream_list *streams,
	    uint32_t least, bool tiers)
{
	int rc = 0;

	m->count = 0;
	m->cells = calloc(streams->count * NPERCENTS + 1, sizeof(*m->cells));
	if (m->cells == NULL)
		return -ENOMEM;
	for (size_t i = 0; i < streams->count; i++) {
		const struct stream *s = &streams->streams[i];

		for (size_t k = 0; k < NPERCENTS && rc == 0; k++) {
			struct cell *c = &m->cells[m->count];

			c->stream = s;
			c->percent = percents[k];
			c->capacity = (uint32_t)((uint64_t)s->nkeys *
						 percents[k] / 100);
			if (c->capacity < least)
				continue;
			m->count++;
			rc = measure_cell(c, tiers);
		}
	}
	return rc;
}

static int64_t misses_of(const struct cell *c, unsigned policy,
			 enum question question)
{
	switch (question) {
	case TIER_MISSES:
		return c->tier_misses[policy];
	case TIER_DATA_MISSES:
		return c->tier_data_misses[policy];
	default:
		return c->misses[policy];
	}
}

bool answered(const struct cell *c, enum question question)
{
	return misses_of(c, POLICY_LRU, question) >= 0;
}

double miss_percent(const struct cell *c, unsigned policy,
		    enum question question)
{
	size_t uses = question == TIER_DATA_MISSES ? c->stream->ndata :
						     c->stream->nuses;

	return 100.0 * (double)misses_of(c, policy, question) / (double)uses;
}

double points_over_lru(const struct cell *c, unsigned policy,
		       enum question question)
{
	return miss_percent(c, policy, question) -
	       miss_percent(c, POLICY_LRU, question);
}

struct summary summarize(const struct measurement *m, unsigned policy,
			 enum question question)
{
	struct summary s = { .worst = -INFINITY };
	size_t cells = 0;

	for (size_t i = 0; i < m->count; i++) {
		const struct cell *c = &m->cells[i];
		double points;

		if (!answered(c, question))
			continue;
		points = points_over_lru(c, policy, question);
		cells++;
		s.mean += points;
		s.over += points > TARGET_POINTS;
		s.below += points < -SAME_POINTS;
		s.gainable += points_over_lru(c, POLICY_OPTIMUM, ONE_TIER) <
			      -SAME_POINTS;
		if (points > s.worst) {
			s.worst = points;
			s.worst_cell = c;
		}
	}
	if (cells > 0)
		s.mean /= (double)cells;
	if (s.gainable > 0)
		s.below_percent = 100.0 * (double)s.below / (double)s.gainable;
	return s;
}

bool meets_targets(const struct summary *s)
{
	return s->worst <= TARGET_POINTS &&
	       s->below_percent > TARGET_BELOW_PERCENT;
}
