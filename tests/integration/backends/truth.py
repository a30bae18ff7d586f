# SPDX-License-Identifier: LGPL-3.0-or-later
"""What a backend really has, looked at from outside the server."""

import hashlib
import os
import stat


def attributes(status):
    """The fields that a check compares, of an os.stat_result."""
    return {"type": stat.S_IFMT(status.st_mode),
            "mode": stat.S_IMODE(status.st_mode), "nlink": status.st_nlink,
            "uid": status.st_uid, "gid": status.st_gid,
            "size": status.st_size, "mtime_ns": status.st_mtime_ns,
            "rdev": [os.major(status.st_rdev), os.minor(status.st_rdev)]}


class DirectoryTruth:
    """The truth about a directory of this machine."""

    def __init__(self, root):
        self.root = os.fsencode(root)

    def answer(self, operation, path):
        """One question of a check; paths are relative to the root, bytes."""
        path = os.path.join(self.root, path)
        return getattr(self, "_" + operation)(path)

    def _lstat(self, path):
        try:
            return attributes(os.lstat(path))
        except FileNotFoundError:
            return None

    def _readlink(self, path):
        return os.fsdecode(os.readlink(path))

    def _digest(self, path):
        total = hashlib.sha256()
        with open(path, "rb", buffering=0) as file:
            while block := file.read(1 << 20):
                total.update(block)
        return total.hexdigest()

    def _names(self, path):
        return [os.fsdecode(name) for name in os.listdir(path)]
