# SPDX-License-Identifier: LGPL-3.0-or-later
"""What a check works with: its directory on the mount, and the truth.

A check is a function check_NAME(ctx).  It works in ctx.dir, a directory of
its own on an NFS mount, and compares what it sees with what the backend has:
`ctx.same(name)` fails unless the client, asking the server anew, and the
backend agree on every attribute and on the content.
"""

import contextlib
import ctypes
import errno
import hashlib
import importlib
import json
import os
import socket
import stat
import time

# The attributes that client and backend must agree on.
FIELDS = ("type", "mode", "nlink", "uid", "gid", "size", "mtime_ns", "rdev")
# FSAL_GLUSTER of Ganesha 4.3 gives nanoseconds when it makes an object, and
# whole seconds when it is asked later.
WHOLE_SECONDS = {"GLUSTER"}


class _Timestamp(ctypes.Structure):
    _fields_ = [("sec", ctypes.c_int64), ("nsec", ctypes.c_uint32),
                ("pad", ctypes.c_int32)]


class _Statx(ctypes.Structure):
    _fields_ = [
        ("mask", ctypes.c_uint32), ("blksize", ctypes.c_uint32),
        ("attributes", ctypes.c_uint64), ("nlink", ctypes.c_uint32),
        ("uid", ctypes.c_uint32), ("gid", ctypes.c_uint32),
        ("mode", ctypes.c_uint16), ("pad", ctypes.c_uint16),
        ("ino", ctypes.c_uint64), ("size", ctypes.c_uint64),
        ("blocks", ctypes.c_uint64), ("attributes_mask", ctypes.c_uint64),
        ("atime", _Timestamp), ("btime", _Timestamp), ("ctime", _Timestamp),
        ("mtime", _Timestamp), ("rdev_major", ctypes.c_uint32),
        ("rdev_minor", ctypes.c_uint32), ("rest", ctypes.c_uint64 * 15)]


def server_lstat(path):
    """lstat that makes the client ask the server; None if absent."""
    AT_FDCWD, NOFOLLOW, FORCE_SYNC, BASIC = -100, 0x100, 0x2000, 0x7ff
    libc = ctypes.CDLL(None, use_errno=True)
    answer = _Statx()
    if libc.statx(AT_FDCWD, os.fsencode(path), NOFOLLOW | FORCE_SYNC, BASIC,
                  ctypes.byref(answer)):
        number = ctypes.get_errno()
        if number == errno.ENOENT:
            return None
        raise OSError(number, os.strerror(number), path)
    return {"type": stat.S_IFMT(answer.mode),
            "mode": stat.S_IMODE(answer.mode), "nlink": answer.nlink,
            "uid": answer.uid, "gid": answer.gid, "size": answer.size,
            "mtime_ns": answer.mtime.sec * 10**9 + answer.mtime.nsec,
            "rdev": [answer.rdev_major, answer.rdev_minor]}


def digest(path):
    """SHA-256 of a file's content, holes read as the zeros they are."""
    total = hashlib.sha256()
    with open(path, "rb", buffering=0) as file:
        while block := file.read(1 << 20):
            total.update(block)
    return total.hexdigest()


class RemoteTruth:
    """Asks the host, which looks at the backend itself."""

    def __init__(self):
        self._stream = None

    def _ask(self, operation, path):
        if self._stream is None:
            connection = socket.create_connection(
                (os.environ["SCALE_HOST"], int(os.environ["SCALE_PORT"])), 20)
            self._stream = connection.makefile("rwb")
        self._stream.write(json.dumps(
            {"operation": operation, "path": os.fsdecode(path)}).encode()
            + b"\n")
        self._stream.flush()
        reply = json.loads(self._stream.readline())
        if "error" in reply:
            raise RuntimeError(f"truth about {path!r}: {reply['error']}")
        return reply["value"]

    def lstat(self, path):
        """The same fields as server_lstat(), or None."""
        return self._ask("lstat", path)

    def readlink(self, path):
        return os.fsencode(self._ask("readlink", path))

    def digest(self, path):
        return self._ask("digest", path)

    def names(self, path):
        return sorted(map(os.fsencode, self._ask("names", path)))


class MountTruth:
    """For a backend without an outside: a second mount that caches nothing.

    It goes by another version of the protocol, so by other server code.
    """

    def __init__(self, mount):
        self.mount = os.fsencode(mount)

    def lstat(self, path):
        return server_lstat(os.path.join(self.mount, path))

    def readlink(self, path):
        return os.readlink(os.path.join(self.mount, path))

    def digest(self, path):
        return digest(os.path.join(self.mount, path))

    def names(self, path):
        return sorted(os.listdir(os.path.join(self.mount, path)))


class Context:
    """One check's surroundings.

    dir: its directory, an absolute path in bytes; version: "3", "4.0" ...;
    backend: "VFS" ...; truth: RemoteTruth or MountTruth.
    """

    def __init__(self, mount, name, version, backend, truth_mount=None,
                 root=""):
        self.version = version
        self.backend = backend
        self.mount = os.fsencode(mount)
        self.inside = os.path.join(os.fsencode(root), os.fsencode(name))
        self.dir = os.path.join(self.mount, os.fsencode(name))
        self.truth = (MountTruth(truth_mount) if truth_mount
                      else RemoteTruth())

    def path(self, name):
        """The path of a name (str or bytes) in the check's directory."""
        return os.path.join(self.dir, os.fsencode(name))

    def same(self, name=b"", fields=FIELDS, content=True):
        """Client and backend agree about an object; its attributes.

        The time is compared once the client's write is complete; a
        directory's content is its names, a link's its target.
        """
        path = self.path(name)
        inside = os.path.join(self.inside, os.fsencode(name)).rstrip(b"/")
        seen, true = server_lstat(path), self.truth.lstat(inside)
        assert seen is not None, f"client does not see {name!r}"
        assert true is not None, f"backend does not have {name!r}"
        if self.backend in WHOLE_SECONDS:
            for side in (seen, true):
                side["mtime_ns"] -= side["mtime_ns"] % 10**9
        if seen["type"] == stat.S_IFDIR:
            # A directory's size and link count are the file system's affair.
            fields = [field for field in fields if field != "size"]
        wrong = {field: (seen[field], true[field]) for field in fields
                 if seen[field] != true[field]}
        assert not wrong, f"{name!r}: (client, backend) differ in {wrong}"
        if content:
            self._same_content(path, inside, seen)
        return seen

    def _same_content(self, path, inside, seen):
        if seen["type"] == stat.S_IFREG:
            assert digest(path) == self.truth.digest(inside), \
                f"content of {path!r} differs from the backend's"
        elif seen["type"] == stat.S_IFLNK:
            assert os.readlink(path) == self.truth.readlink(inside), \
                f"target of {path!r} differs from the backend's"
        elif seen["type"] == stat.S_IFDIR:
            names, true = sorted(os.listdir(path)), self.truth.names(inside)
            assert names == true, (
                f"names in {path!r}: client has {len(names)}, backend "
                f"{len(true)}; {sorted(set(names) ^ set(true))[:10]}")

    def gone(self, name):
        """Neither client nor backend has the name."""
        inside = os.path.join(self.inside, os.fsencode(name))
        assert server_lstat(self.path(name)) is None, \
            f"client still sees {name!r}"
        assert self.truth.lstat(inside) is None, \
            f"backend still has {name!r}"


@contextlib.contextmanager
def fails(*numbers):
    """The body must raise OSError with one of the error numbers."""
    wanted = "/".join(errno.errorcode.get(number, str(number))
                      for number in numbers)
    try:
        yield
    except OSError as error:
        got = errno.errorcode.get(error.errno, error.errno)
        assert error.errno in numbers, f"{got} instead of {wanted}"
    else:
        raise AssertionError(f"success instead of {wanted}")


def write(path, data, mode="wb"):
    """Write a file and close it; the path."""
    with open(path, mode) as file:
        file.write(data)
    return path


def read(path):
    """A file's content."""
    with open(path, "rb") as file:
        return file.read()


def run_check(check, mount, version, backend, truth_mount=None, root=""):
    """Run "module:check_name" in a new directory; its value.

    root: where the mount's root is, seen from the truth.
    """
    module, name = check.split(":")
    label = f"{name.removeprefix('check_')}-{version}-{time.time_ns()}"
    ctx = Context(mount, label, version, backend, truth_mount, root)
    os.umask(0o022)
    os.mkdir(ctx.dir)
    return getattr(importlib.import_module(module), name)(ctx)
