/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "ticket.h"

#include "cache.h"

uint64_t ticket_advance(struct mdx *c)
{
	return atomic_fetch_add(&c->clock, 1) + 1;
}

uint64_t mdx_ticket(struct mdx *c)
{
	return atomic_load(&c->clock);
}

bool ticket_good_for_backend(const struct mdx *c, uint8_t backend,
			     uint64_t ticket)
{
	return ticket && atomic_load(&c->backends[backend].stamp) <= ticket;
}

static void invalidate_backend(struct mdx *c, unsigned int backend)
{
	struct backend *b = &c->backends[backend];

	atomic_store(&b->stamp, ticket_advance(c));
	atomic_fetch_add(&b->epoch, 1);
}

void mdx_invalidate_backend(struct mdx *c, uint8_t backend)
{
	count(&c->counters, MDX_C_INVALIDATE_ALL);
	invalidate_backend(c, backend);
}

void mdx_invalidate_all(struct mdx *c)
{
	count(&c->counters, MDX_C_INVALIDATE_ALL);
	for (unsigned int b = 0; b < MDX_BACKENDS; b++)
		invalidate_backend(c, b);
}

void mdx_change_init(struct mdx_change *ch)
{
	ch->count = 0;
	for (unsigned int i = 0; i < 2 * MDX_CHANGE_MAX; i++)
		ch->stamps[i] = 0;
}

static bool own(const struct mdx_change *ch, uint64_t stamp)
{
	for (unsigned int i = 0; i < 2 * MDX_CHANGE_MAX; i++)
		if (ch->stamps[i] == stamp)
			return true;
	return false;
}

/* A change's stamps: begins at even places, finishes at odd ones. Two of its
 * targets may share a stamp. What somebody else has set there in between must
 * not be hidden from the one by the stamp of the other, so that is then not
 * remembered as the change's own. */
void change_begin(struct mdx *c, struct mdx_change *ch, uint64_t *stamp)
{
	bool met = ch->count && *stamp > ch->stamps[0] && !own(ch, *stamp);
	uint64_t now = ticket_void(c, stamp);

	ch->stamps[(size_t)2 * ch->count++] = met ? 0 : now;
}

bool change_finish(struct mdx *c, struct mdx_change *ch, uint64_t *stamp)
{
	bool alone = own(ch, *stamp);
	uint64_t now = ticket_void(c, stamp);

	for (unsigned int i = 1; alone && i < 2 * MDX_CHANGE_MAX; i += 2) {
		if (!ch->stamps[i]) {
			ch->stamps[i] = now;
			break;
		}
	}
	return alone;
}
