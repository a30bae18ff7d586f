# SPDX-License-Identifier: LGPL-3.0-or-later
"""What it costs that the kernel tells of each change, and whether all is seen
when very many changes come at once."""

import contextlib
import pathlib

from backends.fault import FaultOver
from delays import progress
from nfsbench.load import names
from nfsbench.servers import FOR_EVER, Bed, scale
from probe import probe
from systems import ImageVfs, inside

LEAST_RATIO = 0.97
WATCHER = "notify"    # in the names of the watcher's threads
NOTIFY = "Freshness = notify;"
TURN = 0.25    # s
CALLS = ("create", "write", "chmod", "unlink")
STORM_RATE = 100_000


class Served:
    """A server over an image of its own, with directories to work in."""

    def __init__(self, bed, server):
        self.bed, self.server = bed, server
        work = inside(bed.ns, bed.backend.changed) / "work"
        work.mkdir()
        work.chmod(0o777)
        server.mount(server.pseudo)
        server.load("lookup", of="root", keep="work", names=["work"])

    def churn(self, seconds):
        """(items a second, CPU seconds an item, the watcher's share of a
        CPU in percent) of CREATE + WRITE + REMOVE."""
        cpu, watcher = self.cpu_seconds()
        done = self.server.load("write_churn", of="work", depth=4,
                                seconds=seconds, names=names("new", 1000))
        cpu_after, watcher_after = self.cpu_seconds()
        return (done["items"] / done["seconds"],
                (cpu_after - cpu) / done["items"],
                100 * (watcher_after - watcher) / done["seconds"])

    def local(self, seconds):
        """Rates of calls that do not come through the server."""
        return probe(self.bed.ns, "local", "--directory",
                     self.bed.backend.changed, "--seconds", seconds)

    def storm(self, seconds):
        """What is wrong after very many changes, with rates."""
        report = probe(self.bed.ns, "storm", "--directory",
                       self.bed.backend.changed, "--export",
                       self.server.pseudo, "--seconds", seconds,
                       "--rate", STORM_RATE)
        report["wrong"] = sum(value for key, value in report.items()
                              if key.startswith("wrong"))
        return report

    def cpu_seconds(self):
        """CPU time so far: of all threads, of those that hear of changes."""
        total = watcher = 0
        for task in pathlib.Path(f"/proc/{self.server.pid}/task").iterdir():
            with contextlib.suppress(OSError):
                used = int((task / "schedstat").read_text().split()[0]) / 1e9
                total += used
                if WATCHER in (task / "comm").read_text():
                    watcher += used
        return total, watcher


@contextlib.contextmanager
def serving(folder, stacks):
    """Served of each name -> (stack, whether the backend is slow)."""
    with contextlib.ExitStack() as started:
        servers = {}
        for name, (stack, slow) in stacks.items():
            own = folder / name
            own.mkdir(parents=True)
            below = ImageVfs(own)
            backend = FaultOver(own, below, "latency all fixed 200") \
                if slow else below
            bed = started.enter_context(Bed(own, backend))
            backend.changed = below.directory
            server = started.enter_context(bed.running(stack))
            servers[name] = Served(bed, server)
        yield servers


def measure_churn(arguments, report, folder):
    """Rates through the server with and without the watcher, in turn.

    Turns are short, so that what else the machine does meets all; twice with
    the images swapped, for where a file system lies may make a difference.
    """
    rounds = 8 if arguments.quick else 60
    rates = {name: [] for name in ("on", "off", "control")}
    costs = {name: [] for name in rates}
    local = {name: {call: [] for call in CALLS} for name in ("on", "off")}
    watcher = []
    on, off = (scale(NOTIFY), False), (scale(FOR_EVER), False)
    passes = [{"on": on, "off": off, "control": (scale(FOR_EVER), True)},
              {"off": off, "on": on, "control": (scale(FOR_EVER), True)}]
    for number, stacks in enumerate(passes):
        with serving(folder / f"churn{number}", stacks) as servers:
            for each in servers.values():
                each.churn(1)    # warm, and not counted
            for turn in range(rounds):
                order = list(servers)
                for name in order if turn % 2 else reversed(order):
                    rate, cost, share = servers[name].churn(TURN)
                    rates[name].append(rate)
                    costs[name].append(cost)
                    if name == "on":
                        watcher.append(share)
                for name in ("on", "off") if turn % 2 else ("off", "on"):
                    found = servers[name].local(TURN)
                    for call in CALLS:
                        local[name][call].append(found[call])
            progress(f"the price: {number + 1} of 2")
    title = "CREATE + WRITE + REMOVE"
    report.add(f"{title}, notify", rates["on"], "/s")
    report.add(f"{title}, ttl", rates["off"], "/s")
    report.ratio(f"{title}: CPU of the server, notify against ttl",
                 costs["on"], costs["off"], better="lower")
    report.add(f"{title}: CPU of the watcher", watcher, "%", better="lower")
    report.ratio(f"{title}: notify against ttl", rates["on"], rates["off"],
                 target=LEAST_RATIO)
    report.ratio(f"{title}: a backend 0.2 ms slower", rates["control"],
                 rates["off"], target=LEAST_RATIO, control=True)
    for call in CALLS:
        report.ratio(f"on the server itself: {call}, watched or not",
                     local["on"][call], local["off"][call])


def measure_storm(arguments, report, folder):
    """Very many local changes while clients ask; then all is compared."""
    seconds = 3 if arguments.quick else 20
    stacks = {"on": (scale(NOTIFY), False),
              "control": (scale("Freshness = ttl;"), False)}
    with serving(folder / "storm", stacks) as servers:
        for name, each in servers.items():
            watcher = each.cpu_seconds()[1]
            found = each.storm(seconds)
            watcher = each.cpu_seconds()[1] - watcher
            progress(f"the storm: {found}")
            mode = "notify" if name == "on" else "ttl"
            label = f"storm of {seconds} s, {mode}"
            report.add(f"{label}: changes on the server",
                       [found["changes"] / found["seconds"]], "/s")
            report.add(f"{label}: requests meanwhile",
                       [found["asked"] / found["seconds"]], "/s")
            if name == "on":
                report.add(f"{label}: CPU of the watcher",
                           [100 * watcher / found["seconds"]], "%",
                           better="lower")
                add_counters(report, label, each.server)
            report.add(f"{label}: wrong of {found['checked']} afterwards",
                       [found["wrong"]], "", better="lower", target=0,
                       control=name != "on", details=found)


def add_counters(report, label, server):
    """How often the kernel's queue was full, as SCALE counts it."""
    for path, value in numbers(server.stats()):
        if "overflow" in path:
            report.add(f"{label}: {path}", [value], "", better="lower")


def numbers(tree, path=""):
    """(path, number) of everything in nested objects."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from numbers(value, f"{path}.{key}" if path else key)
    elif isinstance(tree, (int, float)) and not isinstance(tree, bool):
        yield path, tree
