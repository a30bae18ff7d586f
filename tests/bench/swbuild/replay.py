# SPDX-License-Identifier: LGPL-3.0-or-later
"""Recorded builds over slow backends: what of them reaches the backend.

Each server is a new one, cold, over a tree of its own that was made before;
FAULT counts what it asks the backend for.  A perfect cache would ask once for
each path and each missing name, and pass the changes on: the ideal of the
trace.  Opens, reads and writes always go through, by design; they are counted
apart.

After each change and each write Ganesha asks for the attributes that the reply
has to carry, and no FSAL gives them with the change itself: such getattrs are
counted, too, though the ideal has none.  "getattrs" and "changes" beside each
other tell how many they can be.
"""

import contextlib
import functools
import json
import os
import pathlib
import subprocess

from backends.fault import FaultOver
from backends.vfs import Vfs
from nfsbench import TOP
from nfsbench.far import FarProxyV4
from nfsbench.servers import Bed, scale, stock

SHIPPED = TOP / "tests/swbuild/traces"
SWBUILD = pathlib.Path(os.environ["SCALE_BUILD"]) / "tests/swbuild/swbuild"
TARGET = 1.15
SECONDS = 1800    # that a replay may take
# Stock's best: it holds everything, does not stop at 128 names of a directory
# and trusts complete directories for names that are missing.
STOCK = ("MDCACHE { Entries_HWMark = 500000; Chunks_HWMark = 100000; "
         "Detached_Mult = 10000; }")
STOCK_EXPORT = "Trust_Readdir_Negative_Cache = true;"
# FAULT's methods, by what they are for.
CLASSES = {
    "names": ("lookup", "getattrs", "readlink", "readdir", "create_handle",
              "lookup_path"),
    "changes": ("mkdir", "mknode", "symlink", "link", "rename", "unlink",
                "setattr2"),
    "opens": ("open2", "reopen2", "close2"),
    "data": ("read2", "write2", "commit2"),
}


class FaultPlace:
    """FAULT with 0.5 ms a call, over FSAL_VFS."""

    label = "FAULT"
    options = "Freshness = upcall;"
    delay = 500
    # Nobody else changes anything, and FAULT would tell.
    extra = "Attr_Expiration_Time = 3600;"

    def __init__(self, folder):
        folder.mkdir()
        self.files = Vfs(folder)
        self.backend = FaultOver(folder, self.files)


class ProxyPlace:
    """PROXY_V4 to a server that is 0.5 ms farther away."""

    label = "PROXY_V4"
    options = ""
    delay = 0
    extra = ""

    def __init__(self, folder):
        folder.mkdir()
        below = FarProxyV4(folder)
        self.files = below.behind
        self.backend = FaultOver(folder, below)


PLACES = {"fault": FaultPlace, "proxy_v4": ProxyPlace}


def add_arguments(parser):
    """The options of this part."""
    group = parser.add_argument_group("replay")
    group.add_argument("--traces", metavar="DIR", type=pathlib.Path,
                       default=SHIPPED,
                       help="traces to replay (default: those of swbuild)")
    group.add_argument("--trace", metavar="NAME", action="append",
                       help="only this one, a file's name up to .tsv; may be "
                            "given again")
    group.add_argument("--name-cache", choices=("on", "off"),
                       help="only clients that keep names, or that do not")
    group.add_argument("--in-flight", metavar="N", type=int, default=8,
                       help="operations at a time (8)")


def find_traces(arguments):
    """Name -> file."""
    found = {path.name.partition(".tsv")[0]: path.resolve()
             for path in sorted(arguments.traces.glob("*.tsv*"))}
    wanted = arguments.trace or list(found)
    missing = [name for name in wanted if name not in found]
    if missing or not found:
        raise RuntimeError(
            f"no trace {missing[0] if missing else '*.tsv.gz'} in "
            f"{arguments.traces}: make one with tests/swbuild/"
            "strace-to-trace")
    return {name: found[name] for name in wanted}


class Replay:
    """One trace over one place."""

    def __init__(self, place, bed, trace, in_flight):
        self.place = place
        self.bed = bed
        self.trace = trace
        self.in_flight = in_flight
        self._number = 0

    @contextlib.contextmanager
    def serving(self, stack):
        """A new server, cold."""
        export = self.place.backend.export()
        export.extra = self.place.extra
        blocks = []
        if stack.name == "stock":
            export.extra += STOCK_EXPORT
            blocks = [STOCK]
        with self.bed.running(stack, [export], blocks) as server:
            yield server

    def swbuild(self, server, version, directory, *arguments):
        """Run it; its report."""
        file = self.bed.folder / "swbuild.json"
        program = server.ns.popen(
            SWBUILD, "--server", "127.0.0.1", "--export", server.pseudo,
            "--nfs", version, "--directory", directory, "--json", file,
            "--in-flight", self.in_flight, "--replay", self.trace,
            *arguments, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        out, _ = program.communicate(timeout=SECONDS)
        if program.returncode not in (0, 1):
            raise RuntimeError(f"swbuild: {out}")
        return json.loads(file.read_text())

    def prepare(self):
        """Make the tree once, without delay; each run gets a copy."""
        with self.serving(stock()) as server:
            self.swbuild(server, "3", "pristine", "--tree", "prepare")

    def copy(self):
        """A new copy: its name in the export."""
        self._number += 1
        name = f"copy{self._number}"
        root = self.place.files.directory
        subprocess.run(["cp", "-a", root / "pristine", root / name],
                       check=True)
        return name

    def measure(self, stack, version, name_cache):
        """A new server; the report, with FAULT's counts in it."""
        name = self.copy()
        with self.serving(stack) as server, \
                self.place.backend.control() as fault:
            if self.place.delay:
                fault.latency("all", fixed=self.place.delay)
            fault.reset()
            report = self.swbuild(server, version, name, "--tree", "prepared",
                                  "--name-cache", name_cache)
            report["calls"] = fault.counts()["counts"]
        subprocess.run(["rm", "-rf", self.place.files.directory / name],
                       check=True)
        return report


def calls(report, kind):
    """Calls of one of CLASSES."""
    return sum(report["calls"].get(op, 0) for op in CLASSES[kind])


def ideal(report):
    """What a perfect cache would ask for names and changes of names.

    Creates and opens to write are changes of the trace, but OPENs to the
    backend.
    """
    opens = sum(report["operations"].get(op, {}).get("succeeded", {})
                .get("ops", 0) for op in ("create", "write"))
    return report["ideal"]["floor"] - opens


def over_ideal(report):
    """Calls for names and their changes, for each of the ideal's."""
    return (calls(report, "names") + calls(report, "changes")) / ideal(report)


def share(report):
    """Calls for names and changes, per cent of the operations."""
    return 100 * (calls(report, "names") + calls(report, "changes")) \
        / report["ops"]


def changes(report):
    """What Ganesha asks for attributes after."""
    creates = report["operations"].get("create", {}).get("succeeded", {})
    return calls(report, "changes") + creates.get("ops", 0) + \
        report["calls"].get("write2", 0)


def tell(report, title, theirs, ours):
    """The results of one trace, place, version and kind of client."""
    def add(name, function, unit, shown=("stock", "SCALE")):
        for stack, samples in (("stock", theirs), ("SCALE", ours)):
            report.add(f"{title}: {name}, {stack}", map(function, samples),
                       unit, better="lower", show=stack in shown)

    wrong = [sample for sample in theirs + ours if sample["mismatches"]]
    if wrong:
        report.add(f"{title}: outcomes that differ",
                   [sample["mismatches"] for sample in wrong], "",
                   better="lower", target=0,
                   first=wrong[0]["first_mismatches"])
    report.add(f"{title}: ideal share",
               [100 * ideal(ours[0]) / ours[0]["ops"]], "% of ops",
               better="lower")
    add("share", share, "% of ops")
    report.add(f"{title}: stock to ideal", map(over_ideal, theirs), "x",
               better="lower", show=False,
               calls=[sample["calls"] for sample in theirs])
    report.add(f"{title}: SCALE to ideal", map(over_ideal, ours), "x",
               better="lower", target=TARGET,
               calls=[sample["calls"] for sample in ours])
    add("getattrs", lambda sample: sample["calls"].get("getattrs", 0), "calls",
        ["SCALE"])
    report.add(f"{title}: changes", map(changes, ours), "calls",
               better="lower")
    for kind in ("opens", "data"):
        add(kind, functools.partial(calls, kind=kind), "calls", ["SCALE"])
    add("wall time", lambda sample: sample["seconds"], "s", ["SCALE"])
    report.ratio(f"{title}: speed-up",
                 [sample["seconds"] for sample in theirs],
                 [sample["seconds"] for sample in ours])


VERSIONS, QUICK = ("3", "4.0", "4.1"), ("3", "4.1")
CLIENTS = {"on": "", "off": ", no name cache"}


def compare(arguments, report, replay, title):
    """One trace over one place: all versions and kinds of clients."""
    caches = [arguments.name_cache] if arguments.name_cache else CLIENTS
    for version in arguments.nfs or (QUICK if arguments.quick else VERSIONS):
        for cache in caches:
            theirs, ours = [], []
            for number in range(1 if arguments.quick else 3):
                pair = [(theirs, stock()),
                        (ours, scale(replay.place.options))]
                for samples, stack in pair if number % 2 else reversed(pair):
                    samples.append(replay.measure(stack, version, cache))
            tell(report, f"{title}, {version}{CLIENTS[cache]}", theirs, ours)


def chosen(arguments):
    """The backends to replay over."""
    return [key for key in PLACES
            if key in (arguments.backend or PLACES)]


def seconds(arguments):
    """How long it takes, about: the traces that are shipped are small."""
    runs = 2 * 2 * 2 if arguments.quick else 3 * 2 * 2 * 3
    return runs * 10 * len(chosen(arguments))


def measure(arguments, report, folder):
    """All traces and places."""
    for key in chosen(arguments):
        for number, (name, trace) in enumerate(find_traces(arguments).items()):
            place = PLACES[key](folder / f"replay-{key}-{number}")
            with Bed(folder / f"replay-bed-{key}-{number}",
                     place.backend) as bed:
                replay = Replay(place, bed, trace, arguments.in_flight)
                replay.prepare()
                compare(arguments, report, replay, f"{place.label}, {name}")
