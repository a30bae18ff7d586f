// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Exports: reading the FSAL block, putting SCALE on top of the backend's
 * export, and taking both away again.
 */
#include "cache.h"
#include "control.h"
#include "gluster.h"
#include "notify.h"
#include "object.h"
#include "permit.h"

#include <strings.h>

#include "export_mgr.h"

/* FSAL { Name = SCALE; FSAL { Name = VFS; ... } } */

struct export_args {
	struct subfsal_args backend;
	struct scale_freshness_config fresh;
	/** the module that backend.name stands for, with a reference, or NULL */
	struct fsal_module *module;
	/** an inner block was there, right or wrong */
	bool seen;
	/** it was wrong; Ganesha does not hand on that a commit failed */
	bool wrong;
};

static int backend_commit(void *node, void *link_mem, void *self_struct,
			  struct config_error_type *err_type)
{
	struct subfsal_args *backend = self_struct;
	struct export_args *args =
		container_of(backend, struct export_args, backend);
	if (args->seen) {
		scale_config_error(
			node, err_type,
			"FSAL SCALE has a second backend: Name = %s; "
			"keep one FSAL block",
			backend->name != NULL ? backend->name : "");
		goto wrong;
	}
	args->seen = true;
	if (backend->name != NULL &&
	    strcasecmp(backend->name, SCALE_NAME) == 0) {
		scale_config_error(
			node, err_type,
			"FSAL SCALE on FSAL SCALE: Name = %s; "
			"name the file system's own FSAL here, as VFS",
			backend->name);
		goto wrong;
	}
	/* Loads the module; what is wrong with it was reported. */
	if (subfsal_commit(node, link_mem, self_struct, err_type) != 0) {
		scale_config_error(
			node, err_type,
			"FSAL SCALE has no backend: Name = %s; give the name "
			"of an installed FSAL, as VFS, PROXY_V4, MEM, GLUSTER, "
			"CEPH or GPFS (packages nfs-ganesha-vfs and so on)",
			backend->name != NULL ? backend->name : "");
		goto wrong;
	}
	/* subfsal_commit() keeps the module's reference, but not the module. */
	args->module = lookup_fsal(backend->name);
	if (args->module == NULL)
		goto wrong;
	fsal_put(args->module);
	return 0;

wrong:
	args->wrong = true;
	err_type->invalid = true;
	return 1;
}

static struct config_item backend_params[] = {
	CONF_ITEM_STR("name", 1, 32, NULL, subfsal_args, name), CONFIG_EOL
};

static struct config_item_list freshness_modes[] = {
	CONFIG_LIST_TOK("auto", SCALE_AUTO),
	CONFIG_LIST_TOK("off", SCALE_OFF),
	CONFIG_LIST_TOK("ttl", SCALE_TTL),
	CONFIG_LIST_TOK("upcall", SCALE_UPCALL),
	CONFIG_LIST_TOK("ask", SCALE_ASK),
	CONFIG_LIST_TOK("notify", SCALE_NOTIFY),
	CONFIG_LIST_EOL
};

/** Seconds; a year is more than anybody who does not mean -1 can mean. */
#define TTL_MAX (366 * 86400)

static struct config_item export_params[] = {
	CONF_ITEM_NOOP("name"),
	CONF_ITEM_TOKEN("Freshness", SCALE_AUTO, freshness_modes, export_args,
			fresh.mode),
	CONF_ITEM_I32("Attr_TTL", -1, TTL_MAX, SCALE_TTL_DEFAULT, export_args,
		      fresh.attr_ttl),
	CONF_ITEM_I32("Name_TTL", -1, TTL_MAX, SCALE_TTL_DEFAULT, export_args,
		      fresh.name_ttl),
	CONF_ITEM_I32("Negative_TTL", -1, TTL_MAX, SCALE_TTL_DEFAULT,
		      export_args, fresh.negative_ttl),
	CONF_RELAX_BLOCK("FSAL", backend_params, noop_conf_init, backend_commit,
			 export_args, backend),
	CONFIG_EOL
};

static struct config_block export_block = {
	.dbus_interface_name = "org.ganesha.nfsd.config.fsal.scale-export%d",
	.blk_desc.name = "FSAL",
	.blk_desc.type = CONFIG_BLOCK,
	.blk_desc.u.blk.init = noop_conf_init,
	.blk_desc.u.blk.params = export_params,
	.blk_desc.u.blk.commit = noop_conf_commit
};

/*
 * Read the FSAL block and find the backend.
 * @param[in]  served  How it is kept fresh, if it is served already, or NULL
 * @param[out] fresh   How it is to be kept fresh
 * @return The backend's module with a reference, or NULL when an error was
 *         reported.
 */
static struct fsal_module *find_backend(void *parse_node, void **backend_node,
					const struct scale_freshness *served,
					struct scale_freshness *fresh,
					struct config_error_type *err_type)
{
	struct export_args args = { .module = NULL };
	uint32_t errors;
	int rc;

	if (!scale_configure(parse_node, err_type)) {
		scale_config_error(parse_node, err_type,
				   "FSAL SCALE is not configured: correct the "
				   "SCALE block, where an error was reported, "
				   "and reload (SIGHUP) or restart");
		err_type->invalid = true;
		return NULL;
	}
	errors = err_type->errors;
	rc = load_config_from_node(parse_node, &export_block, &args, true,
				   err_type);
	if (rc == 0 && err_type->errors != errors) {
		/* To Ganesha a wrong word is harmless, and the default goes. */
		scale_config_error(parse_node, err_type,
				   "FSAL SCALE: Freshness is one of auto, off, "
				   "ttl, upcall, ask and notify");
		err_type->invalid = true;
		args.wrong = true;
	}
	if (!args.seen) {
		scale_config_error(parse_node, err_type,
				   "FSAL SCALE has no backend: add a block "
				   "FSAL { Name = VFS; } inside this one");
		err_type->missing = true;
	}
	if (args.module != NULL && rc == 0 && !args.wrong)
		args.wrong =
			!scale_freshness_settle(&args.fresh, args.module->name,
						parse_node, err_type, fresh);
	if (args.module != NULL && rc == 0 && !args.wrong)
		scale_gluster_settle(&args.fresh, args.module->name,
				     args.backend.fsal_node, served, fresh);
	if (args.module != NULL && (rc != 0 || args.wrong)) {
		fsal_put(args.module);
		args.module = NULL;
	}
	gsh_free(args.backend.name);
	*backend_node = args.backend.fsal_node;
	return args.module;
}

/** Backends whose keys are unique wherever they come from. */
static const char *const shared[] = { "VFS", "GPFS" };

#define NUM_SHARED (sizeof(shared) / sizeof(shared[0]))

/** Marks the ids of GLUSTER's volumes. */
#define VOLUME_ID (1u << 31)

/** Their names; the place in the array is the id. Never freed. */
static char **volumes;
static uint32_t num_volumes;

/* Exports are made one by one. */
static uint32_t volume_id(const char *name)
{
	for (uint32_t i = 0; i < num_volumes; i++) {
		if (strcmp(volumes[i], name) == 0)
			return VOLUME_ID | i;
	}
	volumes = gsh_realloc(volumes, (num_volumes + 1) * sizeof(*volumes));
	volumes[num_volumes] = gsh_strdup(name);
	return VOLUME_ID | num_volumes++;
}

/*
 * The id that ends each key of an export (SCALE_KEY_ID_BYTES).
 *
 * Keys of VFS, GPFS and GLUSTER name a file system and a file in it, so that
 * exports of one file system share what is known about its files, as they do
 * without SCALE: one id for all exports of such a backend, and events that
 * GLUSTER and GPFS bring by one export reach them all. Volumes of GLUSTER have
 * an id each, as they may have to be kept fresh in different ways; FSAL GLUSTER
 * tells volumes by their names alone, whatever the host.
 *
 * The keys of the others are known to be unique within an export only, and two
 * exports could be given the same key for different files: an id each, never
 * used again. So it is, too, where another stackable FSAL is the backend,
 * whatever is below it: its objects are not to be mixed with those of an
 * export without it.
 */
static uint32_t scale_backend_id(const struct fsal_module *backend, void *node)
{
	static uint32_t last_private = NUM_SHARED;
	char volume[NAME_MAX];

	for (uint32_t i = 0; i < NUM_SHARED; i++) {
		if (strcasecmp(backend->name, shared[i]) == 0)
			return i + 1;
	}
	if (strcasecmp(backend->name, "GLUSTER") == 0) {
		scale_gluster_volume(node, volume, sizeof(volume));
		return volume_id(volume);
	}
	return __atomic_add_fetch(&last_private, 1, __ATOMIC_RELAXED);
}

bool scale_backend_shared(uint32_t backend_id)
{
	return backend_id <= NUM_SHARED || (backend_id & VOLUME_ID) != 0;
}

static void scale_prepare_unexport(struct fsal_export *exp_hdl)
{
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_export *self;

	scale_upcall_retire(&scale_export(exp_hdl)->upcall);
	self = scale_enter(sub_exp);
	sub_exp->exp_ops.prepare_unexport(sub_exp);
	scale_up(self);
}

static void scale_unexport(struct fsal_export *exp_hdl,
			   struct fsal_obj_handle *root_obj)
{
	struct scale_export *exp = scale_export(exp_hdl);
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct scale_ref ref = { .sub = NULL };
	struct fsal_export *self;

	/* MDCACHE has forgotten the export's objects, and this thread is the
	 * administrator's: the place to wait for events on their way. Release
	 * may come on any thread, even on one that brings an event.
	 */
	scale_upcall_close(&exp->upcall);

	if (root_obj != NULL &&
	    FSAL_IS_ERROR(
		    scale_ref_get(&ref, exp, scale_obj(root_obj), NULL, NULL)))
		ref.sub = NULL;
	self = scale_enter(sub_exp);
	sub_exp->exp_ops.unexport(sub_exp, ref.sub);
	scale_up(self);
	if (ref.sub != NULL)
		scale_ref_put(&ref);
	scale_cache_flush(exp);
	scale_stats_invalidation(exp->stats, SCALE_SOURCE_UNEXPORT);
}

static void scale_unmount(struct fsal_export *parent_exp_hdl,
			  struct fsal_obj_handle *junction_obj)
{
	struct fsal_export *sub_exp = parent_exp_hdl->sub_export;
	struct scale_ref ref;
	struct fsal_export *self;

	if (FSAL_IS_ERROR(scale_ref_get(&ref, scale_export(parent_exp_hdl),
					scale_obj(junction_obj), NULL, NULL)))
		return;
	self = scale_enter(sub_exp);
	sub_exp->exp_ops.unmount(sub_exp, ref.sub);
	scale_up(self);
	scale_ref_put(&ref);
}

static void scale_export_release(struct fsal_export *exp_hdl)
{
	struct scale_export *exp = scale_export(exp_hdl);
	struct fsal_export *sub_exp = exp_hdl->sub_export;
	struct fsal_module *backend = sub_exp->fsal;
	struct fsal_export *self;

	/* An export that failed half way is released without unexport. */
	scale_upcall_close(&exp->upcall);
	scale_notify_leave(exp);
	scale_cache_leave(exp);
	scale_stats_retire(exp->stats);

	self = scale_enter(sub_exp);
	sub_exp->exp_ops.release(sub_exp);
	scale_up(self);
	fsal_put(backend);

	/* Not attached to the module's list of exports, as MDCACHE's are not:
	 * what is left there at shutdown is released once more, in the order
	 * in which modules were loaded, and the backend's own list is enough.
	 * The memory stays, for the sake of late up-calls.
	 */
	exp_hdl->sub_export = NULL;
	free_export_ops(exp_hdl);
}

void scale_export_ops_init(struct export_ops *ops,
			   const struct export_ops *below)
{
	ops->prepare_unexport = scale_prepare_unexport;
	ops->unexport = scale_unexport;
	ops->unmount = scale_unmount;
	ops->release = scale_export_release;
	scale_handle_export_ops_init(ops);
	scale_name_export_ops_init(ops);
	scale_fsinfo_export_ops_init(ops, below);
	scale_pnfs_export_ops_init(ops);
	/* get_name stays Ganesha's: the module's name. */
}

/* The name of the FSAL that is not stacked on another one. */
static const char *lowest_backend(const struct scale_export *exp)
{
	const struct fsal_export *lowest = &exp->export;

	while (lowest->sub_export != NULL)
		lowest = lowest->sub_export;
	return lowest->fsal->name;
}

/* Descriptors that a backend's object keeps open when it is read or written
 * without a state.
 */
static uint32_t fds_of(const char *backend)
{
	return strncasecmp(backend, "PROXY", 5) == 0 ||
			       strcasecmp(backend, "MEM") == 0 ?
		       0 :
		       1;
}

/* What an object of a backend takes in the pool. */
static uint32_t charge_of(const char *backend)
{
	static const char *const light[] = { "VFS",	"XFS", "LUSTRE",
					     "GPFS",	"MEM", "PROXY_V3",
					     "PROXY_V4" };

	return scale_is_one_of(backend, light,
			       sizeof(light) / sizeof(light[0])) ?
		       SCALE_HANDLE_BYTES :
		       SCALE_PINNED_BYTES;
}

/* What an export is before its backend's is there. */
static struct scale_export *new_export(struct fsal_module *fsal_hdl,
				       const struct fsal_module *backend,
				       void *backend_node,
				       const struct scale_freshness *fresh,
				       const struct fsal_up_vector *up_ops)
{
	struct scale_export *exp = gsh_calloc(1, sizeof(*exp));

	exp->export.fsal = fsal_hdl;
	exp->export.up_ops = &exp->upcall.ops;
	exp->said = *fresh;
	exp->fresh = *fresh;
	atomic_init(&exp->key_rest, -1);
	PTHREAD_MUTEX_init(&exp->fs_lock, NULL);
	PTHREAD_MUTEX_init(&exp->space.lock, NULL);
	scale_upcall_init(&exp->upcall, &exp->export, up_ops,
			  scale_backend_id(backend, backend_node));
	exp->stats = scale_stats_new(op_ctx->ctx_export->export_id,
				     CTX_FULLPATH(op_ctx), backend->name);
	return exp;
}

static bool claim(struct scale_export *exp, const char *backend,
		  void *parse_node, struct config_error_type *err_type)
{
	enum scale_freshness_mode other;

	glist_init(&exp->claim_node);
	if (scale_cache_claim(exp, &other) == 0)
		return true;
	/* Nobody has chosen notify or GLUSTER's upcall, and somebody ttl. */
	if (exp->said.automatic && other == SCALE_TTL) {
		exp->said.mode = SCALE_TTL;
		exp->said.by_handle = false;
		if (scale_cache_claim(exp, &other) == 0)
			return true;
	}
	scale_config_error(
		parse_node, err_type,
		"FSAL SCALE: %s cannot be kept fresh by %s while "
		"other exports of %s, which share their objects with "
		"it, are kept fresh by %s%s; write the same Freshness "
		"in all of them",
		CTX_FULLPATH(op_ctx),
		scale_freshness_mode_name(exp->fresh.mode), backend,
		scale_freshness_mode_name(other),
		other == exp->fresh.mode ?
			" (Attr_TTL is 0 in one of them only)" :
			"");
	err_type->invalid = true;
	return false;
}

/* Whatever is wrong here, the export is served, without a cache. */
static void join_cache(struct scale_export *exp, const char *backend)
{
	int rc;

	if (exp->fresh.mode == SCALE_OFF)
		return;
	rc = scale_cache_start(&SCALE.config);
	if (rc == 0)
		rc = scale_cache_join(exp);
	if (rc < 0) {
		LogWarn(COMPONENT_FSAL, "FSAL SCALE caches nothing for %s: %s",
			CTX_FULLPATH(op_ctx),
			rc == -ENOSPC ? "it has a cache for 256 backends" :
					strerror(-rc));
		return;
	}
	scale_control_set_cache(SCALE.cache);
	LogEvent(COMPONENT_FSAL, "FSAL SCALE over %s: %s is kept fresh by %s",
		 backend, CTX_FULLPATH(op_ctx),
		 scale_freshness_mode_name(exp->fresh.mode));
}

fsal_status_t scale_create_export(struct fsal_module *fsal_hdl,
				  void *parse_node,
				  struct config_error_type *err_type,
				  const struct fsal_up_vector *up_ops)
{
	struct scale_freshness fresh;
	struct fsal_module *backend;
	struct scale_export *exp;
	const char *lowest;
	void *backend_node;
	fsal_status_t status;

	if (scale_upcall_is_ours(up_ops)) {
		scale_config_error(parse_node, err_type,
				   "FSAL SCALE on FSAL SCALE, with another "
				   "FSAL between; take one of them away");
		err_type->invalid = true;
		return fsalstat(ERR_FSAL_INVAL, EINVAL);
	}
	backend =
		find_backend(parse_node, &backend_node, NULL, &fresh, err_type);
	if (backend == NULL)
		return fsalstat(ERR_FSAL_INVAL, EINVAL);

	exp = new_export(fsal_hdl, backend, backend_node, &fresh, up_ops);
	if (!claim(exp, backend->name, parse_node, err_type)) {
		scale_stats_retire(exp->stats);
		fsal_put(backend);
		return fsalstat(ERR_FSAL_INVAL, EINVAL);
	}

	status = backend->m_ops.create_export(backend, backend_node, err_type,
					      &exp->upcall.ops);
	if (FSAL_IS_ERROR(status)) {
		scale_config_error(backend_node, err_type,
				   "FSAL SCALE: the backend %s cannot export "
				   "%s: %s",
				   backend->name, CTX_FULLPATH(op_ctx),
				   status.major == ERR_FSAL_INVAL ?
					   "its parameters were refused, see "
					   "the messages above" :
					   msg_fsal_err(status.major));
		/* The memory stays: the backend may have begun up-calls. */
		scale_stats_retire(exp->stats);
		scale_cache_leave(exp);
		fsal_put(backend);
		return status;
	}

	fsal_export_init(&exp->export);
	scale_export_ops_init(&exp->export.exp_ops,
			      &op_ctx->fsal_export->exp_ops);
	fsal_export_stack(op_ctx->fsal_export, &exp->export);
	scale_abilities_read(exp);
	lowest = lowest_backend(exp);
	exp->per_user = scale_decides_per_user(lowest);
	exp->needs_names = strcasecmp(lowest, "VFS") == 0;
	exp->lends_handles = strcasecmp(lowest, "MEM") == 0;
	exp->keeps_listed = strcasecmp(lowest, "GLUSTER") == 0;
	exp->rounds_change = exp->keeps_listed;
	exp->pools_fds = fds_of(lowest);
	exp->handle_bytes = charge_of(lowest);
	join_cache(exp, backend->name);
	if (exp->cached && exp->fresh.mode == SCALE_NOTIFY)
		scale_notify_join(exp);
	scale_upcall_open(&exp->upcall);
	op_ctx->fsal_export = &exp->export;
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

/* Times to live may change while an export is served. */
static void update_own(struct scale_export *exp,
		       const struct scale_freshness *fresh)
{
	scale_cache_reclaim(exp, fresh);
	scale_abilities_read(exp);
}

fsal_status_t scale_update_export(struct fsal_module *fsal_hdl,
				  void *parse_node,
				  struct config_error_type *err_type,
				  struct fsal_export *original,
				  struct fsal_module *updated_super)
{
	struct scale_freshness fresh;
	struct fsal_module *backend;
	struct fsal_export *above;
	void *backend_node;
	fsal_status_t status;

	/* Is SCALE still where it was? */
	status = update_export(fsal_hdl, parse_node, err_type, original,
			       updated_super);
	if (FSAL_IS_ERROR(status))
		return status;

	backend = find_backend(parse_node, &backend_node,
			       &scale_export(original)->said, &fresh, err_type);
	if (backend == NULL)
		return fsalstat(ERR_FSAL_INVAL, EINVAL);

	if (fresh.automatic && scale_export(original)->said.automatic)
		fresh.mode = scale_export(original)->said.mode;
	if (!scale_freshness_alike(&scale_export(original)->said, &fresh)) {
		scale_config_error(
			parse_node, err_type,
			"FSAL SCALE: the Freshness of an export "
			"cannot be changed from %s to %s while it is "
			"served; remove the export and add it",
			scale_freshness_mode_name(
				scale_export(original)->said.mode),
			scale_freshness_mode_name(fresh.mode));
		err_type->invalid = true;
		status = fsalstat(ERR_FSAL_INVAL, EINVAL);
	} else if (backend != original->sub_export->fsal) {
		scale_config_error(backend_node, err_type,
				   "FSAL SCALE: the backend of an export "
				   "cannot be changed from %s to %s while it "
				   "is served; remove the export and add it",
				   original->sub_export->fsal->name,
				   backend->name);
		err_type->invalid = true;
		status = fsalstat(ERR_FSAL_INVAL, EINVAL);
	} else {
		above = scale_enter(original->sub_export);
		status = backend->m_ops.update_export(backend, backend_node,
						      err_type,
						      original->sub_export,
						      fsal_hdl);
		scale_up(above);
		if (!FSAL_IS_ERROR(status))
			update_own(scale_export(original), &fresh);
	}
	/* The export keeps the reference of its creation. */
	fsal_put(backend);
	return status;
}
