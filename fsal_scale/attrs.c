// SPDX-License-Identifier: LGPL-3.0-or-later
#include "attrs.h"

#include "names_above.h"
#include "scale.h"

#include "nfs4_acls.h"

/** Attributes that a backend looks up apart from the others. */
#define ATTRS_APART (ATTR_ACL | ATTR4_FS_LOCATIONS | ATTR4_SEC_LABEL)

static const struct {
	attrmask_t ganesha;
	uint32_t engine;
} masks[] = {
	{ ATTR_TYPE, MDX_TYPE },       { ATTR_SIZE, MDX_SIZE },
	{ ATTR_FSID, MDX_FSID },       { ATTR_ACL, MDX_ACL },
	{ ATTR_FILEID, MDX_FILEID },   { ATTR_MODE, MDX_MODE },
	{ ATTR_NUMLINKS, MDX_NLINK },  { ATTR_OWNER, MDX_OWNER },
	{ ATTR_GROUP, MDX_GROUP },     { ATTR_RAWDEV, MDX_RDEV },
	{ ATTR_ATIME, MDX_ATIME },     { ATTR_CREATION, MDX_BTIME },
	{ ATTR_CTIME, MDX_CTIME },     { ATTR_MTIME, MDX_MTIME },
	{ ATTR_SPACEUSED, MDX_SPACE }, { ATTR_GENERATION, MDX_GENERATION },
	{ ATTR_CHANGE, MDX_CHANGE },
};

#define NUM_MASKS (sizeof(masks) / sizeof(masks[0]))

static uint32_t to_engine(attrmask_t mask)
{
	uint32_t result = 0;

	for (unsigned int i = 0; i < NUM_MASKS; i++) {
		if (mask & masks[i].ganesha)
			result |= masks[i].engine;
	}
	return result;
}

static attrmask_t to_ganesha(uint32_t mask)
{
	attrmask_t result = 0;

	for (unsigned int i = 0; i < NUM_MASKS; i++) {
		if (mask & masks[i].engine)
			result |= masks[i].ganesha;
	}
	return result;
}

attrmask_t scale_attrs_to_fetch(const struct scale_export *exp,
				attrmask_t requested)
{
	if (!exp->cached)
		return requested;
	return requested | (exp->supported & ~ATTRS_APART);
}

void scale_attrs_prepare(const struct scale_export *exp,
			 const struct fsal_attrlist *attrs_out,
			 struct fsal_attrlist *attrs)
{
	attrmask_t requested = attrs_out != NULL ? attrs_out->request_mask : 0;

	fsal_prepare_attrs(attrs, scale_attrs_to_fetch(exp, requested));
}

uint32_t scale_attrs_want(const struct scale_export *exp, attrmask_t requested)
{
	attrmask_t given =
		atomic_load_explicit(&exp->provided, memory_order_relaxed);

	/* An ACL may be known to be none, and is then never given. */
	return to_engine(requested & exp->supported & (given | ATTR_ACL));
}

void scale_attrs_to_cache(const struct fsal_attrlist *from,
			  const struct fsal_obj_handle *obj,
			  struct mdx_attrs *to)
{
	memset(to, 0, sizeof(*to));
	to->valid = to_engine(from->valid_mask & ~ATTR_ACL);
	to->valid |= MDX_TYPE | MDX_FSID | MDX_FILEID;
	to->type = obj->type;
	to->fsid_major = obj->fsid.major;
	to->fsid_minor = obj->fsid.minor;
	to->fileid = obj->fileid;

	to->mode = from->mode;
	to->nlink = from->numlinks;
	to->owner = from->owner;
	to->group = from->group;
	to->size = from->filesize;
	to->space = from->spaceused;
	to->rdev = (uint64_t)from->rawdev.major << 32 |
		   (from->rawdev.minor & UINT32_MAX);
	to->change = from->change;
	to->generation = from->generation;
	to->atime = from->atime;
	to->btime = from->creation;
	to->ctime = from->ctime;
	to->mtime = from->mtime;

	if ((from->request_mask & ATTR_ACL) == 0 ||
	    from->valid_mask == ATTR_RDATTR_ERR)
		return;
	if (from->acl != NULL) {
		nfs4_acl_entry_inc_ref(from->acl);
		to->acl = mdx_attach(SCALE.cache, from->acl,
				     sizeof(*from->acl) +
					     from->acl->naces *
						     sizeof(*from->acl->aces));
		if (to->acl == NULL) {
			nfs4_acl_release_entry(from->acl);
			return;
		}
	}
	to->valid |= MDX_ACL;
}

void scale_attrs_drop(struct mdx_attrs *attrs)
{
	mdx_detach(SCALE.cache, attrs->acl);
	attrs->acl = NULL;
}

void scale_attrs_from_cache(const struct scale_export *exp,
			    const struct scale_obj *obj,
			    struct mdx_answer *answer, struct fsal_attrlist *to)
{
	struct mdx_attrs *from = &answer->attrs;
	bool acl = (to->request_mask & ATTR_ACL) != 0 &&
		   (from->valid & MDX_ACL) != 0;

	to->supported = exp->supported;
	to->valid_mask |= to_ganesha(from->valid & ~MDX_ACL);
	to->type = from->type;
	to->fsid.major = from->fsid_major;
	to->fsid.minor = from->fsid_minor;
	to->fileid = from->fileid;
	to->mode = from->mode;
	to->numlinks = from->nlink;
	to->owner = from->owner;
	to->group = from->group;
	to->filesize = from->size;
	to->spaceused = from->space;
	to->rawdev.major = from->rdev >> 32;
	to->rawdev.minor = from->rdev & UINT32_MAX;
	to->change = from->change;
	to->generation = from->generation;
	to->atime = from->atime;
	to->creation = from->btime;
	to->ctime = from->ctime;
	to->mtime = from->mtime;
	to->expire_time_attr = scale_attrs_expiry(exp, obj, answer->left_ms);

	if (acl) {
		to->valid_mask |= ATTR_ACL;
		if (from->acl != NULL) {
			to->acl = mdx_attachment_object(from->acl);
			nfs4_acl_entry_inc_ref(to->acl);
		}
	}
	scale_attrs_drop(from);
}

int32_t scale_attrs_expiry(const struct scale_export *exp,
			   const struct scale_obj *obj, uint32_t left_ms)
{
	int32_t own = op_ctx->export_perms.expire_time_attr;
	int32_t left;

	/* MDCACHE can lose an invalidation that meets a fetch of the same
	 * object; a short life repairs it, and what it asks then is answered
	 * from memory.
	 */
	if (exp->fresh.mode == SCALE_UPCALL || exp->fresh.mode == SCALE_NOTIFY)
		return own == 0 ? 0 : 1;
	left = left_ms == MDX_FOREVER ? own : MAX((int32_t)(left_ms / 1000), 1);
	if (own >= 0 && own < left)
		left = own;
	return scale_names_above_life(obj, left);
}
