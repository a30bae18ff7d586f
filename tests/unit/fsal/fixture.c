// SPDX-License-Identifier: LGPL-3.0-or-later
#include "fixture.h"

struct fsal_obj_handle *obj;

struct fsal_obj_handle *sub_of(struct fsal_obj_handle *handle)
{
	return scale_obj(handle)->own;
}

int fixture_setup(void)
{
	static const char *const names[] = { "FAKE", "VFS", "GLUSTER", "NULL" };
	char *errors = NULL;

	harness_start();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (fake_register(names[i]) != 0)
			return -1;
	}
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
