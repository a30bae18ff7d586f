// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Changes of directories: making, linking, renaming and removing.
 */
#include "lookup.h"

/** A new object in a directory: what all ways of making one share. */
struct making {
	struct scale_use use;
	struct scale_change ch;
	struct scale_found found;
	struct fsal_attrlist attrs;
	const char *name;
};

static fsal_status_t make_begin(struct making *make,
				struct fsal_obj_handle *dir_hdl,
				const char *name, enum scale_op op,
				const struct fsal_attrlist *attrs_out)
{
	fsal_status_t status = scale_use_begin(&make->use, dir_hdl, op);
	struct scale_export *exp;

	if (FSAL_IS_ERROR(status))
		return status;
	exp = make->use.call.exp;
	make->name = name;
	scale_change_begin(&make->ch, exp);
	scale_change_obj(&make->ch, make->use.obj);
	scale_change_name(&make->ch, make->use.obj, name);
	scale_attrs_prepare(exp, attrs_out, &make->attrs);
	make->found = (struct scale_found){ .attrs = &make->attrs,
					    .ticket = scale_ticket(exp) };
	return status;
}

static fsal_status_t make_end(struct making *make, fsal_status_t status,
			      struct fsal_obj_handle **new_obj,
			      struct fsal_attrlist *attrs_out)
{
	struct scale_export *exp = make->use.call.exp;
	struct scale_obj *dir = make->use.obj;
	struct scale_obj *obj = NULL;

	status = scale_no_null(status, make->found.sub);
	if (!FSAL_IS_ERROR(status)) {
		obj = scale_obj_adopt(exp, &make->found);
		scale_store_parent(exp, make->found.ticket, obj, dir);
		scale_changed_name(&make->ch, dir, make->name, MDX_NAME_PRESENT,
				   obj);
		scale_lookup_give(exp, obj, &make->attrs, attrs_out);
	} else {
		scale_changed_name(&make->ch, dir, make->name,
				   scale_failed_name(dir, make->name, status),
				   NULL);
	}
	scale_changed_obj(&make->ch, dir);
	fsal_release_attrs(&make->attrs);
	*new_obj = obj != NULL ? &obj->obj : NULL;
	return scale_use_end(&make->use, status);
}

static fsal_status_t scale_mkdir(struct fsal_obj_handle *dir_hdl,
				 const char *name,
				 struct fsal_attrlist *attrs_in,
				 struct fsal_obj_handle **new_obj,
				 struct fsal_attrlist *attrs_out)
{
	struct making make;
	fsal_status_t status;

	*new_obj = NULL;
	status = make_begin(&make, dir_hdl, name, SCALE_OP_MKDIR, attrs_out);
	if (FSAL_IS_ERROR(status))
		return status;
	status = make.use.sub->obj_ops->mkdir(make.use.sub, name, attrs_in,
					      &make.found.sub, &make.attrs);
	return make_end(&make, status, new_obj, attrs_out);
}

static fsal_status_t scale_mknode(struct fsal_obj_handle *dir_hdl,
				  const char *name, object_file_type_t nodetype,
				  struct fsal_attrlist *attrs_in,
				  struct fsal_obj_handle **new_obj,
				  struct fsal_attrlist *attrs_out)
{
	struct making make;
	fsal_status_t status;

	*new_obj = NULL;
	status = make_begin(&make, dir_hdl, name, SCALE_OP_MKNODE, attrs_out);
	if (FSAL_IS_ERROR(status))
		return status;
	status = make.use.sub->obj_ops->mknode(make.use.sub, name, nodetype,
					       attrs_in, &make.found.sub,
					       &make.attrs);
	return make_end(&make, status, new_obj, attrs_out);
}

static fsal_status_t scale_symlink(struct fsal_obj_handle *dir_hdl,
				   const char *name, const char *link_path,
				   struct fsal_attrlist *attrs_in,
				   struct fsal_obj_handle **new_obj,
				   struct fsal_attrlist *attrs_out)
{
	struct making make;
	fsal_status_t status;

	*new_obj = NULL;
	status = make_begin(&make, dir_hdl, name, SCALE_OP_SYMLINK, attrs_out);
	if (FSAL_IS_ERROR(status))
		return status;
	status = make.use.sub->obj_ops->symlink(make.use.sub, name, link_path,
						attrs_in, &make.found.sub,
						&make.attrs);
	return make_end(&make, status, new_obj, attrs_out);
}

static fsal_status_t scale_link(struct fsal_obj_handle *obj_hdl,
				struct fsal_obj_handle *destdir_hdl,
				const char *name)
{
	struct scale_obj *dir = scale_obj(destdir_hdl);
	struct scale_export *exp = scale_current();
	struct scale_ref dir_ref;
	struct scale_change ch;
	struct scale_use use;
	fsal_status_t status;

	status = scale_ref_get(&dir_ref, exp, dir, NULL, NULL);
	if (FSAL_IS_ERROR(status))
		return status;
	status = scale_use_begin(&use, obj_hdl, SCALE_OP_LINK);
	if (FSAL_IS_ERROR(status))
		goto out;
	scale_change_begin(&ch, exp);
	scale_change_obj(&ch, use.obj);
	scale_change_obj(&ch, dir);
	scale_change_name(&ch, dir, name);
	status = use.sub->obj_ops->link(use.sub, dir_ref.sub, name);
	if (!FSAL_IS_ERROR(status))
		scale_changed_name(&ch, dir, name, MDX_NAME_PRESENT, use.obj);
	else
		scale_changed_name(&ch, dir, name,
				   scale_failed_name(dir, name, status), NULL);
	scale_changed_obj(&ch, use.obj);
	scale_changed_obj(&ch, dir);
	status = scale_use_end(&use, status);
out:
	scale_ref_put(&dir_ref);
	return status;
}

/**
 * An object that is changed by its name. MDCACHE hands in the one that it holds
 * for the name; a foreign change may have put another one there since, and the
 * backend cannot make the old one again. It goes by the name, so that is what
 * is looked up then.
 */
struct named {
	struct scale_obj *obj;
	struct scale_obj *other; /**< found instead; ours */
	struct scale_ref ref;
};

static fsal_status_t named_get(struct named *named, struct scale_export *exp,
			       struct fsal_obj_handle *obj_hdl,
			       struct scale_obj *dir, const char *name)
{
	fsal_status_t status;

	named->obj = scale_obj(obj_hdl);
	named->other = NULL;
	status = scale_ref_get(&named->ref, exp, named->obj, NULL, NULL);
	if (status.major != ERR_FSAL_STALE)
		return status;
	status = scale_lookup_backend(exp, dir, name, &named->other, NULL);
	if (FSAL_IS_ERROR(status))
		return status;
	named->obj = named->other;
	status = scale_ref_get(&named->ref, exp, named->obj, NULL, NULL);
	if (FSAL_IS_ERROR(status))
		scale_obj_free(named->other);
	return status;
}

static void named_put(struct named *named)
{
	scale_ref_put(&named->ref);
	if (named->other != NULL)
		scale_obj_free(named->other);
}

/** The object that a rename replaces. */
struct replaced {
	bool exists;
	struct mdx_key key;
	char buf[MDX_KEY_MAX];
};

/* A rename replaces an object without naming it, whose attributes then are not
 * what they were. Where memory does not know which one it is, the backend does.
 * The name is locked, so it stays that one.
 */
static void find_replaced(struct scale_export *exp, struct scale_obj *dir,
			  const char *name, struct replaced *replaced)
{
	struct mdx_answer child;
	struct scale_obj *obj;
	int rc = -ENODATA;

	*replaced = (struct replaced){ .exists = false };
	if (!scale_obj_cached(dir))
		return;
	/* Under ask, what is known may no longer be true. */
	if (exp->fresh.mode != SCALE_ASK)
		rc = mdx_lookup(SCALE.cache, scale_obj_key(dir), name,
				strlen(name), &child);
	if (rc == -ENOENT)
		return;
	if (rc != 0) {
		(void)scale_lookup_backend(exp, dir, name, &obj, NULL);
		if (obj == NULL)
			return;
		/* The key of one that is not cached may be too long for this.
		 */
		if (scale_obj_cached(obj)) {
			replaced->exists = true;
			memcpy(replaced->buf, obj->key, obj->key_len);
			replaced->key = scale_obj_key(obj);
		}
		scale_obj_free(obj);
	} else {
		replaced->exists = true;
		memcpy(replaced->buf, child.key, child.key_len);
		replaced->key =
			(struct mdx_key){ NULL, child.key_len, child.backend };
	}
	replaced->key.bytes = replaced->buf;
}

static bool is_replaced(const struct replaced *replaced,
			const struct scale_obj *obj)
{
	return replaced->exists && replaced->key.backend == obj->slot &&
	       scale_obj_has_key(obj, replaced->buf, replaced->key.len);
}

static fsal_status_t
rename_named(struct scale_export *exp, const struct named *named,
	     struct fsal_obj_handle *olddir_hdl, const char *old_name,
	     struct scale_obj *newdir, const char *new_name)
{
	struct scale_ref newdir_ref;
	struct scale_use use;
	fsal_status_t status;

	status = scale_ref_get(&newdir_ref, exp, newdir, NULL, NULL);
	if (FSAL_IS_ERROR(status))
		return status;
	status = scale_use_begin(&use, olddir_hdl, SCALE_OP_RENAME);
	if (!FSAL_IS_ERROR(status)) {
		status = use.sub->obj_ops->rename(named->ref.sub, use.sub,
						  old_name, newdir_ref.sub,
						  new_name);
		status = scale_use_end(&use, status);
	}
	scale_ref_put(&newdir_ref);
	return status;
}

static fsal_status_t scale_rename(struct fsal_obj_handle *obj_hdl,
				  struct fsal_obj_handle *olddir_hdl,
				  const char *old_name,
				  struct fsal_obj_handle *newdir_hdl,
				  const char *new_name)
{
	struct scale_export *exp = scale_current();
	struct scale_obj *olddir = scale_obj(olddir_hdl);
	struct scale_obj *newdir = scale_obj(newdir_hdl);
	bool one_dir = scale_obj_same(olddir, newdir);
	bool one_name = one_dir && strcmp(old_name, new_name) == 0;
	bool same_key = (exp->abilities.supports &
			 (UINT64_C(1) << fso_rename_changes_key)) == 0;
	enum mdx_outcome old_outcome = MDX_NAME_ABSENT;
	enum mdx_outcome new_outcome = MDX_NAME_PRESENT;
	struct replaced replaced;
	struct scale_change ch;
	struct named named;
	fsal_status_t status;

	status = named_get(&named, exp, obj_hdl, olddir, old_name);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_change_begin(&ch, exp);
	scale_change_obj(&ch, named.obj);
	scale_change_obj(&ch, olddir);
	if (!one_dir)
		scale_change_obj(&ch, newdir);
	scale_change_names(&ch, olddir, old_name, newdir, new_name);
	find_replaced(exp, newdir, new_name, &replaced);
	status = rename_named(exp, &named, olddir_hdl, old_name, newdir,
			      new_name);
	if (FSAL_IS_ERROR(status)) {
		new_outcome = scale_failed_name(newdir, new_name, status);
		old_outcome = new_outcome;
	} else if (!same_key) {
		new_outcome = MDX_NAME_UNKNOWN;
	} else if (is_replaced(&replaced, named.obj)) {
		/* Two links of one file: rename does nothing, and succeeds. */
		old_outcome = MDX_NAME_UNKNOWN;
	}
	/* The new name first: an onlooker may see both, but never none. */
	scale_changed_name(&ch, newdir, new_name, new_outcome,
			   new_outcome == MDX_NAME_PRESENT ? named.obj : NULL);
	if (!one_name)
		scale_changed_name(&ch, olddir, old_name, old_outcome, NULL);
	scale_changed_obj(&ch, named.obj);
	scale_changed_obj(&ch, olddir);
	if (!one_dir)
		scale_changed_obj(&ch, newdir);
	if (!one_dir && scale_obj_cached(named.obj))
		mdx_invalidate(SCALE.cache, scale_obj_key(named.obj),
			       MDX_PARENT);
	if (!FSAL_IS_ERROR(status) && !same_key)
		scale_obj_gone(exp, named.obj);
	if (new_outcome != MDX_NAME_KEEP && !one_name && replaced.exists) {
		mdx_invalidate(SCALE.cache, replaced.key, MDX_ALL);
		/* Where it was the last link, nothing else lets go of it. */
		(void)mdx_pool_drop_unused(SCALE.cache, replaced.key);
	}
	named_put(&named);
	return status;
}

/* A file that has one link only is gone for good. The backend is asked where
 * that is not known: what is kept of a file that is gone would keep its space.
 */
static bool last_link(struct scale_export *exp, struct scale_obj *obj)
{
	struct fsal_attrlist attrs;
	struct mdx_answer answer;
	fsal_status_t status;
	bool last;

	if (obj->obj.type == DIRECTORY)
		return true;
	if (!scale_obj_cached(obj))
		return false;
	if (mdx_get(SCALE.cache, scale_obj_key(obj), MDX_NLINK, &answer) == 0)
		return answer.attrs.nlink == 1;
	fsal_prepare_attrs(&attrs, scale_attrs_to_fetch(exp, ATTR_NUMLINKS));
	status = scale_fetch_attrs(exp, obj, &attrs);
	last = !FSAL_IS_ERROR(status) && (attrs.valid_mask & ATTR_NUMLINKS) &&
	       attrs.numlinks == 1;
	fsal_release_attrs(&attrs);
	return last;
}

static fsal_status_t scale_unlink(struct fsal_obj_handle *dir_hdl,
				  struct fsal_obj_handle *obj_hdl,
				  const char *name)
{
	struct scale_export *exp = scale_current();
	enum mdx_outcome outcome = MDX_NAME_ABSENT;
	struct scale_change ch;
	struct named named;
	struct scale_use use;
	fsal_status_t status;
	bool last;

	status = named_get(&named, exp, obj_hdl, scale_obj(dir_hdl), name);
	if (FSAL_IS_ERROR(status))
		return status;
	last = last_link(exp, named.obj);
	status = scale_use_begin(&use, dir_hdl, SCALE_OP_UNLINK);
	if (FSAL_IS_ERROR(status))
		goto out;
	scale_change_begin(&ch, exp);
	scale_change_obj(&ch, named.obj);
	scale_change_obj(&ch, use.obj);
	scale_change_name(&ch, use.obj, name);
	status = use.sub->obj_ops->unlink(use.sub, named.ref.sub, name);
	if (FSAL_IS_ERROR(status))
		outcome = scale_failed_name(use.obj, name, status);
	scale_changed_name(&ch, use.obj, name, outcome, NULL);
	scale_changed_obj(&ch, named.obj);
	scale_changed_obj(&ch, use.obj);
	if (!FSAL_IS_ERROR(status) && last && scale_obj_cached(named.obj)) {
		/* A backend's object that is open keeps the file's space. */
		(void)mdx_pool_drop(SCALE.cache, scale_obj_key(named.obj));
		mdx_forget(SCALE.cache, scale_obj_key(named.obj));
	}
	status = scale_use_end(&use, status);
out:
	named_put(&named);
	/* MEM's files live while anybody has a reference, and the pool gives
	 * them back on its own thread.
	 */
	if (exp->lends_handles && exp->cached)
		mdx_quiesce(SCALE.cache);
	return status;
}

void scale_change_ops_init(struct fsal_obj_ops *ops)
{
	ops->mkdir = scale_mkdir;
	ops->mknode = scale_mknode;
	ops->symlink = scale_symlink;
	ops->link = scale_link;
	ops->rename = scale_rename;
	ops->unlink = scale_unlink;
}
