// SPDX-License-Identifier: LGPL-3.0-or-later
#include "slots.h"

#include <string.h>

void slots_init(struct slots *slots, uint32_t granted)
{
	if (granted > SLOTS_MAX)
		granted = SLOTS_MAX;
	if (!granted)
		granted = 1;
	memset(slots, 0, sizeof(*slots));
	slots->granted = slots->usable = granted;
	for (uint32_t i = 0; i < granted; i++)
		slots->sequence[i] = 1;
}

int slots_take(struct slots *slots)
{
	uint32_t slot;

	for (uint32_t i = 0; i * 64 < slots->usable; i++) {
		if (slots->used[i] == UINT64_MAX)
			continue;
		slot = i * 64 + (uint32_t)__builtin_ctzll(~slots->used[i]);
		if (slot >= slots->usable)
			return -1;
		slots->used[i] |= UINT64_C(1) << slot % 64;
		slots->busy++;
		return (int)slot;
	}
	return -1;
}

void slots_release(struct slots *slots, uint32_t slot, bool advance)
{
	slots->used[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	slots->busy--;
	if (advance)
		slots->sequence[slot]++;
}

void slots_target(struct slots *slots, uint32_t highest)
{
	slots->usable = highest < slots->granted ? highest + 1 : slots->granted;
}

uint32_t slots_highest(const struct slots *slots)
{
	for (uint32_t i = (slots->granted + 63) / 64; i-- > 0;)
		if (slots->used[i])
			return i * 64 + 63 -
			       (uint32_t)__builtin_clzll(slots->used[i]);
	return 0;
}
