/* SPDX-License-Identifier: LGPL-3.0-or-later */
/*
 * Read-copy-update by liburcu, the "bp" flavour: threads that are not ours
 * register by themselves on first use.
 *
 * What RCU is for here: memory that changes its type. Blocks are recycled at
 * once within their class, where readers detect it by sequence numbers (see
 * entry.h); but a slab may change its class, and an attachment may be freed,
 * only after every reader that could have seen it has left its read section.
 * Publication and dereference are C11 atomics throughout.
 *
 * ThreadSanitizer does not see liburcu's synchronisation (inline assembly and
 * an uninstrumented library), so in its build the one fact that matters is told
 * to it: the end of each read section happens before the end of a grace period
 * that began later. Nothing is suppressed. tests/unit/engine/seeded_race.c
 * proves that a missing grace period is still reported.
 *
 * Source: M. Desnoyers et al., "User-Level Implementations of Read-Copy
 * Update", IEEE TPDS 23(2), 2012.
 */
#ifndef MDX_RCU_H
#define MDX_RCU_H

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MDX_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define MDX_TSAN 1
#endif

/* Read sections are inlined, but for sanitizers: liburcu's reader structures
 * are less aligned than their type says, which is harmless on real machines;
 * and for clang's analyzer, which does not see that a reader is registered. */
#if !defined(MDX_TSAN) && !defined(__SANITIZE_ADDRESS__) && \
	!defined(__clang_analyzer__)
#define _LGPL_SOURCE
#endif
#include <urcu/urcu-bp.h>

#ifdef MDX_TSAN
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
extern char mdx_rcu_tag;
#endif

static inline void rcu_enter(void)
{
	urcu_bp_read_lock();
}

static inline void rcu_leave(void)
{
#ifdef MDX_TSAN
	__tsan_release(&mdx_rcu_tag);
#endif
	urcu_bp_read_unlock();
}

/* Waits for a grace period; never inside a read section or under a lock. */
static inline void rcu_wait(void)
{
	urcu_bp_synchronize_rcu();
#ifdef MDX_TSAN
	__tsan_acquire(&mdx_rcu_tag);
#endif
}

#endif
