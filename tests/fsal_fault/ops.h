/* SPDX-License-Identifier: LGPL-3.0-or-later */
/**
 * @file ops.h
 * @brief The methods that FAULT counts, delays and fails
 *
 * FAULT_OPS(OP) expands to OP(name, class) for each. A CALL is what a remote
 * backend would need a round trip or its disk for; "all" stands for these in
 * a command. A LOCAL method is a computation on what is in memory; it is
 * counted apart, and delayed only when it is named.
 *
 * check_quota is a computation, for no backend of Ganesha 4.3 has one of its
 * own.
 *
 * readdir_entry is no method: it is each name that a readdir brings. A
 * latency of its own makes a backend that asks for every name by itself.
 */
#ifndef FAULT_OPS_H
#define FAULT_OPS_H

#define FAULT_OPS(OP)                      \
	OP(lookup, CALL)                   \
	OP(readdir, CALL)                  \
	OP(readdir_entry, LOCAL)           \
	OP(mkdir, CALL)                    \
	OP(mknode, CALL)                   \
	OP(symlink, CALL)                  \
	OP(readlink, CALL)                 \
	OP(getattrs, CALL)                 \
	OP(setattr2, CALL)                 \
	OP(link, CALL)                     \
	OP(rename, CALL)                   \
	OP(unlink, CALL)                   \
	OP(open2, CALL)                    \
	OP(reopen2, CALL)                  \
	OP(close2, CALL)                   \
	OP(read2, CALL)                    \
	OP(write2, CALL)                   \
	OP(commit2, CALL)                  \
	OP(fallocate, CALL)                \
	OP(seek, CALL)                     \
	OP(seek2, CALL)                    \
	OP(io_advise, CALL)                \
	OP(io_advise2, CALL)               \
	OP(lock_op2, CALL)                 \
	OP(lease_op2, CALL)                \
	OP(layoutget, CALL)                \
	OP(layoutreturn, CALL)             \
	OP(layoutcommit, CALL)             \
	OP(list_ext_attrs, CALL)           \
	OP(getextattr_id_by_name, CALL)    \
	OP(getextattr_value_by_name, CALL) \
	OP(getextattr_value_by_id, CALL)   \
	OP(setextattr_value, CALL)         \
	OP(setextattr_value_by_id, CALL)   \
	OP(remove_extattr_by_id, CALL)     \
	OP(remove_extattr_by_name, CALL)   \
	OP(getxattrs, CALL)                \
	OP(setxattrs, CALL)                \
	OP(removexattrs, CALL)             \
	OP(listxattrs, CALL)               \
	OP(lookup_path, CALL)              \
	OP(lookup_junction, CALL)          \
	OP(create_handle, CALL)            \
	OP(get_fs_dynamic_info, CALL)      \
	OP(get_quota, CALL)                \
	OP(set_quota, CALL)                \
	OP(getdevicelist, CALL)            \
	OP(check_quota, LOCAL)             \
	OP(get_ref, LOCAL)                 \
	OP(put_ref, LOCAL)                 \
	OP(release, LOCAL)                 \
	OP(merge, LOCAL)                   \
	OP(compute_readdir_cookie, LOCAL)  \
	OP(dirent_cmp, LOCAL)              \
	OP(test_access, LOCAL)             \
	OP(close, LOCAL)                   \
	OP(check_verifier, LOCAL)          \
	OP(status2, LOCAL)                 \
	OP(handle_to_wire, LOCAL)          \
	OP(handle_to_key, LOCAL)           \
	OP(handle_cmp, LOCAL)              \
	OP(is_referral, LOCAL)             \
	OP(wire_to_host, LOCAL)            \
	OP(host_to_key, LOCAL)             \
	OP(fs_supports, LOCAL)             \
	OP(fs_maxfilesize, LOCAL)          \
	OP(fs_maxread, LOCAL)              \
	OP(fs_maxwrite, LOCAL)             \
	OP(fs_maxlink, LOCAL)              \
	OP(fs_maxnamelen, LOCAL)           \
	OP(fs_maxpathlen, LOCAL)           \
	OP(fs_acl_support, LOCAL)          \
	OP(fs_supported_attrs, LOCAL)      \
	OP(fs_umask, LOCAL)                \
	OP(fs_expiretimeparent, LOCAL)     \
	OP(fs_layouttypes, LOCAL)          \
	OP(fs_layout_blocksize, LOCAL)     \
	OP(fs_maximum_segments, LOCAL)     \
	OP(fs_loc_body_size, LOCAL)        \
	OP(is_superuser, LOCAL)            \
	OP(get_write_verifier, LOCAL)      \
	OP(alloc_state, LOCAL)             \
	OP(free_state, LOCAL)              \
	OP(prepare_unexport, LOCAL)        \
	OP(unexport, LOCAL)                \
	OP(unmount, LOCAL)                 \
	OP(export_release, LOCAL)

#define FAULT_OP_ENUM(name, class) FAULT_OP_##name,
enum fault_op {
	FAULT_OPS(FAULT_OP_ENUM) FAULT_NUM_OPS
};

/** What a method counts as. */
enum fault_class {
	FAULT_CALL,
	FAULT_LOCAL
};

struct fault_op_info {
	const char *name;
	enum fault_class class;
};

/** Indexed by enum fault_op. */
extern const struct fault_op_info fault_ops[FAULT_NUM_OPS];

#endif /* FAULT_OPS_H */
