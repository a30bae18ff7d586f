# SPDX-License-Identifier: LGPL-3.0-or-later
"""A control group with a limit of memory and a limit of a disk's reads.

Version 2 if its controllers are there, else version 1, whose memory and blkio
hierarchies are two groups.
"""

import contextlib
import os
import pathlib
import time

ROOT = pathlib.Path("/sys/fs/cgroup")
UNLIMITED_READS = 1 << 30


class ControlGroup:
    """Limits for one server: `memory` bytes, the kernel's caches for it
    included; reads of one disk as limit_reads() says."""

    def __init__(self, name, memory):
        self._second = "memory" in read(ROOT / "cgroup.controllers").split()
        if self._second:
            self._groups = [ROOT / name]
            with contextlib.suppress(OSError):
                (ROOT / "cgroup.subtree_control").write_text("+memory +io")
        else:
            self._groups = [ROOT / "memory" / name, ROOT / "blkio" / name]
        for group in self._groups:
            if not group.parent.is_dir():
                raise RuntimeError(
                    f"{group.parent} is missing: memory and the disk can only "
                    "be limited with cgroups mounted in /sys/fs/cgroup")
            group.mkdir()
        limit = "memory.max" if self._second else "memory.limit_in_bytes"
        (self._groups[0] / limit).write_text(str(memory))

    @property
    def launcher(self):
        """What starts a program inside."""
        enter = "".join(f"echo 0 >{group}/cgroup.procs && "
                        for group in self._groups)
        return ("/bin/sh", "-c", enter + 'exec "$@"', "sh")

    def limit_reads(self, device, reads=None):
        """At most so many reads a second of a block device; None: no limit."""
        number = os.stat(device).st_rdev
        which = f"{os.major(number)}:{os.minor(number)}"
        if self._second:
            (self._groups[0] / "io.max").write_text(
                f"{which} riops={reads or 'max'}")
        else:
            (self._groups[1] / "blkio.throttle.read_iops_device").write_text(
                f"{which} {reads or UNLIMITED_READS}")

    def memory_used(self):
        """Bytes, and the most that they were."""
        names = ((("memory.current", "memory.peak") if self._second else
                  ("memory.usage_in_bytes", "memory.max_usage_in_bytes")))
        return tuple(int(read(self._groups[0] / name) or 0) for name in names)

    def remove(self):
        """When everything inside has ended."""
        for group in self._groups:
            for _ in range(50):
                with contextlib.suppress(OSError):
                    group.rmdir()
                    break
                time.sleep(0.1)


def read(path):
    """A file's content, empty if it is not there."""
    try:
        return path.read_text()
    except OSError:
        return ""
