// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * The computed tree: its exports, its objects and their attributes.
 */
#include "tree.h"

#include <errno.h>

/** Attributes are counted from here: 2020-09-13. */
#define EPOCH 1600000000

struct fsal_module tree_module = {
	.name = "FAULT_TREE",
	.fs_info = {
		.maxfilesize = INT64_MAX,
		.maxlink = 1,
		.maxnamelen = MAXNAMLEN,
		.maxpathlen = MAXPATHLEN,
		.no_trunc = true,
		.chown_restricted = true,
		.case_preserving = true,
		.symlink_support = true,
		.unique_handles = true,
		.homogenous = true,
		.supported_attrs = ATTRS_POSIX,
		.maxread = FSAL_MAXIOSIZE,
		.maxwrite = FSAL_MAXIOSIZE,
		.expire_time_parent = -1,
	},
};

struct fsal_obj_ops tree_obj_ops;

/** Ganesha's method, which answers from fs_info. */
static bool (*default_supports)(struct fsal_export *exp_hdl,
				fsal_fsinfo_options_t option);

bool tree_exists(struct tree_export *exp, uint64_t number)
{
	if (number < TREE_ROOT || number > tree_last(&exp->shape))
		return false;
	return !changes_get(&exp->changes, number).hidden &&
	       !changes_get(&exp->changes, tree_parent(&exp->shape, number))
			.hidden;
}

void tree_get_attrs(struct tree_export *exp, uint64_t number,
		    struct fsal_attrlist *attrs)
{
	static const uint32_t modes[] = {
		[TREE_DIRECTORY] = 0755,
		[TREE_FILE] = 0644,
		[TREE_LINK] = 0777,
	};
	static const object_file_type_t types[] = {
		[TREE_DIRECTORY] = DIRECTORY,
		[TREE_FILE] = REGULAR_FILE,
		[TREE_LINK] = SYMBOLIC_LINK,
	};
	enum tree_type type = tree_type(&exp->shape, number);
	uint32_t version = changes_get(&exp->changes, number).version;
	char target[TREE_NAME_SIZE];
	struct timespec mtime = {
		.tv_sec = EPOCH + number % 100000000 + version,
		.tv_nsec = (long)(tree_mix(number) % NS_PER_SEC),
	};

	attrs->type = types[type];
	attrs->mode = modes[type];
	attrs->fsid.major = exp->export.export_id;
	attrs->fsid.minor = 0;
	attrs->fileid = number;
	attrs->numlinks = 1;
	if (type == TREE_DIRECTORY) {
		attrs->numlinks =
			2 + (number == TREE_ROOT ? exp->shape.directories : 0);
		attrs->filesize = 4096;
	} else if (type == TREE_FILE) {
		attrs->filesize = exp->shape.file_size + version;
	} else {
		tree_target(&exp->shape, number, target);
		attrs->filesize = strlen(target);
	}
	attrs->spaceused = attrs->filesize;
	attrs->owner = 1000 + number % 16;
	attrs->group = 100 + number % 4;
	attrs->rawdev.major = 0;
	attrs->rawdev.minor = 0;
	attrs->mtime = mtime;
	attrs->ctime = mtime;
	attrs->atime = mtime;
	attrs->change = timespec_to_nsecs(&mtime);
	attrs->valid_mask |= ATTRS_POSIX;
	attrs->supported = ATTRS_POSIX;
}

struct fsal_obj_handle *tree_new(struct tree_export *exp, uint64_t number,
				 struct fsal_attrlist *attrs)
{
	static const object_file_type_t types[] = {
		[TREE_DIRECTORY] = DIRECTORY,
		[TREE_FILE] = REGULAR_FILE,
		[TREE_LINK] = SYMBOLIC_LINK,
	};
	struct tree_obj *self = gsh_calloc(1, sizeof(*self));

	compat_obj_init(&self->obj, &tree_module, &tree_obj_ops,
			types[tree_type(&exp->shape, number)]);
	self->obj.fsid.major = exp->export.export_id;
	self->obj.fileid = number;
	self->number = number;
	tree_make_handle(exp->id, number, &self->handle);
	if (attrs != NULL)
		tree_get_attrs(exp, number, attrs);
	return &self->obj;
}

static void tree_release(struct fsal_obj_handle *obj_hdl)
{
	struct tree_obj *self = tree_obj(obj_hdl);

	compat_obj_fini(obj_hdl);
	gsh_free(self);
}

static void tree_no_ref(struct fsal_obj_handle *obj_hdl)
{
	(void)obj_hdl;
}

static fsal_status_t tree_getattrs(struct fsal_obj_handle *obj_hdl,
				   struct fsal_attrlist *attrs)
{
	struct tree_export *exp = tree_export(op_ctx->fsal_export);
	uint64_t number = tree_obj(obj_hdl)->number;

	if (!tree_exists(exp, number))
		return fsalstat(ERR_FSAL_STALE, ESTALE);
	tree_get_attrs(exp, number, attrs);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t tree_handle_to_wire(const struct fsal_obj_handle *obj_hdl,
					 fsal_digesttype_t type,
					 struct gsh_buffdesc *fh_desc)
{
	const struct tree_obj *self = tree_obj(obj_hdl);

	(void)type;
	if (fh_desc->len < sizeof(self->handle))
		return fsalstat(ERR_FSAL_TOOSMALL, 0);
	memcpy(fh_desc->addr, &self->handle, sizeof(self->handle));
	fh_desc->len = sizeof(self->handle);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static void tree_handle_to_key(struct fsal_obj_handle *obj_hdl,
			       struct gsh_buffdesc *fh_desc)
{
	fh_desc->addr = &tree_obj(obj_hdl)->handle;
	fh_desc->len = sizeof(struct tree_handle);
}

static fsal_status_t tree_wire_to_host(struct fsal_export *exp_hdl,
				       fsal_digesttype_t type,
				       struct gsh_buffdesc *fh_desc, int flags)
{
	uint64_t number;

	(void)type;
	(void)flags;
	if (!tree_read_handle(fh_desc->addr, fh_desc->len,
			      tree_export(exp_hdl)->id, &number))
		return fsalstat(ERR_FSAL_BADHANDLE, 0);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t tree_create_handle(struct fsal_export *exp_hdl,
					struct gsh_buffdesc *fh_desc,
					struct fsal_obj_handle **handle,
					struct fsal_attrlist *attrs)
{
	struct tree_export *exp = tree_export(exp_hdl);
	uint64_t number;

	*handle = NULL;
	if (!tree_read_handle(fh_desc->addr, fh_desc->len, exp->id, &number))
		return fsalstat(ERR_FSAL_BADHANDLE, 0);
	if (!tree_exists(exp, number))
		return fsalstat(ERR_FSAL_STALE, ESTALE);
	*handle = tree_new(exp, number, attrs);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

/* Only the export's own path is ever asked for. */
static fsal_status_t tree_lookup_path(struct fsal_export *exp_hdl,
				      const char *path,
				      struct fsal_obj_handle **handle,
				      struct fsal_attrlist *attrs)
{
	*handle = NULL;
	if (strcmp(path, CTX_FULLPATH(op_ctx)) != 0)
		return fsalstat(ERR_FSAL_NOENT, ENOENT);
	*handle = tree_new(tree_export(exp_hdl), TREE_ROOT, attrs);
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t tree_dynamic_info(struct fsal_export *exp_hdl,
				       struct fsal_obj_handle *obj_hdl,
				       fsal_dynamicfsinfo_t *info)
{
	const struct tree_shape *shape = &tree_export(exp_hdl)->shape;

	(void)obj_hdl;
	memset(info, 0, sizeof(*info));
	info->total_bytes =
		(uint64_t)shape->directories * shape->files * shape->file_size;
	info->total_files = tree_last(shape);
	info->maxread = FSAL_MAXIOSIZE;
	info->maxwrite = FSAL_MAXIOSIZE;
	info->time_delta.tv_nsec = 1;
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static bool tree_supports(struct fsal_export *exp_hdl,
			  fsal_fsinfo_options_t option)
{
	if (option == fso_readdir_plus)
		return tree_export(exp_hdl)->shape.readdir_plus;
	return default_supports(exp_hdl, option);
}

static void tree_export_release(struct fsal_export *exp_hdl)
{
	struct tree_export *exp = tree_export(exp_hdl);

	changes_fini(&exp->changes);
	free_export_ops(exp_hdl);
	gsh_free(exp);
}

void tree_create_export(const struct tree_shape *shape)
{
	struct tree_export *exp = gsh_calloc(1, sizeof(*exp));
	struct export_ops *ops = &exp->export.exp_ops;

	exp->export.fsal = &tree_module;
	exp->shape = *shape;
	changes_init(&exp->changes);
	fsal_export_init(&exp->export);
	exp->id = tree_id(shape, exp->export.export_id);
	default_supports = ops->fs_supports;
	ops->release = tree_export_release;
	ops->lookup_path = tree_lookup_path;
	ops->create_handle = tree_create_handle;
	ops->wire_to_host = tree_wire_to_host;
	ops->get_fs_dynamic_info = tree_dynamic_info;
	ops->fs_supports = tree_supports;
	ops->alloc_state = tree_alloc_state;
	ops->free_state = tree_free_state;
	op_ctx->fsal_export = &exp->export;
}

void tree_init(void)
{
	struct fsal_obj_ops *ops = &tree_obj_ops;

	glist_init(&tree_module.fsals);
	glist_init(&tree_module.exports);
	glist_init(&tree_module.handles);
	glist_init(&tree_module.servers);
	PTHREAD_RWLOCK_init(&tree_module.lock, NULL);

	fsal_default_obj_ops_init(ops);
	ops->release = tree_release;
	ops->get_ref = tree_no_ref;
	ops->put_ref = tree_no_ref;
	ops->getattrs = tree_getattrs;
	ops->handle_to_wire = tree_handle_to_wire;
	ops->handle_to_key = tree_handle_to_key;
	tree_dir_ops_init(ops);
	tree_file_ops_init(ops);
}
