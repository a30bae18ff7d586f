// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Objects: making and freeing them, and the methods on names and attributes.
 */
#include "pass.h"

struct fsal_obj_handle *fault_wrap(struct fsal_obj_handle *sub)
{
	struct fault_obj *self = gsh_calloc(1, sizeof(*self));

	self->sub = sub;
	compat_obj_init(&self->obj, &FAULT.module, &FAULT.obj_ops, sub->type);
	self->obj.fsid = sub->fsid;
	self->obj.fileid = sub->fileid;
	self->obj.state_hdl = sub->state_hdl;
	self->obj.fs = sub->fs;
	return &self->obj;
}

fsal_status_t fault_end_new(struct fault_call *call, fsal_status_t status,
			    struct fsal_obj_handle *sub,
			    struct fsal_obj_handle **new_obj,
			    struct fsal_attrlist *attrs)
{
	*new_obj = NULL;
	status = fault_answer(call, status);
	if (FSAL_IS_ERROR(status)) {
		/* The backend made it, and nobody will hear of it. */
		if (sub != NULL)
			sub->obj_ops->release(sub);
		if (attrs != NULL)
			fsal_release_attrs(attrs);
	} else if (sub != NULL) {
		*new_obj = fault_wrap(sub);
	}
	fault_up(call);
	return status;
}

PASS_VOID(get_ref, (SELF), (sub))
PASS_VOID(put_ref, (SELF), (sub))

static void fault_release(struct fsal_obj_handle *self)
{
	struct fault_obj *obj = container_of(self, struct fault_obj, obj);
	struct fault_call call;

	fault_begin_sure(&call, FAULT_OP_release, NULL);
	obj->sub->obj_ops->release(obj->sub);
	fault_up(&call);
	compat_obj_fini(self);
	gsh_free(obj);
}

PASS(merge, (SELF, struct fsal_obj_handle *dupe), (sub, fault_sub(dupe)))

PASS_NEW(lookup,
	 (SELF, const char *name, struct fsal_obj_handle **handle,
	  struct fsal_attrlist *attrs),
	 (sub, name, &sub_new, attrs))
PASS_NEW(mkdir,
	 (SELF, const char *name, struct fsal_attrlist *attrs_in,
	  struct fsal_obj_handle **handle, struct fsal_attrlist *attrs),
	 (sub, name, attrs_in, &sub_new, attrs))
PASS_NEW(mknode,
	 (SELF, const char *name, object_file_type_t nodetype,
	  struct fsal_attrlist *attrs_in, struct fsal_obj_handle **handle,
	  struct fsal_attrlist *attrs),
	 (sub, name, nodetype, attrs_in, &sub_new, attrs))
PASS_NEW(symlink,
	 (SELF, const char *name, const char *target,
	  struct fsal_attrlist *attrs_in, struct fsal_obj_handle **handle,
	  struct fsal_attrlist *attrs),
	 (sub, name, target, attrs_in, &sub_new, attrs))

PASS(readlink, (SELF, struct gsh_buffdesc *content, bool refresh),
     (sub, content, refresh))
PASS(test_access,
     (SELF, fsal_accessflags_t access, fsal_accessflags_t *allowed,
      fsal_accessflags_t *denied, bool owner_skip),
     (sub, access, allowed, denied, owner_skip))
PASS(getattrs, (SELF, struct fsal_attrlist *attrs), (sub, attrs))
PASS(setattr2,
     (SELF, bool bypass, struct state_t *state, struct fsal_attrlist *attrs),
     (sub, bypass, state, attrs))
PASS(link, (SELF, struct fsal_obj_handle *dir, const char *name),
     (sub, fault_sub(dir), name))
PASS(rename,
     (SELF, struct fsal_obj_handle *old_dir, const char *old_name,
      struct fsal_obj_handle *new_dir, const char *new_name),
     (sub, fault_sub(old_dir), old_name, fault_sub(new_dir), new_name))
PASS(unlink, (SELF, struct fsal_obj_handle *obj, const char *name),
     (sub, fault_sub(obj), name))

/** What the backend hands back with each name. */
struct readdir_arg {
	fsal_readdir_cb cb;
	void *dir_state;
	struct fsal_export *self;
};

/* Called by the backend, in its context. */
static enum fsal_dir_result fault_readdir_cb(const char *name,
					     struct fsal_obj_handle *sub,
					     struct fsal_attrlist *attrs,
					     void *dir_state,
					     fsal_cookie_t cookie)
{
	const struct readdir_arg *arg = dir_state;
	struct fsal_export *below = op_ctx->fsal_export;
	enum fsal_dir_result result;
	struct fault_call call;

	op_ctx->fsal_export = arg->self;
	fault_begin_sure(&call, FAULT_OP_readdir_entry, NULL);
	fault_up(&call);
	result = arg->cb(name, fault_wrap(sub), attrs, arg->dir_state, cookie);
	op_ctx->fsal_export = below;
	return result;
}

static fsal_status_t fault_readdir(struct fsal_obj_handle *self,
				   fsal_cookie_t *whence, void *dir_state,
				   fsal_readdir_cb cb, attrmask_t attrmask,
				   bool *eof)
{
	struct fsal_obj_handle *sub = fault_sub(self);
	struct readdir_arg arg = {
		.cb = cb,
		.dir_state = dir_state,
		.self = op_ctx->fsal_export,
	};
	fsal_status_t status = { ERR_FSAL_NO_ERROR, 0 };
	struct fault_call call;

	if (fault_begin(&call, FAULT_OP_readdir, NULL))
		status = sub->obj_ops->readdir(sub, whence, &arg,
					       fault_readdir_cb, attrmask, eof);
	return fault_end(&call, status);
}

PASS_VALUE(fsal_cookie_t, compute_readdir_cookie, (SELF, const char *name),
	   (sub, name))
PASS_VALUE(int, dirent_cmp,
	   (SELF, const char *name1, fsal_cookie_t cookie1, const char *name2,
	    fsal_cookie_t cookie2),
	   (sub, name1, cookie1, name2, cookie2))

PASS(handle_to_wire,
     (const SELF, fsal_digesttype_t type, struct gsh_buffdesc *fh_desc),
     (sub, type, fh_desc))
PASS_VOID(handle_to_key, (SELF, struct gsh_buffdesc *fh_desc), (sub, fh_desc))
PASS_VALUE(bool, handle_cmp, (SELF, struct fsal_obj_handle *other),
	   (sub, fault_sub(other)))
PASS_VALUE(bool, is_referral,
	   (SELF, struct fsal_attrlist *attrs, bool cache_attrs),
	   (sub, attrs, cache_attrs))

PASS(list_ext_attrs,
     (SELF, unsigned int cookie, struct fsal_xattrent *tab,
      unsigned int tabsize, unsigned int *returned, int *end_of_list),
     (sub, cookie, tab, tabsize, returned, end_of_list))
PASS(getextattr_id_by_name, (SELF, const char *name, unsigned int *id),
     (sub, name, id))
PASS(getextattr_value_by_name,
     (SELF, const char *name, void *buf, size_t size, size_t *len),
     (sub, name, buf, size, len))
PASS(getextattr_value_by_id,
     (SELF, unsigned int id, void *buf, size_t size, size_t *len),
     (sub, id, buf, size, len))
PASS(setextattr_value,
     (SELF, const char *name, void *buf, size_t size, int create),
     (sub, name, buf, size, create))
PASS(setextattr_value_by_id, (SELF, unsigned int id, void *buf, size_t size),
     (sub, id, buf, size))
PASS(remove_extattr_by_id, (SELF, unsigned int id), (sub, id))
PASS(remove_extattr_by_name, (SELF, const char *name), (sub, name))
PASS(getxattrs, (SELF, xattrkey4 *name, xattrvalue4 *value), (sub, name, value))
PASS(setxattrs,
     (SELF, setxattr_option4 option, xattrkey4 *name, xattrvalue4 *value),
     (sub, option, name, value))
PASS(removexattrs, (SELF, xattrkey4 *name), (sub, name))
PASS(listxattrs,
     (SELF, count4 max, nfs_cookie4 *cookie, bool_t *eof, xattrlist4 *names),
     (sub, max, cookie, eof, names))

void fault_object_ops_init(struct fsal_obj_ops *ops)
{
	ops->get_ref = fault_get_ref;
	ops->put_ref = fault_put_ref;
	ops->release = fault_release;
	ops->merge = fault_merge;
	ops->lookup = fault_lookup;
	ops->mkdir = fault_mkdir;
	ops->mknode = fault_mknode;
	ops->symlink = fault_symlink;
	ops->readlink = fault_readlink;
	ops->test_access = fault_test_access;
	ops->getattrs = fault_getattrs;
	ops->setattr2 = fault_setattr2;
	ops->link = fault_link;
	ops->rename = fault_rename;
	ops->unlink = fault_unlink;
	ops->readdir = fault_readdir;
	ops->compute_readdir_cookie = fault_compute_readdir_cookie;
	ops->dirent_cmp = fault_dirent_cmp;
	ops->handle_to_wire = fault_handle_to_wire;
	ops->handle_to_key = fault_handle_to_key;
	ops->handle_cmp = fault_handle_cmp;
	ops->is_referral = fault_is_referral;
	ops->list_ext_attrs = fault_list_ext_attrs;
	ops->getextattr_id_by_name = fault_getextattr_id_by_name;
	ops->getextattr_value_by_name = fault_getextattr_value_by_name;
	ops->getextattr_value_by_id = fault_getextattr_value_by_id;
	ops->setextattr_value = fault_setextattr_value;
	ops->setextattr_value_by_id = fault_setextattr_value_by_id;
	ops->remove_extattr_by_id = fault_remove_extattr_by_id;
	ops->remove_extattr_by_name = fault_remove_extattr_by_name;
	ops->getxattrs = fault_getxattrs;
	ops->setxattrs = fault_setxattrs;
	ops->removexattrs = fault_removexattrs;
	ops->listxattrs = fault_listxattrs;
}
