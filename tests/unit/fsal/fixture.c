// SPDX-License-Identifier: LGPL-3.0-or-later
#include "fixture.h"

#include <unistd.h>

#include "nfs_init.h"

struct gsh_export gsh;
struct req_op_context ctx = { .ctx_export = &gsh };
struct fsal_up_vector super;
struct fsal_export *scale;
struct fsal_obj_handle *obj;

/** Stands for MDCACHE's module and export above SCALE's. */
static struct fsal_module top_module = { .name = "TOP" };
static struct fsal_export top_export = { .fsal = &top_module };

/* The parser lists blocks from the inside out; SCALE is given the outer one. */
static struct config_node *outer_block(void)
{
	struct config_node *node = config_GetBlockNode("FSAL");

	while (node->u.nterm.parent != NULL &&
	       node->u.nterm.parent->type == TYPE_BLOCK)
		node = node->u.nterm.parent;
	return node;
}

/* Parse a block, and make an export from it or update the one given. */
static fsal_status_t apply(const char *block, struct fsal_export *update,
			   char **errors)
{
	struct config_error_type err = { 0 };
	char path[] = "/tmp/scale-unit-XXXXXX";
	char *text = NULL;
	size_t size;
	config_file_t file;
	fsal_status_t status;
	FILE *f = fdopen(mkstemp(path), "w");

	fprintf(f, "%s\n", block);
	fclose(f);
	err.fp = open_memstream(&text, &size);
	file = config_ParseFile(path, &err);
	op_ctx = &ctx;
	if (update != NULL) {
		update->super_export = &top_export;
		op_ctx->fsal_export = &top_export;
		status = SCALE.module.m_ops.update_export(&SCALE.module,
							  outer_block(), &err,
							  update, &top_module);
	} else {
		op_ctx->fsal_export = NULL;
		status = SCALE.module.m_ops.create_export(
			&SCALE.module, outer_block(), &err, &super);
	}
	fclose(err.fp);
	config_Free(file);
	unlink(path);
	if (errors != NULL)
		*errors = text;
	else
		free(text);
	return status;
}

struct fsal_export *make_export(const char *block, char **errors)
{
	return FSAL_IS_ERROR(apply(block, NULL, errors)) ? NULL :
							   op_ctx->fsal_export;
}

fsal_status_t update_export_from(const char *block, struct fsal_export *exp,
				 char **errors)
{
	fsal_status_t status = apply(block, exp, errors);

	CU_ASSERT_PTR_EQUAL(op_ctx->fsal_export, &top_export);
	op_ctx->fsal_export = scale;
	return status;
}

void release_export(struct fsal_export *exp)
{
	op_ctx->fsal_export = exp;
	exp->exp_ops.release(exp);
	op_ctx->fsal_export = scale;
}

struct fsal_obj_handle *sub_of(struct fsal_obj_handle *handle)
{
	return container_of(handle, struct scale_obj, obj)->sub;
}

int fixture_setup(void)
{
	static const char *const names[] = { "FAKE", "VFS", "GLUSTER", "NULL" };
	char *errors = NULL;

	nfs_prereq_init("test", "localhost", NIV_EVENT, "STDERR", false);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (fake_register(names[i]) != 0)
			return -1;
	}
	PTHREAD_MUTEX_init(&super.up_mutex, NULL);
	super.up_ready = true;
	SCALE.configured = true;
	gsh.export_id = 77;
	op_ctx = &ctx;
	ctx.ctx_fullpath = gsh_refstr_dup("/some/path");
	scale = make_export(SCALE_ON("FAKE"), &errors);
	if (scale == NULL)
		fprintf(stderr, "%s\n", errors);
	free(errors);
	if (scale == NULL ||
	    FSAL_IS_ERROR(scale->exp_ops.lookup_path(scale, "/", &obj, NULL)))
		return -1;
	return 0;
}

void check_down(const char *method, const void *theirs)
{
	CU_ASSERT_STRING_EQUAL(fake_call.method ? fake_call.method : "nothing",
			       method);
	CU_ASSERT_PTR_EQUAL((void *)fake_call.arg[0], theirs);
	CU_ASSERT_PTR_EQUAL(fake_call.ctx_export, scale->sub_export);
	CU_ASSERT_PTR_EQUAL(op_ctx->fsal_export, scale);
}

/* A new object is a faithful image of the backend's. */
void check_new(struct fsal_obj_handle *new_obj)
{
	const struct fsal_obj_handle *sub = &fake_made->obj;
	struct gsh_buffdesc key;

	CU_ASSERT_PTR_NOT_NULL_FATAL(new_obj);
	CU_ASSERT_PTR_EQUAL(sub_of(new_obj), sub);
	CU_ASSERT_PTR_EQUAL(new_obj->fsal, &SCALE.module);
	CU_ASSERT_EQUAL(new_obj->type, sub->type);
	CU_ASSERT_EQUAL(new_obj->fileid, sub->fileid);
	CU_ASSERT_EQUAL(new_obj->fsid.major, sub->fsid.major);
	CU_ASSERT_PTR_EQUAL(new_obj->fs, sub->fs);

	new_obj->obj_ops->handle_to_key(new_obj, &key);
	CU_ASSERT_EQUAL(key.len, fake_made->key_len + SCALE_KEY_ID_BYTES);
	CU_ASSERT(memcmp(key.addr, fake_made->key, fake_made->key_len) == 0);

	new_obj->obj_ops->release(new_obj);
	check_down("release", sub);
}
