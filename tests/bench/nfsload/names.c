/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "nfsload.h"

const char *names_parse(struct names *names, json_t *value)
{
	json_int_t first = 0, count = 0;
	json_t *name;
	size_t i;

	memset(names, 0, sizeof(*names));
	if (json_is_array(value)) {
		json_array_foreach(value, i, name)
		{
			if (!json_is_string(name) ||
			    json_string_length(name) >= NAME_SIZE)
				return "a name must be a string of less "
				       "than 256 bytes";
		}
		if (json_array_size(value) == 0)
			return "the list of names is empty";
		names->list = value;
		names->count = json_array_size(value);
		return NULL;
	}
	if (json_unpack(value, "{s:s, s?:i, s?:I, s:I}", "prefix",
			&names->prefix, "digits", &names->digits, "first",
			&first, "count", &count))
		return "names are a list, or {\"prefix\", \"digits\", "
		       "\"first\", \"count\"}";
	if (strlen(names->prefix) > NAME_SIZE - 32 || names->digits < 0 ||
	    names->digits > 20 || first < 0 || count < 1)
		return "names need a prefix of at most 224 bytes, digits "
		       "from 0 to 20, first >= 0 and count >= 1";
	names->first = (uint64_t)first;
	names->count = (uint64_t)count;
	return NULL;
}

void names_get(const struct names *names, uint64_t i, char name[NAME_SIZE])
{
	if (names->list)
		snprintf(name, NAME_SIZE, "%s",
			 json_string_value(json_array_get(names->list, i)));
	else
		snprintf(name, NAME_SIZE, "%s%0*" PRIu64, names->prefix,
			 names->digits, names->first + i);
}
