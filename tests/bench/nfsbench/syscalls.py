# SPDX-License-Identifier: LGPL-3.0-or-later
"""Which file-system calls a server makes, by strace."""

import collections
import contextlib
import pathlib
import re
import signal
import subprocess

from harness.wait import wait_for

CALLS = """open openat openat2 open_by_handle_at name_to_handle_at
    stat lstat fstat newfstatat statx statfs fstatfs getdents getdents64
    readlink readlinkat access faccessat faccessat2
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr""".split()
LINE = re.compile(r"^\d+ +(\w+)\(")
# The C library's own, when a thread starts.
SYSTEM = re.compile(r'[<"]/(proc|sys)/')


class Counted(collections.Counter):
    """Calls by name; complete when traced() has ended."""


@contextlib.contextmanager
def traced(pid, folder):
    """Counted of the file-system calls that all threads of pid make within."""
    counted = Counted()
    output = pathlib.Path(folder) / "strace"
    with subprocess.Popen(
            ["strace", "-f", "-q", "-y", "-o", output, "-p", str(pid),
             "-e", "trace=" + ",".join(CALLS)],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as strace:
        try:
            wait_for(lambda: all_traced(pid), 10, "strace to attach")
            yield counted
        finally:
            strace.send_signal(signal.SIGINT)
            strace.wait(10)
    for line in output.read_text(errors="replace").splitlines():
        match = LINE.match(line)
        if match and not SYSTEM.search(line):
            counted[match[1]] += 1


def all_traced(pid):
    """Whether every thread has a tracer."""
    for status in pathlib.Path(f"/proc/{pid}/task").glob("*/status"):
        if "TracerPid:\t0\n" in status.read_text():
            return False
    return True
