#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Changes a Gluster volume by libgfapi: gluster-client.py HOST VOLUME LOG.

One JSON list [operation, path, argument...] a line comes, {} or {"error"}
goes, when the change has been made.
"""

import ctypes
import json
import os
import sys

MANAGEMENT_PORT = 24007


class Volume:
    """A client of a volume; paths are bytes from its root."""

    def __init__(self, host, volume, log):
        self._lib = ctypes.CDLL("libgfapi.so.0", use_errno=True)
        for name in ("glfs_new", "glfs_creat", "glfs_open"):
            getattr(self._lib, name).restype = ctypes.c_void_p
        self._lib.glfs_write.restype = ctypes.c_ssize_t
        self._volume = ctypes.c_void_p(
            self._lib.glfs_new(os.fsencode(volume)))
        self._call("set_volfile_server", b"tcp", os.fsencode(host),
                   MANAGEMENT_PORT)
        self._call("set_logging", os.fsencode(log), 4)
        self._call("init")

    def _call(self, name, *arguments):
        result = getattr(self._lib, "glfs_" + name)(self._volume, *arguments)
        if result:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), name)

    def chmod(self, path, mode):
        self._call("chmod", path, mode)

    def chown(self, path, uid, gid):
        self._call("chown", path, uid, gid)

    def utimes(self, path, seconds):
        times = (ctypes.c_long * 4)(seconds, 0, seconds, 0)
        self._call("utimens", path, times)

    def link(self, path, new):
        self._call("link", path, b"/" + os.fsencode(new))

    def rmdir(self, path):
        self._call("rmdir", path)

    def truncate(self, path, size):
        self._call("truncate", path, ctypes.c_int64(size))

    def mkdir(self, path):
        self._call("mkdir", path, 0o755)

    def unlink(self, path):
        self._call("unlink", path)

    def rename(self, path, new):
        self._call("rename", path, b"/" + os.fsencode(new))

    def create(self, path):
        self._close(self._lib.glfs_creat(self._volume, path, os.O_WRONLY,
                                         0o644))

    def append(self, path, text):
        handle = self._lib.glfs_open(self._volume, path,
                                     os.O_WRONLY | os.O_APPEND)
        if handle:
            text = os.fsencode(text)
            self._lib.glfs_write(ctypes.c_void_p(handle), text,
                                 ctypes.c_size_t(len(text)), 0)
        self._close(handle)

    def _close(self, handle):
        if not handle:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), "open")
        if self._lib.glfs_close(ctypes.c_void_p(handle)):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), "close")


def main():
    volume = Volume(*sys.argv[1:])
    for line in sys.stdin:
        operation, path, *arguments = json.loads(line)
        try:
            getattr(volume, operation)(b"/" + os.fsencode(path), *arguments)
            reply = {}
        except Exception as error:
            reply = {"error": repr(error)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
