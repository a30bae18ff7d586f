#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""18 million files through NFS into SCALE's memory.

The files are FAULT's computed tree; maxFilesToCache is 8M, maxStatCache 10M
(a quick run: 1M files, and limits in proportion).  READDIRPLUS brings all
into the stat tier, READ as many as belong there into the file tier.  While the
cache is filled, while it evicts and while it is flushed, a second client asks
for attributes all the time; its longest wait is a result.
"""

import time

from backends.fault import FaultTree, tree_block
from harness.ganesha import Export
from nfsbench import options
from nfsbench.load import Load, check, names
from nfsbench.servers import FOR_EVER, Bed, null, scale

FILES = 1000      # of each directory
FEW = 100         # directories that the rates at full size are compared with
MDCACHE = ("MDCACHE { Entries_HWMark = 2000; Chunks_HWMark = 100; "
           "LRU_Run_Interval = 1; Entries_Release_Size = 1000000; }")
PROBE, TREE = "/probe", "/tree"
LEAST_RATIO, LEAST_HELD, LONGEST_MS = 0.9, 0.99, 100
# What the slow backend of the control takes for each call, in ms.
CONTROL_MS = 120
# Of the second client: more than MDCACHE holds, so that it asks SCALE.
PROBE_DIRECTORIES = 20
SAMPLES = 3
# Directories whose files are opened in one go.
BATCH = 500
# Handles that are remembered.
REMEMBERED = 1000000


class Size:
    """How many directories fit, and the limits for them.

    The directories themselves need places, too.
    """

    def __init__(self, quick):
        self.fit = 999 if quick else 17980
        self.opened = 440 if quick else 7980    # whose files are read
        self.more = self.fit // 10    # read past the limits
        self.limits = ({"files": "442K", "stats": "560K", "pagepool": "1G"}
                       if quick else
                       {"files": "8M", "stats": "10M", "pagepool": "8G"})
        self.seconds = 1 if quick else 5
        self.every = max(1, self.fit * FILES // REMEMBERED)
        self.label = f"{self.fit / 1000:.3g}M files"

    def exports(self):
        """The large tree, and a small one for the second client."""
        large = tree_block(directories=self.fit + self.more, files=FILES)
        small = tree_block(directories=PROBE_DIRECTORIES, files=FILES)
        return [Export(1, TREE, large, path=TREE),
                Export(2, PROBE, small, path=PROBE)]


class Probe:
    """A second client: GETATTR every millisecond, until it is asked."""

    def __init__(self, server):
        self.load = Load(server.ns, 1)
        self.load("mount", export=PROBE, version=3, keep="root")
        self.load("lookup", of="root", keep="dirs",
                  names=directories(1, PROBE_DIRECTORIES))
        self.load("readdirplus", of="dirs", keep="files")

    def longest_ms(self, function):
        """The longest wait while function() runs."""
        self.load.start("getattr", of="files", order="random",
                        pause_us=1000, until_input=True)
        try:
            function()
        finally:
            report = self.load.end()
        check(report, "OK")
        return report["max_us"] / 1000


def directories(first, count):
    return names("d", count, first=first, digits=5)


def rates(server, size, dirs, handles):
    """Requests a second, at random over sets of handles: samples by name."""
    hot = {"order": "random", "depth": 16, "seconds": size.seconds}
    commands = {"GETATTR": ("getattr", {"of": handles}),
                "LOOKUP": ("lookup", {"of": dirs, "names": names(
                    "f", FILES, first=1, digits=4)})}
    samples = {name: [] for name in commands}
    for _ in range(SAMPLES):
        for name, (op, arguments) in commands.items():
            report = server.load(op, **arguments, **hot)
            samples[name].append(report["requests"] / report["seconds"])
    return samples


def list_all(server, first, count, keep_every=1, suffix=""):
    """READDIRPLUS of directories, which are left in the set dirs; seconds."""
    server.load("lookup", of="root", names=directories(first, count),
                keep="dirs" + suffix)
    report = server.load("readdirplus", of="dirs" + suffix, depth=2,
                         keep="files" + suffix, keep_every=keep_every)
    read = report["entries"] - 2 * count    # "." and ".."
    if read != count * FILES:
        raise RuntimeError(f"READDIRPLUS gave {read} names of "
                           f"{count * FILES}")
    return report["seconds"]


def open_all(server, count):
    """READ of all files of the first directories; seconds."""
    seconds = 0
    for first in range(1, count + 1, BATCH):
        list_all(server, first, min(BATCH, count + 1 - first),
                 suffix="-read")
        seconds += server.load("read", of="files-read", depth=16,
                               reply_bytes=512)["seconds"]
    return seconds


def held(server, size):
    """The share of the files that the cache has."""
    usage = server.stats()["cache"]["usage"]
    return (usage["files"] + usage["stats"]) / (size.fit * FILES)


class Filling:
    """One server from empty to full and back."""

    def __init__(self, server, size):
        self.server = server
        self.size = size
        self.probe = Probe(server)
        self.waits = {}
        server.mount(TREE)

    def small_rates(self):
        """Rates with FEW directories in the cache."""
        list_all(self.server, 1, FEW, suffix="-few")
        return rates(self.server, self.size, "dirs-few", "files-few")

    def fill(self):
        """All that fits; files listed and opened a second."""
        opened = self.during("is filled by READ", open_all, self.server,
                             self.size.opened)
        listed = self.during("is filled by READDIRPLUS", list_all,
                             self.server, 1, self.size.fit, self.size.every)
        return (self.size.fit * FILES / listed,
                self.size.opened * FILES / opened)

    def during(self, what, function, *arguments):
        """Call a function; its value.  The probe's longest wait is kept."""
        value = []
        self.waits[what] = self.probe.longest_ms(
            lambda: value.append(function(*arguments)))
        return value[0]

    def evict(self):
        """Read past the limits."""
        self.during("evicts", list_all, self.server, self.size.fit + 1,
                    self.size.more, 1000, "-more")

    def rest(self):
        """Do nothing: what the machine itself makes a request wait."""
        self.during("rests", time.sleep, self.size.seconds)

    def flush(self):
        """Take the large export away."""
        self.during("is flushed", self.server.server.remove_export, 1)


def run(bed, report, size):
    """The cache as it should be."""
    with bed.running(scale(FOR_EVER, **size.limits), size.exports(),
                     [MDCACHE]) as server:
        filling = Filling(server, size)
        empty = server.rss()
        few = filling.small_rates()
        listed, opened = filling.fill()
        report.add(f"READDIRPLUS, filling, {size.label}", [listed], "names/s")
        report.add(f"READ, filling, {size.opened / 1000:.3g}M files",
                   [opened], "/s")
        report.add(f"held of {size.label}", [held(server, size)], "",
                   target=LEAST_HELD)
        report.add(f"RSS, {size.label}", [server.rss() / 2**20], "MiB",
                   better="lower")
        report.add(f"RSS per file, {size.label}",
                   [(server.rss() - empty) / (size.fit * FILES)], "bytes",
                   better="lower")
        many = rates(server, size, "dirs", "files")
        filling.rest()
        filling.evict()
        filling.flush()
    for name, samples in few.items():
        report.add(f"{name}, {FEW * FILES:,} files", samples, "/s")
        report.add(f"{name}, {size.label}", many[name], "/s")
        report.ratio(f"{name}: {size.label} against {FEW * FILES:,}",
                     many[name], samples, target=LEAST_RATIO)
    for when, wait in filling.waits.items():
        report.add(f"longest request while the cache {when}", [wait], "ms",
                   better="lower",
                   target=None if when == "rests" else LONGEST_MS)


def control_rates(bed, report, size):
    """A cache for a tenth, over a slow backend: most is not there."""
    tenth = {"files": f"{FEW * FILES // 1000}K",
             "stats": f"{size.fit * FILES // 10000}K",
             "pagepool": size.limits["pagepool"]}
    with bed.running(scale(FOR_EVER, **tenth), size.exports(),
                     [MDCACHE]) as server, bed.backend.control() as fault:
        server.mount(TREE)
        list_all(server, 1, FEW, suffix="-few")
        few = rates(server, size, "dirs-few", "files-few")
        list_all(server, 1, size.fit, size.every)
        report.add(f"held, a cache for a tenth of {size.label}",
                   [held(server, size)], "", target=LEAST_HELD, control=True)
        fault.latency("all", fixed=5000)
        many = rates(server, size, "dirs", "files")
    for name, samples in few.items():
        report.ratio(f"{name}, a cache for a tenth of {size.label}",
                     many[name], samples, target=LEAST_RATIO, control=True)


def control_wait(bed, report, size):
    """Nothing cached over a backend too slow for the target."""
    with bed.running(null(), size.exports(), [MDCACHE]) as server, \
            bed.backend.control() as fault:
        filling = Filling(server, size)

        fault.latency("all", fixed=CONTROL_MS * 1000)
        wait = filling.probe.longest_ms(lambda: time.sleep(size.seconds))
        fault.clear()
    report.add("longest request, NULL over a slow backend", [wait], "ms",
               better="lower", target=LONGEST_MS, control=True)


def measure(arguments, report, folder):
    size = Size(arguments.quick)
    own = folder / "tree"
    own.mkdir()
    with Bed(own, FaultTree(own)) as bed:
        run(bed, report, size)
        control_rates(bed, report, Size(True))
        control_wait(bed, report, size)


def main():
    parser = options.parser("scale", __doc__.splitlines()[0])
    options.run("scale", parser.parse_args(), measure)


if __name__ == "__main__":
    main()
