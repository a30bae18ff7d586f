# SPDX-License-Identifier: LGPL-3.0-or-later
"""Results: a table for people, JSON for programs, an exit status."""

import json
import os
import pathlib
import platform
import statistics


class Report:
    """The results of one benchmark.

    A target is reached if the value, which is the median of the samples or
    what else is said of them, is on its better side.
    A control is the same measurement with the feature off: it must miss.
    """

    def __init__(self, bench, command):
        self.bench = bench
        self.command = command
        self.results = []
        self.failed = False
        self.machine = machine()

    def add(self, name, samples, unit, *, better="higher", target=None,
            control=False, show=True, value=None, **more):
        """Add a result and show it; without samples it is absent, never
        zero.  `more` goes into the JSON.  The result, or None."""
        samples = list(samples)
        if not samples:
            return None
        if value is None:
            value = statistics.median(samples)
        result = {"name": name, "value": value, "unit": unit,
                  "better": better,
                  "spread": [min(samples), max(samples)],
                  "samples": samples, **more}
        if target is not None:
            reached = (value >= target if better == "higher"
                       else value <= target)
            result["target"] = target
            result["ok"] = reached != control
            self.failed |= not result["ok"]
        if control:
            result["control"] = True
        self.results.append(result)
        if show:
            print_line(result)
        return result

    def ratio(self, name, ours, theirs, **arguments):
        """Add the ratio of two lists of rates taken in turn, by pairs."""
        self.add(name, [a / b for a, b in zip(ours, theirs, strict=True)],
                 "x", **arguments)

    def header(self):
        print(f"{'':60} {'value':>10} {'unit':8} {'target':>8}  min..max")

    def write(self, path):
        """Write the JSON file."""
        self.machine["load_average_after"] = load_average()
        pathlib.Path(path).write_text(json.dumps(
            {"bench": self.bench, "machine": self.machine,
             "command": self.command, "results": self.results},
            indent=1) + "\n", encoding="utf-8")

    @property
    def status(self):
        """1 if a target was missed or a control reached one, else 0."""
        return int(self.failed)


def print_line(result):
    """A result for people; what explains others is indented."""
    target = result.get("target")
    control = result.get("control", False)
    detail = target is None or control
    low, high = result["spread"]
    verdict = ""
    if target is not None:
        good, bad = (("misses, as it must", "REACHES IT, TOO") if control
                     else ("reached", "MISSED"))
        verdict = good if result["ok"] else bad
    goal = "" if target is None else f"{target:.4g}"
    spread = "" if len(result["samples"]) < 2 else f"{low:.4g}..{high:.4g}"
    print(f"{'  ' if detail else ''}{result['name']:{58 if detail else 60}} "
          f"{result['value']:10.4g} {result['unit']:8} {goal:>8}  "
          f"{spread:18} {verdict}".rstrip(), flush=True)


def load_average():
    """The machine's load: more than this benchmark's tells of others."""
    return os.getloadavg()[0]


def machine():
    """What this machine is."""
    cpu = memory = None
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            cpu = line.partition(":")[2].strip()
            break
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemTotal"):
            memory = line.partition(":")[2].strip()
    return {"cpu": cpu, "cpus": os.cpu_count(), "memory": memory,
            "kernel": platform.release(), "load_average": load_average()}
