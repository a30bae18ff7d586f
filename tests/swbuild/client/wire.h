/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Writing and reading XDR in place, over libntirpc's XDR streams in memory.
 *
 * An error sticks: what is written behind the end is dropped, what is read
 * behind it is 0, and `bad` says so; a caller looks once, at its end.
 */
#ifndef SWBUILD_WIRE_H
#define SWBUILD_WIRE_H

#include <rpc/types.h>
#include <rpc/xdr.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "client.h"

struct wire {
	XDR xdr;
	bool bad;
	uint32_t ops; /* NFSv4: operations put into the compound */
};

static inline void wire_encode(struct wire *w, void *buffer, uint32_t size)
{
	xdrmem_ncreate(&w->xdr, buffer, size, XDR_ENCODE);
	w->bad = false;
	w->ops = 0;
}

static inline void wire_decode(struct wire *w, void *buffer, uint32_t size)
{
	xdrmem_ncreate(&w->xdr, buffer, size, XDR_DECODE);
	w->bad = false;
}

/* Where the next byte is written or read. */
static inline uint8_t *wire_at(const struct wire *w)
{
	return w->xdr.x_data;
}

/* ---- writing ---- */

static inline void put_u32(struct wire *w, uint32_t value)
{
	int32_t *at = xdr_inline_encode(&w->xdr, sizeof(*at));

	if (at)
		IXDR_PUT_U_INT32(at, value);
	else
		w->bad = true;
}

static inline void put_u64(struct wire *w, uint64_t value)
{
	put_u32(w, (uint32_t)(value >> 32));
	put_u32(w, (uint32_t)value);
}

/* Bytes without their number; zeros up to four. */
static inline void put_bytes(struct wire *w, const void *bytes, uint32_t length)
{
	size_t padded = ((size_t)length + 3) & ~(size_t)3;
	int32_t *at = xdr_inline_encode(&w->xdr, padded);

	if (!at) {
		w->bad = true;
		return;
	}
	if (padded > length)
		at[padded / 4 - 1] = 0;
	if (length)
		memcpy(at, bytes, length);
}

static inline void put_opaque(struct wire *w, const void *bytes,
			      uint32_t length)
{
	put_u32(w, length);
	put_bytes(w, bytes, length);
}

static inline void put_string(struct wire *w, const char *text)
{
	put_opaque(w, text, (uint32_t)strlen(text));
}

static inline void put_fh(struct wire *w, const struct sw_fh *fh)
{
	put_opaque(w, fh->data, fh->length);
}

/* ---- reading ---- */

static inline uint32_t get_u32(struct wire *w)
{
	const int32_t *at = xdr_inline_decode(&w->xdr, sizeof(*at));

	if (at)
		return IXDR_GET_U_INT32(at);
	w->bad = true;
	return 0;
}

static inline uint64_t get_u64(struct wire *w)
{
	uint64_t high = get_u32(w);

	return high << 32 | get_u32(w);
}

/* So many bytes, where they are, and what fills up to four. */
static inline const uint8_t *get_bytes(struct wire *w, uint32_t length)
{
	size_t padded = ((size_t)length + 3) & ~(size_t)3;
	const int32_t *at = xdr_inline_decode(&w->xdr, padded);

	if (!at)
		w->bad = true;
	return (const uint8_t *)at;
}

/* Counted bytes; NULL and 0 if they are not there. */
static inline const uint8_t *get_opaque(struct wire *w, uint32_t *length)
{
	const uint8_t *bytes;

	*length = get_u32(w);
	bytes = get_bytes(w, *length);
	if (!bytes)
		*length = 0;
	return bytes;
}

static inline void skip_opaque(struct wire *w)
{
	uint32_t length;

	get_opaque(w, &length);
}

static inline void get_fh(struct wire *w, struct sw_fh *fh)
{
	uint32_t length;
	const uint8_t *bytes = get_opaque(w, &length);

	if (length > SW_FH_MAX) {
		w->bad = true;
		length = 0;
	}
	fh->length = (uint8_t)length;
	if (length)
		memcpy(fh->data, bytes, length);
}

#endif
