# SPDX-License-Identifier: LGPL-3.0-or-later
"""What it costs that the kernel tells of each change, and whether all is seen
when very many changes come at once."""

import contextlib
import pathlib
import re

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
        before = self.cpu()
        done = self.server.load("write_churn", of="work", depth=4,
                                seconds=seconds, names=names("new", 1000))
        return (done["items"] / done["seconds"],
                self.cpu_since(before) / done["items"],
                100 * self.cpu_since(before, WATCHER) / done["seconds"])

    def local(self, seconds):
        """Of calls that do not come through the server, rate and CPU."""
        return probe(self.bed.ns, "local", "--directory",
                     self.bed.backend.changed, "--seconds", seconds)

    def storm(self, seconds, freeze):
        """What is wrong after very many changes, with rates.

        freeze: the server is stopped for two seconds, and more is changed, so
        that the kernel's queue of events overflows."""
        more = ["--freeze", self.own_pid(), "--directories", 80] \
            if freeze else []
        report = probe(self.bed.ns, "storm", "--directory",
                       self.bed.backend.changed, "--export",
                       self.server.pseudo, "--seconds", seconds,
                       "--rate", STORM_RATE, *more)
        self.server.server.thaw()    # what nsenter made of it
        report["wrong"] = sum(value for key, value in report.items()
                              if key.startswith("wrong"))
        return report

    def own_pid(self):
        """The server's process number inside the namespace."""
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        return re.search(r"^NSpid:.*\t(\d+)$", status, re.MULTILINE)[1]

    def overflows(self):
        """How often the kernel's queue was full."""
        return self.server.stats()["watcher"]["counters"]["overflows"]

    def cpu(self):
        """CPU time of each thread so far: {its number: (s, its name)}."""
        used = {}
        for task in pathlib.Path(f"/proc/{self.server.pid}/task").iterdir():
            # It may end meanwhile.
            with contextlib.suppress(OSError):
                nanoseconds = (task / "schedstat").read_text().split()[0]
                used[task.name] = (int(nanoseconds) / 1e9,
                                   (task / "comm").read_text())
        return used

    def cpu_since(self, before, part=""):
        """Seconds that threads with `part` in their name have used since."""
        return sum(used - before.get(number, (0, ""))[0]
                   for number, (used, name) in self.cpu().items()
                   if part in name)


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
    rounds = 6 if arguments.quick else 60
    rates = {name: [] for name in ("on", "off", "control")}
    costs = {name: [] for name in rates}
    local = {"on": [], "off": []}
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
                    local[name].append(servers[name].local(TURN))
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
        for what, key in (("rate", "rate"), ("CPU", "cpu_us")):
            report.ratio(
                f"on the server itself: {call}, {what} watched against not",
                *([found[call][key] for found in local[name]]
                  for name in ("on", "off")),
                better="higher" if key == "rate" else "lower")


def measure_storm(arguments, report, folder):
    """Very many local changes while clients ask; then all is compared."""
    seconds = 2 if arguments.quick else 20
    stacks = {"notify": (scale(NOTIFY), False),
              "ttl": (scale("Freshness = ttl;"), False)}
    with serving(folder / "storm", stacks) as servers:
        for mode, freeze in (("notify", False), ("notify", True),
                             ("ttl", False)):
            each = servers[mode]
            before, overflows = each.cpu(), each.overflows()
            found = each.storm(seconds, freeze)
            watcher = each.cpu_since(before, WATCHER)
            server = each.cpu_since(before)
            overflows = each.overflows() - overflows
            stopped = ", server stopped for 2 s" if freeze else ""
            label = f"storm of {seconds} s, {mode}{stopped}"
            progress(label)
            report.add(f"{label}: changes on the server",
                       [found["changes"] / found["seconds"]], "/s")
            report.add(f"{label}: requests meanwhile",
                       [found["asked"] / found["seconds"]], "/s")
            # Of what comes before and after as well: finding, comparing.
            report.add(f"{label}: CPU of the server", [server], "s",
                       better="lower")
            if mode == "notify":
                report.add(f"{label}: CPU of the watcher", [watcher], "s",
                           better="lower")
                report.add(f"{label}: overflows of the queue", [overflows],
                           "", better="lower")
            report.add(f"{label}: wrong of {found['checked']} afterwards",
                       [found["wrong"]], "", better="lower", target=0,
                       control=mode == "ttl", details=found)
