#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""VFS with hot kernel caches, where a cache can win little and must not lose.

Three servers, each over a directory of its own with the same files, are
measured in turn: stock, SCALE, and as the control SCALE that always asks a
backend which is 0.2 ms away.  Short rounds, so that what else the machine does
meets them all.
"""

import contextlib

from backends.fault import FaultOver
from backends.vfs import Vfs
from memory import measure_memory
from nfsbench import options
from nfsbench.load import names
from nfsbench.servers import (ALWAYS_ASK, FOR_EVER, NO_EXPIRY, Bed, scale,
                              stock)

DIRECTORIES, FILES = 20, 1000
# The share of stock's rate that must be reached.
TARGET = 0.98
FIRST_LEVELS = {
    "": "",
    ", MDCACHE small":
        "MDCACHE { Entries_HWMark = 2000; Chunks_HWMark = 100; }",
}


def operations(seconds):
    """Name of each -> (nfsload's operation, its arguments, unit)."""
    hot = {"order": "random", "seconds": seconds}
    return {
        "GETATTR": ("getattr", {"of": "files", "depth": 16, **hot}),
        "LOOKUP": ("lookup", {"of": "dirs", "depth": 16, **hot,
                              "names": names("f", FILES, digits=4)}),
        "READDIRPLUS": ("readdirplus", {"of": "dirs", "depth": 4, **hot}),
        "CREATE+REMOVE": ("churn", {
            "of": "work", "depth": 4, "seconds": seconds,
            "names": names("new", 1000)}),
    }


def populate(directory):
    """The files of one server."""
    for number in range(DIRECTORIES):
        folder = directory / f"d{number:02}"
        folder.mkdir()
        for file in range(FILES):
            (folder / f"f{file:04}").touch()
    (directory / "work").mkdir()
    for path in (directory, *directory.iterdir()):
        path.chmod(0o777)


def rate(report):
    """Items a second; of READDIRPLUS, names."""
    return report.get("entries", report["items"]) / report["seconds"]


def prepare(server):
    """Find all handles, which also warms the server."""
    load = server.load
    server.mount(server.pseudo)
    load("lookup", of="root", keep="dirs",
         names=names("d", DIRECTORIES, digits=2))
    load("lookup", of="root", keep="work", names=["work"])
    load("readdirplus", of="dirs", keep="files")


def measure_rates(arguments, report, folder, label, mdcache):
    """One comparison, with one setting of MDCACHE."""
    rounds, seconds = (5, 0.5) if arguments.quick else (25, 1)
    rounds = arguments.rounds or rounds
    stacks = {"stock": stock(), "scale": scale(FOR_EVER),
              "control": scale(ALWAYS_ASK)}
    rates = {stack: {name: [] for name in operations(0)} for stack in stacks}
    costs = {stack: {name: [] for name in operations(0)} for stack in stacks}
    with contextlib.ExitStack() as started:
        servers = {}
        for name, stack in stacks.items():
            own = folder / f"{name}{'-small' if mdcache else ''}"
            files = backend = Vfs(own)
            if name == "control":
                backend = FaultOver(own, files, "latency all fixed 200")
            bed = started.enter_context(Bed(own, backend))
            populate(files.directory)
            export = backend.export()
            if name == "control":
                export.extra = NO_EXPIRY
            servers[name] = started.enter_context(bed.running(
                stack, [export], [mdcache] if mdcache else []))
            prepare(servers[name])
        for number in range(rounds):
            for name, (op, command) in operations(seconds).items():
                order = list(servers) if number % 2 else \
                    list(reversed(servers))
                for which in order:
                    before = servers[which].cpu_seconds()
                    done = servers[which].load(op, **command)
                    used = servers[which].cpu_seconds() - before
                    rates[which][name].append(rate(done))
                    costs[which][name].append(
                        used / done["seconds"] / rate(done))
    for name in operations(0):
        title = name + label
        unit = "names/s" if name == "READDIRPLUS" else "/s"
        report.add(f"{title}, stock", rates["stock"][name], unit)
        report.add(f"{title}, SCALE", rates["scale"][name], unit)
        report.ratio(f"{title}, CPU of SCALE against stock's",
                     costs["scale"][name], costs["stock"][name],
                     better="lower")
        report.ratio(f"{title}: SCALE against stock", rates["scale"][name],
                     rates["stock"][name], target=TARGET)
        report.ratio(f"{title}: SCALE that always asks",
                     rates["control"][name], rates["stock"][name],
                     target=TARGET, control=True)


def measure(arguments, report, folder):
    if arguments.part != "memory":
        for label, mdcache in FIRST_LEVELS.items():
            measure_rates(arguments, report, folder, label, mdcache)
    if arguments.part != "rates":
        measure_memory(arguments, report, folder)


def main():
    parser = options.parser("hot", __doc__.splitlines()[0])
    parser.add_argument("--part", choices=("rates", "memory"),
                        help="only this part")
    parser.add_argument("--rounds", type=int, metavar="N",
                        help="of each comparison, instead of 25 or 5")
    options.run("hot", parser.parse_args(), measure)


if __name__ == "__main__":
    main()
