# SPDX-License-Identifier: LGPL-3.0-or-later
"""local: VFS over a hot file system, where SCALE must lose nothing.

The files are on a tmpfs, so that a stable write is not what is
measured.  The control is SCALE that always asks, over a backend that does
1,000 calls a second.
"""

from climb import Ladder
from compare import Contest, Side, compare
from nfsbench.memory import MemoryVfs
from nfsbench.servers import ALWAYS_ASK, NO_EXPIRY, scale, stock

QUICK = Ladder(first=4, top=32, scale=0.01, warmup=0.4, seconds=1.6)
FULL = Ladder(first=4, top=32, scale=0.1, warmup=1.5, seconds=5, bisect=3)
ROUNDS = 3
TARGET = 1.0


def plan(arguments):
    """(Ladder, rounds)"""
    return (QUICK, 1) if arguments.quick else (FULL, ROUNDS)


def seconds(arguments):
    """How long it takes, about."""
    ladder, rounds = plan(arguments)
    return (3 * 2 * rounds + 1) * (ladder.longest + 5)


def measure(arguments, report, folder):
    ladder, rounds = plan(arguments)
    compare(arguments, report, folder, Contest(
        "local", "local", MemoryVfs(folder / "local"), ladder,
        stock=Side(stock()),
        scale=Side(scale("Freshness = notify;")),
        control=Side(scale(ALWAYS_ASK), extra=NO_EXPIRY, fault=True,
                     initially=lambda fault: fault.capacity(1000)),
        target=TARGET), rounds)
