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
        for name in ("glfs_new", "glfs_creat"):
            getattr(self._lib, name).restype = ctypes.c_void_p
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

    def truncate(self, path, size):
        self._call("truncate", path, ctypes.c_int64(size))

    def mkdir(self, path):
        self._call("mkdir", path, 0o755)

    def unlink(self, path):
        self._call("unlink", path)

    def rename(self, path, new):
        self._call("rename", path, b"/" + os.fsencode(new))

    def create(self, path):
        handle = self._lib.glfs_creat(self._volume, path, os.O_WRONLY, 0o644)
        if not handle:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), "creat")
        self._lib.glfs_close(ctypes.c_void_p(handle))


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
