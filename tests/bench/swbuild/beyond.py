# SPDX-License-Identifier: LGPL-3.0-or-later
"""beyond: VFS, with ten times the files that MDCACHE holds in its memory.

SCALE has as much memory, its own small MDCACHE included.  The kernel's caches
are hot: a miss costs a system call or two, so there is little to win.
"""

from climb import Ladder
from compare import (MDCACHE_BYTES, Contest, Side, compare, handle_bytes,
                     mdcache)
from nfsbench.memory import MemoryVfs
from nfsbench.servers import ALWAYS_ASK, NO_EXPIRY, scale, stock

QUICK = Ladder(first=2, top=16, scale=0.12, warmup=0.4, seconds=1.6)
FULL = Ladder(first=2, top=16, scale=0.8, warmup=1.5, seconds=5)
ROUNDS = 3
TIMES = 10
TARGET = 1.0
FIRST_LEVEL = 200


def plan(arguments):
    """(Ladder, rounds)"""
    return (QUICK, 1) if arguments.quick else (FULL, ROUNDS)


def seconds(arguments):
    """How long it takes, about; the set is made at 1,000 files a second."""
    ladder, rounds = plan(arguments)
    return ((3 * 2 * rounds + 1) * (ladder.longest + 5)
            + ladder.files / 1000)


def fitted(memory):
    """SCALE in so many bytes: whole files are few, attributes many."""
    left = (memory - MDCACHE_BYTES * FIRST_LEVEL - (1 << 20)
            - handle_bytes(1 << 20))
    files = max(100, left // 10 // (184 + 48))
    stats = (left - 48 * files) // 184
    return {"files": files, "stats": stats, "pagepool": 1 << 20}


def measure(arguments, report, folder):
    ladder, rounds = plan(arguments)
    entries = ladder.files // TIMES
    limits = fitted(entries * MDCACHE_BYTES)
    print(f"beyond: {ladder.files} files; MDCACHE holds {entries} in "
          f"{entries * MDCACHE_BYTES >> 20} MiB, SCALE {limits['stats']}")
    compare(arguments, report, folder, Contest(
        "beyond", "beyond", MemoryVfs(folder / "beyond"), ladder,
        stock=Side(stock(), mdcache(entries)),
        scale=Side(scale("Freshness = notify;", **limits),
                   mdcache(FIRST_LEVEL)),
        control=Side(scale(ALWAYS_ASK, **limits), mdcache(FIRST_LEVEL),
                     extra=NO_EXPIRY, fault=True,
                     initially=lambda fault: fault.capacity(1000)),
        target=TARGET), rounds)
