// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Extended attributes: the older set of methods, by name and by number, and
 * those of RFC 8276.
 */
#include "learn.h"

static fsal_status_t scale_list_ext_attrs(struct fsal_obj_handle *obj_hdl,
					  unsigned int cookie,
					  struct fsal_xattrent *xattrs_tab,
					  unsigned int xattrs_tabsize,
					  unsigned int *nb_returned,
					  int *end_of_list)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_XATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->list_ext_attrs(use.sub, cookie, xattrs_tab,
						  xattrs_tabsize, nb_returned,
						  end_of_list);
	return scale_use_end(&use, status);
}

static fsal_status_t
scale_getextattr_id_by_name(struct fsal_obj_handle *obj_hdl,
			    const char *xattr_name, unsigned int *xattr_id)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_XATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->getextattr_id_by_name(use.sub, xattr_name,
							 xattr_id);
	return scale_use_end(&use, status);
}

static fsal_status_t
scale_getextattr_value_by_name(struct fsal_obj_handle *obj_hdl,
			       const char *xattr_name, void *buffer_addr,
			       size_t buffer_size, size_t *output_size)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_XATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->getextattr_value_by_name(
		use.sub, xattr_name, buffer_addr, buffer_size, output_size);
	return scale_use_end(&use, status);
}

static fsal_status_t
scale_getextattr_value_by_id(struct fsal_obj_handle *obj_hdl,
			     unsigned int xattr_id, void *buffer_addr,
			     size_t buffer_size, size_t *output_size)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_XATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->getextattr_value_by_id(
		use.sub, xattr_id, buffer_addr, buffer_size, output_size);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_setextattr_value(struct fsal_obj_handle *obj_hdl,
					    const char *xattr_name,
					    void *buffer_addr,
					    size_t buffer_size, int create)
{
	struct scale_change ch;
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_XATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_change_begin(&ch, use.call.exp);
	scale_change_obj(&ch, use.obj);
	status = use.sub->obj_ops->setextattr_value(
		use.sub, xattr_name, buffer_addr, buffer_size, create);
	scale_changed_obj(&ch, use.obj);
	return scale_use_end(&use, status);
}

static fsal_status_t
scale_setextattr_value_by_id(struct fsal_obj_handle *obj_hdl,
			     unsigned int xattr_id, void *buffer_addr,
			     size_t buffer_size)
{
	struct scale_change ch;
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_XATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_change_begin(&ch, use.call.exp);
	scale_change_obj(&ch, use.obj);
	status = use.sub->obj_ops->setextattr_value_by_id(
		use.sub, xattr_id, buffer_addr, buffer_size);
	scale_changed_obj(&ch, use.obj);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_remove_extattr_by_id(struct fsal_obj_handle *obj_hdl,
						unsigned int xattr_id)
{
	struct scale_change ch;
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_XATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_change_begin(&ch, use.call.exp);
	scale_change_obj(&ch, use.obj);
	status = use.sub->obj_ops->remove_extattr_by_id(use.sub, xattr_id);
	scale_changed_obj(&ch, use.obj);
	return scale_use_end(&use, status);
}

static fsal_status_t
scale_remove_extattr_by_name(struct fsal_obj_handle *obj_hdl,
			     const char *xattr_name)
{
	struct scale_change ch;
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_XATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_change_begin(&ch, use.call.exp);
	scale_change_obj(&ch, use.obj);
	status = use.sub->obj_ops->remove_extattr_by_name(use.sub, xattr_name);
	scale_changed_obj(&ch, use.obj);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_getxattrs(struct fsal_obj_handle *obj_hdl,
				     xattrkey4 *xa_name, xattrvalue4 *xa_value)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_XATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->getxattrs(use.sub, xa_name, xa_value);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_setxattrs(struct fsal_obj_handle *obj_hdl,
				     setxattr_option4 option,
				     xattrkey4 *xa_name, xattrvalue4 *xa_value)
{
	struct scale_change ch;
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_XATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_change_begin(&ch, use.call.exp);
	scale_change_obj(&ch, use.obj);
	status =
		use.sub->obj_ops->setxattrs(use.sub, option, xa_name, xa_value);
	scale_changed_obj(&ch, use.obj);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_removexattrs(struct fsal_obj_handle *obj_hdl,
					xattrkey4 *xa_name)
{
	struct scale_change ch;
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_XATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	scale_change_begin(&ch, use.call.exp);
	scale_change_obj(&ch, use.obj);
	status = use.sub->obj_ops->removexattrs(use.sub, xa_name);
	scale_changed_obj(&ch, use.obj);
	return scale_use_end(&use, status);
}

static fsal_status_t scale_listxattrs(struct fsal_obj_handle *obj_hdl,
				      count4 la_maxcount,
				      nfs_cookie4 *la_cookie, bool_t *lr_eof,
				      xattrlist4 *lr_names)
{
	struct scale_use use;
	fsal_status_t status;

	status = scale_use_begin(&use, obj_hdl, SCALE_OP_XATTR);
	if (FSAL_IS_ERROR(status))
		return status;
	status = use.sub->obj_ops->listxattrs(use.sub, la_maxcount, la_cookie,
					      lr_eof, lr_names);
	return scale_use_end(&use, status);
}

void scale_xattr_ops_init(struct fsal_obj_ops *ops)
{
	ops->list_ext_attrs = scale_list_ext_attrs;
	ops->getextattr_id_by_name = scale_getextattr_id_by_name;
	ops->getextattr_value_by_name = scale_getextattr_value_by_name;
	ops->getextattr_value_by_id = scale_getextattr_value_by_id;
	ops->setextattr_value = scale_setextattr_value;
	ops->setextattr_value_by_id = scale_setextattr_value_by_id;
	ops->remove_extattr_by_id = scale_remove_extattr_by_id;
	ops->remove_extattr_by_name = scale_remove_extattr_by_name;
	ops->getxattrs = scale_getxattrs;
	ops->setxattrs = scale_setxattrs;
	ops->removexattrs = scale_removexattrs;
	ops->listxattrs = scale_listxattrs;
}
