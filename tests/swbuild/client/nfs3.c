// SPDX-License-Identifier: LGPL-3.0-or-later
/* NFSv3's operations: arguments and results (RFC 1813). */
#include "impl.h"
#include "protocol.h"

#define WCC_SIZE (3 * 8) /* wcc_attr */

/* ---- parts ---- */

static void get_time(struct wire *w, struct timespec *time)
{
	time->tv_sec = get_u32(w);
	time->tv_nsec = get_u32(w);
}

static void get_fattr(struct wire *w, struct sw_attrs *attrs)
{
	attrs->type = get_u32(w);
	attrs->mode = get_u32(w);
	attrs->nlink = get_u32(w);
	get_bytes(w, 8); /* uid, gid */
	attrs->size = get_u64(w);
	attrs->used = get_u64(w);
	get_bytes(w, 16); /* rdev, fsid */
	attrs->fileid = get_u64(w);
	attrs->change = 0;
	get_time(w, &attrs->atime);
	get_time(w, &attrs->mtime);
	get_time(w, &attrs->ctime);
}

static void get_post_attrs(struct wire *w, struct reply *reply)
{
	if (!get_u32(w))
		return;
	get_fattr(w, &reply->attrs);
	reply->result.attrs = &reply->attrs;
}

static void skip_post_attrs(struct wire *w)
{
	struct sw_attrs attrs;

	if (get_u32(w))
		get_fattr(w, &attrs);
}

static void skip_pre_attrs(struct wire *w)
{
	if (get_u32(w))
		get_bytes(w, WCC_SIZE);
}

static void get_wcc(struct wire *w, struct reply *reply)
{
	skip_pre_attrs(w);
	get_post_attrs(w, reply);
}

static void put_dirop(struct op *op, struct wire *w)
{
	put_fh(w, &op->fh);
	put_string(w, op->name);
}

static void put_time(struct wire *w, uint32_t set, uint32_t given, uint32_t now,
		     const struct timespec *time)
{
	if (set & given) {
		put_u32(w, SET_TO_CLIENT_TIME);
		put_u32(w, (uint32_t)time->tv_sec);
		put_u32(w, (uint32_t)time->tv_nsec);
	} else {
		put_u32(w, set & now ? SET_TO_SERVER_TIME : DONT_CHANGE);
	}
}

static void put_sattr(struct wire *w, const struct sw_setattr *set)
{
	put_u32(w, !!(set->set & SW_SET_MODE));
	if (set->set & SW_SET_MODE)
		put_u32(w, set->mode);
	put_u32(w, 0); /* uid */
	put_u32(w, 0); /* gid */
	put_u32(w, !!(set->set & SW_SET_SIZE));
	if (set->set & SW_SET_SIZE)
		put_u64(w, set->size);
	put_time(w, set->set, SW_SET_ATIME, SW_SET_ATIME_NOW, &set->atime);
	put_time(w, set->set, SW_SET_MTIME, SW_SET_MTIME_NOW, &set->mtime);
}

static void put_new(struct op *op, struct wire *w)
{
	struct sw_setattr set = { .set = SW_SET_MODE, .mode = op->mode };

	if (op->flags & SW_TRUNCATE)
		set.set |= SW_SET_SIZE;
	put_sattr(w, &set);
}

/* ---- arguments ---- */

static void put_handle(struct op *op, struct wire *w)
{
	put_fh(w, &op->fh);
}

static void put_access(struct op *op, struct wire *w)
{
	put_fh(w, &op->fh);
	put_u32(w, op->flags);
}

static void put_setattr(struct op *op, struct wire *w)
{
	put_fh(w, &op->fh);
	put_sattr(w, &op->set);
	put_u32(w, 0); /* no guard */
}

static void put_mkdir(struct op *op, struct wire *w)
{
	put_dirop(op, w);
	put_new(op, w);
}

static void put_symlink(struct op *op, struct wire *w)
{
	put_dirop(op, w);
	put_new(op, w);
	put_string(w, op->text);
}

static void put_create(struct op *op, struct wire *w)
{
	put_dirop(op, w);
	put_u32(w, op->flags & SW_EXCL ? GUARDED : UNCHECKED);
	put_new(op, w);
}

static void put_rename(struct op *op, struct wire *w)
{
	put_dirop(op, w);
	put_fh(w, &op->fh2);
	put_string(w, op->text);
}

static void put_link(struct op *op, struct wire *w)
{
	put_fh(w, &op->fh2);
	put_dirop(op, w);
}

static void put_read(struct op *op, struct wire *w)
{
	put_fh(w, &op->fh);
	put_u64(w, op->offset);
	put_u32(w, op->count);
}

static void put_write(struct op *op, struct wire *w)
{
	put_fh(w, &op->fh);
	put_u64(w, op->offset);
	put_u32(w, op->count);
	put_u32(w, op->stable ? FILE_SYNC : UNSTABLE);
	put_u32(w, op->count);
	op->split = (uint32_t)(wire_at(w) - op->request);
}

static void put_commit(struct op *op, struct wire *w)
{
	put_fh(w, &op->fh);
	put_u64(w, 0);
	put_u32(w, 0);
}

static void put_readdir(struct op *op, struct wire *w)
{
	put_fh(w, &op->fh);
	put_u64(w, op->cursor->cookie);
	put_bytes(w, op->cursor->verifier, NFS3_COOKIEVERFSIZE);
	put_u32(w, op->count);
	if (op->flags) /* READDIRPLUS: names, and all */
		put_u32(w, op->count);
}

/* ---- results ---- */

static uint32_t get_getattr(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);

	(void)op;
	if (status)
		return status;
	get_fattr(w, &reply->attrs);
	reply->result.attrs = &reply->attrs;
	return 0;
}

static uint32_t get_lookup(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);

	(void)op;
	if (status)
		return status;
	get_fh(w, &reply->fh);
	reply->result.fh = &reply->fh;
	get_post_attrs(w, reply);
	return 0;
}

static uint32_t get_access(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);

	(void)op;
	get_post_attrs(w, reply);
	if (!status)
		reply->result.access = get_u32(w);
	return status;
}

/* A status, and wcc_data of the object. */
static uint32_t get_changed(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);

	(void)op;
	get_wcc(w, reply);
	return status;
}

/* A status, and wcc_data of a directory, which nobody asks for. */
static uint32_t get_status(struct op *op, struct wire *w, struct reply *reply)
{
	(void)op;
	(void)reply;
	return get_u32(w);
}

/* What was made: CREATE, MKDIR, SYMLINK. */
static uint32_t get_new(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);

	(void)op;
	if (status)
		return status;
	if (get_u32(w)) {
		get_fh(w, &reply->fh);
		reply->result.fh = &reply->fh;
	}
	get_post_attrs(w, reply);
	return 0;
}

static uint32_t get_link(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);

	(void)op;
	get_post_attrs(w, reply);
	return status;
}

static uint32_t get_readlink(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);
	uint32_t length;

	(void)op;
	get_post_attrs(w, reply);
	if (status)
		return status;
	reply->result.data = get_opaque(w, &length);
	reply->result.count = length;
	return 0;
}

static uint32_t get_read(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);
	uint32_t length;

	(void)op;
	get_post_attrs(w, reply);
	if (status)
		return status;
	get_u32(w);
	reply->result.eof = get_u32(w);
	reply->result.data = get_opaque(w, &length);
	reply->result.count = length;
	return 0;
}

static uint32_t get_write(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);

	(void)op;
	get_wcc(w, reply);
	if (status)
		return status;
	reply->result.count = get_u32(w);
	get_u32(w);
	reply->result.verifier = get_u64(w);
	return 0;
}

static uint32_t get_commit(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);

	(void)op;
	get_wcc(w, reply);
	if (!status)
		reply->result.verifier = get_u64(w);
	return status;
}

/* What READDIRPLUS has besides READDIR; the pointers are to these two. */
static void get_plus(struct wire *w, struct sw_entry *entry,
		     struct sw_attrs *attrs, struct sw_fh *fh)
{
	entry->attrs = NULL;
	entry->fh = NULL;
	if (get_u32(w)) {
		get_fattr(w, attrs);
		entry->attrs = attrs;
	}
	if (get_u32(w)) {
		get_fh(w, fh);
		entry->fh = fh;
	}
}

static bool is_dot(const struct sw_entry *entry)
{
	return (entry->length == 1 && entry->name[0] == '.') ||
	       (entry->length == 2 && !memcmp(entry->name, "..", 2));
}

static uint32_t get_readdir(struct op *op, struct wire *w, struct reply *reply)
{
	uint32_t status = get_u32(w);
	struct sw_attrs attrs;
	struct sw_fh fh;
	struct sw_entry entry = { 0 };
	const uint8_t *verifier;

	skip_post_attrs(w);
	if (status)
		return status;
	verifier = get_bytes(w, NFS3_COOKIEVERFSIZE);
	if (verifier)
		memcpy(op->cursor->verifier, verifier, NFS3_COOKIEVERFSIZE);
	while (get_u32(w)) {
		entry.fileid = get_u64(w);
		entry.name = (const char *)get_opaque(w, &entry.length);
		entry.cookie = get_u64(w);
		if (op->flags)
			get_plus(w, &entry, &attrs, &fh);
		if (w->bad)
			return SW_ERR_REPLY;
		op->cursor->cookie = entry.cookie;
		if (is_dot(&entry))
			continue;
		reply->result.count++;
		if (op->each)
			op->each(op->each_arg, &entry);
	}
	reply->result.eof = get_u32(w);
	return 0;
}

const struct coding nfs3_codings[OP_KINDS] = {
	[OP_LOOKUP] = { NFSPROC3_LOOKUP, .encode = put_dirop,
			.decode = get_lookup },
	[OP_GETATTR] = { NFSPROC3_GETATTR, .encode = put_handle,
			 .decode = get_getattr },
	[OP_ACCESS] = { NFSPROC3_ACCESS, .encode = put_access,
			.decode = get_access },
	[OP_SETATTR] = { NFSPROC3_SETATTR, .encode = put_setattr,
			 .decode = get_changed },
	[OP_MKDIR] = { NFSPROC3_MKDIR, .encode = put_mkdir, .decode = get_new },
	[OP_SYMLINK] = { NFSPROC3_SYMLINK, .encode = put_symlink,
			 .decode = get_new },
	[OP_READLINK] = { NFSPROC3_READLINK, .encode = put_handle,
			  .decode = get_readlink },
	[OP_REMOVE] = { NFSPROC3_REMOVE, .encode = put_dirop,
			.decode = get_status },
	[OP_RMDIR] = { NFSPROC3_RMDIR, .encode = put_dirop,
		       .decode = get_status },
	[OP_RENAME] = { NFSPROC3_RENAME, .encode = put_rename,
			.decode = get_status },
	[OP_LINK] = { NFSPROC3_LINK, .encode = put_link, .decode = get_link },
	[OP_READDIR] = { NFSPROC3_READDIR, .encode = put_readdir,
			 .decode = get_readdir },
	[OP_READDIRPLUS] = { NFSPROC3_READDIRPLUS, .encode = put_readdir,
			     .decode = get_readdir },
	[OP_OPEN] = { NFSPROC3_CREATE, .encode = put_create,
		      .decode = get_new },
	[OP_READ] = { NFSPROC3_READ, .encode = put_read, .decode = get_read },
	[OP_WRITE] = { NFSPROC3_WRITE, .encode = put_write,
		       .decode = get_write },
	[OP_COMMIT] = { NFSPROC3_COMMIT, .encode = put_commit,
			.decode = get_commit },
};
