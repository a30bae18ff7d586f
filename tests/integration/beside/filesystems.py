# SPDX-License-Identifier: LGPL-3.0-or-later
"""Fresh file systems, mounted in a Namespace only.

Those of the kernel's that it has are tested; the rest is named at the head of
the test report.
"""

import pathlib
import subprocess

# What makes one in a file, and the file's size; it takes as much as is used.
MAKERS = {"ext4": ("mkfs.ext4", "1G"), "xfs": ("mkfs.xfs", "1G"),
          "btrfs": ("mkfs.btrfs", "1G")}
# Of btrfs, mounted in its place: the kernel's fanotify does not watch it.
SUBVOLUME = "subvolume"


def supported():
    """The kinds that the kernel has, loading what it has as a module."""
    for kind in MAKERS:
        if kind not in _listed():
            subprocess.run(["modprobe", "-q", kind], check=False)
    return [kind for kind in MAKERS if kind in _listed()]


def _listed():
    text = pathlib.Path("/proc/filesystems").read_text(encoding="ascii")
    return {line.split()[-1] for line in text.splitlines()}


def header():
    """Which kinds are tested, for the head of the test report."""
    have = supported()
    line = "file systems: " + " ".join(have)
    missing = [kind for kind in MAKERS if kind not in have]
    if missing:
        line += "; not in this kernel, so not tested: " + " ".join(missing)
    return line


def mount_new(namespace, kind, where):
    """Make a file system and mount it at `where`, which is made too.

    kind: of MAKERS, "tmpfs", or SUBVOLUME.  Its image lies beside it.  It is
    unmounted by the namespace's end.
    """
    where = pathlib.Path(where)
    namespace.run("mkdir", "-p", where)
    if kind == "tmpfs":
        namespace.run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs",
                      where)
        return
    image = where.with_name(where.name + ".image")
    maker, size = MAKERS["btrfs" if kind == SUBVOLUME else kind]
    namespace.run("truncate", "-s", size, image)
    namespace.run(maker, "-q", image)
    namespace.run("mount", "-o", "loop", image, where)
    if kind == SUBVOLUME:
        namespace.run("btrfs", "subvolume", "create", where / "subvolume")
        namespace.run("umount", where)
        namespace.run("mount", "-o", "loop,subvol=subvolume", image, where)
