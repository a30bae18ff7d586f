# SPDX-License-Identifier: LGPL-3.0-or-later
"""remote: backends that are asked over a line.

SCALE is given what it needs to hold the whole file set, and stock as much
memory for MDCACHE's entries.  Over CEPH and GLUSTER the ratio stands beside
its ceiling: the changes, reads and writes of the mix go to the backend with
any cache, so a run of these alone tells how many operations a perfect one
could do.
"""

import math
from dataclasses import dataclass, replace

from backends.ceph import Ceph
from backends.gluster import Gluster
from climb import Ladder, climb
from compare import (CHANGES, CHANGES_SHARE, MDCACHE_BYTES, VERSIONS, Contest,
                     Side, compare, mdcache, settled)
from nfsbench.far import FarProxyV4
from nfsbench.memory import MemoryVfs
from nfsbench.servers import ALWAYS_ASK, NO_EXPIRY, Bed, scale, stock

ROUNDS = 3
DELAY_US, CAPACITY = 500, 8000
# Where nothing is told and only SCALE itself makes changes, entries live as
# long with stock as with SCALE.
LONG = "Attr_Expiration_Time = 3600;"


def make_proxy(rundir):
    """PROXY_V4; the files of the server behind are in memory."""
    backend = FarProxyV4(rundir, DELAY_US)
    backend.behind = MemoryVfs(rundir)
    return backend


@dataclass(frozen=True)
class Place:
    """A backend.

    options: of SCALE; extra: of the export; limited: it is FAULT's line above
    it that is slow; pins: what its library keeps for each object that
    Ganesha holds, in bytes, counted with both; finds: files of its set that a
    run looks up in a second before it begins; target: for the ratio, or None:
    it is reported beside its ceiling.
    """

    label: str
    make: object
    quick: Ladder
    full: Ladder
    options: str = ""
    extra: str = ""
    limited: bool = False
    pins: int = 0
    finds: float = math.inf
    target: float | None = None


# A process has 100 files at least, those of a whole directory: READDIR costs
# by their number.  Each BUILD has files of its own, so that the set is in use
# to the part of the ladder that is climbed: its top is what two cores can
# serve at best.
QUICK = Ladder(first=2, top=16, scale=0.04, warmup=0.4, seconds=1.6)
FULL = Ladder(first=2, top=16, scale=0.4, warmup=1.5, seconds=5)
SLOW_QUICK = Ladder(first=0.4, top=6.4, scale=0.02, warmup=0.4, seconds=1.6)
SLOW_FULL = replace(FULL, first=0.4, top=6.4, scale=0.1)
PLACES = {
    "fault": Place("FAULT, 0.5 ms", MemoryVfs, QUICK, FULL,
                   "Freshness = upcall;", LONG, limited=True, target=3),
    "proxy_v4": Place("PROXY_V4, 0.5 ms more", make_proxy,
                      replace(QUICK, first=1, scale=0.02, bisect=1),
                      replace(FULL, first=1, scale=0.1), finds=500,
                      target=3),
    "ceph": Place("CEPH", Ceph, SLOW_QUICK, SLOW_FULL, pins=8192),
    "gluster": Place("GLUSTER", Gluster, SLOW_QUICK, SLOW_FULL,
                     "Freshness = upcall;", LONG, pins=8192),
}


def add_arguments(parser):
    """The options of this part."""
    group = parser.add_argument_group("remote")
    group.add_argument("--capacity", metavar="N", type=int, default=CAPACITY,
                       help=f"calls a second that FAULT does ({CAPACITY})")


def chosen(arguments):
    """The backends to measure; a quick run has time for one."""
    return arguments.backend or (["fault"] if arguments.quick else PLACES)


def plan(place, arguments):
    """(Ladder, rounds)"""
    return (place.quick, 1) if arguments.quick else (place.full, ROUNDS)


def seconds(arguments):
    """How long it takes, about."""
    total = 0
    for key in chosen(arguments):
        place = PLACES[key]
        ladder, rounds = plan(place, arguments)
        total += ((3 * 2 * rounds + 4)
                  * (ladder.longest + 5 + ladder.files / place.finds)
                  + ladder.files / 500)
    return total


def measure(arguments, report, folder):
    for key in chosen(arguments):
        measure_place(arguments, report, folder, key)


def measure_place(arguments, report, folder, key):
    place = PLACES[key]
    ladder, rounds = plan(place, arguments)
    stack, first_level, memory = settled(ladder.files, place.options,
                                         pins=place.pins)
    entries = ((memory + place.pins * ladder.files)
               // (MDCACHE_BYTES + place.pins))
    label = place.label

    def line(fault):
        fault.latency("all", fixed=DELAY_US)
        fault.capacity(arguments.capacity)

    counting = {"fault": place.limited, "initially": line}
    if place.limited:
        label += f", {arguments.capacity:,}/s"
    always = scale(ALWAYS_ASK, files=ladder.files, stats=2 * ladder.files)
    print(f"{label}: {ladder.files} files; SCALE needs "
          f"{memory / 2**20:.1f} MiB for them, in which MDCACHE holds "
          f"{entries}")
    outcomes = compare(arguments, report, folder, Contest(
        key, label, place.make(folder / key), ladder,
        stock=Side(stock(), mdcache(entries), place.extra, **counting),
        scale=Side(stack, first_level, place.extra, **counting),
        control=Side(always, first_level, NO_EXPIRY, **counting),
        target=place.target), rounds)
    if place.target is None:
        ceiling(arguments, report, folder, place, ladder, outcomes)


def ceiling(arguments, report, folder, place, ladder, outcomes):
    """What a perfect cache could do: the changes alone, by stock."""
    changes = replace(ladder, mix=CHANGES)
    own = folder / "ceiling"
    own.mkdir(exist_ok=True)
    backend = place.make(own)
    with Bed(own, backend) as bed:
        for version in arguments.nfs or VERSIONS:
            export = backend.export()
            export.extra += place.extra
            with bed.running(stock(), [export]) as server:
                run = climb(server, version, f"changes, NFSv{version}",
                            changes, own)
            theirs = [rate for rate in outcomes[version].rates("stock")
                      if rate]
            title = f"{place.label}, NFSv{version}"
            if not run.rate or not theirs:
                print(f"  {title}: no ceiling, for no point of the changes "
                      "alone was valid")
                continue
            report.add(f"{title}: the changes alone, stock", [run.rate],
                       "ops/s", curve=[run.samples()])
            report.add(f"{title}: the ceiling that they set",
                       [run.rate / CHANGES_SHARE / rate for rate in theirs],
                       "x")
