# SPDX-License-Identifier: LGPL-3.0-or-later
"""Who changes a World: this process, or a client of NFS.

Each names objects by their Keys, and directories' entries by Key and name;
Refused is raised when it could not be done.
"""

import contextlib
import os

from beside.history import Refused
from beside.truth import key_of
from harness.answers import OK


class Local:
    """System calls, one for each change."""

    steps = False

    def bound(self, world):
        self._world = world
        return self

    def create(self, directory, name):
        os.close(os.open(self._world.at(directory, name),
                         os.O_CREAT | os.O_EXCL | os.O_RDONLY, 0o644))

    def mkdir(self, directory, name):
        os.mkdir(self._world.at(directory, name))

    def symlink(self, directory, name, target):
        os.symlink(target, self._world.at(directory, name))

    def write(self, key, offset, data):
        descriptor = os.open(self._world.path(key), os.O_WRONLY)
        try:
            os.pwrite(descriptor, data, offset)
        finally:
            os.close(descriptor)

    def truncate(self, key, size):
        os.truncate(self._world.path(key), size)

    def chmod(self, key, mode):
        os.chmod(self._world.path(key), mode)

    def utime(self, key, stamp):
        os.utime(self._world.path(key), ns=(stamp, stamp),
                 follow_symlinks=False)

    def link(self, key, directory, name):
        os.link(self._world.path(key), self._world.at(directory, name),
                follow_symlinks=False)

    def remove(self, directory, name, is_directory):
        (os.rmdir if is_directory else os.unlink)(
            self._world.at(directory, name))

    def rename(self, directory, name, to, new, key):
        del key
        os.rename(self._world.at(directory, name), self._world.at(to, new))


class Remote:
    """Requests.  What a client does not see yet it cannot change."""

    steps = True

    def __init__(self, client, root):
        """root: the handle of World's `here`."""
        self._client, self._root = client, root

    def bound(self, world):
        self._world = world
        return self

    def _handle(self, key):
        """By lookups, of this very object."""
        top, names = self._world.way(key)
        if top != self._world.root:
            raise Refused
        handle = self._root
        for name in names:
            handle = self._client.lookup(handle, name).handle
            if handle is None:
                raise Refused
        if key.handle not in handle:
            raise Refused
        return handle

    @staticmethod
    def _done(reply):
        if reply.status != OK:
            raise Refused

    def create(self, directory, name):
        self._done(self._client.create(self._handle(directory), name,
                                       "guarded"))

    def mkdir(self, directory, name):
        self._done(self._client.mkdir(self._handle(directory), name))

    def symlink(self, directory, name, target):
        self._done(self._client.symlink(self._handle(directory), name,
                                        target))

    def write(self, key, offset, data):
        self._done(self._client.write(self._handle(key), offset, data))

    def truncate(self, key, size):
        self._done(self._client.setattr(self._handle(key), size=size))

    def chmod(self, key, mode):
        self._done(self._client.setattr(self._handle(key), mode=mode))

    def utime(self, key, stamp):
        self._done(self._client.setattr(self._handle(key), mtime=stamp))

    def link(self, key, directory, name):
        self._done(self._client.link(self._handle(key),
                                     self._handle(directory), name))

    def remove(self, directory, name, is_directory):
        self._done(self._client.remove(self._handle(directory), name,
                                       is_directory))

    def rename(self, directory, name, to, new, key):
        """Two names that the server still thinks are one object's are left
        alone, and that is no error."""
        self._done(self._client.rename(self._handle(directory), name,
                                       self._handle(to), new))
        with contextlib.suppress(FileNotFoundError):
            if key_of(self._world.at(to, new)) == key:
                return
        raise Refused
