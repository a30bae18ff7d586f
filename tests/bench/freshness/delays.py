# SPDX-License-Identifier: LGPL-3.0-or-later
"""How long after a change beside NFS the answers over NFS are right."""

import concurrent.futures
import contextlib
import statistics
import sys
import threading
import time
from dataclasses import dataclass, field

from probe import probe
from systems import BY_KEY, SYSTEMS, loaded, serving

# What freshprobe calls them -> what they are.
KINDS = {
    "append": "append",
    "truncate": "truncate",
    "chmod": "chmod",
    "utimes": "utimes",
    "link": "hard link (nlink)",
    "create": "create, name known missing",
    "create-listed": "create, READDIRPLUS",
    "remove": "remove",
    "replace": "rename over a file",
    "move": "rename of a directory: names",
    "move-parent": 'rename of a directory: ".."',
    "remake": "directory removed, made again",
}
P99_MS, LONGEST_MS = 20, 2000
QUICK_SYSTEMS = ("vfs-notify", "vfs-ttl", "vfs-stock")
ENOUGH = 500    # samples of a kind for a p99 of its own
# In s: what is wrong for longer counts as lost.  Where changes are told of, or
# asked for, it is less: nothing is to be waited for.
LIMIT, QUICK_LIMIT = 130, 70
TOLD_LIMIT, QUICK_TOLD_LIMIT = 30, 10
PATIENT_MS = 2500
# Changes of each kind at a time: all is looked up before, and the last must be
# changed long before that expires.
BATCH, AT_ONCE_BATCH = 250, 500


@dataclass(frozen=True)
class Variant:
    """How it is asked, and what else the server does."""

    load: bool
    spacing_us: int
    label: str
    askers: int = 0    # more clients that ask the same


VARIANTS = [
    Variant(False, 0, "idle, asked again and again"),
    Variant(False, 1000, "idle, asked each ms"),
    Variant(False, 0, "idle, asked by 4 clients again and again", 3),
    Variant(True, 0, "5,000 op/s, asked again and again"),
    Variant(True, 1000, "5,000 op/s, asked each ms"),
]
AT_ONCE = [
    Variant(False, 1000, "idle"),
    Variant(True, 1000, "5,000 op/s"),
]


@dataclass
class Kind:
    """What was measured of one kind of change; times in ms."""

    delays: list = field(default_factory=list)
    gaps: list = field(default_factory=list)
    unseen: int = 0         # not right at the limit
    unready: int = 0        # wrong before the change
    wrong_later: int = 0    # wrong again after it was right

    def add(self, report):
        self.delays += [round(ns / 1e6, 3) for ns in report["delays_ns"]]
        self.gaps += [round(ns / 1e6, 3) for ns in report["gaps_ns"]]
        self.unseen += report["unseen"]
        self.unready += report["unready"]
        self.wrong_later += report["wrong_later"]

    @property
    def wrong_until(self):
        """When the last wrong answers came, sorted.  Where it is long before
        the first right one, the server made the asker wait."""
        return sorted(max(0, delay - gap) for delay, gap in
                      zip(self.delays, self.gaps, strict=True))

    @property
    def lost(self):
        return self.unseen + self.unready + self.wrong_later


@dataclass
class Outcome:
    """What was measured of a system under one variant."""

    system: object
    variant: Variant
    limit: int
    kinds: dict
    rate: float | None = None    # of the clients besides

    def samples(self, kind):
        """Delays in ms; what was not seen counts as the limit."""
        measured = self.kinds[kind]
        return sorted(measured.delays
                      + [self.limit * 1000.0] * measured.unseen)

    @property
    def title(self):
        return f"{self.system.label}, {self.variant.label}"

    @property
    def pooled(self):
        return sorted(sample for kind in self.kinds
                      for sample in self.samples(kind))


def percentile(samples, share):
    """Of sorted samples: the least that `share` of them do not exceed."""
    return samples[max(0, -(-len(samples) * share // 100) - 1)]


def progress(text):
    """For whoever waits; the table is on the standard output."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


# Clients do 5,000 requests a second of one system at a time.
loading = threading.Lock()


class Batches:
    """freshprobe runs on one server; their numbers make names differ."""

    def __init__(self, system, bed, server, limit):
        self.system, self.bed, self.server = system, bed, server
        self.limit = limit
        self._number = 0

    def measure(self, variant, count):
        """An Outcome of `count` changes of each kind."""
        outcome = Outcome(self.system, variant, self.limit,
                          {kind: Kind() for kind in KINDS})
        besides = (loaded(self.system, self.bed, self.server)
                   if variant.load else contextlib.nullcontext([]))
        alone = loading if variant.load else contextlib.nullcontext()
        with alone, besides as rate:
            left = count
            while left:
                batch = min(left, BATCH if self.system.patient
                            else AT_ONCE_BATCH)
                left -= batch
                self._one(outcome, variant, batch)
                progress(f"{outcome.title}: {count - left} of {count}")
        outcome.rate = rate[0] if rate else None
        return outcome

    def _one(self, outcome, variant, batch):
        self._number += 1
        report = probe(
            self.bed.ns, "changes", "--directory", self.bed.backend.changed,
            "--export", self.server.pseudo, "--first", self._number,
            "--count", batch, "--spacing-us", variant.spacing_us,
            "--askers", variant.askers,
            "--patience-ms", PATIENT_MS if self.system.patient else 0,
            "--limit", self.limit)
        for kind, measured in outcome.kinds.items():
            measured.add(report["kinds"][kind])


def measure_system(system, folder, count, variants, limit):
    """The Outcomes of one system."""
    with serving(system, folder) as (bed, server):
        batches = Batches(system, bed, server, limit)
        return [batches.measure(variant, count) for variant in variants]


def show(outcome):
    """A table for people."""
    rate = f" ({outcome.rate:.0f}/s)" if outcome.rate else ""
    title = f"{outcome.title}{rate}"
    print(f"\n{title:60} {'p50':>9} {'p99':>9} {'max':>9} ms  lost"
          "  p99 of the last wrong answer")
    for kind, label in KINDS.items():
        samples, measured = outcome.samples(kind), outcome.kinds[kind]
        if samples:
            print_row(label, samples, measured.lost, measured.wrong_until)
    lost = sum(kind.lost for kind in outcome.kinds.values())
    if outcome.pooled:
        print_row(f"all {len(outcome.pooled)}", outcome.pooled, lost)


def print_row(label, samples, lost, wrong=()):
    last = f"  {percentile(wrong, 99):9.3f}" if wrong else ""
    print(f"  {label:58} {percentile(samples, 50):9.3f} "
          f"{percentile(samples, 99):9.3f} {samples[-1]:9.3f}    "
          f"{lost:5}{last}", flush=True)


def add(report, outcome):
    """All results of an Outcome; targets are those of notify."""
    show(outcome)
    for kind, label in KINDS.items():
        measured, samples = outcome.kinds[kind], outcome.samples(kind)
        if not samples:
            continue
        report.add(f"{outcome.title}: {label}", samples, "ms",
                   better="lower", show=False,
                   p99=percentile(samples, 99),
                   resolution=statistics.median(measured.gaps or [0]),
                   wrong_until=measured.wrong_until,
                   unseen=measured.unseen, unready=measured.unready,
                   wrong_later=measured.wrong_later)
    if not outcome.pooled:
        return
    targets = {"vfs-notify": {}, "vfs-ttl": {"control": True}}
    wanted = targets.get(outcome.system.key)

    def target(value):
        return {} if wanted is None else {"target": value, **wanted}

    # Of few samples of a kind p99 is the longest one, whatever delayed it.
    each = [outcome.samples(kind) for kind in KINDS]
    if min(map(len, each)) < ENOUGH:
        name, value = "p99 of all", percentile(outcome.pooled, 99)
    else:
        name = "p99 of the worst kind"
        value = max(percentile(samples, 99) for samples in each)
    report.add(f"{outcome.title}: {name}", [value], "ms", better="lower",
               **target(P99_MS))
    report.add(f"{outcome.title}: longest", [outcome.pooled[-1]], "ms",
               better="lower", **target(LONGEST_MS))
    if wanted == {}:
        report.add(f"{outcome.title}: never right, or wrong again",
                   [sum(kind.lost for kind in outcome.kinds.values())], "",
                   better="lower", target=0)
    if outcome.rate:
        report.add(f"{outcome.title}: requests besides", [outcome.rate],
                   "/s", show=False)


def measure_delays(arguments, report, folder):
    """The Outcomes of all chosen systems, those that wait together."""
    usual = QUICK_SYSTEMS if arguments.quick else BY_KEY
    chosen = [system for system in SYSTEMS
              if system.key in (arguments.system or usual)]
    count = arguments.count or (50 if arguments.quick else 1000)

    def measured(system):
        if system.patient:
            limit = QUICK_TOLD_LIMIT if arguments.quick else TOLD_LIMIT
        else:
            limit = QUICK_LIMIT if arguments.quick else LIMIT
        variants = VARIANTS if system.patient else AT_ONCE
        if arguments.quick and system.key != "vfs-notify":
            variants = variants[:1]
        return measure_system(system, folder / system.key, count, variants,
                              limit)

    outcomes = []
    for system in (each for each in chosen if each.patient):
        outcomes.append(measured(system))
    with concurrent.futures.ThreadPoolExecutor() as together:
        outcomes += together.map(
            measured, [each for each in chosen if not each.patient])
    outcomes = [each for some in outcomes for each in some]
    outcomes.sort(key=lambda each: SYSTEMS.index(each.system))
    for outcome in outcomes:
        add(report, outcome)
    return outcomes
