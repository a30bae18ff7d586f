# SPDX-License-Identifier: LGPL-3.0-or-later
"""Stock and SCALE in turn on one backend, for each version of the protocol."""

import collections
from dataclasses import dataclass, field

from backends.fault import FaultOver
from climb import climb, draw, make_set, response
from nfsbench.servers import Bed, scale, stock

VERSIONS = ("3", "4.0", "4.1")
# What the published evaluation gained, see tell_gains().
PUBLISHED = {"3": (45000, 67500), "4.0": (17500, 27500),
             "4.1": (25000, 70000)}
# Of the mix, what changes or reads files and so reaches the backend.
CHANGES = ("write_file 7\nread_file 6\nchmod 5\nunlink 2\nmkdir 1\n"
           "create 1\n")
CHANGES_SHARE = 0.22


@dataclass
class Side:
    """One of the servers that are compared.

    stack: for Bed.running; mdcache: blocks; extra: of the export; fault:
    whether FAULT stands above the backend, and counts; initially: called with
    its control before the load.
    """

    stack: object
    mdcache: list = field(default_factory=list)
    extra: str = ""
    fault: bool = False
    initially: object = None


@dataclass
class Contest:
    """A backend below FAULT, a ladder, and the sides on it.

    target: of the ratio of the last valid points, or None.
    """

    key: str
    label: str
    below: object
    ladder: object
    stock: Side
    scale: Side
    control: Side
    target: float | None = None


class Outcome:
    """The runs of one version, in the order of the rounds."""

    def __init__(self):
        self.runs = {"stock": [], "scale": [], "control": []}

    def rates(self, side):
        """Of the last valid points; None where none was valid."""
        return [run.rate for run in self.runs[side]]

    def loads(self, side):
        """The same in BUILDs."""
        return [run.last_valid and run.last_valid["builds"]
                for run in self.runs[side]]


def run_side(contest, bed, folder, side, version, label):
    """A new server, and one run on it."""
    export = (bed.backend if side.fault else contest.below).export()
    export.extra += side.extra
    with bed.running(side.stack, [export], side.mdcache) as server:
        if not side.fault:
            return climb(server, version, label, contest.ladder, folder)
        with bed.backend.control() as fault:
            if side.initially:
                side.initially(fault)
            return climb(server, version, label, contest.ladder, folder,
                         fault)


def compare(arguments, report, folder, contest, rounds):
    """Measure all of a contest; version -> Outcome."""
    outcomes = {}
    own = folder / contest.key
    own.mkdir()
    with Bed(own, FaultOver(own, contest.below)) as bed:
        with bed.running(stock(), [contest.below.export()]) as server:
            make_set(server, contest.ladder, folder)
        for number, version in enumerate(arguments.nfs or VERSIONS):
            outcome = outcomes[version] = Outcome()
            for turn in range(rounds):
                order = ["stock", "scale"]
                if (turn + number) % 2:
                    order.reverse()
                if turn == 0 and number == 0:
                    order.append("control")
                for which in order:
                    name = {"scale": "SCALE"}.get(which, which)
                    outcome.runs[which].append(run_side(
                        contest, bed, folder, getattr(contest, which),
                        version, f"{name}, NFSv{version}"))
            tell(report, contest, version, outcome)
    if arguments.plot:
        draw([run for outcome in outcomes.values()
              for which in ("stock", "scale")
              for run in outcome.runs[which][-1:]],
             arguments.plot, contest.key)
    tell_gains(contest, outcomes)
    return outcomes


def tell(report, contest, version, outcome):
    """The results of one version."""
    title = f"{contest.label}, NFSv{version}"
    for which, name in (("stock", "stock"), ("scale", "SCALE")):
        runs = [run for run in outcome.runs[which] if run.rate]
        report.add(f"{title}: last valid point, {name}",
                   [run.rate for run in runs], "ops/s",
                   curve=[run.samples() for run in outcome.runs[which]],
                   set=outcome.runs[which][-1].report["set"]["text"])
        top = sum(run.last_valid["builds"] >= contest.ladder.top
                  for run in runs)
        if top:
            print(f"  {title}: {name} was valid at the ladder's top, "
                  f"{contest.ladder.top:g} BUILDs, in {top} of {len(runs)} "
                  "runs: at least that")
        if len(runs) < len(outcome.runs[which]):
            least = min((point for run in outcome.runs[which]
                         for point in run.report["points"]),
                        key=lambda point: point["builds"])
            print(f"  {title}: {name} had no valid point in "
                  f"{len(outcome.runs[which]) - len(runs)} of "
                  f"{len(outcome.runs[which])} runs; {response(least):.1f} ms "
                  f"at {least['builds']:g} BUILDs")
    ratio(report, f"{title}: SCALE against stock", contest, outcome, "scale")
    if outcome.runs["control"]:
        ratio(report, f"{title}: SCALE that always asks", contest, outcome,
              "control")
    tell_costs(report, title, outcome)
    tell_calls(report, title, outcome)
    tell_operations(title, outcome)


def ratio(report, title, contest, outcome, which):
    """Of the last valid points; one that is missing is a missed target.

    Of the load that was asked for: what was achieved of it differs by some
    thousandths where it is the same.
    """
    pairs = [(ours, theirs) for ours, theirs in
             zip(outcome.loads(which), outcome.loads("stock")) if theirs]
    control = which == "control"
    known = [(ours, theirs) for ours, theirs in pairs if ours]
    if known:
        report.ratio(title, *zip(*known), target=contest.target,
                     control=control)
    elif pairs and control:
        print(f"  {title}: no valid point at all, as it must be")
    elif pairs:
        report.failed = True
        print(f"{title}: MISSED, no valid point")
    else:
        print(f"  {title}: stock had no valid point to be measured against")


def tell_costs(report, title, outcome):
    """Time and CPU at the highest load that was valid with both."""
    for theirs, ours in zip(outcome.runs["stock"], outcome.runs["scale"]):
        common = [(one, two) for one in theirs.report["points"] if one["valid"]
                  and (two := ours.point_at(one["builds"])) and two["valid"]]
        if not common:
            continue
        one, two = max(common, key=lambda pair: pair[0]["builds"])
        at = f"{title}, both at {one['builds']:g} BUILDs"
        report.add(f"{at}: response time, stock", [response(one)], "ms",
                   better="lower")
        report.add(f"{at}: response time, SCALE", [response(two)], "ms",
                   better="lower")
        report.add(f"{at}: server's CPU, SCALE to stock",
                   [two["server_cpu_us_per_op"] / one["server_cpu_us_per_op"]]
                   if one.get("server_cpu_us_per_op") else [], "x",
                   better="lower")


def tell_calls(report, title, outcome):
    """What an operation costs in calls to the backend, over all points."""
    for which, name in (("stock", "stock"), ("scale", "SCALE")):
        points = [point for run in outcome.runs[which]
                  for point in run.report["points"] if "calls_per_op" in point]
        by_operation = collections.Counter()
        for point in points:
            by_operation.update(point["calls_by_operation"])
        ops = sum(sum(point["calls_by_operation"].values())
                  / point["calls_per_op"] for point in points
                  if point["calls_per_op"])
        report.add(f"{title}: calls to the backend, {name}",
                   [point["calls_per_op"] for point in points], "/op",
                   better="lower", by_operation={
                       key: round(count / ops, 4)
                       for key, count in by_operation.most_common()})


def tell_operations(title, outcome):
    """Service time by operation at the last valid points of the last runs."""
    found = {which: outcome.runs[which][-1].last_valid
             for which in ("stock", "scale")}
    if not all(found.values()):
        return
    print(f"  {title}, by operation at the last valid points "
          f"({found['stock']['builds']:g} and {found['scale']['builds']:g} "
          "BUILDs): service time, ms")
    print(f"    {'':12} {'stock mean':>10} {'p99':>8} {'SCALE mean':>11} "
          f"{'p99':>8}")
    theirs, ours = (found[which]["operations"] for which in found)
    for name in sorted(set(theirs) & set(ours)):
        one, two = theirs[name], ours[name]
        if "service_ms" not in one or "service_ms" not in two:
            continue
        print(f"    {name:12} {one['service_ms']['mean']:10.2f} "
              f"{one['service_ms']['p99']:8.2f} "
              f"{two['service_ms']['mean']:11.2f} "
              f"{two['service_ms']['p99']:8.2f}")


def tell_gains(contest, outcomes):
    """The published gains beside these."""
    print(f"\n{contest.label}: the gains beside the published ones (Ganesha "
          "4.3-ibm073 to 5.7-ibm017)")
    print(f"  {'':8} {'published, ops/s':>20} {'gain':>7} "
          f"{'here, ops/s':>20} {'gain':>7}")
    for version, outcome in outcomes.items():
        before, after = PUBLISHED[version]
        here = gain = "no valid point"
        pairs = [pair for pair in zip(outcome.rates("stock"),
                                      outcome.rates("scale")) if all(pair)]
        if pairs:
            one, two = (sorted(side)[len(pairs) // 2] for side in zip(*pairs))
            here = f"{one:,.0f} to {two:,.0f}"
            gain = f"{100 * (two / one - 1):+.0f}%"
        print(f"  NFSv{version:4} {f'{before:,} to {after:,}':>20} "
              f"{100 * (after / before - 1):+6.0f}% {here:>20} {gain:>7}")
    print()


def settled(entries, options="", pins=0):
    """(SCALE that holds so many entries, its MDCACHE, and the memory of both
    in bytes).

    It may pin all objects in the library below, at so many bytes each (pins),
    which are not in the sum.

    What the settings say: 184 bytes for each of maxStatCache, 48 of
    maxFilesToCache, pagepool and what goes by it; MDCACHE's entries at 1,860.
    """
    stats = int(entries * 1.05) + 100
    files = max(1000, stats // 4)
    pagepool = max(1 << 20, 400 * files)
    first_level = max(200, entries // 50)
    memory = (184 * stats + 48 * files + pagepool + handle_bytes(pagepool)
              + MDCACHE_BYTES * first_level)
    stack = scale(options, files=files, stats=stats,
                  pagepool=max(pagepool, 4 * pins * entries))
    return stack, mdcache(first_level), memory


MDCACHE_BYTES = 1860


def handle_bytes(pagepool):
    """What the objects of the backend may take besides."""
    return max(4 << 20, pagepool // 4)


def mdcache(entries):
    """MDCACHE's block for so many entries; names come on top of them."""
    return [f"MDCACHE {{ Entries_HWMark = {entries}; }}"]
