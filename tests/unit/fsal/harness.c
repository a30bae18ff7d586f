// SPDX-License-Identifier: LGPL-3.0-or-later
#include "harness.h"

#include <unistd.h>

#include "nfs_init.h"

struct gsh_export gsh;
struct req_op_context ctx = { .ctx_export = &gsh };
struct fsal_up_vector super;
struct fsal_export *scale;

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

void remove_export(struct fsal_export *exp)
{
	op_ctx->fsal_export = exp;
	exp->exp_ops.release(exp);
	op_ctx->fsal_export = scale;
}

void harness_start(void)
{
	nfs_prereq_init("test", "localhost", NIV_EVENT, "STDERR", false);
	PTHREAD_MUTEX_init(&super.up_mutex, NULL);
	super.up_ready = true;
	SCALE.configured = true;
	gsh.export_id = 77;
	op_ctx = &ctx;
	ctx.ctx_fullpath = gsh_refstr_dup("/some/path");
}
