# SPDX-License-Identifier: LGPL-3.0-or-later
"""What a request was answered, the same for each version of NFS."""

from dataclasses import dataclass
from typing import NamedTuple

# DENIED is the status that says EACCES.
OK, PERM, NOENT, IO, NXIO, DENIED, EXIST = 0, 1, 2, 5, 6, 13, 17
NOTDIR, ISDIR, INVAL, NOTEMPTY, STALE = 20, 21, 22, 66, 70
BADHANDLE, SERVERFAULT, BADTYPE, DELAY = 10001, 10006, 10007, 10008
BAD_STATEID, SYMLINK, WRONG_TYPE = 10025, 10029, 10083
# Not of any protocol: the server did not answer.
NO_REPLY = -1

# The names of the types, and what each version calls them.
REGULAR, DIRECTORY, LINK, FIFO = "file", "directory", "symlink", "fifo"
TYPES = {1: REGULAR, 2: DIRECTORY, 3: "block", 4: "char", 5: LINK,
         6: "socket", 7: FIFO}

# How a file is made: take what is there, refuse it, or by a verifier.
UNCHECKED, GUARDED, EXCLUSIVE = "unchecked", "guarded", "exclusive"


class Attributes(NamedTuple):
    """Of one object; times in nanoseconds.  change is version 4's."""
    type: str
    mode: int
    nlink: int
    uid: int
    gid: int
    size: int
    fileid: int
    mtime: int
    ctime: int
    change: int | None = None

    def differences(self, other):
        """The fields in which two differ, with both values."""
        return [f"{name} is {mine!r} instead of {yours!r}"
                for name, mine, yours in zip(self._fields, self, other)
                if mine != yours and None not in (mine, yours)]


@dataclass
class Reply:
    """status, and what of the rest the request and the version give.

    before: (size, mtime, ctime) of the directory, or of the object where the
    request changes that, before the request; after: its Attributes after it.
    change: version 4's (atomic, before, after) of the directory.
    second_*: the same of a rename's other directory.
    names: {name: (fileid, Attributes or None, handle or None)}.
    state: what a file was opened as.
    """
    status: int
    attributes: Attributes | None = None
    handle: bytes | None = None
    before: tuple | None = None
    after: Attributes | None = None
    change: tuple | None = None
    second_before: tuple | None = None
    second_after: Attributes | None = None
    second_change: tuple | None = None
    data: bytes | None = None
    names: dict | None = None
    state: object = None
