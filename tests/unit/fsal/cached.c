// SPDX-License-Identifier: LGPL-3.0-or-later
#include "cached.h"

#include "cache.h"

#include "export_mgr.h"
#include "fridgethr.h"
#include "nfs_exports.h"

struct fsal_obj_handle *root;
unsigned int heard;
void (*when_heard)(void);

/* --- Exports ------------------------------------------------------------- */

static void hear(void)
{
	heard++;
	if (when_heard != NULL)
		when_heard();
}

static fsal_status_t hear_invalidate(const struct fsal_up_vector *vec,
				     struct gsh_buffdesc *key, uint32_t flags)
{
	(void)vec;
	(void)key;
	(void)flags;
	hear();
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

static fsal_status_t hear_update(const struct fsal_up_vector *vec,
				 struct gsh_buffdesc *key,
				 struct fsal_attrlist *attr, uint32_t flags)
{
	(void)vec;
	(void)key;
	(void)attr;
	(void)flags;
	hear();
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

int cached_setup(void)
{
	static const char *const names[] = { "TREE", "VFS", "CEPH", "GLUSTER" };
	struct fridgethr_params params = { .thr_max = 1,
					   .deferment = fridgethr_defer_queue };

	harness_start();
	super.invalidate = hear_invalidate;
	super.try_release = hear_invalidate;
	super.update = hear_update;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (tree_register(names[i]) != 0)
			return -1;
	}
	/* Contexts without an export, as the handle pool makes them, need it. */
	start_fsals();
	if (fridgethr_init(&general_fridge, "test", &params) != 0)
		return -1;
	SCALE.config.max_files = CACHED_FILES;
	SCALE.config.max_stats = CACHED_STATS;
	SCALE.config.pagepool = 64 << 20;
	set_expiry(60);
	tree_reset();
	return 0;
}

void set_expiry(int32_t seconds)
{
	gsh.export_perms.set |= EXPORT_OPTION_EXPIRE_SET;
	gsh.export_perms.expire_time_attr = seconds;
	ctx.export_perms.expire_time_attr = seconds;
}

void begin(const char *params)
{
	char block[256];
	char *errors = NULL;
	fsal_status_t status;

	snprintf(block, sizeof(block),
		 "FSAL { Name = SCALE; %s FSAL { Name = TREE; } }", params);
	scale = make_export(block, &errors);
	if (scale == NULL)
		fprintf(stderr, "%s\n", errors);
	free(errors);
	CU_ASSERT_PTR_NOT_NULL_FATAL(scale);
	/* TREE looks at nobody's credentials, unless a test says so. */
	scale_export(scale)->per_user = false;
	/* Nor is a directory read for the sake of single names. */
	scale_export(scale)->scan_ns = UINT64_MAX / 16;
	status = scale->exp_ops.lookup_path(scale, "/", &root, NULL);
	CU_ASSERT_FALSE_FATAL(FSAL_IS_ERROR(status));
}

void end(void)
{
	op_ctx = &ctx;
	op_ctx->fsal_export = scale;
	scale->exp_ops.unexport(scale, root);
	drop(root);
	remove_export(scale);
	CU_ASSERT_EQUAL(tree.objects, 0);
	CU_ASSERT_EQUAL(tree.states, 0);
	CU_ASSERT_EQUAL(tree.wrong, 0);
	if (tree.objects != 0 || tree.states != 0)
		fprintf(stderr, "\n    leaked: %u objects, %u states",
			tree.objects, tree.states);
	tree_reset();
	set_expiry(60);
	scale = NULL;
	root = NULL;
	heard = 0;
	when_heard = NULL;
}

void empty_pool(void)
{
	mdx_pool_drop_backend(SCALE.cache, scale_export(scale)->slot);
	mdx_quiesce(SCALE.cache);
}

void limit_pool(uint32_t handles)
{
	const struct mdx_pool_limits limits = { handles, 8192, 16 << 20 };

	mdx_pool_set_limits(SCALE.cache, &limits);
	mdx_quiesce(SCALE.cache);
}

void evict(struct fsal_obj_handle *obj)
{
	mdx_forget(SCALE.cache, scale_obj_key(scale_obj(obj)));
}

/* --- What MDCACHE does --------------------------------------------------- */

struct fsal_obj_handle *find(struct fsal_obj_handle *dir, const char *name)
{
	struct fsal_obj_handle *obj = NULL;
	struct fsal_attrlist attrs;

	fsal_prepare_attrs(&attrs, ASKED);
	(void)dir->obj_ops->lookup(dir, name, &obj, &attrs);
	fsal_release_attrs(&attrs);
	return obj;
}

fsal_errors_t look(struct fsal_obj_handle *dir, const char *name)
{
	struct fsal_obj_handle *obj = NULL;
	struct fsal_attrlist attrs;
	fsal_status_t status;

	fsal_prepare_attrs(&attrs, ASKED);
	status = dir->obj_ops->lookup(dir, name, &obj, &attrs);
	CU_ASSERT_EQUAL(obj != NULL, !FSAL_IS_ERROR(status));
	fsal_release_attrs(&attrs);
	if (obj != NULL)
		drop(obj);
	return status.major;
}

void drop(struct fsal_obj_handle *obj)
{
	obj->obj_ops->release(obj);
}

fsal_errors_t get(struct fsal_obj_handle *obj, struct fsal_attrlist *attrs)
{
	fsal_status_t status;

	fsal_prepare_attrs(attrs, ASKED);
	status = obj->obj_ops->getattrs(obj, attrs);
	if (!FSAL_IS_ERROR(status))
		CU_ASSERT_EQUAL(attrs->valid_mask & ASKED & tree.gives,
				ASKED & tree.gives);
	fsal_release_attrs(attrs);
	return status.major;
}

uint64_t size_of(struct fsal_obj_handle *obj)
{
	struct fsal_attrlist attrs;

	return get(obj, &attrs) == ERR_FSAL_NO_ERROR ? attrs.filesize :
						       UINT64_MAX;
}

fsal_errors_t truncate_to(struct fsal_obj_handle *obj, uint64_t size)
{
	struct fsal_attrlist set;

	fsal_prepare_attrs(&set, 0);
	set.valid_mask = ATTR_SIZE;
	set.filesize = size;
	return obj->obj_ops->setattr2(obj, false, NULL, &set).major;
}

fsal_errors_t create(struct fsal_obj_handle *dir, const char *name)
{
	struct fsal_obj_handle *obj = NULL;
	struct fsal_attrlist in, out;
	fsal_status_t status;
	bool check;

	fsal_prepare_attrs(&in, 0);
	fsal_prepare_attrs(&out, ASKED);
	status = dir->obj_ops->open2(dir, NULL, FSAL_O_RDWR, FSAL_GUARDED, name,
				     &in, NULL, &obj, &out, &check);
	fsal_release_attrs(&out);
	if (obj != NULL)
		drop(obj);
	return status.major;
}

struct fsal_obj_handle *by_handle(struct fsal_export *exp,
				  const struct tree_node *node,
				  fsal_status_t *status)
{
	char bytes[NFS4_FHSIZE + FSAL_KEY_EXTRA_BYTES] = { 0 };
	struct gsh_buffdesc fh = { bytes, 0 };
	struct fsal_obj_handle *obj = NULL;
	struct fsal_attrlist attrs;

	fh.len = tree_wire(node, bytes);
	*status = exp->exp_ops.wire_to_host(exp, FSAL_DIGEST_NFSV4, &fh, 0);
	if (FSAL_IS_ERROR(*status))
		return NULL;
	fsal_prepare_attrs(&attrs, ASKED);
	*status = exp->exp_ops.create_handle(exp, &fh, &obj, &attrs);
	fsal_release_attrs(&attrs);
	return obj;
}

static enum fsal_dir_result count_name(const char *name,
				       struct fsal_obj_handle *obj,
				       struct fsal_attrlist *attrs,
				       void *dir_state, fsal_cookie_t cookie)
{
	(void)name;
	(void)attrs;
	(void)cookie;
	drop(obj);
	++*(size_t *)dir_state;
	return DIR_CONTINUE;
}

size_t list(struct fsal_obj_handle *dir)
{
	fsal_cookie_t whence = 0;
	size_t names = 0;
	bool eof = false;
	fsal_status_t status;

	status = dir->obj_ops->readdir(dir, &whence, &names, count_name, ASKED,
				       &eof);
	CU_ASSERT_FALSE(FSAL_IS_ERROR(status));
	CU_ASSERT(eof);
	return names;
}

void learn(struct fsal_obj_handle *dir)
{
	(void)list(dir);
	CU_ASSERT(mdx_is_complete(SCALE.cache, scale_obj_key(scale_obj(dir))));
}

void bring_invalidate(const struct tree_node *node, uint32_t flags)
{
	const struct fsal_up_vector *up = tree_up(scale->sub_export);
	char bytes[160];
	struct gsh_buffdesc key = { bytes, tree_key(node, bytes) };
	struct req_op_context *was = op_ctx;

	/* As a backend's own thread does it. */
	op_ctx = NULL;
	(void)up->invalidate(up, &key, flags);
	op_ctx = was;
}

bool complete(struct fsal_obj_handle *dir)
{
	return mdx_is_complete(SCALE.cache, scale_obj_key(scale_obj(dir)));
}
