# SPDX-License-Identifier: LGPL-3.0-or-later
"""FSAL_VFS over a tmpfs, mounted inside the namespace.

Its stable writes cost next to nothing, whatever the machine's disk and the
kernel's threads have to do besides.
"""

import pathlib

from backends.vfs import Vfs


class MemoryVfs(Vfs):
    """A tmpfs, gone with the server."""

    def start(self, namespace):
        super().start(namespace)
        namespace.run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs",
                      self.directory)


def inside(namespace, path):
    """A path as processes in the namespace see it."""
    return pathlib.Path(f"/proc/{namespace.pid}/root{path}")
