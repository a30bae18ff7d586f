# SPDX-License-Identifier: LGPL-3.0-or-later
"""Runs commands for the parts; what they print goes to the part's log."""

import os
import pathlib
import subprocess

from results import FAILED, PASSED, Result, read_junit

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
OUTPUT = BUILD / "test"
JOBS = str(os.cpu_count())
PYTEST = ("/usr/bin/python3", "-B", "-m", "pytest", "-q", "--tb=short")


class Runner:
    """Collects the results of one part."""

    def __init__(self, part):
        self.results = []
        OUTPUT.mkdir(parents=True, exist_ok=True)
        self.log = OUTPUT / f"{part}.log"
        self.log.write_bytes(b"")

    def run(self, *command, timeout=1200, env=None):
        """Run a command; (exit status, its output). 124 is a timeout."""
        with open(self.log, "ab") as log:
            log.write(f"+ {' '.join(map(str, command))}\n".encode())
            log.flush()
            start = log.tell()
            try:
                status = subprocess.run(
                    list(map(str, command)), cwd=TOP, timeout=timeout,
                    env={**os.environ, **(env or {})}, stdout=log,
                    stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                    check=False).returncode
            except subprocess.TimeoutExpired:
                log.write(f"ended after {timeout} s\n".encode())
                status = 124
            except FileNotFoundError as error:
                log.write(f"{error}: run 'ci/setup'\n".encode())
                status = 127
        with open(self.log, "rb") as log:
            log.seek(start)
            return status, log.read().decode(errors="replace")

    def add(self, name, passed, detail=""):
        """Add a result; the detail is kept if it failed."""
        self.results.append(Result(name, PASSED) if passed else
                            Result(name, FAILED, detail))

    def step(self, name, *command, **kwargs):
        """A command that is a test: it passes with status 0."""
        status, output = self.run(*command, **kwargs)
        self.add(name, status == 0, f"status {status}\n{output}")
        return status == 0

    def pytest(self, name, *arguments, **kwargs):
        """Run pytest and add its tests."""
        junit = OUTPUT / f"{name}.xml"
        self._counted(name, junit, PYTEST + (f"--junitxml={junit}",
                                             *map(str, arguments)), **kwargs)

    def ctest(self, name, folder, *arguments, **kwargs):
        """Run the tests of a build folder and add them."""
        junit = OUTPUT / f"{name}.xml"
        self._counted(name, junit, (
            "ctest", "--test-dir", folder, "--output-on-failure", "-j", JOBS,
            "--timeout", "300", "--output-junit", junit, *arguments), **kwargs)

    def _counted(self, name, junit, command, **kwargs):
        junit.unlink(missing_ok=True)
        status, output = self.run(*command, **kwargs)
        results = []
        if junit.exists() and junit.stat().st_size:
            results = read_junit(junit)
        self.results += results
        # What ended without naming a failed test must not pass.
        if not results:
            self.add(name, False, f"ran no test\n{output}")
        elif status and not any(result.status == FAILED
                                for result in results):
            self.add(name, False, f"status {status}\n{output}")
