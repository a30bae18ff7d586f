# SPDX-License-Identifier: LGPL-3.0-or-later
"""FSAL_GLUSTER over a volume of two replicas, both bricks on this machine.

The truth is what the bricks hold, and they must hold the same.
"""

import errno
import os
import pathlib
import stat
import struct
import subprocess
import sys

from backends.conversation import Conversation
from backends.truth import DirectoryTruth
from harness.ganesha import Export
from harness.wait import wait_for

ADDRESS = "10.99.0.1"
VOLUME = "vol"
CLIENT = pathlib.Path(__file__).with_name("gluster-client.py")
# Not the volume's own: each is needed for what NFS shows to be right.  The
# stat-prefetch translator answers the server from its own stale cache.
OPTIONS = ("nfs.disable", "on", "performance.stat-prefetch", "off",
           "features.cache-invalidation", "on",
           "features.cache-invalidation-timeout", "600",
           "network.inode-lru-limit", "200000", "network.ping-timeout", "3")


class BricksTruth:
    """Asks both bricks and expects one answer."""

    def __init__(self, bricks):
        self._bricks = [Brick(brick) for brick in bricks]

    def answer(self, operation, path):
        first, second = (brick.answer(operation, path)
                         for brick in self._bricks)
        if first != second:
            raise AssertionError(f"{operation} of {path!r}: the bricks have "
                                 f"{first!r} and {second!r}")
        return first


# An object's times as Gluster tells them, the same on each brick: version,
# flags, then seconds and nanoseconds of ctime, mtime and atime.
TIMES, TIMES_FORMAT = "trusted.glusterfs.mdata", ">BQ6q"


class Brick(DirectoryTruth):
    """A brick's directory, without what Gluster adds to it."""

    def _lstat(self, path):
        found = super()._lstat(path)
        if found is None:
            return None
        # Each object but a directory has one more link, in .glusterfs.
        if found["type"] != stat.S_IFDIR:
            found["nlink"] -= 1
        try:
            times = os.getxattr(path, TIMES, follow_symlinks=False)
        except OSError as error:
            if error.errno != errno.ENODATA:
                raise
            return found
        values = struct.unpack_from(TIMES_FORMAT, times)
        found["mtime_ns"] = values[4] * 10**9 + values[5]
        return found

    def _names(self, path):
        return sorted(name for name in super()._names(path)
                      if name != ".glusterfs")


class Gluster:
    """glusterd and a replicated volume in the server's own Namespace."""

    name = "GLUSTER"
    blocks = ()
    root = ""

    def __init__(self, rundir, options=OPTIONS):
        self.rundir = pathlib.Path(rundir) / "gluster"
        self.options = options
        self.bricks = [self.rundir / f"brick{number}" for number in (0, 1)]
        self.truth = BricksTruth(self.bricks)
        self.namespace = None

    def start(self, namespace):
        self.namespace = namespace
        for folder in ("lib/groups", "log", *map(str, self.bricks)):
            (self.rundir / folder).mkdir(parents=True)
        run = namespace.run
        run("ip", "addr", "add", f"{ADDRESS}/32", "dev", "lo")
        run("mkdir", "-p", "/run/gluster")
        for name, place in (("lib", "/var/lib/glusterd"),
                            ("log", "/var/log/glusterfs")):
            run("mount", "--bind", self.rundir / name, place)
        run("glusterd", "-p", "/run/glusterd.pid", "-L", "WARNING")
        wait_for(lambda: self._gluster("pool", "list", check=False)
                 .returncode == 0, 20, "glusterd to answer")
        self._gluster("volume", "create", VOLUME, "replica", "2",
                      "transport", "tcp",
                      *(f"{ADDRESS}:{brick}" for brick in self.bricks),
                      "force")
        self._gluster("volume", "set", VOLUME, *self.options)
        self._gluster("volume", "start", VOLUME)

    def _gluster(self, *arguments, check=True):
        return self.namespace.run("gluster", "--mode=script", *arguments,
                                  timeout=60, check=check)

    def export(self, export_id=1, pseudo="/gluster"):
        return Export(
            export_id, pseudo,
            f'FSAL {{ Name = GLUSTER; Hostname = "{ADDRESS}"; '
            f'Volume = "{VOLUME}"; '
            f'glfs_log = "{self.rundir}/log/gfapi.log"; }}')

    def second_client(self):
        """A process that changes the volume, for Conversation."""
        return Conversation(self.namespace.popen(
            sys.executable, CLIENT, ADDRESS, VOLUME,
            self.rundir / "log" / "second.log", stdin=subprocess.PIPE,
            stdout=subprocess.PIPE))

    def tail(self):
        log = self.rundir / "log" / "gfapi.log"
        if not log.exists():
            return ""
        return "\n".join(["--- " + str(log), *log.read_text(
            errors="replace").splitlines()[-20:]])

    def stop(self):
        pass
