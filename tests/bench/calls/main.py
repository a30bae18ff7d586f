#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""How often requests reach the backend when its answers are known.

FAULT counts the calls of every method, above FSAL_VFS and above its computed
tree.  MDCACHE is so small that it has forgotten each object before it is asked
for again; SCALE's counters must show that the requests arrived there, and
strace that the server made no file-system call.  FSAL_NULL in SCALE's place is
the control.
"""

import collections
import os
import time

from backends.fault import FaultOver, tree_block
from backends.vfs import Vfs
from harness.ganesha import Export
from nfsbench import options
from nfsbench.servers import (SMALL_MDCACHE, TOLD, Bed, null, scale,
                              stock)
from nfsbench.syscalls import traced
from rows import CHANGED, FEW, LARGE, Rows
from table import tell

EVICTORS = 300
FSSTAT_SECONDS = 2.9
# What is asked of the FSAL for every object or request without I/O.
PROPERTIES = ("is_referral", "is_superuser", "test_access", "fs_")
PROPERTY_ROWS = ("GETATTR", "v4 PUTFH+GETATTR", "v4 LOOKUP+GETATTR",
                 "v4 READDIR")


class Counted:
    """Results per item, by row, of one server."""

    def __init__(self):
        self.calls = {}
        self.arrived = {}
        self.syscalls = {}
        self.properties = collections.Counter()
        self.property_items = 0
        self.fsstat = None

    def properties_per_item(self):
        """Calls for properties per request."""
        return self.properties.total() / self.property_items


def populate(directory):
    """The files of the export over FSAL_VFS."""
    for name, count in (("few", FEW), ("large", LARGE),
                        ("changed", CHANGED), ("evict", EVICTORS)):
        folder = directory / name
        folder.mkdir()
        for number in range(1, count + 1):
            os.close(os.open(folder / f"f{number:04}",
                             os.O_CREAT | os.O_WRONLY, 0o644))
    for number in range(1, FEW + 1):
        (directory / f"few/l{number:04}").symlink_to(f"f{number:04}")


class Measurement:
    """One server's rows."""

    def __init__(self, server, fault, folder, arrivals):
        self.server = server
        self.folder = folder
        self.arrivals = arrivals
        self.fault = fault
        self.result = Counted()
        self.vfs = Rows(server.load, "VFS")
        self.tree = Rows(server.load, "tree")

    def prepare(self):
        self.vfs.find("/slow", few=["few"], large=["large"],
                      changed=["changed"], evict=["evict"])
        # The large directory is a tree of its own.
        self.tree.find("/large", large=["d00001"])
        self.tree.find("/tree", few=["d00001"],
                       evict=["d00002", "d00003", "d00004"])
        self.warm(self.vfs, self.tree)

    @staticmethod
    def warm(*exports):
        """Everything is known, but not to MDCACHE."""
        for rows in exports:
            rows.warm()
        # MDCACHE's thread releases what the warming has left there.
        time.sleep(3)

    def count(self, rows, name, function):
        """Count one row's calls and arrivals."""
        rows.evict()
        title = f"{rows.label}: {name}"
        arrived = self.arrived()
        self.fault.reset()
        items = function()
        counts = self.fault.counts()
        self.result.calls[title] = counts["calls"] / items
        if self.arrivals:
            self.result.arrived[title] = (self.arrived() - arrived) / items
        if name in PROPERTY_ROWS:
            self.result.property_items += items
            for op, number in counts["counts"].items():
                if op.startswith(PROPERTIES):
                    self.result.properties[op] += number

    def arrived(self):
        return self.server.arrived() if self.arrivals else 0

    def all_rows(self):
        for rows in (self.vfs, self.tree):
            for name, function in rows.reading():
                self.count(rows, name, function)
        for name, change, function in self.vfs.changing():
            change()
            self.count(self.vfs, name, function)
        self.fsstat()

    def fsstat(self):
        """Calls a second; the first one is not counted."""
        of = self.vfs.set("root")
        self.server.load("fsstat", of=of)
        self.fault.reset()
        done = self.server.load("fsstat", of=of, seconds=FSSTAT_SECONDS)
        self.result.fsstat = self.fault.counts()["calls"] / done["seconds"]

    def trace(self):
        """The rows over FSAL_VFS again, under strace."""
        # A file that was linked has another ctime.
        self.warm(self.vfs)
        for name, function in self.vfs.reading():
            self.vfs.evict()
            with traced(self.server.pid, self.folder) as counted:
                items = function()
            self.result.syscalls[f"VFS: {name}"] = counted.total() / items


class Benchmark:
    """All servers, one after the other, over the same files."""

    def __init__(self, folder):
        self.folder = folder
        self.files = Vfs(folder)
        self.backend = FaultOver(folder, self.files)

    def exports(self):
        tree = tree_block(directories=4, files=FEW, links=FEW)
        large = tree_block(directories=1, files=LARGE)
        return [self.backend.export(1, "/slow"),
                Export(2, "/tree", tree, path="/tree"),
                Export(3, "/large", large, path="/large")]

    def measure(self, bed, stack, trace):
        with bed.running(stack, self.exports(), [SMALL_MDCACHE]) as server:
            with self.backend.control() as fault:
                measurement = Measurement(server, fault, self.folder,
                                          stack.name == "scale")
                measurement.prepare()
                measurement.all_rows()
                if trace:
                    measurement.trace()
                return measurement.result

    def arrived_with_large_mdcache(self, bed):
        """Per GETATTR: none, for MDCACHE has all objects."""
        with bed.running(scale(TOLD), self.exports()) as server:
            with self.backend.control() as fault:
                measurement = Measurement(server, fault, self.folder, True)
                measurement.prepare()
                name, function = next(measurement.vfs.reading())
                measurement.count(measurement.vfs, name, function)
                return measurement.result.arrived[f"VFS: {name}"]


def measure(arguments, report, folder):
    del arguments    # A quick run would be no shorter.
    benchmark = Benchmark(folder)
    with Bed(folder, benchmark.backend) as bed:
        populate(benchmark.files.directory)
        theirs = benchmark.measure(bed, stock(), False)
        control = benchmark.measure(bed, null(), True)
        ours = benchmark.measure(bed, scale(TOLD), True)
        hot = benchmark.arrived_with_large_mdcache(bed)
    tell(report, theirs, control, ours, hot)


def main():
    parser = options.parser("calls", __doc__.splitlines()[0])
    options.run("calls", parser.parse_args(), measure, header=False)


if __name__ == "__main__":
    main()
