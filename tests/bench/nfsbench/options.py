# SPDX-License-Identifier: LGPL-3.0-or-later
"""The command line that the benchmarks share, and their way to the end."""

import argparse
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

from nfsbench import TOP
from nfsbench.report import Report

EXIT_UNMEASURED, EXIT_USAGE = 2, 64


class Parser(argparse.ArgumentParser):
    """argparse with this project's exit status for wrong usage."""

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(EXIT_USAGE, f"{self.prog}: {message}\n")


def version():
    """The project's version, from its one build file."""
    for line in (TOP / "CMakeLists.txt").read_text().splitlines():
        if line.strip().startswith("VERSION"):
            return line.split()[1]
    return "unknown"


def parser(bench, description):
    """A parser with the options of every benchmark."""
    result = Parser(prog=f"ci/bench {bench}", description=description)
    result.add_argument("--quick", action="store_true", help="a short run")
    result.add_argument("--json", metavar="FILE", help="results as JSON")
    result.add_argument("--keep", action="store_true",
                        help="leave the servers' folders (logs) in place")
    result.add_argument("--version", action="version",
                        version=f"{bench} {version()}")
    return result


def run(bench, arguments, measure, header=True):
    """Call measure(arguments, report, folder) and end the program.

    The folder is a new one, gone afterwards; header is that of Report's own
    table.  Ends with status 2 and the server's last lines if it could not be
    measured.
    """
    if os.geteuid() != 0:
        sys.exit(f"ci/bench {bench}: only root can start servers in "
                 f"namespaces: run 'sudo ci/bench {bench}'")
    report = Report(bench, "ci/bench " + shlex.join(
        [bench, *sys.argv[1:]]))
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"scale-bench-{bench}-"))
    folder.chmod(0o755)
    if header:
        report.header()
    # What is mounted and started is undone, as with an interrupt.
    signal.signal(signal.SIGTERM, lambda *unused: sys.exit(EXIT_UNMEASURED))
    try:
        measure(arguments, report, folder)
    except (RuntimeError, OSError, TimeoutError,
            subprocess.SubprocessError) as error:
        print(f"ci/bench {bench}: {error}", file=sys.stderr)
        sys.exit(EXIT_UNMEASURED)
    finally:
        if arguments.keep:
            print(f"the servers' folders are in {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if arguments.json:
        report.write(arguments.json)
    sys.exit(report.status)
