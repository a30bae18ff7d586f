# SPDX-License-Identifier: LGPL-3.0-or-later
"""Tests of ci/serve: it runs in namespaces that stand for a whole machine.

The namespaces have a network, an rpcbind on port 111 and a D-Bus of their
own (see tests/integration/harness), so that the default ports are free and
what ci/serve does to "the machine" can be seen.  Run as root after ci/setup:

    /usr/bin/python3 -m pytest tests/serve
"""

import pathlib
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "tests/integration"))

from harness.namespace import Namespace, child_of  # noqa: E402

MOUNT_LINE = re.compile(r"^ +NFSv(\S+) +(mount -t nfs -o (\S+) (\S+) /mnt)$")


class Serve:
    """One run of ci/serve in a namespace."""

    def __init__(self, namespace, *arguments):
        self._nsenter = namespace.popen(
            TOP / "ci/serve", *arguments, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True)
        self.pid = child_of(self._nsenter.pid)
        self._lines = queue.Queue()
        self._seen = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._nsenter.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def wait_line(self, part, within=60):
        """Read on to the first line that holds `part`."""
        deadline = time.monotonic() + within
        while True:
            line = self._lines.get(timeout=max(0, deadline - time.monotonic()))
            if line is None:
                pytest.fail(f'no line with "{part}":\n{self.output}')
            self._seen.append(line)
            if part in line:
                return line

    def mounts(self, versions):
        """Wait for the mount lines: version -> (options, source)."""
        for version in versions:
            self.wait_line(f"NFSv{version}")
        return {match[1]: (dict(option.partition("=")[::2]
                                for option in match[3].split(",")), match[4])
                for match in map(MOUNT_LINE.match, self._seen) if match}

    def end(self, number=None, within=40):
        """Send a signal, wait for the end; the exit status."""
        if number is not None:
            subprocess.run(["kill", f"-{int(number)}", str(self.pid)],
                           check=True)
        status = self._nsenter.wait(within)
        while (line := self._lines.get(timeout=10)) is not None:
            self._seen.append(line)
        return status

    @property
    def output(self):
        return "\n".join(self._seen)

    @property
    def running(self):
        return self._nsenter.poll() is None


class Machine:
    """A namespace, what runs there, and its state."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.ns = Namespace(self.folder / "ns")
        self._runs = []
        self._directories = 0

    def serve(self, *arguments):
        """Start ci/serve."""
        run = Serve(self.ns, *arguments)
        self._runs.append(run)
        return run

    def refused(self, *arguments):
        """Run ci/serve that should not start; (exit status, output)."""
        result = self.ns.run(TOP / "ci/serve", *arguments, check=False,
                             timeout=60)
        return result.returncode, result.stdout

    def directory(self):
        """A new directory to export."""
        self._directories += 1
        path = self.folder / f"exported {self._directories}"
        path.mkdir()
        path.chmod(0o1777)
        return path

    def state(self):
        """What ci/serve must leave as it found it."""
        return {
            "registrations": self.ns.run("rpcinfo", "-p").stdout,
            "listeners": sorted(
                line.split()[4] for line in self.ns.run(
                    "ss", "-H", "-l", "-t", "-u", "-n").stdout.splitlines()),
            "mounts": self.ns.run("cat", "/proc/mounts").stdout,
            "programs": sorted(self.ns.run("ps", "-e", "-o", "comm=").stdout
                               .split()),
            "run": self.ns.run("find", "/run").stdout,
            "recovery": self.ns.run("find", "/var/lib/nfs").stdout,
            "build": sorted(path.name for path in (TOP / "build").iterdir()
                            if path.name.startswith("serve-"))}

    def stop(self):
        for run in self._runs:
            if run.running:
                run.end(signal.SIGTERM)
        self.ns.stop()


@pytest.fixture
def machine():
    with tempfile.TemporaryDirectory(prefix="scale-serve-") as folder:
        pathlib.Path(folder).chmod(0o755)
        made = Machine(folder)
        yield made
        made.stop()
