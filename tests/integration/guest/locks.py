# SPDX-License-Identifier: LGPL-3.0-or-later
"""Byte-range locks, held by one process and asked for by others."""

import fcntl
import os
import struct
import time

# struct flock: type, whence, start, length, pid
FLOCK = "hhqqi4x"
KINDS = {"read": fcntl.F_RDLCK, "write": fcntl.F_WRLCK}


def _set(fd, command, kind, start, length):
    return fcntl.fcntl(fd, command, struct.pack(
        FLOCK, kind, os.SEEK_SET, start, length, 0))


def _marker(name):
    return f"/tmp/lock-{name}"


def hold(path, name, kind, start=0, length=0, wait=False):
    """Take a lock and keep it until release(name); seconds it took."""
    fd = os.open(path, os.O_RDWR)
    begin = time.monotonic()
    _set(fd, fcntl.F_SETLKW if wait else fcntl.F_SETLK, KINDS[kind], start,
         length)
    took = time.monotonic() - begin
    marker = _marker(name)
    with open(marker, "w", encoding="ascii"):
        pass
    while os.path.exists(marker):
        time.sleep(0.05)
    _set(fd, fcntl.F_SETLK, fcntl.F_UNLCK, start, length)
    os.close(fd)
    return took


def is_held(name, within=10):
    """Wait until hold(name) has its lock."""
    deadline = time.monotonic() + within
    while not os.path.exists(_marker(name)):
        assert time.monotonic() < deadline, f"no lock {name} in {within} s"
        time.sleep(0.05)


def release(name):
    """End hold(name)."""
    os.unlink(_marker(name))


def can_take(path, kind, start=0, length=0):
    """True if the lock could be taken; it is given back at once."""
    fd = os.open(path, os.O_RDWR)
    try:
        _set(fd, fcntl.F_SETLK, KINDS[kind], start, length)
        _set(fd, fcntl.F_SETLK, fcntl.F_UNLCK, start, length)
        return True
    except (BlockingIOError, PermissionError):
        return False
    finally:
        os.close(fd)


def conflicting(path, kind, start=0, length=0):
    """F_GETLK: [kind, start, length] of a lock in the way, or None."""
    fd = os.open(path, os.O_RDWR)
    try:
        answer = struct.unpack(FLOCK, _set(
            fd, fcntl.F_GETLK, KINDS[kind], start, length))
    finally:
        os.close(fd)
    if answer[0] == fcntl.F_UNLCK:
        return None
    kinds = {number: word for word, number in KINDS.items()}
    return [kinds[answer[0]], answer[2], answer[3]]


def locked_read(path):
    """A file's content, read under a lock, so anew from the server."""
    fd = os.open(path, os.O_RDWR)
    _set(fd, fcntl.F_SETLKW, fcntl.F_RDLCK, 0, 0)
    data = os.pread(fd, 1000, 0)
    os.close(fd)
    return data.decode()


def add_one(path, times):
    """Add one to the number in a file, each time under a lock."""
    for _ in range(times):
        fd = os.open(path, os.O_RDWR)
        _set(fd, fcntl.F_SETLKW, fcntl.F_WRLCK, 0, 0)
        value = int(os.pread(fd, 20, 0))
        os.pwrite(fd, b"%020d" % (value + 1), 0)
        _set(fd, fcntl.F_SETLK, fcntl.F_UNLCK, 0, 0)
        os.close(fd)
