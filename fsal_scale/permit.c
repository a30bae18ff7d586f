// SPDX-License-Identifier: LGPL-3.0-or-later
#include "permit.h"

#include <sys/random.h>

#include <xxhash.h>

#define PERMITS (1u << 16)
/** Seconds that a permit lasts; they are kept in as many bits. */
#define LIFE	  60
#define TIME_BITS 20
#define TIME_MASK ((UINT64_C(1) << TIME_BITS) - 1)

/** Those of directories that meet here are forgotten together. */
#define GENERATIONS 4096

static _Atomic uint64_t permits[PERMITS];
static _Atomic uint64_t generations[GENERATIONS];

static _Atomic uint64_t *generation_of(const void *key, size_t len)
{
	return &generations[XXH3_64bits(key, len) % GENERATIONS];
}

static uint64_t secret(void)
{
	static _Atomic uint64_t value;
	uint64_t seen = atomic_load_explicit(&value, memory_order_relaxed);
	uint64_t fresh;

	if (seen != 0)
		return seen;
	if (getrandom(&fresh, sizeof(fresh), 0) != sizeof(fresh) || fresh == 0)
		fresh = (uintptr_t)&value ^ (uint64_t)time(NULL);
	return atomic_compare_exchange_strong(&value, &seen, fresh) ? fresh :
								      seen;
}

bool scale_decides_per_user(const char *backend)
{
	/* These look at no user's credentials but where they change things. */
	static const char *const plain[] = { "VFS", "MEM", "FAULT" };

	return !scale_is_one_of(backend, plain,
				sizeof(plain) / sizeof(plain[0]));
}

static uint64_t identify(const struct scale_export *exp,
			 const struct scale_obj *dir, enum scale_permit what)
{
	const struct user_cred *creds = &op_ctx->creds;
	uint64_t parts[] = { secret(),
			     atomic_load_explicit(generation_of(dir->key,
								dir->key_len),
						  memory_order_relaxed),
			     what,
			     exp->slot,
			     creds->caller_uid,
			     creds->caller_gid };
	uint64_t hash;

	hash = XXH3_64bits(parts, sizeof(parts));
	hash = XXH3_64bits_withSeed(
		(const char *)creds->caller_garray,
		creds->caller_glen * sizeof(*creds->caller_garray), hash);
	return XXH3_64bits_withSeed(dir->key, dir->key_len, hash);
}

static uint64_t seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &ts);
	return (uint64_t)ts.tv_sec & TIME_MASK;
}

static _Atomic uint64_t *place_of(uint64_t hash)
{
	return &permits[hash % PERMITS];
}

bool scale_permitted(const struct scale_export *exp,
		     const struct scale_obj *dir, enum scale_permit what)
{
	uint64_t hash, permit;

	if (!exp->per_user)
		return true;
	hash = identify(exp, dir, what);
	permit = atomic_load_explicit(place_of(hash), memory_order_relaxed);
	/* The place already tells the low bits, which the time stands in. */
	return ((permit ^ hash) & ~TIME_MASK) == 0 &&
	       ((seconds_now() - permit) & TIME_MASK) < LIFE;
}

void scale_permit(const struct scale_export *exp, const struct scale_obj *dir,
		  enum scale_permit what)
{
	uint64_t hash;

	if (!exp->per_user)
		return;
	hash = identify(exp, dir, what);
	atomic_store_explicit(place_of(hash),
			      (hash & ~TIME_MASK) | seconds_now(),
			      memory_order_relaxed);
}

void scale_permits_forget(const void *key, size_t len)
{
	atomic_fetch_add(generation_of(key, len), 1);
}
