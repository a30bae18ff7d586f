# SPDX-License-Identifier: LGPL-3.0-or-later
"""libnfs as a client: versions 3 and 4.0, by paths, without its cache."""

import ctypes
import os
import stat

from coherence.pathclients import STEPS, PathClient
from guest.paths import MOST, TYPES
from harness.ganesha import MOUNT_PORT, PORT


class Stat(ctypes.Structure):
    """struct nfs_stat_64"""
    _fields_ = [(name, ctypes.c_uint64) for name in (
        "dev", "ino", "mode", "nlink", "uid", "gid", "rdev", "size",
        "blksize", "blocks", "atime", "mtime", "ctime", "atime_nsec",
        "mtime_nsec", "ctime_nsec", "used")]


class Dirent(ctypes.Structure):
    """The beginning of struct nfsdirent"""
    _fields_ = [("next", ctypes.c_void_p), ("name", ctypes.c_char_p),
                ("inode", ctypes.c_uint64)]


class LibNfs(PathClient):
    """A mount by libnfs; only one of version 4 in a process."""

    # Without what it has no request for, or a faulty one; by version 4 it
    # makes no file that is there, and opens none that it may not read.
    able = STEPS - {"mkfifo", "setattr", "link"}
    only_3 = {"create", "write", "truncate", "read"}

    def __init__(self, namespace, version, pseudo, share=5):
        super().__init__(f"libnfs v{version} {pseudo}", share)
        self.any_remove = version != "3"
        if self.any_remove:
            self.able -= self.only_3
        self._version = version
        self._lib = ctypes.CDLL("libnfs.so.13")
        for name in ("nfs_init_context", "nfs_readdir"):
            getattr(self._lib, name).restype = ctypes.c_void_p
        self._lib.nfs_get_error.restype = ctypes.c_char_p
        self._context = ctypes.c_void_p(self._lib.nfs_init_context())
        self._lib.nfs_set_dircache(self._context, 0)
        self._lib.nfs_umask(self._context, 0)
        self._lib.nfs_set_timeout(self._context, 60000)
        url = (f"nfs://127.0.0.1{pseudo}/?version={version}"
               f"&nfsport={PORT}&mountport={MOUNT_PORT}")
        self._lib.nfs_parse_url_dir.restype = ctypes.c_void_p
        assert self._lib.nfs_parse_url_dir(self._context, url.encode())
        namespace.in_network(lambda: self._call(
            "mount", b"127.0.0.1", pseudo.encode()))

    def _call(self, name, *arguments):
        result = getattr(self._lib, "nfs_" + name)(self._context, *arguments)
        if result < 0:
            raise OSError(-result, self._lib.nfs_get_error(self._context))
        return result

    def perform(self, step):
        try:
            return {"errno": 0, **(
                getattr(self, "_" + step["op"])(Paths(step)) or {})}
        except OSError as error:
            return {"errno": error.errno}

    def _describe(self, path):
        found = Stat()
        self._call("lstat64", path, ctypes.byref(found))
        return {"attributes": [
            TYPES[stat.S_IFMT(found.mode)], stat.S_IMODE(found.mode),
            found.nlink, found.uid, found.gid, found.size, found.ino,
            found.mtime * 10**9 + found.mtime_nsec,
            found.ctime * 10**9 + found.ctime_nsec]}

    def _getattr(self, place):
        return self._describe(place.node)

    def _lookup(self, place):
        return self._describe(place.named)

    def _readlink(self, place):
        buffer = ctypes.create_string_buffer(4096)
        self._call("readlink", place.node, buffer, 4096)
        return {"data": buffer.value.decode("latin-1")}

    def _opened(self, path, flags):
        handle = ctypes.c_void_p()
        self._call("open", path, flags, ctypes.byref(handle))
        return handle

    def _read(self, place):
        handle = self._opened(place.node, os.O_RDONLY)
        try:
            buffer = ctypes.create_string_buffer(MOST)
            count = self._call("pread", handle, ctypes.c_uint64(0),
                               ctypes.c_uint64(MOST), buffer)
            return {"data": buffer.raw[:count].decode("latin-1")}
        finally:
            self._call("close", handle)

    def _write(self, place):
        handle = self._opened(place.node, os.O_RDWR)
        data = place.step["data"].encode("latin-1")
        try:
            self._call("pwrite", handle, ctypes.c_uint64(
                place.step["offset"]), ctypes.c_uint64(len(data)), data)
        finally:
            self._call("close", handle)

    def _truncate(self, place):
        self._call("truncate", place.node,
                   ctypes.c_uint64(place.step["size"]))

    def _readdir(self, place):
        directory = ctypes.c_void_p()
        self._call("opendir", place.directory, ctypes.byref(directory))
        names = {}
        while entry := self._lib.nfs_readdir(self._context, directory):
            found = Dirent.from_address(entry)
            if found.name not in (b".", b".."):
                # By version 4 it does not tell the number.
                names[found.name.decode("latin-1")] = \
                    found.inode if self._version == "3" else None
        self._lib.nfs_closedir(self._context, directory)
        return {"names": names}

    def _create(self, place):
        handle = ctypes.c_void_p()
        flags = os.O_RDWR
        if place.step["how"] != "unchecked":
            flags |= os.O_EXCL
        if place.step["truncate"]:
            flags |= os.O_TRUNC
        self._call("create", place.named, flags, 0o644, ctypes.byref(handle))
        self._call("close", handle)

    def _mkdir(self, place):
        self._call("mkdir2", place.named, 0o755)

    def _symlink(self, place):
        self._call("symlink", place.step["target"].encode("latin-1"),
                   place.named)

    def _remove(self, place):
        self._call("rmdir" if place.step["is_directory"] else "unlink",
                   place.named)

    def _rename(self, place):
        self._call("rename", place.named, place.renamed)

    def stop(self):
        self._lib.nfs_destroy_context(self._context)


class Paths:
    """The paths of a step from the mount's root."""

    def __init__(self, step):
        self.step = step

    def _path(self, *keys):
        return b"/" + b"/".join(
            self.step[key].encode("latin-1") for key in keys
            if self.step[key])

    @property
    def node(self):
        return self._path("node")

    @property
    def directory(self):
        return self._path("directory")

    @property
    def named(self):
        return self._path("directory", "name")

    @property
    def renamed(self):
        return self._path("to_directory", "to_name")
