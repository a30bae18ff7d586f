# SPDX-License-Identifier: LGPL-3.0-or-later
"""small: a container with 512 MiB in front of millions of files.

Server and the kernel's caches for it are in a control group, and the disk does
3,000 reads a second.  All files are listed with their attributes first, with
no limit on reads; then they are asked for at random.  SWBUILD runs beside a
client that goes on asking, for its own files are few.  The control is SCALE
that always asks.
"""

import contextlib
import subprocess
from dataclasses import dataclass

from cgroup import ControlGroup
from climb import Ladder, climb, draw, make_set, response
from compare import VERSIONS
from millions import FILES_EACH, Images, Millions
from nfsbench.load import names
from nfsbench.servers import ALWAYS_ASK, NO_EXPIRY, Bed, scale, stock

MEBIBYTE = 1 << 20
READS = 3000
TARGET = 50
# What the server takes before it has cached anything.
BASE = 48 * MEBIBYTE
# In the container of the issue: so many files in so many bytes.
FULL_FILES, FULL_MEMORY = 2_000_000, 512 * MEBIBYTE
QUICK_FILES = 100_000
DEPTH = 16
BESIDE_RATE = 2000
# As config/container.conf has it.
THREADS = "RPC_Ioq_ThrdMax = 64;"
FIRST_LEVEL = "MDCACHE { Entries_HWMark = 2000; Chunks_HWMark = 100; }"


@dataclass(frozen=True)
class Size:
    """A number of files, the container's memory, how many SCALE may hold,
    seconds before anything is measured and of each measurement, rounds."""

    files: int
    memory: int
    held: int
    warmup: float
    seconds: float
    rounds: int

    @property
    def label(self):
        return f"{self.files / 1e6:g}M files in {self.memory >> 20} MiB"

    # Files that were just made are asked for again each minute, lest they
    # change without an event; those of a real container are older.
    def scale(self, options="Freshness = notify; Attr_TTL = 3600;"):
        """SCALE as config/container.conf has it, in proportion."""
        part = self.held / FULL_FILES
        return scale(options, stats=self.held + self.held // 500,
                     files=max(500, int(10000 * part)),
                     pagepool=max(MEBIBYTE, int(32 * MEBIBYTE * part)))


def in_proportion(files):
    """The container's memory for so many files, in bytes."""
    return BASE + (FULL_MEMORY - BASE) * files // FULL_FILES


def fitting(memory):
    """How many files fit into a container of so many bytes."""
    return FULL_FILES * (memory - BASE) // (FULL_MEMORY - BASE)


def sizes(arguments):
    if arguments.files:
        memory = (arguments.memory * MEBIBYTE if arguments.memory else
                  in_proportion(arguments.files))
        return [Size(arguments.files, memory,
                     min(arguments.files, fitting(memory)), 10, 10, 1)]
    if arguments.quick:
        memory = in_proportion(QUICK_FILES)
        return [Size(QUICK_FILES, memory, QUICK_FILES, 5, 2, 1),
                Size(QUICK_FILES * 3 // 2, memory, QUICK_FILES, 5, 2, 1)]
    return [Size(FULL_FILES, FULL_MEMORY, FULL_FILES, 60, 20, 3),
            Size(FULL_FILES * 3 // 2, FULL_MEMORY, FULL_FILES, 60, 20, 3)]


def add_arguments(parser):
    """The options of this part."""
    group = parser.add_argument_group("small")
    group.add_argument(
        "--files", metavar="N", type=int,
        help="only so many files, and the container's memory in proportion; "
             "GETATTR and LOOKUP alone, once")
    group.add_argument(
        "--memory", metavar="MIB", type=int,
        help="with --files: the container's memory instead of that")
    group.add_argument(
        "--images", metavar="DIR",
        help="keep the images with the files there, and use those that are "
             "there (else they are made anew in /dev/shm)")


def ladder(arguments):
    if arguments.quick:
        return Ladder(first=0.4, top=3.2, scale=0.01, warmup=0.4, seconds=1.6,
                      bisect=1)
    return Ladder(first=0.4, top=12.8, scale=0.02, warmup=1.5, seconds=5)


def seconds(arguments):
    """How long it takes, about: 10,000 files a second are made and listed."""
    total = 0
    for size in sizes(arguments):
        total += size.files / 10000 + size.rounds * 3 * (
            size.files / 10000 + size.warmup + 2 * size.seconds + 5)
    return total + 6 * (ladder(arguments).longest + 20)


class Container:
    """A server in its control group, all files listed."""

    def __init__(self, bed, group, server, directories):
        self.bed, self.group, self.server = bed, group, server
        self.directories = directories

    def list_all(self):
        """READDIRPLUS of everything, the disk as fast as it is."""
        self.group.limit_reads(self.bed.backend.device)
        load = self.server.load
        self.server.mount(self.server.pseudo)
        load("lookup", of="root", keep="dirs",
             names=names("d", self.directories, digits=4))
        load("readdirplus", of="dirs", keep="files", depth=2)
        self.group.limit_reads(self.bed.backend.device, READS)

    def rate(self, op, length):
        """Requests a second, at random over everything."""
        what = {"getattr": {"of": "files"},
                "lookup": {"of": "dirs", "names": names(
                    "f", FILES_EACH, digits=4)}}[op]
        done = self.server.load(op, order="random", depth=DEPTH,
                                seconds=length, **what)
        return done["requests"] / done["seconds"], done["p99_us"] / 1000


@contextlib.contextmanager
def contained(bed, size, stack, extra="", mdcache=FIRST_LEVEL):
    """A Container; reads are limited when it has listed everything."""
    bed.backend.remount()
    group = ControlGroup(f"scale-bench-{bed.ns.pid}", size.memory)
    try:
        export = bed.backend.export()
        export.extra = extra
        with bed.running(stack, [export], [mdcache], core=THREADS,
                         launcher=group.launcher) as server:
            container = Container(bed, group, server,
                                  size.files // FILES_EACH)
            container.list_all()
            yield container
    finally:
        group.remove()


def prove_limit(report, bed, size):
    """The disk's rate as the group has it, at random, past all caches."""
    group = ControlGroup(f"scale-bench-{bed.ns.pid}", size.memory)
    try:
        group.limit_reads(bed.backend.device, READS)
        found = subprocess.run(
            [*group.launcher, "/usr/bin/python3", "-c", READ_AT_RANDOM,
             bed.backend.device], stdout=subprocess.PIPE, text=True,
            check=True)
        report.add("the disk in the container, reads at random",
                   [float(found.stdout)], "/s")
        if float(found.stdout) > 1.2 * READS:
            raise RuntimeError(
                f"the control group lets {found.stdout.strip()} reads a "
                f"second through instead of {READS}: this kernel does not "
                "throttle loop devices")
    finally:
        group.remove()


READ_AT_RANDOM = """
import mmap, os, random, sys, threading, time
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
size = os.lseek(fd, 0, os.SEEK_END) // 4096
end, counts = time.monotonic() + 2, []
def read():
    block, count = mmap.mmap(-1, 4096), 0
    while time.monotonic() < end:
        os.preadv(fd, [block], random.randrange(size) * 4096)
        count += 1
    counts.append(count)
threads = [threading.Thread(target=read) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sum(counts) / 2)
"""


def measure_rates(report, bed, size):
    """GETATTR and LOOKUP at random: stock, SCALE, and the control."""
    title = f"small, {size.label}"
    sides = {"stock": (stock(), ""), "SCALE": (size.scale(), ""),
             "control": (size.scale(ALWAYS_ASK), NO_EXPIRY)}
    # The target is that of the files that fit.
    target = TARGET if size.files <= size.held else None
    if not target:
        del sides["control"]
    rates = {side: {"getattr": [], "lookup": []} for side in sides}
    for turn in range(size.rounds):
        for side, (stack, extra) in (sides.items() if turn % 2 == 0 else
                                     reversed(sides.items())):
            with contained(bed, size, stack, extra) as container:
                container.rate("getattr", size.warmup)
                for op, samples in rates[side].items():
                    samples.append(container.rate(op, size.seconds))
                used = container.group.memory_used()
            report.add(f"{title}: memory at most, {side}",
                       [used[1] / MEBIBYTE], "MiB", better="lower")
    for op in ("getattr", "lookup"):
        for side in sides:
            report.add(f"{title}: {op.upper()}, {side}",
                       [rate for rate, _ in rates[side][op]], "/s",
                       p99_ms=[p99 for _, p99 in rates[side][op]])
        stocks = [rate for rate, _ in rates["stock"][op]]
        report.ratio(f"{title}: {op.upper()}, SCALE against stock",
                     [rate for rate, _ in rates["SCALE"][op]], stocks,
                     target=target)
        if target:
            report.ratio(f"{title}: {op.upper()}, SCALE that always asks",
                         [rate for rate, _ in rates["control"][op]], stocks,
                         target=target, control=True)


def load_beside(report, container, version, side, steps, folder, title):
    """One run of the load while all files' attributes are asked for."""
    container.server.load.start(
        "getattr", of="files", order="random", depth=DEPTH, rate=BESIDE_RATE,
        until_input=True)
    try:
        run = climb(container.server, version, f"{side}, NFSv{version}",
                    steps, folder)
    finally:
        beside = container.server.load.end()
    report.add(f"{title}: GETATTR beside it, {side}",
               [beside["requests"] / beside["seconds"]], "/s",
               curve=[run.samples()])
    report.add(f"{title}: last valid point, {side}",
               [run.rate] if run.rate else [], "ops/s")
    if not run.rate:
        first = run.report["points"][0]
        print(f"  {title}: {side} has no valid point; "
              f"{response(first):.1f} ms at {first['builds']:g} BUILDs")
        report.failed |= side == "SCALE"
    return run


def measure_swbuild(arguments, report, bed, size, folder):
    """The load beside a client that asks for all files' attributes."""
    steps = ladder(arguments)
    runs = []
    with bed.running(stock()) as server:
        make_set(server, steps, folder)
    for side, stack in (("stock", stock()), ("SCALE", size.scale())):
        with contained(bed, size, stack) as container:
            for version in arguments.nfs or VERSIONS:
                runs.append(load_beside(
                    report, container, version, side, steps, folder,
                    f"small, {size.label}, SWBUILD, NFSv{version}"))
    if arguments.plot:
        draw(runs, arguments.plot, "small")


def measure(arguments, report, folder):
    with Images(arguments.images) as images:
        for number, size in enumerate(sizes(arguments)):
            own = folder / f"small-{number}"
            with Bed(own, Millions(own, images.get(size.files))) as bed:
                if number == 0:
                    prove_limit(report, bed, size)
                measure_rates(report, bed, size)
                if number == 0 and not arguments.files:
                    measure_swbuild(arguments, report, bed, size, folder)
