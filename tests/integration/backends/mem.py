# SPDX-License-Identifier: LGPL-3.0-or-later
"""FSAL_MEM, which keeps everything in the server's memory.

It has no outside; checks look at it by a second mount of another version.
"""

from harness.ganesha import Export

# A file's content is kept up to here; past it FSAL_MEM reads 'a's.
INODE_SIZE = 512 << 10


class Mem:
    """An empty file system, gone with the server."""

    name = "MEM"
    blocks = (f"MEM {{ Inode_Size = {INODE_SIZE}; }}",)
    truth = None
    root = ""

    def __init__(self, rundir):
        pass

    def start(self, namespace):
        pass

    def export(self, export_id=1, pseudo="/mem"):
        return Export(export_id, pseudo, "FSAL { Name = MEM; }", path=pseudo)

    def tail(self):
        return ""

    def stop(self):
        pass
