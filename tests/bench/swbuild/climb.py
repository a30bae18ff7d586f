# SPDX-License-Identifier: LGPL-3.0-or-later
"""One run of swbuild against a server: the load rises until it is too much."""

import json
import os
import pathlib
import subprocess
from dataclasses import dataclass

SWBUILD = pathlib.Path(os.environ["SCALE_BUILD"]) / "tests/swbuild/swbuild"
FILES_PER_PROCESS, PROCESSES = 5000, 5
LEAST_FILES = 16      # of a process, however small the scale
SET_SECONDS = 1800    # that a run may take, the making of its set included


@dataclass(frozen=True)
class Ladder:
    """The points of a run; the set is that of `top` BUILDs."""

    first: float
    top: float
    scale: float
    warmup: float = 0.5
    seconds: float = 2
    bisect: int = 2
    mix: str = "swbuild"

    @property
    def builds(self):
        """As swbuild reads it."""
        return f"{self.first:g}-{self.top:g}:x2"

    @property
    def files(self):
        """Files of the whole set."""
        each = max(LEAST_FILES, FILES_PER_PROCESS * self.scale)
        return int(each * PROCESSES * self.top)

    @property
    def longest(self):
        """Seconds that the points of one run take at most."""
        points = 3 + self.bisect
        load = self.first
        while load < self.top:
            load *= 2
            points += 1
        return points * (self.warmup + self.seconds)


class Run:
    """What swbuild reported, with FAULT's counts of each point."""

    def __init__(self, report, label):
        self.report = report
        self.label = label
        report["label"] = label

    @property
    def last_valid(self):
        """The point, or None."""
        found = self.report.get("last_valid")
        return found and self.report["points"][found["point"]]

    @property
    def rate(self):
        """Operations a second at the last valid point, or None."""
        return self.last_valid and self.last_valid["achieved_rate"]

    def point_at(self, builds):
        """The point of that load, or None."""
        return next((point for point in self.report["points"]
                     if point["builds"] == builds), None)

    def samples(self):
        """The curve for the results, in few numbers."""
        return [{"builds": point["builds"], "valid": point["valid"],
                 "ops_s": round(point["achieved_rate"], 1),
                 "response_ms": round(response(point), 3),
                 "server_cpu_us": round(point.get("server_cpu_us_per_op", 0),
                                        1),
                 "client_cpu_us": round(point["client_cpu_us_per_op"], 1),
                 **({"calls_per_op": round(point["calls_per_op"], 3)}
                    if "calls_per_op" in point else {}),
                 **({"statuses": point["statuses"]}
                    if point["statuses"] else {})}
                for point in sorted(self.report["points"],
                                    key=lambda point: point["builds"])]


def response(point):
    """The average response time in ms; without operations, none."""
    return point.get("response_ms", {}).get("mean", float("inf"))


def command(server, version, folder, *arguments):
    """The argument vector; the report goes to folder/swbuild.json."""
    # As the client sees it, in the server's namespace.
    pid = server.ns.run("cat", "/run/ganesha/ganesha.pid").stdout.strip()
    return [SWBUILD, "--server", "127.0.0.1", "--port", "2049",
            "--mount-port", "20048", "--export", server.pseudo,
            "--nfs", version, "--server-pid", pid, "--reuse",
            "--quiet", "--json", folder / "swbuild.json", *arguments]


def climb(server, version, label, ladder, folder, fault=None):
    """Raise the load; a Run.  `fault` counts the calls of each point."""
    mix = ladder.mix
    if mix != "swbuild":
        file = folder / "mix"
        file.write_text(mix)
        mix = file
    program = server.ns.popen(*command(
        server, version, folder, "--builds", ladder.builds, "--scale",
        ladder.scale, "--warmup", ladder.warmup, "--time", ladder.seconds,
        "--bisect", ladder.bisect, "--past", "2", "--label", label,
        "--mix", mix),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines, calls = [], []
    for line in program.stdout:
        lines.append(line)
        if fault and line.rstrip().endswith("  valid") or "INVALID" in line:
            calls.append(fault.counts() if fault else None)
    program.stdout.close()
    if program.wait() not in (0, 1):
        raise RuntimeError(f"swbuild, {label}: " + "".join(lines[-5:]))
    report = json.loads((folder / "swbuild.json").read_text())
    if fault:
        add_calls(report, ladder, calls, fault.info()["operations"])
    return Run(report, label)


def add_calls(report, ladder, calls, classes):
    """Give each point but the first its calls to the backend for each
    operation, those of its warm-up included; not the computations."""
    points = report["points"]
    if len(points) != len(calls):
        return
    share = 1 + ladder.warmup / ladder.seconds
    for point, before, after in zip(points[1:], calls, calls[1:]):
        ops = point["ops"] * share
        if not ops:
            continue
        point["calls_per_op"] = (after["calls"] - before["calls"]) / ops
        point["calls_by_operation"] = {
            name: count - before["counts"].get(name, 0)
            for name, count in after["counts"].items()
            if count > before["counts"].get(name, 0)
            and classes[name] == "call"}


def make_set(server, ladder, folder, version="4.1"):
    """Make the whole set before anything is measured."""
    done = server.ns.run(*command(
        server, version, folder, "--builds", f"{ladder.top:g}", "--scale",
        ladder.scale, "--warmup", "0", "--time", "0.1"),
        timeout=SET_SECONDS, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"swbuild, its file set: {done.stdout[-500:]}")


def draw(runs, name, part):
    """All curves of a part into one picture; NAME gets the part's name."""
    path = pathlib.Path(name)
    path = path.with_name(f"{path.stem}-{part}{path.suffix or '.svg'}")
    files = []
    for number, run in enumerate(runs):
        files.append(path.with_name(f".{path.stem}-{number}.json"))
        files[-1].write_text(json.dumps(run.report))
    try:
        subprocess.run([SWBUILD, "plot", *files, "-o", path], check=True)
    finally:
        for file in files:
            file.unlink()
    print(f"The curves are in {path}")
