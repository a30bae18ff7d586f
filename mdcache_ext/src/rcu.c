/* SPDX-License-Identifier: LGPL-3.0-or-later */
#include "rcu.h"

#ifdef MDX_TSAN
char mdx_rcu_tag; /* its address stands for all grace periods */
#else
typedef int mdx_rcu_nothing_to_define;
#endif
