# SPDX-License-Identifier: LGPL-3.0-or-later
"""A control group with a limit of memory and a limit of a disk's reads.

Version 2 if it is what is mounted, else version 1, whose memory and blkio
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
        """RuntimeError where it cannot be had, with the remedy."""
        self._second = (ROOT / "cgroup.controllers").exists()
        if self._second:
            hand_down(ROOT, {"memory", "io"})
            self._groups = [ROOT / name]
        else:
            self._groups = [ROOT / "memory" / name, ROOT / "blkio" / name]
        for group in self._groups:
            if not group.parent.is_dir():
                raise RuntimeError(
                    f"{group.parent} is missing: memory and the disk can only "
                    "be limited with cgroups mounted in /sys/fs/cgroup")
        for group in self._groups:
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
        """Bytes, and the most that they were (version 2 tells the most since
        Linux 5.19; before, it is what they are)."""
        names = (("memory.current", "memory.peak") if self._second else
                 ("memory.usage_in_bytes", "memory.max_usage_in_bytes"))
        now, most = (int(read(self._groups[0] / name) or 0) for name in names)
        return now, max(now, most)

    def remove(self):
        """When everything inside has ended; OSError if it has not in 5 s."""
        for group in self._groups:
            for _ in range(50):
                with contextlib.suppress(OSError):
                    group.rmdir()
                    break
                time.sleep(0.1)
            else:
                group.rmdir()


def hand_down(group, controllers):
    """Let version 2's groups below `group` have controllers."""
    file = group / "cgroup.subtree_control"
    missing = sorted(controllers - set(read(file).split()))
    if not missing:
        return
    try:
        file.write_text(" ".join("+" + name for name in missing))
    except OSError as error:
        raise RuntimeError(
            f"{file} does not take {' and '.join(missing)} "
            f"({error.strerror}): {group / 'cgroup.controllers'} must name "
            "them, and in a container the processes in that folder's group "
            "must first be moved to one below it") from error


def read(path):
    """A file's content, empty if it is not there."""
    try:
        return path.read_text()
    except OSError:
        return ""
