// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Objects: making, naming and freeing them, and the operations on attributes
 * and names.
 */
#include "scale.h"

struct fsal_obj_handle *scale_wrap(struct fsal_obj_handle *sub)
{
	const struct scale_export *exp = scale_export(op_ctx->fsal_export);
	struct gsh_buffdesc sub_key = { .addr = NULL, .len = 0 };
	struct gsh_buffdesc key;
	struct scale_obj *self;

	/* The key of an object never changes, and is asked for often. */
	sub->obj_ops->handle_to_key(sub, &sub_key);
	assert(sub_key.len + SCALE_KEY_ID_BYTES <= SCALE_KEY_MAX);

	self = gsh_malloc(sizeof(*self) + sub_key.len + SCALE_KEY_ID_BYTES);
	memset(self, 0, sizeof(*self));
	self->sub = sub;
	memcpy(self->key, sub_key.addr, sub_key.len);
	key.addr = self->key;
	key.len = sub_key.len;
	scale_key_append(&key, exp->upcall.backend_id);
	self->key_len = key.len;

	compat_obj_init(&self->obj, &SCALE.module, &SCALE.obj_ops, sub->type);
	self->obj.fsid = sub->fsid;
	self->obj.fileid = sub->fileid;
	self->obj.state_hdl = sub->state_hdl;
	/* LINK compares file systems by pointer, so it is the backend's on
	 * every object.
	 */
	self->obj.fs = sub->fs;
	return &self->obj;
}

fsal_status_t scale_wrap_result(fsal_status_t status,
				struct fsal_obj_handle *sub,
				struct fsal_obj_handle **new_obj)
{
	*new_obj = NULL;
	if (FSAL_IS_ERROR(status))
		return status;
	if (sub == NULL) {
		LogCrit(COMPONENT_FSAL,
			"FSAL %s reported success and returned no object",
			op_ctx->fsal_export->sub_export->fsal->name);
		return fsalstat(ERR_FSAL_SERVERFAULT, 0);
	}
	*new_obj = scale_wrap(sub);
	return status;
}

/* MDCACHE counts references itself and never asks. */
static void scale_get_ref(struct fsal_obj_handle *obj_hdl)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();

	sub->obj_ops->get_ref(sub);
	scale_up(self);
}

static void scale_put_ref(struct fsal_obj_handle *obj_hdl)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();

	sub->obj_ops->put_ref(sub);
	scale_up(self);
}

static void scale_release(struct fsal_obj_handle *obj_hdl)
{
	struct scale_obj *obj = container_of(obj_hdl, struct scale_obj, obj);
	struct fsal_export *self = scale_down();

	obj->sub->obj_ops->release(obj->sub);
	scale_up(self);

	compat_obj_fini(&obj->obj);
	gsh_free(obj);
}

static fsal_status_t scale_merge(struct fsal_obj_handle *orig_hdl,
				 struct fsal_obj_handle *dupe_hdl)
{
	struct fsal_obj_handle *sub = scale_sub(orig_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->merge(sub, scale_sub(dupe_hdl));
	scale_up(self);
	return status;
}

static fsal_status_t scale_lookup(struct fsal_obj_handle *dir_hdl,
				  const char *name,
				  struct fsal_obj_handle **handle,
				  struct fsal_attrlist *attrs_out)
{
	struct fsal_obj_handle *dir = scale_sub(dir_hdl);
	struct fsal_obj_handle *sub = NULL;
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = dir->obj_ops->lookup(dir, name, &sub, attrs_out);
	scale_up(self);
	return scale_wrap_result(status, sub, handle);
}

static fsal_status_t scale_mkdir(struct fsal_obj_handle *dir_hdl,
				 const char *name,
				 struct fsal_attrlist *attrs_in,
				 struct fsal_obj_handle **new_obj,
				 struct fsal_attrlist *attrs_out)
{
	struct fsal_obj_handle *dir = scale_sub(dir_hdl);
	struct fsal_obj_handle *sub = NULL;
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = dir->obj_ops->mkdir(dir, name, attrs_in, &sub, attrs_out);
	scale_up(self);
	return scale_wrap_result(status, sub, new_obj);
}

static fsal_status_t scale_mknode(struct fsal_obj_handle *dir_hdl,
				  const char *name, object_file_type_t nodetype,
				  struct fsal_attrlist *attrs_in,
				  struct fsal_obj_handle **new_obj,
				  struct fsal_attrlist *attrs_out)
{
	struct fsal_obj_handle *dir = scale_sub(dir_hdl);
	struct fsal_obj_handle *sub = NULL;
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = dir->obj_ops->mknode(dir, name, nodetype, attrs_in, &sub,
				      attrs_out);
	scale_up(self);
	return scale_wrap_result(status, sub, new_obj);
}

static fsal_status_t scale_symlink(struct fsal_obj_handle *dir_hdl,
				   const char *name, const char *link_path,
				   struct fsal_attrlist *attrs_in,
				   struct fsal_obj_handle **new_obj,
				   struct fsal_attrlist *attrs_out)
{
	struct fsal_obj_handle *dir = scale_sub(dir_hdl);
	struct fsal_obj_handle *sub = NULL;
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = dir->obj_ops->symlink(dir, name, link_path, attrs_in, &sub,
				       attrs_out);
	scale_up(self);
	return scale_wrap_result(status, sub, new_obj);
}

static fsal_status_t scale_readlink(struct fsal_obj_handle *obj_hdl,
				    struct gsh_buffdesc *link_content,
				    bool refresh)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->readlink(sub, link_content, refresh);
	scale_up(self);
	return status;
}

static fsal_status_t scale_test_access(struct fsal_obj_handle *obj_hdl,
				       fsal_accessflags_t access_type,
				       fsal_accessflags_t *allowed,
				       fsal_accessflags_t *denied,
				       bool owner_skip)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->test_access(sub, access_type, allowed, denied,
					   owner_skip);
	scale_up(self);
	return status;
}

static fsal_status_t scale_getattrs(struct fsal_obj_handle *obj_hdl,
				    struct fsal_attrlist *attrs_out)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->getattrs(sub, attrs_out);
	scale_up(self);
	return status;
}

static fsal_status_t scale_setattr2(struct fsal_obj_handle *obj_hdl,
				    bool bypass, struct state_t *state,
				    struct fsal_attrlist *attrib_set)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->setattr2(sub, bypass, state, attrib_set);
	scale_up(self);
	return status;
}

static fsal_status_t scale_link(struct fsal_obj_handle *obj_hdl,
				struct fsal_obj_handle *destdir_hdl,
				const char *name)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->link(sub, scale_sub(destdir_hdl), name);
	scale_up(self);
	return status;
}

static fsal_status_t scale_rename(struct fsal_obj_handle *obj_hdl,
				  struct fsal_obj_handle *olddir_hdl,
				  const char *old_name,
				  struct fsal_obj_handle *newdir_hdl,
				  const char *new_name)
{
	struct fsal_obj_handle *olddir = scale_sub(olddir_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = olddir->obj_ops->rename(scale_sub(obj_hdl), olddir, old_name,
					 scale_sub(newdir_hdl), new_name);
	scale_up(self);
	return status;
}

static fsal_status_t scale_unlink(struct fsal_obj_handle *dir_hdl,
				  struct fsal_obj_handle *obj_hdl,
				  const char *name)
{
	struct fsal_obj_handle *dir = scale_sub(dir_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = dir->obj_ops->unlink(dir, scale_sub(obj_hdl), name);
	scale_up(self);
	return status;
}

/* A wire handle is the backend's own, byte for byte: NFSv3 leaves no room to
 * add to it, and a client's handle stays good when SCALE is put above a
 * backend or taken away.
 */
static fsal_status_t scale_handle_to_wire(const struct fsal_obj_handle *obj_hdl,
					  fsal_digesttype_t output_type,
					  struct gsh_buffdesc *fh_desc)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	fsal_status_t status;

	status = sub->obj_ops->handle_to_wire(sub, output_type, fh_desc);
	scale_up(self);
	return status;
}

static void scale_handle_to_key(struct fsal_obj_handle *obj_hdl,
				struct gsh_buffdesc *fh_desc)
{
	struct scale_obj *obj = container_of(obj_hdl, struct scale_obj, obj);

	fh_desc->addr = obj->key;
	fh_desc->len = obj->key_len;
}

static bool scale_is_referral(struct fsal_obj_handle *obj_hdl,
			      struct fsal_attrlist *attrs, bool cache_attrs)
{
	struct fsal_obj_handle *sub = scale_sub(obj_hdl);
	struct fsal_export *self = scale_down();
	bool result;

	result = sub->obj_ops->is_referral(sub, attrs, cache_attrs);
	scale_up(self);
	return result;
}

void scale_handle_ops_init(struct fsal_obj_ops *ops)
{
	ops->get_ref = scale_get_ref;
	ops->put_ref = scale_put_ref;
	ops->release = scale_release;
	ops->merge = scale_merge;
	ops->lookup = scale_lookup;
	ops->mkdir = scale_mkdir;
	ops->mknode = scale_mknode;
	ops->symlink = scale_symlink;
	ops->readlink = scale_readlink;
	ops->test_access = scale_test_access;
	ops->getattrs = scale_getattrs;
	ops->setattr2 = scale_setattr2;
	ops->link = scale_link;
	ops->rename = scale_rename;
	ops->unlink = scale_unlink;
	ops->handle_to_wire = scale_handle_to_wire;
	ops->handle_to_key = scale_handle_to_key;
	ops->is_referral = scale_is_referral;
	/* handle_cmp stays Ganesha's: it compares what handle_to_key says. */
}

static fsal_status_t scale_lookup_path(struct fsal_export *exp_hdl,
				       const char *path,
				       struct fsal_obj_handle **handle,
				       struct fsal_attrlist *attrs_out)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_obj_handle *sub = NULL;
	struct fsal_export *self = scale_enter(sub_exp);
	fsal_status_t status;

	status = sub_exp->exp_ops.lookup_path(sub_exp, path, &sub, attrs_out);
	scale_up(self);
	return scale_wrap_result(status, sub, handle);
}

/* Never called in 4.3; a backend that had junctions of its own would return
 * an object, the default returns none.
 */
static fsal_status_t scale_lookup_junction(struct fsal_export *exp_hdl,
					   struct fsal_obj_handle *junction,
					   struct fsal_obj_handle **handle)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_obj_handle *sub = NULL;
	struct fsal_export *self = scale_enter(sub_exp);
	fsal_status_t status;

	status = sub_exp->exp_ops.lookup_junction(sub_exp, scale_sub(junction),
						  &sub);
	scale_up(self);
	*handle = NULL;
	return sub == NULL ? status : scale_wrap_result(status, sub, handle);
}

static fsal_status_t scale_create_handle(struct fsal_export *exp_hdl,
					 struct gsh_buffdesc *fh_desc,
					 struct fsal_obj_handle **handle,
					 struct fsal_attrlist *attrs_out)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_obj_handle *sub = NULL;
	struct fsal_export *self = scale_enter(sub_exp);
	fsal_status_t status;

	status = sub_exp->exp_ops.create_handle(sub_exp, fh_desc, &sub,
						attrs_out);
	scale_up(self);
	return scale_wrap_result(status, sub, handle);
}

static fsal_status_t scale_wire_to_host(struct fsal_export *exp_hdl,
					fsal_digesttype_t in_type,
					struct gsh_buffdesc *fh_desc, int flags)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	fsal_status_t status;

	status =
		sub_exp->exp_ops.wire_to_host(sub_exp, in_type, fh_desc, flags);
	scale_up(self);
	return status;
}

static fsal_status_t scale_host_to_key(struct fsal_export *exp_hdl,
				       struct gsh_buffdesc *fh_desc)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self = scale_enter(sub_exp);
	size_t room = fh_desc->len + FSAL_KEY_EXTRA_BYTES;
	fsal_status_t status;

	status = sub_exp->exp_ops.host_to_key(sub_exp, fh_desc);
	scale_up(self);
	if (FSAL_IS_ERROR(status))
		return status;
	/* The handle is a client's, and GPFS takes the key's length from it
	 * unseen: a forged one could name any place for our id.
	 */
	if (fh_desc->len + SCALE_KEY_ID_BYTES > room)
		return fsalstat(ERR_FSAL_BADHANDLE, 0);
	scale_key_append(fh_desc, scale_export(exp_hdl)->upcall.backend_id);
	return status;
}

void scale_handle_export_ops_init(struct export_ops *ops)
{
	ops->lookup_path = scale_lookup_path;
	ops->lookup_junction = scale_lookup_junction;
	ops->create_handle = scale_create_handle;
	ops->wire_to_host = scale_wire_to_host;
	ops->host_to_key = scale_host_to_key;
}
