/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * The order of events in the model, and its atomics.
 *
 * tick() numbers events of all threads. Of two events the one that ended before
 * the other began has the lower number, which is all that the oracle needs.
 *
 * The model must not order the engine's accesses: a mutex or an acquire that
 * both threads of a race pass would hide it from ThreadSanitizer. In its build
 * all atomics of the model are relaxed, so that it sees no order but the
 * engine's own. The processor and the compiler keep the order nevertheless:
 * these builds are for x86-64, where atomic read-modify-writes are full
 * barriers, and the calls between them are opaque.
 */
#ifndef MODEL_ORDER_H
#define MODEL_ORDER_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MODEL_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define MODEL_TSAN 1
#endif

#ifdef MODEL_TSAN
#define MODEL_LOAD     memory_order_relaxed
#define MODEL_STORE    memory_order_relaxed
#define MODEL_EXCHANGE memory_order_relaxed
#else
#define MODEL_LOAD     memory_order_acquire
#define MODEL_STORE    memory_order_release
#define MODEL_EXCHANGE memory_order_seq_cst
#endif

extern _Atomic uint64_t model_ticks;

/* The number of an event; each is given once. */
static inline uint64_t tick(void)
{
	return atomic_fetch_add_explicit(&model_ticks, 1, MODEL_EXCHANGE);
}

static inline uint64_t load(const _Atomic uint64_t *p)
{
	return atomic_load_explicit(p, MODEL_LOAD);
}

/* Sets *p to the greater of it and v. */
static inline void raise_to(_Atomic uint64_t *p, uint64_t v)
{
	uint64_t now = atomic_load_explicit(p, memory_order_relaxed);

	while (now < v &&
	       !atomic_compare_exchange_weak_explicit(
		       p, &now, v, MODEL_EXCHANGE, memory_order_relaxed))
		;
}

static inline void spin_lock(atomic_bool *lock)
{
	while (atomic_exchange_explicit(lock, true, MODEL_EXCHANGE))
		sched_yield();
}

static inline bool spin_trylock(atomic_bool *lock)
{
	return !atomic_exchange_explicit(lock, true, MODEL_EXCHANGE);
}

static inline void spin_unlock(atomic_bool *lock)
{
	atomic_store_explicit(lock, false, MODEL_STORE);
}

/* splitmix64: a stream of random numbers from a state of one word. */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* 0..n-1, n > 0. */
static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((random_next(state) >> 32) * n >> 32);
}

static inline bool one_in(uint64_t *state, uint32_t n)
{
	return random_below(state, n) == 0;
}

#endif
