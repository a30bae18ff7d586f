// SPDX-License-Identifier: LGPL-3.0-or-later
/*
 * Exchanges of Linux's client with Ganesha: the client asks for the same in the
 * same bytes, and understands what was answered.
 */
#include "check.h"
#include "nfs4.h"

#include <stdio.h>

#define LINE (64 * 1024)
#define ROOM 8192

static uint64_t call_room[ROOM / 8];
static uint64_t reply_room[ROOM / 8];
static uint8_t *const call = (uint8_t *)call_room;
static uint8_t *const reply_bytes = (uint8_t *)reply_room;
static uint32_t call_length;
static uint32_t reply_length;
static uint32_t arguments; /* where they begin in the call */

/* ---- a captured exchange ---- */

static uint32_t from_hex(const char *hex, uint8_t *bytes)
{
	uint32_t length = 0;
	unsigned byte;

	while (*hex > ' ' && length < ROOM && sscanf(hex, "%2x", &byte) == 1) {
		bytes[length++] = (uint8_t)byte;
		hex += 2;
	}
	return length;
}

/* Reads the exchange of that name; false if there is none. */
static bool load(const char *file, const char *name)
{
	static char line[LINE];
	char path[512];
	FILE *in;
	size_t length = strlen(name);
	bool found = false;

	snprintf(path, sizeof(path), CAPTURED "/%s.txt", file);
	in = fopen(path, "r");
	if (!in)
		return false;
	while (!found && fgets(line, sizeof(line), in))
		found = !strncmp(line, name, length) && line[length] == ' ';
	fclose(in);
	if (!found)
		return false;
	call_length = from_hex(line + length + 1, call);
	reply_length = from_hex(strrchr(line, ' ') + 1, reply_bytes);
	return true;
}

static void find_arguments(void)
{
	struct wire w;

	wire_decode(&w, call, call_length);
	get_bytes(&w, 6 * 4);
	for (int i = 0; i < 2; i++) {
		get_u32(&w);
		skip_opaque(&w);
	}
	arguments = (uint32_t)(wire_at(&w) - call);
}

/* ---- the client's own ---- */

/* What to ask, and what the answer is known to say. */
struct row {
	const char *name; /* of the exchange */
	enum kind kind;
	const char *object; /* names in it */
	const char *text;
	uint32_t flags;
	uint32_t mode;
	uint32_t set;
	uint64_t size;
	/* the answer */
	uint32_t status;
	enum sw_type type; /* of the attributes; SW_TYPE_NONE: none are told */
	uint32_t answer_mode;
	uint64_t answer_size;
	const char *data;
	bool fh;
	bool by_handle;
	bool other; /* the kernel asks otherwise: not compared */
};

static struct op *op_for(const struct row *row)
{
	struct op *op = op_new(fake.client, on_outcome, fresh());

	op->coding = &fake.client->protocol->codings[row->kind];
	if (row->object)
		strcpy(op->name, row->object);
	if (row->text)
		op->text = strdup(row->text);
	op->flags = row->flags;
	op->mode = row->mode;
	op->set.set = row->set;
	op->set.mode = row->mode;
	op->set.size = row->size;
	op->set.atime.tv_sec = 1000000000;
	op->set.mtime.tv_sec = 1100000000;
	op->stable = true;
	if (row->kind == OP_READ)
		op->count = 4096;
	if (row->kind == OP_WRITE) {
		op->data = row->data;
		op->count = (uint32_t)strlen(row->data);
	}
	return op;
}

static void take_fh(struct sw_fh *fh, const void *bytes, uint32_t length)
{
	fh->length = (uint8_t)length;
	memcpy(fh->data, bytes, length);
}

/* Takes the handles from the call, for we know no other way to them. */
static void take_handles3(struct op *op, const struct row *row)
{
	struct wire w;

	wire_decode(&w, call + arguments, call_length - arguments);
	if (row->kind == OP_LINK)
		get_fh(&w, &op->fh2);
	get_fh(&w, &op->fh);
	if (row->kind == OP_RENAME) {
		skip_opaque(&w);
		get_fh(&w, &op->fh2);
	}
}

static struct sw_file file;
static struct owner owner;

static void take_stateid(struct op *op, const stateid4 *stateid)
{
	uint32_t seqid = htonl(stateid->seqid);

	memcpy(file.stateid, &seqid, 4);
	memcpy(file.stateid + 4, stateid->other, 12);
	file.open = true;
	file.fh = op->fh;
	file.owner = &owner;
	op->file = &file;
}

static void take_sequence(struct op *op, const SEQUENCE4args *a)
{
	struct sw_client *client = op->client;

	memcpy(client->sessionid, a->sa_sessionid, NFS4_SESSIONID_SIZE);
	op->slot = (int)a->sa_slotid;
	slots_init(&client->slots, 64);
	client->slots.sequence[a->sa_slotid] = a->sa_sequenceid;
	client->slots.used[0] = UINT64_C(1) << a->sa_slotid |
				UINT64_C(1) << a->sa_highest_slotid;
	client->slots.busy = 1;
}

/* The same by the SDK's codec, from a compound. */
static void take_handles4(struct op *op, const struct row *row)
{
	bool source = row->kind == OP_LINK; /* the first handle is fh2 */
	COMPOUND4args args = { 0 };
	struct wire w;
	int handles = 0;

	wire_decode(&w, call + arguments, call_length - arguments);
	CU_ASSERT_FATAL(xdr_COMPOUND4args(&w.xdr, &args));
	for (u_int i = 0; i < args.argarray.argarray_len; i++) {
		nfs_argop4 *arg = &args.argarray.argarray_val[i];
		nfs_fh4 *fh = &arg->nfs_argop4_u.opputfh.object;

		if (arg->argop == NFS4_OP_PUTFH)
			take_fh((handles++ != 0) == source ? &op->fh : &op->fh2,
				fh->nfs_fh4_val, fh->nfs_fh4_len);
		else if (arg->argop == NFS4_OP_SEQUENCE)
			take_sequence(op, &arg->nfs_argop4_u.opsequence);
		else if (arg->argop == NFS4_OP_WRITE)
			take_stateid(op, &arg->nfs_argop4_u.opwrite.stateid);
		else if (arg->argop == NFS4_OP_READ)
			take_stateid(op, &arg->nfs_argop4_u.opread.stateid);
		else if (arg->argop == NFS4_OP_SETATTR)
			take_stateid(op, &arg->nfs_argop4_u.opsetattr.stateid);
		else if (arg->argop == NFS4_OP_CLOSE) {
			take_stateid(op,
				     &arg->nfs_argop4_u.opclose.open_stateid);
			owner.seqid = arg->nfs_argop4_u.opclose.seqid;
			owner.client = op->client->epoch;
		} else if (arg->argop == NFS4_OP_OPEN_CONFIRM) {
			take_stateid(
				op,
				&arg->nfs_argop4_u.opopen_confirm.open_stateid);
			owner.seqid = arg->nfs_argop4_u.opopen_confirm.seqid;
			owner.client = op->client->epoch;
		} else if (arg->argop == NFS4_OP_OPEN && !op->file)
			op->file = &file;
	}
	xdr_nfree((xdrproc_t)xdr_COMPOUND4args, &args);
}

/* ---- compared ---- */

static void compare_call(struct op *op, const struct row *row)
{
	uint64_t room[ROOM / 8];
	uint8_t *bytes = (uint8_t *)room;
	uint32_t length;
	struct wire w;
	uint8_t *start;
	uint32_t pad = op->count & 3u ? 4 - (op->count & 3u) : 0;

	wire_encode(&w, op->request, sizeof(op->request));
	rpc_header(op, &w);
	start = wire_at(&w);
	op->protocol->encode(op, &w);
	CU_ASSERT_FALSE(w.bad);
	length = (uint32_t)(wire_at(&w) - start);
	if (op->split) {
		uint32_t before = op->split - (uint32_t)(start - op->request);

		memset(bytes, 0, sizeof(room));
		memcpy(bytes, start, before);
		memcpy(bytes + before, op->data, op->count);
		memcpy(bytes + before + op->count + pad, start + before,
		       length - before);
		length += op->count + pad;
	} else {
		memcpy(bytes, start, length);
	}
	if (row->other)
		return;
	if (length != call_length - arguments ||
	    memcmp(bytes, call + arguments, length) != 0) {
		CU_FAIL("the call differs");
		printf("\n%s: ours\n", row->name);
		for (uint32_t i = 0; i < length; i++)
			printf("%02x", bytes[i]);
		printf("\nthe kernel's\n");
		for (uint32_t i = arguments; i < call_length; i++)
			printf("%02x", call[i]);
		printf("\n");
	}
}

static int entries;

static void on_entry(void *arg, const struct sw_entry *entry)
{
	(void)arg;
	entries++;
	CU_ASSERT_TRUE(entry->length >= 3 && entry->length <= 4);
	CU_ASSERT_TRUE(!strncmp(entry->name, "file", entry->length) ||
		       !strncmp(entry->name, "sym", entry->length));
	CU_ASSERT_TRUE(entry->fileid > 0 && entry->cookie > 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(entry->attrs);
	CU_ASSERT_EQUAL(entry->attrs->type,
			entry->length == 4 ? SW_REG : SW_LNK);
	CU_ASSERT_EQUAL(entry->attrs->fileid, entry->fileid);
	CU_ASSERT_PTR_NOT_NULL_FATAL(entry->fh);
	CU_ASSERT_TRUE(entry->fh->length >= 16);
}

static void compare_reply(struct op *op, const struct row *row)
{
	struct reply reply = { 0 };
	struct sw_cursor cursor = { 0 };
	struct wire w;
	uint32_t got_status;

	op->cursor = &cursor;
	op->each = on_entry;
	entries = 0;
	wire_decode(&w, reply_bytes, reply_length);
	get_u32(&w);
	CU_ASSERT_EQUAL(rpc_reply(op, &w), SW_OK);
	got_status = op->protocol->decode(op, &w, &reply);
	CU_ASSERT_EQUAL(got_status, row->status);
	CU_ASSERT_FALSE(w.bad);
	/* What follows the rest, such as a directory's attributes, is left. */
	if (row->kind == OP_GETATTR || row->kind == OP_SETATTR ||
	    row->kind == OP_READ || row->kind == OP_READLINK ||
	    row->kind == OP_READDIRPLUS || row->kind == OP_CLOSE)
		CU_ASSERT_PTR_EQUAL(wire_at(&w), reply_bytes + reply_length);
	CU_ASSERT_EQUAL(reply.result.attrs != NULL, row->type != SW_TYPE_NONE);
	if (reply.result.attrs) {
		CU_ASSERT_EQUAL(reply.attrs.type, row->type);
		CU_ASSERT_EQUAL(reply.attrs.mode, row->answer_mode);
		if (row->type == SW_REG)
			CU_ASSERT_EQUAL(reply.attrs.size, row->answer_size);
		CU_ASSERT_TRUE(reply.attrs.ctime.tv_sec > 1700000000);
		CU_ASSERT_TRUE(reply.attrs.nlink >= 1);
	}
	CU_ASSERT_EQUAL(reply.result.fh != NULL, row->fh);
	if (row->kind == OP_READ || row->kind == OP_READLINK) {
		CU_ASSERT_EQUAL(reply.result.count, strlen(row->data));
		CU_ASSERT_EQUAL(memcmp(reply.result.data, row->data,
				       strlen(row->data)),
				0);
	}
	if (row->kind == OP_READ)
		CU_ASSERT_TRUE(reply.result.eof);
	if (row->kind == OP_WRITE)
		CU_ASSERT_EQUAL(reply.result.count, strlen(row->data));
	if (row->kind == OP_ACCESS)
		CU_ASSERT_EQUAL(reply.result.access & 0x1f, 0x1f);
	if (row->kind == OP_READDIRPLUS) {
		CU_ASSERT_EQUAL(entries, 2);
		CU_ASSERT_EQUAL(reply.result.count, 2);
		CU_ASSERT_TRUE(reply.result.eof);
	}
}

static void compare(const char *captured, const struct row *row)
{
	struct op *op;

	CU_ASSERT_FATAL(load(captured, row->name));
	find_arguments();
	memset(&file, 0, sizeof(file));
	file.access = SW_READ;
	file.owner = &owner;
	if (row->by_handle)
		file.fh = fake_fh;
	op = op_for(row);
	if (fake.client->version == SW_V3)
		take_handles3(op, row);
	else
		take_handles4(op, row);
	if (row->kind == OP_READDIRPLUS) {
		static struct sw_cursor cursor;

		op->cursor = &cursor;
		op->count = 4096;
	}
	op->epoch = fake.client->epoch;
	op->session = fake.client->session;
	compare_call(op, row);
	compare_reply(op, row);
	op->slot = NO_SLOT;
	op_forget(op);
}

/* ---- the tests ---- */

static const struct row rows3[] = {
	{ "getattr", OP_GETATTR, .type = SW_DIR, .answer_mode = 01777 },
	{ "access", OP_ACCESS, .flags = 0x1f, .type = SW_DIR,
	  .answer_mode = 01777 },
	{ "lookup", OP_LOOKUP, .object = "dir", .type = SW_DIR,
	  .answer_mode = 0750, .fh = true },
	{ "lookup-none", OP_LOOKUP, .object = "file", .status = NFS3ERR_NOENT },
	{ "mkdir", OP_MKDIR, .object = "dir", .mode = 0750, .type = SW_DIR,
	  .answer_mode = 0750, .fh = true },
	{ "create", OP_OPEN, .object = "file", .mode = 0644, .type = SW_REG,
	  .answer_mode = 0644, .fh = true },
	{ "write", OP_WRITE, .data = "hello world\n", .type = SW_REG,
	  .answer_mode = 0644, .answer_size = 12 },
	{ "symlink", OP_SYMLINK, .object = "sym", .text = "some/where",
	  .mode = 0777, .type = SW_LNK, .answer_mode = 0777, .fh = true },
	{ "link", OP_LINK, .object = "hard", .type = SW_REG,
	  .answer_mode = 0644, .answer_size = 12 },
	{ "rename", OP_RENAME, .object = "hard", .text = "renamed" },
	{ "setattr-mode", OP_SETATTR, .set = SW_SET_MODE, .mode = 0600,
	  .type = SW_REG, .answer_mode = 0600, .answer_size = 12 },
	{ "setattr-size", OP_SETATTR, .set = SW_SET_SIZE, .size = 7,
	  .type = SW_REG, .answer_mode = 0600, .answer_size = 7 },
	{ "setattr-times", OP_SETATTR, .set = SW_SET_ATIME | SW_SET_MTIME,
	  .type = SW_REG, .answer_mode = 0600, .answer_size = 7 },
	{ "readdirplus", OP_READDIRPLUS, .flags = 1, .data = "file sym",
	  .type = SW_TYPE_NONE, .other = true },
	{ "read", OP_READ, .data = "HELLO w", .type = SW_REG,
	  .answer_mode = 0600, .answer_size = 7 },
	{ "readlink", OP_READLINK, .data = "some/where", .type = SW_LNK,
	  .answer_mode = 0777 },
	{ "remove", OP_REMOVE, .object = "sym" },
	{ "rmdir", OP_RMDIR, .object = "dir" },
};

static const struct row rows4[] = {
	{ "getattr", OP_GETATTR, .type = SW_DIR, .answer_mode = 01777 },
	{ "access", OP_ACCESS, .flags = 0x1f },
	{ "lookup-none", OP_LOOKUP, .object = "none", .status = NFS4ERR_NOENT },
	{ "mkdir", OP_MKDIR, .object = "dir", .mode = 0750, .type = SW_DIR,
	  .answer_mode = 0750, .fh = true },
	{ "symlink", OP_SYMLINK, .object = "sym", .text = "some/where",
	  .mode = 0777, .type = SW_LNK, .answer_mode = 0777, .fh = true },
	{ "link", OP_LINK, .object = "hard", .type = SW_REG,
	  .answer_mode = 0644, .answer_size = 12 },
	{ "rename", OP_RENAME, .object = "hard", .text = "renamed" },
	{ "setattr-mode", OP_SETATTR, .set = SW_SET_MODE, .mode = 0600,
	  .type = SW_REG, .answer_mode = 0600, .answer_size = 12 },
	{ "setattr-size", OP_SETATTR, .set = SW_SET_SIZE, .size = 7,
	  .type = SW_REG, .answer_mode = 0600, .answer_size = 7 },
	{ "setattr-times", OP_SETATTR, .set = SW_SET_ATIME | SW_SET_MTIME,
	  .type = SW_REG, .answer_mode = 0600, .answer_size = 7 },
	{ "readdir", OP_READDIRPLUS, .flags = 1, .data = "file sym",
	  .other = true },
	{ "read", OP_READ, .data = "HELLO w" },
	{ "write", OP_WRITE, .data = "hello world\n" },
	{ "close", OP_CLOSE, .object = NULL },
	{ "readlink", OP_READLINK, .data = "some/where" },
	{ "remove", OP_REMOVE, .object = "sym" },
};

static const struct row lookup4 = {
	"lookup",	OP_LOOKUP,	     "file",
	.type = SW_REG, .answer_mode = 0644, .answer_size = 12,
	.fh = true
};
static const struct row create4 = {
	"open-create",	     OP_OPEN,	   "file",
	.flags = SW_CREATE,  .mode = 0644, .type = SW_REG,
	.answer_mode = 0644, .fh = true,   .other = true
};
static const struct row open4 = { "open",
				  OP_OPEN,
				  .object = "file",
				  .type = SW_REG,
				  .answer_mode = 0644,
				  .answer_size = 12,
				  .fh = true,
				  .other = true };
/* By its handle: the answer has none. */
static const struct row handle4 = { "open-handle",
				    OP_OPEN,
				    "file",
				    .type = SW_REG,
				    .answer_mode = 0644,
				    .answer_size = 12,
				    .by_handle = true,
				    .other = true };

static void test_nfs3(void)
{
	fake_start(&fake, SW_V3, 1, 0);
	for (size_t i = 0; i < sizeof(rows3) / sizeof(*rows3); i++)
		compare("nfs3", &rows3[i]);
	fake_stop(&fake);
}

static void test_nfs4(enum sw_version version, const char *captured)
{
	fake_start(&fake, version, 1, 0);
	fake.client->epoch = 1;
	for (size_t i = 0; i < sizeof(rows4) / sizeof(*rows4); i++)
		compare(captured, &rows4[i]);
	compare(captured, &lookup4);
	compare(captured, &create4);
	fake_stop(&fake);
}

static void test_nfs40(void)
{
	test_nfs4(SW_V40, "nfs40");
	fake_start(&fake, SW_V40, 1, 0);
	compare("nfs40", &open4);
	fake_stop(&fake);
}

static void test_nfs41(void)
{
	test_nfs4(SW_V41, "nfs41");
	fake_start(&fake, SW_V41, 1, 0);
	compare("nfs41", &handle4);
	fake_stop(&fake);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{ "NFSv3", test_nfs3 },
		{ "NFSv4.0", test_nfs40 },
		{ "NFSv4.1", test_nfs41 },
		CU_TEST_INFO_NULL,
	};

	return cunit_main("captured", NULL, tests);
}
