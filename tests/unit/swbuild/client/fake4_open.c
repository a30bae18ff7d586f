// SPDX-License-Identifier: LGPL-3.0-or-later
/* The fake server's owners and stateids: OPEN, OPEN_CONFIRM, CLOSE. */
#include "fake4.h"

#include <stdlib.h>

static struct fake_owner *owner_of(struct fake *fake, const open_owner4 *name)
{
	uint64_t id;

	memcpy(&id, name->owner.owner_val, sizeof(id));
	for (uint32_t i = 0; i < fake->owners; i++)
		if (fake->owner[i].id == id)
			return &fake->owner[i];
	if (fake->owners == FAKE_OWNERS)
		abort();
	fake->owner[fake->owners].id = id;
	return &fake->owner[fake->owners++];
}

/* seqid: of NFSv4.0. */
static nfsstat4 count_seqid(struct fake *fake, struct fake_owner *owner,
			    uint32_t seqid)
{
	if (fake->minor)
		return NFS4_OK;
	if (owner->confirmed && seqid != owner->seqid)
		return NFS4ERR_BAD_SEQID;
	owner->seqid = seqid + 1;
	return NFS4_OK;
}

/* An owner's stateid: boot, and which owner. */
static void make_stateid(struct fake *fake, struct fake_owner *owner,
			 stateid4 *stateid)
{
	uint32_t index = (uint32_t)(owner - fake->owner);

	memset(stateid, 0, sizeof(*stateid));
	stateid->seqid = ++owner->state;
	memcpy(stateid->other, &fake->boot, sizeof(fake->boot));
	memcpy(stateid->other + 4, &index, sizeof(index));
}

nfsstat4 fake4_find_stateid(struct fake *fake, const stateid4 *stateid,
			    struct fake_owner **owner)
{
	uint32_t boot;
	uint32_t index;

	memcpy(&boot, stateid->other, sizeof(boot));
	memcpy(&index, stateid->other + 4, sizeof(index));
	*owner = NULL;
	if (!boot && !stateid->seqid)
		return NFS4_OK; /* anonymous */
	if (boot != fake->boot)
		return fake->minor ? NFS4ERR_BAD_STATEID :
				     NFS4ERR_STALE_STATEID;
	if (index >= fake->owners || !fake->owner[index].open)
		return fake->minor ? NFS4ERR_BAD_STATEID : NFS4ERR_EXPIRED;
	*owner = &fake->owner[index];
	return stateid->seqid == (*owner)->state ? NFS4_OK :
						   NFS4ERR_OLD_STATEID;
}

static nfsstat4 may_open(struct fake *fake, OPEN4args *a)
{
	bool previous = a->claim.claim == CLAIM_PREVIOUS;

	if (!fake->minor && a->owner.clientid != fake->clientid)
		return NFS4ERR_STALE_CLIENTID;
	if (previous)
		return fake->grace ? NFS4_OK : NFS4ERR_NO_GRACE;
	if ((fake->grace && !fake->minor) || (fake->minor && !fake->complete))
		return NFS4ERR_GRACE;
	if (a->claim.claim == CLAIM_FH && !fake->minor)
		return NFS4ERR_INVAL;
	return fake->exists || a->openhow.opentype == OPEN4_CREATE ?
		       NFS4_OK :
		       NFS4ERR_NOENT;
}

void fake4_open_file(struct fake *fake, OPEN4args *a, OPEN4res *r)
{
	struct fake_owner *owner = owner_of(fake, &a->owner);
	OPEN4resok *ok = &r->OPEN4res_u.resok4;

	r->status = may_open(fake, a);
	if (r->status != NFS4ERR_STALE_CLIENTID) {
		nfsstat4 counted = count_seqid(fake, owner, a->seqid);

		r->status = counted ? counted : r->status;
	}
	if (r->status)
		return;
	fake->reclaims += a->claim.claim == CLAIM_PREVIOUS;
	if (a->openhow.opentype == OPEN4_CREATE && !fake->exists) {
		fake->exists = true;
		fake->size = 0;
	}
	owner->open = true;
	make_stateid(fake, owner, &ok->stateid);
	/* A reclaim needs no confirmation: RFC 7530, 16.18.5. */
	if (!fake->minor && !owner->confirmed) {
		if (a->claim.claim == CLAIM_PREVIOUS)
			owner->confirmed = true;
		else
			ok->rflags = OPEN4_RESULT_CONFIRM;
	}
}

void fake4_confirm_open(struct fake *fake, OPEN_CONFIRM4args *a,
			OPEN_CONFIRM4res *r)
{
	struct fake_owner *owner;

	r->status = fake4_find_stateid(fake, &a->open_stateid, &owner);
	if (r->status || !owner)
		return;
	if (a->seqid != owner->seqid) {
		r->status = NFS4ERR_BAD_SEQID;
		return;
	}
	owner->seqid++;
	owner->confirmed = true;
	make_stateid(fake, owner, &r->OPEN_CONFIRM4res_u.resok4.open_stateid);
}

void fake4_close_file(struct fake *fake, CLOSE4args *a, CLOSE4res *r)
{
	struct fake_owner *owner;

	r->status = fake4_find_stateid(fake, &a->open_stateid, &owner);
	if (r->status || !owner)
		return;
	r->status = count_seqid(fake, owner, a->seqid);
	if (r->status)
		return;
	owner->open = false;
}
