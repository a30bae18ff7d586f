/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file scale.h
 * @brief What the parts of FSAL_SCALE share
 *
 * SCALE stands between MDCACHE and a backend FSAL:
 *
 *     MDCACHE export    super_export of ours; its up vector is told of changes
 *     struct scale_export
 *     backend export    sub_export of ours; VFS, PROXY_V4, MEM, GLUSTER, ...
 *
 * A method is answered from memory (the engine, mdcache_ext), where its truth
 * is known; otherwise it goes down to the backend's method of the same name,
 * and what the backend says is remembered (learn.h). Two rules hold on every
 * path, callbacks included:
 *
 * - While code of a layer runs, op_ctx->fsal_export is that layer's export:
 *   scale_down() before a call down, scale_up() after it, the reverse around
 *   a call up.
 * - What goes up carries SCALE's objects and keys, what goes down the
 *   backend's.
 *
 * One object serves every export that has the same key, so no method may
 * assume that the export which made an object is the one now asked: the
 * backend's export is always taken from op_ctx or from the method's argument.
 */
#ifndef SCALE_H
#define SCALE_H

#include "config.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "fsal.h"
#include "FSAL/fsal_commonlib.h"
#include "FSAL/fsal_init.h"
#include "fsal_up.h"

#include "mdcache_ext.h"

#include "scale_config.h"
#include "compat.h"
#include "freshness.h"
#include "stats.h"

/** Name of the FSAL, and so of its module (libfsalscale.so) and its blocks. */
#define SCALE_NAME "SCALE"

/**
 * Bytes that SCALE appends to a backend's key. MDCACHE looks objects up by
 * (FSAL module, key), and the module is SCALE for all of them, so the backend
 * must be told from the key itself. FSAL_KEY_EXTRA_BYTES (8) leaves room for
 * it beside CEPH's own 2.
 */
#define SCALE_KEY_ID_BYTES sizeof(uint32_t)

/** The longest key: a handle of NFSv4, what a backend adds, and our id. */
#define SCALE_KEY_MAX (NFS4_FHSIZE + FSAL_KEY_EXTRA_BYTES)

struct scale_module {
	struct fsal_module module;
	struct fsal_obj_ops obj_ops;
	/** of all exports; NULL until the first one. See cache.h */
	struct mdx *cache;
	struct scale_config config;
	/** the SCALE block has been read without error */
	bool configured;
	/** the configuration that was last tried; Ganesha numbers them */
	uint64_t generation;
};

extern struct scale_module SCALE;

/** What a backend calls up through; see upcall.c. */
struct scale_upcall {
	/** given to the backend */
	struct fsal_up_vector ops;
	/** MDCACHE's vector, which events go on to */
	struct fsal_up_vector *super;
	/** ends each key; see scale_backend_id() */
	uint32_t backend_id;
	/** in the list of open vectors */
	struct glist_head node;
	/** events on their way, and whether closed */
	atomic_uint busy;
};

/** File systems that one export may span and be served from memory. */
#define SCALE_FS_MAX 32

/** A file system of an export; see object.c. */
struct scale_fs {
	fsal_fsid_t fsid;
	struct fsal_filesystem *_Atomic fs;
	/** the kernel tells of its changes; see notify.h */
	atomic_bool watched;
};

/** What an export can do, as its backend said; see fsinfo.c. */
struct scale_abilities {
	uint64_t supports; /**< bits of fsal_fsinfo_options_t */
	uint64_t maxfilesize;
	uint32_t maxread;
	uint32_t maxwrite;
	uint32_t maxlink;
	uint32_t maxnamelen;
	uint32_t maxpathlen;
	uint32_t umask;
	int32_t expiretimeparent;
	fsal_aclsupp_t acl_support;
	/** root, and nobody else, is its superuser */
	bool plain_superuser;
};

/** How an export's space was, a moment ago; see fsinfo.c. */
struct scale_space {
	pthread_mutex_t lock;
	fsal_fsid_t fsid;
	uint64_t until_ns; /**< CLOCK_MONOTONIC */
	fsal_dynamicfsinfo_t info;
};

/** Never freed, for the sake of late up-calls. */
struct scale_export {
	struct fsal_export export;
	struct scale_upcall upcall;
	/** as configured, and as agreed with exports that share objects */
	struct scale_freshness said;
	struct scale_freshness fresh;
	struct scale_stats *stats;
	/** it has a slot of the engine; see cache.h */
	bool cached;
	uint8_t slot;
	struct glist_head slot_node;
	struct glist_head claim_node;
	/** among those whose file systems are watched; see notify.h */
	struct glist_head notify_node;
	/** clients may ask it already; under the lock of the watches */
	bool notify_served;
	/** releases of pooled objects that use it as their export */
	atomic_uint borrowed;
	/** create_handle lends its object, release takes a reference (MEM) */
	bool lends_handles;
	/** special files are found by name only (VFS) */
	bool needs_names;
	/** gfapi forgets an object that is released, and asks the bricks about
	 * the next one of the same, and no up-call comes for it meanwhile */
	bool keeps_listed;
	/** what an object of the backend is charged at in the pool */
	uint32_t handle_bytes;
	/** the same change attribute comes in nanoseconds with some calls, and
	 * in seconds with others (GLUSTER) */
	bool rounds_change;
	/** descriptors that stay open in an object after stateless I/O */
	uint32_t pools_fds;
	/** the backend decides who may search a directory; see permit.h */
	bool per_user;
	struct scale_abilities abilities;
	struct scale_space space;
	/** attributes that the backend can give, and those it has given */
	attrmask_t supported;
	_Atomic attrmask_t provided;
	/** bytes of a key behind the wire handle; -1: not seen yet */
	atomic_int key_rest;
	/** nanoseconds that the backend takes; 0: not measured. See prefetch.h */
	_Atomic uint64_t lookup_ns;
	_Atomic uint64_t attrs_ns;
	_Atomic uint64_t scan_ns;
	pthread_mutex_t fs_lock;
	atomic_uint fs_count;
	struct scale_fs fs[SCALE_FS_MAX];
};

/** @brief Is a backend among those of these names? */
static inline bool scale_is_one_of(const char *backend,
				   const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcasecmp(backend, names[i]) == 0)
			return true;
	}
	return false;
}

static inline struct scale_export *scale_export(struct fsal_export *exp_hdl)
{
	assert(exp_hdl->fsal == &SCALE.module);
	return container_of(exp_hdl, struct scale_export, export);
}

/**
 * @brief Make @a exp the current export
 *
 * At shutdown Ganesha releases objects and exports without a context; then
 * there is nothing to switch.
 *
 * @return What to hand to scale_up() when the call has returned.
 */
static inline struct fsal_export *scale_enter(struct fsal_export *exp)
{
	struct fsal_export *prev;

	if (op_ctx == NULL)
		return NULL;
	prev = op_ctx->fsal_export;
	op_ctx->fsal_export = exp;
	return prev;
}

/** @brief Undo scale_enter() or scale_down(). */
static inline void scale_up(struct fsal_export *prev)
{
	if (op_ctx != NULL)
		op_ctx->fsal_export = prev;
}

/**
 * @brief Go down: make the backend's export of the current export current
 *
 * Where the current export is not one of SCALE's (it is none while MDCACHE
 * drops an object with a context that has no export) it is left alone.
 *
 * @return What to hand to scale_up() when the call has returned.
 */
static inline struct fsal_export *scale_down(void)
{
	struct fsal_export *cur;

	if (op_ctx == NULL)
		return NULL;
	cur = op_ctx->fsal_export;
	if (likely(cur != NULL && cur->fsal == &SCALE.module))
		op_ctx->fsal_export = cur->sub_export;
	return cur;
}

/**
 * @brief Append a backend's id to a key
 *
 * @param[in,out] key  The backend's key, with SCALE_KEY_ID_BYTES of room
 *                     behind it
 * @param[in]     id   From the export
 */
static inline void scale_key_append(struct gsh_buffdesc *key, uint32_t id)
{
	memcpy((char *)key->addr + key->len, &id, sizeof(id));
	key->len += sizeof(id);
}

/* Each file fills in the methods it has; default_methods.c has filled in the
 * rest.
 */
void scale_obj_ops_init(struct fsal_obj_ops *ops);
void scale_handle_ops_init(struct fsal_obj_ops *ops);
void scale_attribute_ops_init(struct fsal_obj_ops *ops);
void scale_name_ops_init(struct fsal_obj_ops *ops);
void scale_change_ops_init(struct fsal_obj_ops *ops);
void scale_dirent_ops_init(struct fsal_obj_ops *ops);
void scale_file_ops_init(struct fsal_obj_ops *ops);
void scale_xattr_ops_init(struct fsal_obj_ops *ops);
void scale_pnfs_ops_init(struct fsal_obj_ops *ops);

void scale_export_ops_init(struct export_ops *ops,
			   const struct export_ops *below);
void scale_handle_export_ops_init(struct export_ops *ops);
void scale_name_export_ops_init(struct export_ops *ops);
void scale_fsinfo_export_ops_init(struct export_ops *ops,
				  const struct export_ops *below);
void scale_pnfs_export_ops_init(struct export_ops *ops);

/* main.c */

/**
 * @brief Make sure that the SCALE block has been read
 *
 * @param[in]     node      Any block of the configuration being read
 * @param[in,out] err_type  Ganesha's collected errors
 *
 * @return false when there is something wrong with the block.
 */
bool scale_configure(void *node, struct config_error_type *err_type);

/* export.c */

fsal_status_t scale_create_export(struct fsal_module *fsal_hdl,
				  void *parse_node,
				  struct config_error_type *err_type,
				  const struct fsal_up_vector *up_ops);
fsal_status_t scale_update_export(struct fsal_module *fsal_hdl,
				  void *parse_node,
				  struct config_error_type *err_type,
				  struct fsal_export *original,
				  struct fsal_module *updated_super);

/** Does this backend id stand for more than one export? */
bool scale_backend_shared(uint32_t backend_id);

/* fsinfo.c */

/** @brief Ask the backend what an export can do; it is current. */
void scale_abilities_read(struct scale_export *exp);

/* upcall.c */

/** Put SCALE's methods into an up vector. */
void scale_up_ops_init(struct fsal_up_vector *ops);

/**
 * @brief Make the vector that a backend calls up through, closed
 *
 * @param[out] up          Its place in the export
 * @param[in]  exp         The export it belongs to
 * @param[in]  super       MDCACHE's vector
 * @param[in]  backend_id  What to end keys with
 */
void scale_upcall_init(struct scale_upcall *up, struct fsal_export *exp,
		       const struct fsal_up_vector *super, uint32_t backend_id);

/** Is this vector one of SCALE's, that is: is SCALE above already? */
bool scale_upcall_is_ours(const struct fsal_up_vector *vec);

/** @brief Let events through, once the export is complete. */
void scale_upcall_open(struct scale_upcall *up);

/**
 * @brief Begin to tell MDCACHE of changes that were noticed by ourselves
 *
 * By any export that is served with this id: their keys mean the same.
 *
 * @return NULL when nobody is served, and so need not be told.
 */
struct scale_upcall *scale_upcall_begin(uint32_t backend_id);

/**
 * @brief Tell MDCACHE of an object
 *
 * May wait for a request that is under way (FSAL_UP_INVALIDATE_PARENT): not to
 * be called by a request's thread.
 *
 * @param[in] key    The backend's
 * @param[in] flags  FSAL_UP_INVALIDATE_..., without CLOSE
 */
void scale_upcall_tell(struct scale_upcall *up, const void *key, size_t len,
		       uint32_t flags);

/**
 * @brief The same on another thread, from within a request
 *
 * MDCACHE may hold locks of the object that is told of.
 *
 * @param[in] backend_id  As for scale_upcall_begin()
 */
void scale_upcall_tell_later(uint32_t backend_id, const void *key, size_t len,
			     uint32_t flags);

/** @brief Count an invalidation; @a up may be NULL. */
void scale_upcall_count(struct scale_upcall *up, enum scale_source source);

void scale_upcall_end(struct scale_upcall *up);

/**
 * @brief Leave events to other vectors
 *
 * Where exports share their objects: MDCACHE hears nothing by an export that it
 * has begun to take away, not even of what others have.
 */
void scale_upcall_retire(struct scale_upcall *up);

/**
 * @brief Let no more events through
 *
 * Waits for those on their way to end, except when this very thread is
 * bringing one. The vector may have been closed before, or never opened.
 */
void scale_upcall_close(struct scale_upcall *up);

#endif /* SCALE_H */
