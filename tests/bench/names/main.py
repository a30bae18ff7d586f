#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Storms of names over slow backends: stock and SCALE in turn.

Each server is a new one, so that its first lookups are cold.  The control is
FSAL_NULL in SCALE's place, over a backend that is 1 ms slower.
"""

from nfsbench import options
from nfsbench.load import names
from nfsbench.servers import Bed, null, scale, stock
from places import FILES, PLACES

DEPTH = 16
PRESENT = names("f", FILES, first=1, digits=4)
ABSENT = names("absent", FILES)
CREATES = 10
CONTROL_ROUNDS, CONTROL_DELAY = 2, 1000
WORKLOADS = {"cold": "cold LOOKUP",
             "storm": "LOOKUP again and again",
             "negative": "LOOKUP, no such names",
             "readdir": "READDIRPLUS after CREATE"}


def one_server(place, bed, stack, seconds, slower=0):
    """Rates of each workload (requests or names a second), server new."""
    with place.serving(bed, stack, slower) as server:
        load = server.load
        place.find(server)

        def look(which, expect="OK", **more):
            report = load("lookup", expect, of="dir", names=which,
                          depth=DEPTH, **more)
            return report["requests"] / report["seconds"]

        return {"cold": look(PRESENT),
                "storm": look(PRESENT, seconds=seconds),
                "negative": look(ABSENT, "NOENT", seconds=seconds),
                "readdir": readdir_after_create(load)}


def readdir_after_create(load):
    """Names a second of READDIRPLUS, each after a CREATE there."""
    load("readdirplus", of="work")
    entries = seconds = 0
    created = [f"new{number}" for number in range(CREATES)]
    for name in created:
        load("create", of="work", names=[name])
        report = load("readdirplus", of="work")
        entries += report["entries"]
        seconds += report["seconds"]
    load("remove", of="work", names=created)
    return entries / seconds


def compare(arguments, report, place):
    """All results over one backend."""
    rounds, seconds = (2, 1) if arguments.quick else (5, 3)
    theirs, ours, control = [], [], []
    with Bed(place.folder, place.backend) as bed:
        place.populate(bed)
        # What the backend itself keeps is warm for everyone.
        one_server(place, bed, stock(), 0.1)
        for number in range(rounds):
            pair = [(theirs, stock()), (ours, scale(place.options))]
            for results, stack in pair if number % 2 else reversed(pair):
                results.append(one_server(place, bed, stack, seconds))
            if number < CONTROL_ROUNDS:
                control.append(one_server(place, bed, null(), seconds,
                                          CONTROL_DELAY))
    for key, workload in WORKLOADS.items():
        title = f"{place.label}: {workload}"
        target = place.targets[key]
        rates = [[sample[key] for sample in samples]
                 for samples in (theirs, ours, control)]
        unit = "names/s" if key == "readdir" else "/s"
        report.add(f"{title}, stock", rates[0], unit)
        report.add(f"{title}, SCALE", rates[1], unit)
        report.ratio(f"{title}: SCALE against stock", rates[1], rates[0],
                     target=target)
        report.ratio(f"{title}: control", rates[2], rates[0][:len(control)],
                     target=target, control=True)


def measure(arguments, report, folder):
    for name in arguments.backend or PLACES:
        place = PLACES[name](folder / name)
        compare(arguments, report, place)


def main():
    parser = options.parser("names", __doc__.splitlines()[0])
    parser.add_argument("--backend", action="append", choices=list(PLACES),
                        help="only this one; may be given again")
    options.run("names", parser.parse_args(), measure)


if __name__ == "__main__":
    main()
