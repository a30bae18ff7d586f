// SPDX-License-Identifier: LGPL-3.0-or-later
#include "fake_backend.h"

#include <stdlib.h>

struct fake_call fake_call;
struct fake_call fake_update;
uintptr_t fake_return;
uintptr_t (*fake_answer)(void);
unsigned int fake_calls;
struct fake_obj *fake_made;
unsigned int fake_released;
bool fake_fail_create;
fsal_errors_t fake_fail_status = ERR_FSAL_ACCESS;
size_t fake_key_len;
struct fsal_obj_handle *fake_open_returns;
fsal_async_cb fake_io_cb;
void *fake_io_arg;

static struct fsal_obj_ops fake_obj_ops;

static void note(const char *method)
{
	fake_forget();
	fake_calls++;
	fake_call.method = method;
	fake_call.ctx_export = op_ctx != NULL ? op_ctx->fsal_export : NULL;
}

/*
 * One recording function a slot. They are called through pointers of other
 * types, with fewer arguments: integers and pointers alike travel in registers
 * or in words of the stack, so what was not passed is merely noise.
 */
#define RECORD(kind, n)                                                   \
	static uintptr_t fake_##kind##_##n(uintptr_t a0, uintptr_t a1,    \
					   uintptr_t a2, uintptr_t a3,    \
					   uintptr_t a4, uintptr_t a5,    \
					   uintptr_t a6, uintptr_t a7,    \
					   uintptr_t a8, uintptr_t a9)    \
	{                                                                 \
		const uintptr_t args[FAKE_ARGS] = { a0, a1, a2, a3, a4,   \
						    a5, a6, a7, a8, a9 }; \
		note(kind##_vector.names[n]);                             \
		memcpy(fake_call.arg, args, sizeof(args));                \
		return fake_answer != NULL ? fake_answer() : fake_return; \
	}

RECORD(obj, 0)
RECORD(obj, 1)
RECORD(obj, 2)
RECORD(obj, 3)
RECORD(obj, 4)
RECORD(obj, 5)
RECORD(obj, 6)
RECORD(obj, 7)
RECORD(obj, 8)
RECORD(obj, 9)
RECORD(obj, 10)
RECORD(obj, 11)
RECORD(obj, 12)
RECORD(obj, 13)
RECORD(obj, 14)
RECORD(obj, 15)
RECORD(obj, 16)
RECORD(obj, 17)
RECORD(obj, 18)
RECORD(obj, 19)
RECORD(obj, 20)
RECORD(obj, 21)
RECORD(obj, 22)
RECORD(obj, 23)
RECORD(obj, 24)
RECORD(obj, 25)
RECORD(obj, 26)
RECORD(obj, 27)
RECORD(obj, 28)
RECORD(obj, 29)
RECORD(obj, 30)
RECORD(obj, 31)
RECORD(obj, 32)
RECORD(obj, 33)
RECORD(obj, 34)
RECORD(obj, 35)
RECORD(obj, 36)
RECORD(obj, 37)
RECORD(obj, 38)
RECORD(obj, 39)
RECORD(obj, 40)
RECORD(obj, 41)
RECORD(obj, 42)
RECORD(obj, 43)
RECORD(obj, 44)
RECORD(obj, 45)
RECORD(obj, 46)
RECORD(obj, 47)
RECORD(obj, 48)
RECORD(obj, 49)
RECORD(obj, 50)
RECORD(obj, 51)
RECORD(obj, 52)

static const slot_fn obj_fakes[] = {
	(slot_fn)fake_obj_0,  (slot_fn)fake_obj_1,  (slot_fn)fake_obj_2,
	(slot_fn)fake_obj_3,  (slot_fn)fake_obj_4,  (slot_fn)fake_obj_5,
	(slot_fn)fake_obj_6,  (slot_fn)fake_obj_7,  (slot_fn)fake_obj_8,
	(slot_fn)fake_obj_9,  (slot_fn)fake_obj_10, (slot_fn)fake_obj_11,
	(slot_fn)fake_obj_12, (slot_fn)fake_obj_13, (slot_fn)fake_obj_14,
	(slot_fn)fake_obj_15, (slot_fn)fake_obj_16, (slot_fn)fake_obj_17,
	(slot_fn)fake_obj_18, (slot_fn)fake_obj_19, (slot_fn)fake_obj_20,
	(slot_fn)fake_obj_21, (slot_fn)fake_obj_22, (slot_fn)fake_obj_23,
	(slot_fn)fake_obj_24, (slot_fn)fake_obj_25, (slot_fn)fake_obj_26,
	(slot_fn)fake_obj_27, (slot_fn)fake_obj_28, (slot_fn)fake_obj_29,
	(slot_fn)fake_obj_30, (slot_fn)fake_obj_31, (slot_fn)fake_obj_32,
	(slot_fn)fake_obj_33, (slot_fn)fake_obj_34, (slot_fn)fake_obj_35,
	(slot_fn)fake_obj_36, (slot_fn)fake_obj_37, (slot_fn)fake_obj_38,
	(slot_fn)fake_obj_39, (slot_fn)fake_obj_40, (slot_fn)fake_obj_41,
	(slot_fn)fake_obj_42, (slot_fn)fake_obj_43, (slot_fn)fake_obj_44,
	(slot_fn)fake_obj_45, (slot_fn)fake_obj_46, (slot_fn)fake_obj_47,
	(slot_fn)fake_obj_48, (slot_fn)fake_obj_49, (slot_fn)fake_obj_50,
	(slot_fn)fake_obj_51, (slot_fn)fake_obj_52,
};

RECORD(export, 0)
RECORD(export, 1)
RECORD(export, 2)
RECORD(export, 3)
RECORD(export, 4)
RECORD(export, 5)
RECORD(export, 6)
RECORD(export, 7)
RECORD(export, 8)
RECORD(export, 9)
RECORD(export, 10)
RECORD(export, 11)
RECORD(export, 12)
RECORD(export, 13)
RECORD(export, 14)
RECORD(export, 15)
RECORD(export, 16)
RECORD(export, 17)
RECORD(export, 18)
RECORD(export, 19)
RECORD(export, 20)
RECORD(export, 21)
RECORD(export, 22)
RECORD(export, 23)
RECORD(export, 24)
RECORD(export, 25)
RECORD(export, 26)
RECORD(export, 27)
RECORD(export, 28)
RECORD(export, 29)
RECORD(export, 30)
RECORD(export, 31)
RECORD(export, 32)
RECORD(export, 33)

static const slot_fn export_fakes[] = {
	(slot_fn)fake_export_0,	 (slot_fn)fake_export_1,
	(slot_fn)fake_export_2,	 (slot_fn)fake_export_3,
	(slot_fn)fake_export_4,	 (slot_fn)fake_export_5,
	(slot_fn)fake_export_6,	 (slot_fn)fake_export_7,
	(slot_fn)fake_export_8,	 (slot_fn)fake_export_9,
	(slot_fn)fake_export_10, (slot_fn)fake_export_11,
	(slot_fn)fake_export_12, (slot_fn)fake_export_13,
	(slot_fn)fake_export_14, (slot_fn)fake_export_15,
	(slot_fn)fake_export_16, (slot_fn)fake_export_17,
	(slot_fn)fake_export_18, (slot_fn)fake_export_19,
	(slot_fn)fake_export_20, (slot_fn)fake_export_21,
	(slot_fn)fake_export_22, (slot_fn)fake_export_23,
	(slot_fn)fake_export_24, (slot_fn)fake_export_25,
	(slot_fn)fake_export_26, (slot_fn)fake_export_27,
	(slot_fn)fake_export_28, (slot_fn)fake_export_29,
	(slot_fn)fake_export_30, (slot_fn)fake_export_31,
	(slot_fn)fake_export_32, (slot_fn)fake_export_33,
};

static struct fsal_obj_handle *make_obj(const char *name,
					object_file_type_t type)
{
	struct fake_obj *self = calloc(1, sizeof(*self));

	self->key_len =
		(size_t)snprintf(self->key, sizeof(self->key), "key-%s", name);
	self->obj.obj_ops = &fake_obj_ops;
	self->obj.type = type;
	self->obj.fileid = 4711;
	self->obj.fsid.major = 8;
	self->obj.fs = (struct fsal_filesystem *)&fake_obj_ops;
	self->obj.fsal = op_ctx->fsal_export->fsal;
	fake_made = self;
	return &self->obj;
}

static fsal_status_t made(void)
{
	return fsalstat(ERR_FSAL_NO_ERROR, 0);
}

/* Attributes are asked for in a list that need not be the caller's own. */
static void fill(struct fsal_attrlist *attrs)
{
	if (attrs == NULL)
		return;
	fake_call.asked = attrs->request_mask;
	attrs->filesize = FAKE_SIZE;
	attrs->valid_mask = ATTR_SIZE;
}

static void fake_release(struct fsal_obj_handle *obj_hdl)
{
	note("release");
	fake_call.arg[0] = (uintptr_t)obj_hdl;
	fake_released++;
	free(container_of(obj_hdl, struct fake_obj, obj));
}

static void fake_handle_to_key(struct fsal_obj_handle *obj_hdl,
			       struct gsh_buffdesc *fh_desc)
{
	struct fake_obj *self = container_of(obj_hdl, struct fake_obj, obj);

	fh_desc->addr = self->key;
	fh_desc->len = self->key_len;
}

static fsal_status_t fake_lookup(struct fsal_obj_handle *dir, const char *name,
				 struct fsal_obj_handle **handle,
				 struct fsal_attrlist *attrs_out)
{
	note("lookup");
	fake_call.arg[0] = (uintptr_t)dir;
	fake_call.arg[1] = (uintptr_t)name;
	if (strcmp(name, "absent") == 0)
		return fsalstat(ERR_FSAL_NOENT, ENOENT);
	if (strcmp(name, "lie") == 0)
		return made();
	fill(attrs_out);
	*handle = make_obj(name, REGULAR_FILE);
	return made();
}

static fsal_status_t fake_mkdir(struct fsal_obj_handle *dir, const char *name,
				struct fsal_attrlist *attrs_in,
				struct fsal_obj_handle **new_obj,
				struct fsal_attrlist *attrs_out)
{
	note("mkdir");
	fake_call.arg[0] = (uintptr_t)dir;
	fake_call.arg[1] = (uintptr_t)attrs_in;
	fill(attrs_out);
	*new_obj = make_obj(name, DIRECTORY);
	return made();
}

static fsal_status_t fake_mknode(struct fsal_obj_handle *dir, const char *name,
				 object_file_type_t nodetype,
				 struct fsal_attrlist *attrs_in,
				 struct fsal_obj_handle **new_obj,
				 struct fsal_attrlist *attrs_out)
{
	note("mknode");
	fake_call.arg[0] = (uintptr_t)dir;
	fake_call.arg[1] = (uintptr_t)attrs_in;
	fill(attrs_out);
	*new_obj = make_obj(name, nodetype);
	return made();
}

static fsal_status_t fake_symlink(struct fsal_obj_handle *dir, const char *name,
				  const char *link_path,
				  struct fsal_attrlist *attrs_in,
				  struct fsal_obj_handle **new_obj,
				  struct fsal_attrlist *attrs_out)
{
	note("symlink");
	fake_call.arg[0] = (uintptr_t)dir;
	fake_call.arg[1] = (uintptr_t)attrs_in;
	fake_call.arg[3] = (uintptr_t)link_path;
	fill(attrs_out);
	*new_obj = make_obj(name, SYMBOLIC_LINK);
	return made();
}

static fsal_status_t
fake_open2(struct fsal_obj_handle *obj, struct state_t *state,
	   fsal_openflags_t openflags, enum fsal_create_mode createmode,
	   const char *name, struct fsal_attrlist *attrs_in,
	   fsal_verifier_t verifier, struct fsal_obj_handle **new_obj,
	   struct fsal_attrlist *attrs_out, bool *caller_perm_check)
{
	note("open2");
	fake_call.arg[0] = (uintptr_t)obj;
	fake_call.arg[1] = (uintptr_t)state;
	fake_call.arg[2] = openflags;
	fake_call.arg[3] = createmode;
	fake_call.arg[4] = (uintptr_t)name;
	fake_call.arg[5] = (uintptr_t)attrs_in;
	fake_call.arg[6] = (uintptr_t)verifier;
	fill(attrs_out);
	fake_call.arg[8] = (uintptr_t)caller_perm_check;
	if (name == NULL)
		*new_obj = fake_open_returns;
	else
		*new_obj = make_obj(name, REGULAR_FILE);
	return made();
}

/* Three names, with the context looked at after each. */
static fsal_status_t fake_readdir(struct fsal_obj_handle *dir,
				  fsal_cookie_t *whence, void *dir_state,
				  fsal_readdir_cb cb, attrmask_t attrmask,
				  bool *eof)
{
	struct fsal_export *mine = op_ctx->fsal_export;
	struct fsal_attrlist attrs;
	char name[] = "a";

	*eof = true;
	for (fsal_cookie_t cookie = 3; cookie < 6; cookie++, name[0]++) {
		enum fsal_dir_result result;

		fsal_prepare_attrs(&attrs, attrmask);
		result = cb(name, make_obj(name, REGULAR_FILE), &attrs,
			    dir_state, cookie);
		if (op_ctx->fsal_export != mine)
			return fsalstat(ERR_FSAL_SERVERFAULT, 0);
		if (result >= DIR_TERMINATE) {
			*eof = false;
			break;
		}
	}
	note("readdir");
	fake_call.arg[0] = (uintptr_t)dir;
	fake_call.arg[1] = (uintptr_t)whence;
	return made();
}

static void begin_io(const char *method, struct fsal_obj_handle *obj,
		     fsal_async_cb done_cb, void *io_arg, void *caller_arg)
{
	note(method);
	fake_call.arg[0] = (uintptr_t)obj;
	fake_call.arg[1] = (uintptr_t)io_arg;
	fake_io_cb = done_cb;
	fake_io_arg = caller_arg;
}

static void fake_read2(struct fsal_obj_handle *obj, bool bypass,
		       fsal_async_cb done_cb, struct fsal_io_arg *read_arg,
		       void *caller_arg)
{
	begin_io("read2", obj, done_cb, read_arg, caller_arg);
	fake_call.arg[2] = bypass;
}

static void fake_write2(struct fsal_obj_handle *obj, bool bypass,
			fsal_async_cb done_cb, struct fsal_io_arg *write_arg,
			void *caller_arg)
{
	begin_io("write2", obj, done_cb, write_arg, caller_arg);
	fake_call.arg[2] = bypass;
}

static fsal_status_t fake_lookup_path(struct fsal_export *exp_hdl,
				      const char *path,
				      struct fsal_obj_handle **handle,
				      struct fsal_attrlist *attrs_out)
{
	note("lookup_path");
	fake_call.arg[0] = (uintptr_t)exp_hdl;
	fake_call.arg[1] = (uintptr_t)path;
	fill(attrs_out);
	*handle = make_obj(path, DIRECTORY);
	return made();
}

static fsal_status_t fake_create_handle(struct fsal_export *exp_hdl,
					struct gsh_buffdesc *fh_desc,
					struct fsal_obj_handle **handle,
					struct fsal_attrlist *attrs_out)
{
	note("create_handle");
	fake_call.arg[0] = (uintptr_t)exp_hdl;
	fake_call.arg[1] = (uintptr_t)fh_desc;
	fill(attrs_out);
	*handle = make_obj(fh_desc->addr, REGULAR_FILE);
	return made();
}

static fsal_status_t fake_lookup_junction(struct fsal_export *exp_hdl,
					  struct fsal_obj_handle *junction,
					  struct fsal_obj_handle **handle)
{
	note("lookup_junction");
	fake_call.arg[0] = (uintptr_t)exp_hdl;
	fake_call.arg[1] = (uintptr_t)junction;
	*handle = make_obj("junction", DIRECTORY);
	return made();
}

/* As CEPH does it: two bytes more than the handle. */
static fsal_status_t fake_host_to_key(struct fsal_export *exp_hdl,
				      struct gsh_buffdesc *fh_desc)
{
	note("host_to_key");
	fake_call.arg[0] = (uintptr_t)exp_hdl;
	if (fake_key_len != 0) {
		fh_desc->len = fake_key_len;
		return made();
	}
	memcpy((char *)fh_desc->addr + fh_desc->len, "xx", 2);
	fh_desc->len += 2;
	return made();
}

static void fake_export_release(struct fsal_export *exp_hdl)
{
	note("release");
	fake_call.arg[0] = (uintptr_t)exp_hdl;
	free(container_of(exp_hdl, struct fake_export, export));
}

static fsal_status_t fake_create_export(struct fsal_module *fsal_hdl,
					void *parse_node,
					struct config_error_type *err_type,
					const struct fsal_up_vector *up_ops)
{
	struct fake_export *self;

	(void)parse_node;
	(void)err_type;
	if (fake_fail_create)
		return fsalstat(fake_fail_status, 0);
	self = calloc(1, sizeof(*self));
	fsal_export_init(&self->export);
	for (size_t i = 0; i < export_vector.count; i++)
		slot_set(&self->export.exp_ops, i, export_fakes[i]);
	self->export.exp_ops.lookup_path = fake_lookup_path;
	self->export.exp_ops.create_handle = fake_create_handle;
	self->export.exp_ops.lookup_junction = fake_lookup_junction;
	self->export.exp_ops.host_to_key = fake_host_to_key;
	self->export.exp_ops.release = fake_export_release;
	self->export.fsal = fsal_hdl;
	self->up = up_ops;
	op_ctx->fsal_export = &self->export;
	return made();
}

static fsal_status_t fake_update_export(struct fsal_module *fsal_hdl,
					void *parse_node,
					struct config_error_type *err_type,
					struct fsal_export *original,
					struct fsal_module *updated_super)
{
	(void)fsal_hdl;
	(void)parse_node;
	(void)err_type;
	note("update_export");
	fake_call.arg[0] = (uintptr_t)original;
	fake_call.arg[1] = (uintptr_t)updated_super;
	fake_update = fake_call;
	return made();
}

int fake_register(const char *name)
{
	struct fsal_module *module = calloc(1, sizeof(*module));
	int rc = register_fsal(module, name, FSAL_MAJOR_VERSION,
			       FSAL_MINOR_VERSION, FSAL_ID_NO_PNFS);

	if (rc != 0)
		return rc;
	module->m_ops.create_export = fake_create_export;
	module->m_ops.update_export = fake_update_export;

	for (size_t i = 0; i < obj_vector.count; i++)
		slot_set(&fake_obj_ops, i, obj_fakes[i]);
	fake_obj_ops.release = fake_release;
	fake_obj_ops.handle_to_key = fake_handle_to_key;
	fake_obj_ops.lookup = fake_lookup;
	fake_obj_ops.mkdir = fake_mkdir;
	fake_obj_ops.mknode = fake_mknode;
	fake_obj_ops.symlink = fake_symlink;
	fake_obj_ops.open2 = fake_open2;
	fake_obj_ops.readdir = fake_readdir;
	fake_obj_ops.read2 = fake_read2;
	fake_obj_ops.write2 = fake_write2;
	return 0;
}
