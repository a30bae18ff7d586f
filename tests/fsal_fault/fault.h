/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file fault.h
 * @brief FSAL FAULT: a backend that is slow, limited and faulty on demand
 *
 * For tests and benchmarks only; it is never installed. FAULT is stacked on
 * another FSAL, or it is the backend itself, a tree that is computed:
 *
 *     NFS_Core_Param { Plugins_Dir = "/folder/with/the/modules"; }
 *     FAULT {
 *         Control = "/run/fault.sock";
 *         Initially = "latency all fixed 500; capacity 3000 2";
 *     }
 *     SCALE { }
 *     EXPORT {
 *         Export_Id = 1; Path = "/slow"; Pseudo = "/slow"; ...
 *         FSAL { Name = SCALE; FSAL { Name = FAULT; FSAL { Name = VFS; } } }
 *     }
 *     EXPORT {
 *         Export_Id = 2; Path = "/huge"; Pseudo = "/huge"; ...
 *         FSAL { Name = SCALE;
 *             FSAL { Name = FAULT;
 *                 Tree { Directories = 18000; Files = 1000; }
 *             }
 *         }
 *     }
 *
 * Without SCALE the outer block is left out. The Tree block:
 *
 *     Directories   d00001, d00002, ... in the root           (default 100)
 *     Files         f0001, f0002, ... in each of them         (1000)
 *     Links         l0001, l0002, ... symlinks to the files   (0)
 *     File_Size     bytes of each file                        (16384)
 *     Readdir_Plus  say that readdir brings attributes, as CEPH and GLUSTER
 *                   do and VFS does not                       (true)
 *
 * A readdir is one call for as many names as the layer above takes: MDCACHE
 * takes 128, and one that takes all gets the whole directory in one call.
 *
 * Names, handles, attributes and content follow from a number; nothing is
 * stored but what was changed by bump and hide (see below). The tree is read
 * only: changes get EROFS. For changes stack FAULT on MEM or VFS. The tree
 * stands below FAULT as another backend would.
 *
 * Each object and each export method passes through fault_begin() and
 * fault_end(), and there it is counted, delayed, held, limited or failed.
 *
 * Control: commands are lines of words, sent to the Unix socket that Control
 * names; each is answered by one line of JSON, {"error": "..."} when it was
 * refused. Initially has commands, too, with ; between them. faultctl.py is
 * their Python interface and command line.
 *
 *     counts [EXPORT_ID]    by operation, since reset; of one export, or of all
 *     reset                 counts from 0
 *     info                  operations, exports, what is set, what is held
 *     latency OPS DELAY     each such call takes so much longer
 *     async OPS DELAY       read2, write2: done at once, completed later, on
 *                           another thread
 *     capacity RATE [K]     all calls together: at most RATE per second, by K
 *                           servers (default 1), each call taking one of them
 *                           for K/RATE seconds; the rest wait in a queue
 *     capacity none
 *     fail OPS ERROR [rate P | next N] [after]
 *                           ERROR as STALE, IO, NOENT, DELAY, NOSPC; with the
 *                           probability P, or the next N calls, or all; the
 *                           backend is not asked, or (after) does it and the
 *                           answer is lost
 *     fail OPS none
 *     hold OPS [after]      stop such calls before the backend is asked, or
 *                           after, its answer in hand, until
 *     go                    ends all holds
 *     clear                 no latency, capacity, failure or hold
 *     invalidate EXPORT_ID FLAGS OBJECT
 *                           an up-call; FLAGS: attrs,content,... or cache
 *     bump EXPORT_ID OBJECT a tree's object gets another size, mtime, change
 *     hide EXPORT_ID OBJECT a tree's object is gone: no such name, its handle
 *     show EXPORT_ID OBJECT stale, its directory bumped; and is back
 *
 * OPS is a name, several with commas between, or all: those that a remote
 * backend would need a round trip for (see ops.h). DELAY is none, fixed US,
 * uniform MIN MAX or exponential MEAN, in microseconds. OBJECT is a path below
 * the export's root (/ is the root), or a client's file handle in hex. None of
 * these commands makes an up-call, but invalidate.
 */
#ifndef FAULT_H
#define FAULT_H

#include "config.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fsal.h"
#include "FSAL/fsal_commonlib.h"
#include "FSAL/fsal_init.h"
#include "fsal_up.h"

#include "compat.h"
#include "ops.h"

#define FAULT_NAME "FAULT"

struct fault_module {
	struct fsal_module module;
	struct fsal_obj_ops obj_ops;
};

extern struct fault_module FAULT;

/** Calls and injected errors by operation. */
struct fault_counts {
	atomic_uint_fast64_t calls[FAULT_NUM_OPS];
	atomic_uint_fast64_t failed[FAULT_NUM_OPS];
};

struct fault_export {
	struct fsal_export export;
	struct fault_counts counts;
	/** in the list of exports; see count.c */
	struct glist_head node;
};

/** An object of the backend's with FAULT's methods. */
struct fault_obj {
	struct fsal_obj_handle obj;
	struct fsal_obj_handle *sub;
};

static inline struct fault_export *fault_export(struct fsal_export *exp_hdl)
{
	return container_of(exp_hdl, struct fault_export, export);
}

static inline struct fsal_obj_handle *
fault_sub(const struct fsal_obj_handle *obj_hdl)
{
	return container_of(obj_hdl, const struct fault_obj, obj)->sub;
}

/** One call on its way through FAULT. */
struct fault_call {
	enum fault_op op;
	/** the current export, to be restored; NULL without a context */
	struct fsal_export *above;
	/** whose counts these are */
	struct fault_counts *counts;
	/** the error to answer with, or ERR_FSAL_NO_ERROR */
	fsal_errors_t error;
};

/* inject.c */

/**
 * @brief Begin a method: count it, delay it, go down
 *
 * Makes the export below FAULT's the current one.
 *
 * @param[out] call  For fault_end()
 * @param[in]  op    The method
 * @param[in]  exp   The export, or NULL: the one in op_ctx
 *
 * @return false: fail it without asking the backend.
 */
bool fault_begin(struct fault_call *call, enum fault_op op,
		 struct fsal_export *exp);

/** @brief As fault_begin(), for a method that has no error to return. */
void fault_begin_sure(struct fault_call *call, enum fault_op op,
		      struct fsal_export *exp);

/**
 * @brief Will the answer be an error?
 *
 * Holds the answer back when it is to be held. @return @a status, or the error
 * to answer with.
 */
fsal_status_t fault_answer(struct fault_call *call, fsal_status_t status);

/** @brief Go up again. */
static inline void fault_up(const struct fault_call *call)
{
	if (op_ctx != NULL)
		op_ctx->fsal_export = call->above;
}

/** @brief End a method: fault_answer(), fault_up(). */
static inline fsal_status_t fault_end(struct fault_call *call,
				      fsal_status_t status)
{
	status = fault_answer(call, status);
	fault_up(call);
	return status;
}

/* count.c */

/** Counts without an export, and those of exports that are gone. */
extern struct fault_counts fault_others;

void fault_count_export(struct fault_export *exp);
void fault_forget_export(struct fault_export *exp);

/**
 * @brief Find a FAULT export
 *
 * @return The export, with a reference to Ganesha's export that put_gsh_export
 *         (of @a exp->export.owning_export) gives back; or NULL.
 */
struct fault_export *fault_get_export(uint16_t export_id);

/* object.c, file.c, export_ops.c: methods */

/** @brief Wrap an object of the backend; it is released with the wrapper. */
struct fsal_obj_handle *fault_wrap(struct fsal_obj_handle *sub);

/**
 * @brief End a method that makes an object
 *
 * @param[in]     call    The method
 * @param[in]     status  What the backend said
 * @param[in]     sub     The object it made, on success
 * @param[out]    new_obj The wrapped object, or NULL after an error
 * @param[in,out] attrs   Attributes of the object, may be NULL
 */
fsal_status_t fault_end_new(struct fault_call *call, fsal_status_t status,
			    struct fsal_obj_handle *sub,
			    struct fsal_obj_handle **new_obj,
			    struct fsal_attrlist *attrs);

void fault_object_ops_init(struct fsal_obj_ops *ops);
void fault_file_ops_init(struct fsal_obj_ops *ops);
void fault_export_ops_init(struct export_ops *ops);

/* export.c */

fsal_status_t fault_create_export(struct fsal_module *fsal_hdl,
				  void *parse_node,
				  struct config_error_type *err_type,
				  const struct fsal_up_vector *up_ops);
fsal_status_t fault_update_export(struct fsal_module *fsal_hdl,
				  void *parse_node,
				  struct config_error_type *err_type,
				  struct fsal_export *original,
				  struct fsal_module *updated_super);
void fault_export_release(struct fsal_export *exp_hdl);

#endif /* FAULT_H */
