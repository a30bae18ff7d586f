#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Looks at a CephFS, or changes it, by libcephfs: ceph-look.py CEPH_CONF.

One JSON list [operation, path, argument...] a line comes, {"value"} or
{"error"} goes.
Python's own binding gives times in microseconds only, hence ctypes.
"""

import ctypes
import errno
import hashlib
import json
import os
import stat
import sys

STATX_BASIC, NOFOLLOW = 0x7ff, 0x100
DIRENT_NAME = 19    # where d_name is in glibc's struct dirent


class Timespec(ctypes.Structure):
    _fields_ = [("sec", ctypes.c_long), ("nsec", ctypes.c_long)]


class Statx(ctypes.Structure):
    """struct ceph_statx"""
    _fields_ = [
        ("mask", ctypes.c_uint32), ("blksize", ctypes.c_uint32),
        ("nlink", ctypes.c_uint32), ("uid", ctypes.c_uint32),
        ("gid", ctypes.c_uint32), ("mode", ctypes.c_uint16),
        ("ino", ctypes.c_uint64), ("size", ctypes.c_uint64),
        ("blocks", ctypes.c_uint64), ("dev", ctypes.c_uint64),
        ("rdev", ctypes.c_uint64), ("atime", Timespec), ("ctime", Timespec),
        ("mtime", Timespec), ("btime", Timespec),
        ("version", ctypes.c_uint64), ("reserve", ctypes.c_uint64 * 8)]


class Files:
    """A mounted CephFS; paths are bytes from its root."""

    def __init__(self, conf):
        self._lib = ctypes.CDLL("libcephfs.so.2")
        self._lib.ceph_readdir.restype = ctypes.c_void_p
        self._lib.ceph_read.argtypes = [
            ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int64,
            ctypes.c_int64]
        self._mount = ctypes.c_void_p()
        self._call("create", ctypes.byref(self._mount), b"admin")
        self._call("conf_read_file", self._mount, os.fsencode(conf))
        self._call("mount", self._mount, b"/")

    def _call(self, name, *arguments):
        result = getattr(self._lib, "ceph_" + name)(*arguments)
        if result < 0:
            raise OSError(-result, os.strerror(-result), name)
        return result

    def lstat(self, path):
        found = Statx()
        try:
            self._call("statx", self._mount, path, ctypes.byref(found),
                       STATX_BASIC, NOFOLLOW)
        except OSError as error:
            if error.errno == errno.ENOENT:
                return None
            raise
        return {"type": stat.S_IFMT(found.mode),
                "mode": stat.S_IMODE(found.mode), "nlink": found.nlink,
                "uid": found.uid, "gid": found.gid, "size": found.size,
                "mtime_ns": found.mtime.sec * 10**9 + found.mtime.nsec,
                "rdev": [os.major(found.rdev), os.minor(found.rdev)]}

    def digest(self, path):
        total, offset = hashlib.sha256(), 0
        buffer = ctypes.create_string_buffer(1 << 20)
        fd = self._call("open", self._mount, path, os.O_RDONLY, 0)
        while count := self._call("read", self._mount, fd, buffer,
                                  len(buffer), offset):
            total.update(buffer.raw[:count])
            offset += count
        self._call("close", self._mount, fd)
        return total.hexdigest()

    def names(self, path):
        directory = ctypes.c_void_p()
        self._call("opendir", self._mount, path, ctypes.byref(directory))
        found = []
        while entry := self._lib.ceph_readdir(self._mount, directory):
            name = ctypes.string_at(entry + DIRENT_NAME)
            if name not in (b".", b".."):
                found.append(os.fsdecode(name))
        self._call("closedir", self._mount, directory)
        return found

    def readlink(self, path):
        buffer = ctypes.create_string_buffer(4096)
        count = self._call("readlink", self._mount, path, buffer, 4096)
        return os.fsdecode(buffer.raw[:count])

    def chmod(self, path, mode):
        self._call("chmod", self._mount, path, mode)

    def chown(self, path, uid, gid):
        self._call("chown", self._mount, path, uid, gid)

    def utimes(self, path, seconds):
        times = (ctypes.c_long * 2)(seconds, seconds)   # struct utimbuf
        self._call("utime", self._mount, path, times)

    def link(self, path, new):
        self._call("link", self._mount, path, b"/" + os.fsencode(new))

    def rmdir(self, path):
        self._call("rmdir", self._mount, path)

    def truncate(self, path, size):
        self._call("truncate", self._mount, path, ctypes.c_int64(size))

    def mkdir(self, path):
        self._call("mkdir", self._mount, path, 0o755)

    def unlink(self, path):
        self._call("unlink", self._mount, path)

    def rename(self, path, new):
        self._call("rename", self._mount, path, b"/" + os.fsencode(new))

    def append(self, path, text):
        text = os.fsencode(text)
        fd = self._call("open", self._mount, path,
                        os.O_WRONLY | os.O_APPEND, 0)
        self._call("write", self._mount, fd, text,
                   ctypes.c_int64(len(text)), ctypes.c_int64(-1))
        self._call("close", self._mount, fd)

    def create(self, path):
        fd = self._call("open", self._mount, path,
                        os.O_CREAT | os.O_WRONLY, 0o644)
        self._call("close", self._mount, fd)


def main():
    files = Files(sys.argv[1])
    for line in sys.stdin:
        operation, path, *arguments = json.loads(line)
        try:
            reply = {"value": getattr(files, operation)(
                b"/" + os.fsencode(path), *arguments)}
        except Exception as error:
            reply = {"error": repr(error)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
