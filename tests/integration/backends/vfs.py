# SPDX-License-Identifier: LGPL-3.0-or-later
"""FSAL_VFS over a directory of this machine."""

import pathlib

from backends.truth import DirectoryTruth
from harness.ganesha import Export


class Vfs:
    """A new, empty directory in `rundir`, writable by everyone."""

    name = "VFS"
    blocks = ()
    root = ""

    def __init__(self, rundir):
        self.directory = pathlib.Path(rundir) / "exported"
        self.truth = DirectoryTruth(self.directory)

    def start(self, namespace):
        self.directory.mkdir(parents=True)
        self.directory.chmod(0o1777)

    def export(self, export_id=1, pseudo="/vfs"):
        return Export(export_id, pseudo, "FSAL { Name = VFS; }",
                      path=str(self.directory))

    def tail(self):
        return ""

    def stop(self):
        pass
