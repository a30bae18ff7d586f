// SPDX-License-Identifier: LGPL-3.0-or-later
#include "target.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "export_mgr.h"
#include "nfs_fh.h"

#include "tree.h"

/** An object: the key that the layers above know it by. */
struct target {
	struct gsh_buffdesc key;
	char buf[NFS4_FHSIZE + FSAL_KEY_EXTRA_BYTES];
};

static bool __attribute__((format(printf, 2, 3)))
refuse(struct fault_reason *reason, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason->text, sizeof(reason->text), fmt, args);
	va_end(args);
	return false;
}

static bool refuse_status(struct fault_reason *reason, const char *object,
			  fsal_status_t status)
{
	return refuse(reason, "%.100s: %s", object, msg_fsal_err(status.major));
}

static void set_key(struct target *target, const struct gsh_buffdesc *key)
{
	target->key.addr = target->buf;
	target->key.len = MIN(key->len, sizeof(target->buf));
	memcpy(target->buf, key->addr, target->key.len);
}

static bool read_hex(const char *hex, unsigned char *bytes, size_t size,
		     size_t *len)
{
	unsigned int byte;

	for (*len = 0; hex[0] != '\0'; hex += 2) {
		if (!isxdigit((unsigned char)hex[0]) ||
		    !isxdigit((unsigned char)hex[1]) || *len == size)
			return false;
		/* NOLINTNEXTLINE(cert-err34-c): two digits, checked */
		sscanf(hex, "%2x", &byte);
		bytes[(*len)++] = byte;
	}
	return true;
}

/* A client's handle: Ganesha's head, then the backend's wire handle. */
static bool find_by_handle(struct fsal_export *below, const char *hex,
			   struct target *target, struct fault_reason *reason)
{
	unsigned char bytes[NFS4_FHSIZE];
	const file_handle_v4_t *head = (const file_handle_v4_t *)bytes;
	struct gsh_buffdesc key = { .addr = target->buf };
	fsal_status_t status;
	size_t len;

	if (!read_hex(hex, bytes, sizeof(bytes), &len) || len < sizeof(*head) ||
	    sizeof(*head) + head->fs_len > len)
		return refuse(reason,
			      "%.100s is neither a path (/...) nor a file "
			      "handle in hex",
			      hex);
	key.len = head->fs_len;
	memcpy(target->buf, head->fsopaque, key.len);
	status = below->exp_ops.wire_to_host(below, FSAL_DIGEST_NFSV4, &key,
					     head->fhflags1);
	if (!FSAL_IS_ERROR(status))
		status = below->exp_ops.host_to_key(below, &key);
	if (FSAL_IS_ERROR(status))
		return refuse_status(reason, hex, status);
	target->key = key;
	return true;
}

/* Walk a path; the object is found even where it is hidden. */
static bool find_in_tree(struct tree_export *exp, const char *path,
			 struct target *target, struct fault_reason *reason)
{
	char copy[2 * TREE_NAME_SIZE + 2];
	uint64_t number = TREE_ROOT;
	struct tree_handle handle;
	struct gsh_buffdesc key = { .addr = &handle, .len = sizeof(handle) };
	char *rest = copy;
	char *name;

	snprintf(copy, sizeof(copy), "%s", path);
	while (number != 0 && (name = strsep(&rest, "/")) != NULL) {
		if (name[0] == '\0')
			continue;
		if (tree_type(&exp->shape, number) != TREE_DIRECTORY)
			number = 0;
		else
			number = tree_lookup(&exp->shape, number, name);
	}
	if (number == 0 || strlen(path) >= sizeof(copy))
		return refuse(reason, "%.100s: no such object in the tree",
			      path);
	tree_make_handle(exp->id, number, &handle);
	set_key(target, &key);
	return true;
}

/* Walk a path in the backend, as root. */
static bool find_in_backend(struct fsal_export *below, const char *path,
			    struct target *target, struct fault_reason *reason)
{
	struct fsal_obj_handle *obj = NULL;
	char *copy = gsh_strdup(path);
	char *rest = copy;
	char *name;
	struct gsh_buffdesc key = { .addr = NULL };
	fsal_status_t status;

	status = below->exp_ops.lookup_path(below, CTX_FULLPATH(op_ctx), &obj,
					    NULL);
	while (!FSAL_IS_ERROR(status) && (name = strsep(&rest, "/")) != NULL) {
		struct fsal_obj_handle *child = NULL;

		if (name[0] == '\0')
			continue;
		status = obj->obj_ops->lookup(obj, name, &child, NULL);
		obj->obj_ops->release(obj);
		obj = child;
	}
	gsh_free(copy);
	if (FSAL_IS_ERROR(status) || obj == NULL)
		return refuse_status(reason, path, status);
	obj->obj_ops->handle_to_key(obj, &key);
	set_key(target, &key);
	obj->obj_ops->release(obj);
	return true;
}

static bool find(struct fault_export *exp, const char *object,
		 struct target *target, struct fault_reason *reason)
{
	struct fsal_export *below = exp->export.sub_export;
	struct req_op_context context;
	bool found;

	/* The context's end gives the reference back. */
	get_gsh_export_ref(exp->export.owning_export);
	init_op_context_simple(&context, exp->export.owning_export, below);
	if (object[0] != '/')
		found = find_by_handle(below, object, target, reason);
	else if (tree_is_module(below->fsal))
		found = find_in_tree(tree_export(below), object, target,
				     reason);
	else
		found = find_in_backend(below, object, target, reason);
	release_op_context();
	return found;
}

bool target_invalidate(uint16_t export_id, const char *object, uint32_t flags,
		       struct fault_reason *reason)
{
	struct fault_export *exp = fault_get_export(export_id);
	const struct fsal_up_vector *up;
	struct target target = { .key = { .addr = NULL } };
	fsal_status_t status;
	bool done;

	if (exp == NULL)
		return refuse(reason, "no FAULT export %u", export_id);
	done = find(exp, object, &target, reason);
	if (done) {
		up = exp->export.up_ops;
		status = up->invalidate(up, &target.key, flags);
		if (FSAL_IS_ERROR(status))
			done = refuse_status(reason, object, status);
	}
	put_gsh_export(exp->export.owning_export);
	return done;
}

static bool change_in_tree(struct tree_export *exp, struct target *target,
			   enum target_change change,
			   struct fault_reason *reason)
{
	struct changes *changes = &exp->changes;
	uint64_t number;
	bool room;

	if (!tree_read_handle(target->key.addr, target->key.len, exp->id,
			      &number) ||
	    number < TREE_ROOT || number > tree_last(&exp->shape))
		return refuse(reason, "no such object in the tree");
	if (change == TARGET_BUMP)
		room = changes_bump(changes, number);
	else
		room = changes_hide(changes, number, change == TARGET_HIDE) &&
		       changes_bump(changes, tree_parent(&exp->shape, number));
	return room || refuse(reason,
			      "%d objects of the tree are changed already, and "
			      "no more can be",
			      CHANGES_MAX);
}

bool target_change(uint16_t export_id, const char *object,
		   enum target_change change, struct fault_reason *reason)
{
	struct fault_export *exp = fault_get_export(export_id);
	struct target target = { .key = { .addr = NULL } };
	bool done;

	if (exp == NULL)
		return refuse(reason, "no FAULT export %u", export_id);
	if (!tree_is_module(exp->export.sub_export->fsal))
		done = refuse(reason,
			      "export %u has no Tree: change the file system "
			      "below it",
			      export_id);
	else
		done = find(exp, object, &target, reason) &&
		       change_in_tree(tree_export(exp->export.sub_export),
				      &target, change, reason);
	put_gsh_export(exp->export.owning_export);
	return done;
}
