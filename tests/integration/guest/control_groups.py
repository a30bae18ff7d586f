# SPDX-License-Identifier: LGPL-3.0-or-later
"""The benchmarks' ControlGroup, by what it does to programs in it.

The functions are called by test_control_groups.py.  Each makes a group of
32 MiB, and removes it and sees that it is gone.
"""

import contextlib
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path("/sys/fs/cgroup")
# Where the host puts cgroup.py, which is not a module of the guest's own.
MODULES = "/run/client"
READER = pathlib.Path(__file__).with_name("read_at_random.py")
MEBIBYTE = 1 << 20
LIMIT = 32 * MEBIBYTE


def mount(version):
    """Mount control groups of version 1 or 2, as hosts have them."""
    if version == 2:
        _output("mount", "-t", "cgroup2", "none", ROOT)
        return
    _output("mount", "-t", "tmpfs", "none", ROOT)
    for controller in ("memory", "blkio"):
        (ROOT / controller).mkdir()
        _output("mount", "-t", "cgroup", "-o", controller, "none",
                ROOT / controller)


def make_disk():
    """A loop device of 3/2 LIMIT; its path."""
    _output("modprobe", "-d", "/run/modules", "loop")
    backing = "/tmp/disk"
    with open(backing, "wb") as file:
        file.truncate(LIMIT * 3 // 2)
    return _output("losetup", "--find", "--show", backing).strip()


def belonging():
    """A started program's {controllers: group}, "" for version 2's."""
    with _group("belongs") as group:
        lines = _output(*group.launcher, "cat", "/proc/self/cgroup")
    return dict(line.split(":", 2)[1:] for line in lines.splitlines())


def cached(disk):
    """What a group has used when a program in it has read the disk, which is
    larger than the limit: [bytes now, most, limit]."""
    with _group("caches") as group:
        _output(*group.launcher, "dd", f"if={disk}", "of=/dev/null", "bs=1M",
                "status=none")
        return [*group.memory_used(), LIMIT]


def taken(mebibytes):
    """How programs end that take so much memory, one after another in a
    group: [[exit status or -signal, ...], most bytes used, limit]."""
    with _group("takes") as group:
        # It reads a block at once, so needs a block's memory.
        ends = [subprocess.run(
            [*group.launcher, "dd", "if=/dev/zero", "of=/dev/null",
             f"bs={size}M", "count=1", "status=none"],
            check=False).returncode for size in mebibytes]
        return [ends, group.memory_used()[1], LIMIT]


def rates(disk, limits):
    """Direct reads a second of the disk by a program in a group, under one
    limit after another."""
    result = []
    with _group("reads") as group, subprocess.Popen(
            [*group.launcher, "/usr/bin/python3", READER, disk, "0.4"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            bufsize=1) as reader:
        for limit in limits:
            group.limit_reads(disk, limit)
            reader.stdin.write("\n")
            result.append(float(reader.stdout.readline()))
    return result


def refusal(version):
    """What a ControlGroup is refused with in a container that has no groups
    of version 1, or whose root group of version 2 has processes, and what is
    left of it: [text, paths].  With the remedy it must be made."""
    with _group("container") as group:
        answer = json.loads(_output(
            *group.launcher, "unshare", "--cgroup", "--mount",
            "/usr/bin/python3", __file__, str(version)))
        for path in ROOT.glob("container/*/"):
            path.rmdir()
    return answer


def _in_container(version):
    """refusal()'s program."""
    _output("umount", "-R", ROOT)
    if version == 2:
        mount(version)
    try:
        _control_group("inner")
        raise AssertionError("a group that cannot be had was made")
    except RuntimeError as error:
        text = str(error)
    left = [str(path) for path in ROOT.rglob("inner")]
    if version == 2:
        (ROOT / "outside").mkdir()
        (ROOT / "outside/cgroup.procs").write_text("0")
    else:
        mount(version)
    _control_group("inner").remove()
    return [text, left]


def _control_group(name):
    if MODULES not in sys.path:
        sys.path.append(MODULES)
    import cgroup
    return cgroup.ControlGroup(name, LIMIT)


@contextlib.contextmanager
def _group(name):
    group = _control_group(name)
    try:
        yield group
    finally:
        group.remove()
    left = [str(path) for path in ROOT.rglob(name)]
    assert not left, f"{left} is still there"


def _output(*argv):
    return subprocess.run(argv, stdout=subprocess.PIPE, text=True,
                          check=True).stdout


if __name__ == "__main__":
    print(json.dumps(_in_container(int(sys.argv[1]))))
