// SPDX-License-Identifier: LGPL-3.0-or-later
#include "owners.h"

#include "protocol.h"

#include <stdlib.h>

struct owner *owners_take(struct owners *owners)
{
	struct owner *owner = owners->free;

	if (owner) {
		owners->free = owner->next;
		return owner;
	}
	owner = calloc(1, sizeof(*owner));
	if (!owner)
		return NULL;
	owner->id = ++owners->made;
	owner->all = owners->all;
	owners->all = owner;
	return owner;
}

void owners_give(struct owners *owners, struct owner *owner)
{
	owner->next = owners->free;
	owners->free = owner;
}

void owners_retire(struct owners *owners, struct owner *owner)
{
	owner->id = ++owners->made;
	owner->seqid = 0;
	owners_give(owners, owner);
}

void owners_free(struct owners *owners)
{
	struct owner *owner = owners->all;

	while (owner) {
		struct owner *next = owner->all;

		free(owner);
		owner = next;
	}
	owners->all = owners->free = NULL;
}

uint32_t owner_seqid(struct owner *owner, uint32_t client)
{
	if (owner->client != client) {
		owner->client = client;
		owner->seqid = 0;
	}
	return owner->seqid;
}

void owner_answered(struct owner *owner, uint32_t status, bool reached)
{
	if (!reached)
		return;
	switch (status) { /* RFC 7530, 9.1.7: these do not count */
	case NFS4ERR_STALE_CLIENTID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_BAD_SEQID:
	case NFS4ERR_BADXDR:
	case NFS4ERR_RESOURCE:
	case NFS4ERR_NOFILEHANDLE:
	case NFS4ERR_MOVED:
		return;
	default:
		owner->seqid++;
	}
}
