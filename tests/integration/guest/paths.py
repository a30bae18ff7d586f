# SPDX-License-Identifier: LGPL-3.0-or-later
"""One file operation of a coherence test, by paths: perform(ROOT, STEP).

STEP is a dictionary with "op" and the op's arguments; objects are paths below
ROOT, bytes are text in Latin-1.  The answer is a dictionary: "errno", and
"attributes", "data" or "names".  The kernel's own caches are gone round:
contents are read directly, and the pages of directories dropped.
"""

import json
import mmap
import os
import socket
import stat

# What is read at most: whole pages, for a direct read.
MOST = 16384
TYPES = {stat.S_IFREG: "file", stat.S_IFDIR: "directory",
         stat.S_IFLNK: "symlink", stat.S_IFIFO: "fifo"}
DROP_CACHES = "/proc/sys/vm/drop_caches"
INVAL = 22


def perform(root, step, client=True):
    """Do one step; `client` if root is an NFS mount."""
    try:
        return {"errno": 0, **(
            globals()["_" + step["op"]](Place(root, step, client)) or {})}
    except OSError as error:
        return {"errno": error.errno}


class Place:
    """The paths of a step."""

    def __init__(self, root, step, client):
        self._root, self.client = os.fsencode(root), client
        self.step = step

    def path(self, directory="node", name=None):
        parts = [self._root]
        for key in (directory, name):
            if key and self.step[key]:
                parts.append(self.step[key].encode("latin-1"))
        return b"/".join(parts)

    def bytes(self, key):
        return self.step[key].encode("latin-1")


def describe(path):
    """Attributes of an object; OSError."""
    found = os.lstat(path)
    return [TYPES[stat.S_IFMT(found.st_mode)], stat.S_IMODE(found.st_mode),
            found.st_nlink, found.st_uid, found.st_gid, found.st_size,
            found.st_ino, found.st_mtime_ns, found.st_ctime_ns]


def _getattr(place):
    return {"attributes": describe(place.path())}


def _lookup(place):
    return {"attributes": describe(place.path("directory", "name"))}


def _readlink(place):
    return {"data": os.readlink(place.path()).decode("latin-1")}


def _read(place):
    direct = os.O_DIRECT if place.client else 0
    fd = os.open(place.path(), os.O_RDONLY | os.O_NOFOLLOW | direct)
    try:
        with mmap.mmap(-1, MOST) as buffer:
            count = os.preadv(fd, [buffer], 0)
            return {"data": buffer[:count].decode("latin-1")}
    finally:
        os.close(fd)


def _readdir(place):
    if place.client:
        # Two changes within a tick of the clock leave a directory's times
        # alike, and the kernel keeps the names that it has.
        with open(DROP_CACHES, "w", encoding="ascii") as drop:
            drop.write("1")
    return {"names": {os.fsencode(name).decode("latin-1"): None
                      for name in os.listdir(os.fsdecode(
                          place.path("directory")))}}


def _create(place):
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK
    if place.step["how"] != "unchecked":
        flags |= os.O_EXCL
    if place.step["truncate"]:
        flags |= os.O_TRUNC
    fd = os.open(place.path("directory", "name"), flags, 0o644)
    regular = stat.S_ISREG(os.fstat(fd).st_mode)
    os.close(fd)
    return None if regular else {"errno": INVAL}


def _write(place):
    fd = os.open(place.path(), os.O_WRONLY | os.O_NOFOLLOW)
    try:
        os.pwrite(fd, place.bytes("data"), place.step["offset"])
    finally:
        os.close(fd)


def _truncate(place):
    os.truncate(place.path(), place.step["size"])


def _setattr(place):
    path = place.path()
    for key, value in place.step["changes"].items():
        if key == "mode":
            os.chmod(path, value)
        elif key == "mtime":
            os.utime(path, ns=(os.stat(path).st_atime_ns, value))
        else:
            owner = {"uid": -1, "gid": -1, key: value}
            os.chown(path, owner["uid"], owner["gid"])


def _mkdir(place):
    os.mkdir(place.path("directory", "name"), 0o755)


def _mkfifo(place):
    os.mkfifo(place.path("directory", "name"), 0o644)


def _symlink(place):
    os.symlink(place.bytes("target"), place.path("directory", "name"))


def _remove(place):
    path = place.path("directory", "name")
    (os.rmdir if place.step["is_directory"] else os.unlink)(path)


def _rename(place):
    os.rename(place.path("directory", "name"),
              place.path("to_directory", "to_name"))


def _link(place):
    os.link(place.path(), place.path("directory", "name"),
            follow_symlinks=False)


def serve(root, host, port):
    """Perform the steps that come, a JSON object a line, until the end."""
    os.umask(0)
    with socket.create_connection((host, port), 20) as connection:
        connection.settimeout(None)
        with connection.makefile("rwb") as stream:
            for line in stream:
                reply = perform(root, json.loads(line))
                stream.write(json.dumps(reply).encode() + b"\n")
                stream.flush()
