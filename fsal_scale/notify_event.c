// SPDX-License-Identifier: LGPL-3.0-or-later
#include "notify_event.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>

/* In the first byte of a key. */
#define TYPE_8	0x40
#define TYPE_16 0x80
#define TYPE_32 0xc0

bool notify_key_make(const struct notify_prefix *prefix, int type,
		     const void *bytes, size_t len, struct notify_key *key)
{
	int16_t type_16 = (int16_t)type;
	uint8_t type_8 = (uint8_t)type;
	const void *type_bytes = &type;
	size_t type_len = sizeof(type);
	uint8_t flag = TYPE_32;

	if (type <= UINT8_MAX) {
		flag = TYPE_8;
		type_bytes = &type_8;
		type_len = sizeof(type_8);
	} else if (type <= INT16_MAX) {
		flag = TYPE_16;
		type_bytes = &type_16;
		type_len = sizeof(type_16);
	}
	key->len = 0;
	if (prefix->len + type_len + len > sizeof(key->bytes))
		return false;
	memcpy(key->bytes, prefix->bytes, prefix->len);
	key->bytes[0] |= flag;
	memcpy(key->bytes + prefix->len, type_bytes, type_len);
	memcpy(key->bytes + prefix->len + type_len, bytes, len);
	key->len = (uint8_t)(prefix->len + type_len + len);
	return true;
}

/*
 * One record: its handle into *key, and where a name begins.
 * @return false when it is malformed.
 */
static bool read_handle(const struct fanotify_event_info_fid *fid, size_t size,
			const struct notify_prefix *prefix,
			struct notify_key *key, size_t *name_at)
{
	/* The record is packed, and its handle need not be aligned. */
	const char *at = (const char *)fid->handle;
	struct file_handle head;
	size_t handle_at = (size_t)(at - (const char *)fid);

	if (size < handle_at + sizeof(head))
		return false;
	memcpy(&head, at, sizeof(head));
	*name_at = handle_at + sizeof(head) + head.handle_bytes;
	if (head.handle_bytes == 0 || *name_at > size)
		return false;
	return notify_key_make(prefix, head.handle_type, at + sizeof(head),
			       head.handle_bytes, key);
}

static bool read_record(const struct fanotify_event_info_fid *fid, size_t size,
			const struct notify_prefix *prefix,
			struct notify_event *event)
{
	const char *name;
	size_t name_at;

	switch (fid->hdr.info_type) {
	case FAN_EVENT_INFO_TYPE_FID:
		return read_handle(fid, size, prefix, &event->object, &name_at);
	case FAN_EVENT_INFO_TYPE_DFID:
	case FAN_EVENT_INFO_TYPE_DFID_NAME:
		if (!read_handle(fid, size, prefix, &event->dir, &name_at))
			return false;
		if (fid->hdr.info_type == FAN_EVENT_INFO_TYPE_DFID)
			return true;
		name = (const char *)fid + name_at;
		event->name_len = strnlen(name, size - name_at);
		if (event->name_len == size - name_at)
			return false;
		event->name = name;
		return true;
	default:
		return true; /* what a later kernel adds */
	}
}

bool notify_event_read(const struct fanotify_event_metadata *meta,
		       const struct notify_prefix *prefix,
		       struct notify_event *event)
{
	const char *at = (const char *)meta + meta->metadata_len;
	const char *end = (const char *)meta + meta->event_len;

	*event = (struct notify_event){ .mask = meta->mask, .pid = meta->pid };
	while (end - at >= (ptrdiff_t)sizeof(struct fanotify_event_info_fid)) {
		const struct fanotify_event_info_fid *fid = (const void *)at;
		size_t size = fid->hdr.len;

		if (size < sizeof(*fid) || size > (size_t)(end - at) ||
		    !read_record(fid, size, prefix, event))
			return false;
		at += size;
	}
	/* Of a directory itself: its own handle, under the name "." */
	if (event->name != NULL && event->name_len == 1 &&
	    event->name[0] == '.')
		event->name = NULL;
	if (event->object.len == 0 && event->name == NULL)
		event->object = event->dir;
	if ((event->mask & NOTIFY_NAMES) != 0 &&
	    (event->name == NULL || event->dir.len == 0))
		return false;
	return (event->mask & NOTIFY_OBJECT) == 0 || event->object.len != 0;
}
