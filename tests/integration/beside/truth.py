# SPDX-License-Identifier: LGPL-3.0-or-later
"""What is in a directory, object by object.

An object is known by its key: the kernel's own file handle, which an inode's
number used again does not have.
"""

import ctypes
import os
import stat
from dataclasses import dataclass
from typing import NamedTuple

from harness.answers import Attributes

AT_FDCWD = -100
MOST_DATA = 65536
TYPES = {stat.S_IFREG: "file", stat.S_IFDIR: "directory",
         stat.S_IFLNK: "symlink", stat.S_IFIFO: "fifo",
         stat.S_IFSOCK: "socket", stat.S_IFBLK: "block",
         stat.S_IFCHR: "char"}


class _FileHandle(ctypes.Structure):
    _fields_ = [("handle_bytes", ctypes.c_uint),
                ("handle_type", ctypes.c_int),
                ("f_handle", ctypes.c_ubyte * 128)]


_libc = ctypes.CDLL(None, use_errno=True)


class Key(NamedTuple):
    """device: st_dev; handle: the kernel's."""
    device: int
    handle: bytes


def key_of(path, status=None):
    """The Key of what is there; symlinks are not followed."""
    handle, mount = _FileHandle(128), ctypes.c_int()
    if _libc.name_to_handle_at(AT_FDCWD, os.fsencode(path),
                               ctypes.byref(handle), ctypes.byref(mount), 0):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), os.fspath(path))
    status = status or os.lstat(path)
    return Key(status.st_dev, bytes(handle.f_handle[:handle.handle_bytes]))


def attributes(status, change=True):
    """The Attributes that are to be seen, of an os.stat_result.

    change: with version 4's change.  MDCACHE adds one to it when a request
    that changes something has left it what it was.
    """
    return Attributes(
        TYPES[stat.S_IFMT(status.st_mode)], stat.S_IMODE(status.st_mode),
        status.st_nlink, status.st_uid, status.st_gid, status.st_size,
        status.st_ino, status.st_mtime_ns, status.st_ctime_ns,
        max(status.st_mtime_ns, status.st_ctime_ns) if change else None)


@dataclass
class Node:
    """An object; path is for people.

    names: {name: Key} of a directory; data: a file's first bytes, or a
    symlink's target; parent: a directory's.
    """
    key: Key
    path: str
    attributes: Attributes
    names: dict | None = None
    data: bytes | None = None
    parent: Key | None = None


class Tree:
    """All that is below a directory: {Key: Node} and the root's Key."""

    def __init__(self, root, data=True, change=True):
        self._data, self._change = data, change
        self.nodes = {}
        self.root = self._add(os.fsencode(root), "", None)

    def _add(self, path, shown, parent):
        status = os.lstat(path)
        key = key_of(path, status)
        if key in self.nodes:
            return key
        node = Node(key, shown or ".", attributes(status, self._change),
                    parent=parent)
        self.nodes[key] = node
        if node.attributes.type == "directory":
            node.names = {
                name: self._add(os.path.join(path, name), os.path.join(
                    shown, os.fsdecode(name)), key)
                for name in os.listdir(path)}
        elif node.attributes.type == "symlink":
            node.data = os.readlink(path)
        elif node.attributes.type == "file" and self._data:
            with open(path, "rb", buffering=0) as file:
                node.data = file.read(MOST_DATA)
        return key
