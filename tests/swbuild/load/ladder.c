// SPDX-License-Identifier: LGPL-3.0-or-later
#include "ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BUILDS 10000.0

/* Two loads that are the same, up to rounding. */
#define SAME 1e-6

/* Reads a number and moves *text behind it; false if there is none. */
static bool read_number(const char **text, double *number)
{
	char *end;

	if (!strchr(".0123456789", **text) || **text == '\0')
		return false;
	*number = strtod(*text, &end);
	*text = end;
	return true;
}

const char *ladder_parse(struct ladder *ladder, const char *text)
{
	const char *at = text;
	bool open = false;

	ladder->step = 1;
	ladder->factor = false;
	if (!read_number(&at, &ladder->from))
		return "it begins with a number of BUILDs";
	ladder->to = ladder->from;
	if (*at == '-') {
		at++;
		open = !read_number(&at, &ladder->to);
	}
	if (*at == ':') {
		at++;
		if (*at == 'x') {
			ladder->factor = true;
			at++;
		}
		if (!read_number(&at, &ladder->step))
			return "behind the colon is a step: 1 or x2";
	}
	if (*at)
		return "it is FROM, FROM-TO or FROM-, with :STEP or :xFACTOR";
	if (!(ladder->from >= LEAST_BUILDS && ladder->from <= MOST_BUILDS))
		return "the number of BUILDs is from 0.01 to 10000";
	if (open)
		ladder->to = HUGE_VAL;
	else if (!(ladder->to >= ladder->from && ladder->to <= MOST_BUILDS))
		return "the last number of BUILDs is from the first to 10000";
	if (!(ladder->step >= LEAST_BUILDS && ladder->step <= MOST_BUILDS))
		return "the step is from 0.01 to 10000";
	if (ladder->factor && ladder->step < 1.05)
		return "the factor is from 1.05 on";
	return NULL;
}

/* Step number `n` of the climb; computed, so that errors do not add up. */
static double rung(const struct ladder *ladder, size_t n)
{
	if (ladder->factor)
		return ladder->from * pow(ladder->step, (double)n);
	return ladder->from + ladder->step * (double)n;
}

/* Is the climb at its end? */
static bool at_top(const struct ladder *ladder)
{
	return (ladder->past && ladder->invalid >= ladder->past) ||
	       rung(ladder, ladder->climbed) > ladder->to + SAME ||
	       rung(ladder, ladder->climbed) > MOST_BUILDS;
}

/* The lowest invalid load above `low`; false if there is none. */
static bool lowest_invalid(const struct ladder *ladder, double low,
			   double *high)
{
	bool found = false;

	for (size_t i = 0; i < ladder->count; i++) {
		if (ladder->valid[i] || ladder->builds[i] <= low ||
		    (found && ladder->builds[i] >= *high))
			continue;
		*high = ladder->builds[i];
		found = true;
	}
	return found;
}

bool ladder_next(const struct ladder *ladder, double *builds)
{
	int last = ladder_last_valid(ladder);
	double low = last < 0 ? 0 : ladder->builds[last];
	double high = low;

	if (ladder->count == LADDER_POINTS)
		return false;
	if (ladder->climbed == ladder->count && !at_top(ladder)) {
		*builds = rung(ladder, ladder->climbed);
		return true;
	}
	if (ladder->count - ladder->climbed >= ladder->bisect ||
	    !lowest_invalid(ladder, low, &high))
		return false;
	*builds = (low + high) / 2;
	return *builds >= LEAST_BUILDS;
}

void ladder_note(struct ladder *ladder, double builds, bool valid)
{
	bool climbing = ladder->climbed == ladder->count && !at_top(ladder);

	ladder->builds[ladder->count] = builds;
	ladder->valid[ladder->count] = valid;
	ladder->count++;
	if (climbing) {
		ladder->climbed++;
		ladder->invalid = valid ? 0 : ladder->invalid + 1;
	}
}

int ladder_last_valid(const struct ladder *ladder)
{
	int last = -1;

	for (size_t i = 0; i < ladder->count; i++)
		if (ladder->valid[i] &&
		    (last < 0 || ladder->builds[i] > ladder->builds[last]))
			last = (int)i;
	return last;
}
