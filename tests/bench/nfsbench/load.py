# SPDX-License-Identifier: LGPL-3.0-or-later
"""The load generator nfsload as a Python object."""

import json
import os
import pathlib
import subprocess

BUILD = pathlib.Path(os.environ["SCALE_BUILD"])
PROGRAMS = BUILD / "tests/bench/nfsload"


class LoadError(RuntimeError):
    """A request failed in a way that was not expected."""


class Load:
    """One nfsload inside a server's namespace; sets of handles by name."""

    def __init__(self, namespace, connections=2):
        self._process = namespace.popen(
            PROGRAMS / "nfsload", "--connections", connections,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, op, **command):
        """Send a command without waiting for its answer."""
        self._process.stdin.write(
            json.dumps({"op": op, **command}) + "\n")
        self._process.stdin.flush()

    def answer(self):
        """The answer to what start() sent."""
        line = self._process.stdout.readline()
        if not line:
            raise LoadError("nfsload ended with "
                            f"{self._process.wait()}")
        report = json.loads(line)
        if "error" in report:
            raise LoadError(f"nfsload: {report['error']}")
        return report

    def end(self):
        """End a command with until_input; its answer."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return self.answer()

    def __call__(self, op, expect="OK", **command):
        """Run a command; its report.  All statuses must be `expect`'s."""
        self.start(op, **command)
        report = self.answer()
        check(report, expect, command)
        return report

    def stop(self):
        self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


def check(report, expect, command=None):
    """Raise if a report has another status than the expected one."""
    for status in report.get("statuses", {}):
        if not (status.endswith("_" + expect) or status == expect
                or status.endswith("ERR_" + expect)):
            raise LoadError(f"{report['op']} {command or ''} got "
                            f"{report['statuses']}, not {expect}")


def names(prefix, count, first=0, digits=0):
    """The names prefix + number, as nfsload reads them."""
    return {"prefix": prefix, "count": count, "first": first,
            "digits": digits}
