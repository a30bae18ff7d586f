# SPDX-License-Identifier: LGPL-3.0-or-later
"""Writers that know which of their changes the server has acknowledged."""

import os
import time

RECORD = 512


def record(number):
    """The content of a record: its number, then a pattern of it."""
    return b"%08d" % number + bytes([number % 251]) * (RECORD - 8)


def append_synced(path, seconds, how):
    """Append records, each made stable; how is "fsync" or "O_SYNC".

    Returns [records acknowledged, longest wait in seconds].
    """
    flags = os.O_CREAT | os.O_WRONLY | os.O_APPEND
    if how == "O_SYNC":
        flags |= os.O_SYNC
    begin = time.monotonic()
    fd = os.open(path, flags)
    number, longest = 0, time.monotonic() - begin
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        assert os.write(fd, record(number)) == RECORD
        if how == "fsync":
            os.fsync(fd)
        longest = max(longest, time.monotonic() - begin)
        number += 1
    os.close(fd)
    return [number, longest]


def make_names(path, seconds):
    """Make files by writing under another name and renaming.

    A server that dies between a rename and its reply leaves the client to
    send it again, to one that knows nothing of the first: there is no such
    file any more. Such a rename counts as acknowledged, so that the caller
    finds its file or not, and is counted.

    Returns [files acknowledged, longest wait in seconds, renames sent again].
    """
    begin = time.monotonic()
    os.mkdir(path)
    number, longest, again = 0, time.monotonic() - begin, 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        fd = os.open(f"{path}/new", os.O_CREAT | os.O_WRONLY)
        os.write(fd, record(number))
        os.fsync(fd)
        os.close(fd)
        try:
            os.rename(f"{path}/new", f"{path}/{number}")
        except FileNotFoundError:
            again += 1
        longest = max(longest, time.monotonic() - begin)
        number += 1
    return [number, longest, again]
