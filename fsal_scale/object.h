/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file object.h
 * @brief Objects as MDCACHE holds them, and the backend's objects below
 *
 * MDCACHE makes and frees SCALE's objects at will, so they are thin: a key, and
 * what Ganesha wants to find in each object. Most of them have no object of
 * the backend. When an operation needs one it is looked for in the handle
 * pool, or made from the key (the wire handle is in it), used, and given back:
 *
 *	struct scale_use use;
 *	fsal_status_t status = scale_use_begin(&use, obj_hdl, SCALE_OP_COMMIT);
 *
 *	if (FSAL_IS_ERROR(status))
 *		return status;
 *	status = use.sub->obj_ops->commit2(use.sub, offset, len);
 *	return scale_use_end(&use, status);
 *
 * Between begin and end the backend's export is the current one.
 *
 * A backend keeps share reservations in its object, and closes a state by it.
 * So while a file is open or locked with a state, our object holds the
 * backend's (scale_obj_hold(), scale_obj_unhold()), and the entry is pinned in
 * the file tier.
 *
 * Some objects own a backend's object for life: those of an export that caches
 * nothing, and those whose wire handle cannot be told from their key.
 */
#ifndef SCALE_OBJECT_H
#define SCALE_OBJECT_H

#include "scale.h"

struct scale_obj {
	struct fsal_obj_handle obj;
	/** owned for life, or NULL */
	struct fsal_obj_handle *own;
	/* under obj.obj_lock: */
	/** the backend's, while there are holders or users */
	struct mdx_handle *held;
	/** states that have it open or locked */
	struct glist_head holders;
	/** operations that use what is held */
	uint32_t users;
	/** the engine keeps the entry in the file tier; with held */
	bool pinned;
	/** see live.h; null where changes are not announced */
	struct glist_head live;

	/** MDCACHE has been given this directory's names in the backend's own
	 * order; see dirents.c */
	atomic_bool foreign_order;
	/** when MDCACHE is told to drop this directory's names; see
	 * names_above.h */
	_Atomic uint64_t names_due;
	/** a special file of VFS's that came without its directory and name:
	 * nothing can be done with it, and trying ends the server */
	bool nameless;
	/** the slot of the export that made it; see cache.h */
	uint8_t slot;
	/** of the backend's key; behind it is the id (SCALE_KEY_ID_BYTES) */
	uint8_t key_len;
	char key[];
};

static inline struct scale_obj *scale_obj(const struct fsal_obj_handle *obj_hdl)
{
	return container_of(obj_hdl, struct scale_obj, obj);
}

/** The key by which the engine knows an object. */
static inline struct mdx_key scale_obj_key(const struct scale_obj *obj)
{
	return (struct mdx_key){ obj->key, obj->key_len, obj->slot };
}

/** Is that its key, of the same backend? */
static inline bool scale_obj_has_key(const struct scale_obj *obj,
				     const void *key, size_t len)
{
	return len == obj->key_len && memcmp(key, obj->key, len) == 0;
}

/** Are these the same object of the backend? */
static inline bool scale_obj_same(const struct scale_obj *a,
				  const struct scale_obj *b)
{
	return a->slot == b->slot && scale_obj_has_key(a, b->key, b->key_len);
}

/** Sockets and devices: the engine knows their names, but not them. */
static inline bool scale_obj_special(object_file_type_t type)
{
	return type == SOCKET_FILE || type == CHARACTER_FILE ||
	       type == BLOCK_FILE;
}

/** Is this object one that the engine may know? */
static inline bool scale_obj_cached(const struct scale_obj *obj)
{
	return obj->own == NULL;
}

/** May the engine have a name for it? */
static inline bool scale_obj_nameable(const struct scale_obj *obj)
{
	return scale_obj_cached(obj) || scale_obj_special(obj->obj.type);
}

/** The export of the current request; NULL where there is none. */
static inline struct scale_export *scale_current(void)
{
	if (op_ctx == NULL || op_ctx->fsal_export == NULL ||
	    op_ctx->fsal_export->fsal != &SCALE.module)
		return NULL;
	return scale_export(op_ctx->fsal_export);
}

/* --- Making objects ------------------------------------------------------ */

/**
 * @brief Make an object of what the engine knows
 *
 * @return NULL when it cannot be made: the type is unknown, or the object's
 *         file system is none that this export's backend has shown us, so that
 *         only the backend can say whether it belongs to the export.
 */
struct scale_obj *scale_obj_from_answer(struct scale_export *exp,
					const struct mdx_answer *answer);

/**
 * @brief Has this export's backend shown the file system of an object?
 *
 * @return true, too, when it is not known which one that is.
 */
bool scale_obj_belongs(struct scale_export *exp,
		       const struct mdx_answer *answer);

/** What a backend returned, and what is to become of it. */
struct scale_found {
	/** taken over */
	struct fsal_obj_handle *sub;
	/** what the backend said of it; may be NULL */
	const struct fsal_attrlist *attrs;
	/** taken before the backend was asked; 0: store nothing */
	uint64_t ticket;
	/** one of many: the handle pool takes it only where it has room */
	bool listed;
};

/**
 * @brief Make an object of a backend's, and remember what is known of it
 *
 * The backend's object goes into the handle pool, or is released.
 *
 * @return The object; never NULL.
 */
struct scale_obj *scale_obj_adopt(struct scale_export *exp,
				  const struct scale_found *found);

/**
 * @brief The same for an object that was opened with a state
 *
 * @return An error where the open conflicts with another one's share
 *         reservation: the state has been closed, and the object released.
 */
fsal_status_t scale_obj_adopt_opened(struct scale_export *exp,
				     const struct scale_found *found,
				     struct state_t *state,
				     struct scale_obj **obj);

/** @brief What FSAL's release does. Never blocks. */
void scale_obj_free(struct scale_obj *obj);

/** @brief What FSAL's merge does: @a dupe is about to be released. */
fsal_status_t scale_obj_merge(struct scale_obj *obj, struct scale_obj *dupe);

/* --- Using the backend's object ------------------------------------------ */

/** The backend's object, while an operation needs it. */
struct scale_ref {
	struct fsal_obj_handle *sub;
	struct scale_obj *held_by;
	struct mdx_handle *handle;
};

/**
 * @brief Get hold of the backend's object
 *
 * @param[in,out] attrs  Where the object has to be made, the backend gives its
 *                       attributes at the same price: they are fetched into
 *                       this list and *fetched is set. May be NULL.
 * @param[out]    fetched  May be NULL when @a attrs is
 *
 * @return ERR_FSAL_STALE and others, as the backend's create_handle.
 */
fsal_status_t scale_ref_get(struct scale_ref *ref, struct scale_export *exp,
			    struct scale_obj *obj, struct fsal_attrlist *attrs,
			    bool *fetched);
void scale_ref_put(struct scale_ref *ref);

/** @brief A backend that says it succeeded and returns nothing has not. */
static inline fsal_status_t scale_no_null(fsal_status_t status,
					  const struct fsal_obj_handle *sub)
{
	if (FSAL_IS_ERROR(status) || sub != NULL)
		return status;
	LogCrit(COMPONENT_FSAL,
		"FSAL %s reported success and returned no object",
		op_ctx->fsal_export->fsal->name);
	return fsalstat(ERR_FSAL_SERVERFAULT, 0);
}

/**
 * @brief Make an object of the backend from a handle
 *
 * The backend's export must be current. The object is the caller's to release.
 */
fsal_status_t scale_sub_create(struct scale_export *exp,
			       struct gsh_buffdesc *fh_desc,
			       struct fsal_obj_handle **sub,
			       struct fsal_attrlist *attrs);

/** The backend's object only if there is one already; no call is made. */
bool scale_ref_get_pooled(struct scale_ref *ref, struct scale_obj *obj);

/** A call of the backend: who is asked, and when it began. */
struct scale_call {
	struct scale_export *exp;
	struct fsal_export *above;
	uint64_t began;
};

/** @brief Make the backend's export current, and start the clock. */
static inline struct scale_call scale_call_begin(struct scale_export *exp)
{
	struct scale_call call = { .exp = exp };

	call.above = scale_enter(exp->export.sub_export);
	call.began = scale_stats_begin();
	return call;
}

static inline void scale_call_end(const struct scale_call *call,
				  enum scale_op op, fsal_status_t status)
{
	scale_up(call->above);
	scale_stats_backend(call->exp->stats, op, call->began,
			    FSAL_IS_ERROR(status) &&
				    status.major != ERR_FSAL_NOENT);
}

/** One operation on one object that is passed on to the backend. */
struct scale_use {
	struct fsal_obj_handle *sub;
	struct scale_obj *obj;
	struct scale_ref ref;
	struct scale_call call;
	enum scale_op op;
};

fsal_status_t scale_use_begin(struct scale_use *use,
			      struct fsal_obj_handle *obj_hdl,
			      enum scale_op op);

/** @return @a status; on ERR_FSAL_STALE the object is forgotten. */
fsal_status_t scale_use_end(struct scale_use *use, fsal_status_t status);

/**
 * @brief A state was used to open or to lock: hold the backend's object
 *
 * @param[in]     state  NULL does nothing; so does one that holds it already
 * @param[in,out] ref    That of the operation; what it has may be taken over
 */
void scale_obj_hold(struct scale_obj *obj, struct state_t *state,
		    struct scale_ref *ref);

/** @brief The state is closed. */
void scale_obj_unhold(struct scale_obj *obj, struct state_t *state);

/** @brief The backend says that the object is gone. */
void scale_obj_gone(struct scale_export *exp, struct scale_obj *obj);

#endif /* SCALE_OBJECT_H */
