# SPDX-License-Identifier: LGPL-3.0-or-later
"""A client of version 4.0 or 4.1 that caches nothing and knows handles only.

The requests and their Reply are nfs3.Client3's; besides it opens files.
"""

import itertools
import os
import struct
import time

from harness.answers import (DELAY, EXCLUSIVE, GUARDED, OK, SERVERFAULT,
                             TYPES, UNCHECKED, Attributes, Reply)
from harness.ganesha import PORT
from harness.nfs3 import PATIENCE, Xdr
from harness.rawnfs import GARBAGE_ARGS, NFS, Connection, opaque

(ACCESS, CLOSE, CREATE, GETATTR, GETFH, LINK, LOOKUP, LOOKUPP, OPEN,
 OPEN_CONFIRM, PUTFH, PUTROOTFH, READ, READDIR, READLINK, REMOVE, RENAME,
 SAVEFH, SETATTR, SETCLIENTID, SETCLIENTID_CONFIRM, WRITE, EXCHANGE_ID,
 CREATE_SESSION, SEQUENCE, RECLAIM_COMPLETE) = (
     3, 4, 6, 9, 10, 11, 15, 16, 18, 20, 22, 24, 25, 26, 27, 28, 29, 32, 34,
     35, 36, 38, 42, 43, 53, 58)
# A directory that was moved or removed between two requests of one compound
# has no other status; it is not asked for.
CONFIRM = 2             # OPEN4_RESULT_CONFIRM
NOT_ONLY_SWITCH, READ_WRITE = 0, 3
HOW = {UNCHECKED: 0, GUARDED: 1, EXCLUSIVE: 2}
KINDS = {"directory": 2, "symlink": 5, "fifo": 7}
ANONYMOUS = bytes(16)
FILE_SYNC = 2

# type change size fileid | mode numlinks owner owner_group ctime mtime
WANTED = (1 << 1 | 1 << 3 | 1 << 4 | 1 << 20,
          1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 20 | 1 << 21)
FILEHANDLE = 1 << 19


def bitmap(*words):
    return struct.pack(f">{1 + len(words)}I", len(words), *words)


def changes(mode=None, uid=None, gid=None, size=None, mtime=None):
    """fattr4 of what is to be set; mtime in nanoseconds."""
    low, high, values = 0, 0, b""
    if size is not None:
        low |= 1 << 4
        values += struct.pack(">Q", size)
    if mode is not None:
        high |= 1 << 1
        values += struct.pack(">I", mode)
    for bit, value in ((4, uid), (5, gid)):
        if value is not None:
            high |= 1 << bit
            values += opaque(b"%d" % value)
    if mtime is not None:
        high |= 1 << 22
        values += struct.pack(">IqI", 1, *divmod(mtime, 10**9))
    return bitmap(low, high) + opaque(values)


class Results(Xdr):
    """Reads the results of a compound, operation by operation."""

    def bitmap(self):
        return [self.uint() for _ in range(self.uint())]

    def time(self):
        seconds = self.hyper()
        return seconds * 10**9 + self.uint()

    def fattr(self):
        """(Attributes, handle or None) of what WANTED asks for."""
        got = self.bitmap()
        low, high = (got + [0, 0])[:2]
        handle = None
        end = self.uint() + self.offset
        kind, change, size = TYPES[self.uint()], self.hyper(), self.hyper()
        if low & FILEHANDLE:
            handle = self.opaque()
        fileid, mode, nlink = self.hyper(), self.uint(), self.uint()
        owner, group = self.opaque(), self.opaque()
        ctime, mtime = self.time(), self.time()
        assert self.offset == end and high == WANTED[1], "other attributes"
        return Attributes(kind, mode, nlink, int(owner), int(group), size,
                          fileid, mtime, ctime, change), handle

    def change_info(self):
        return bool(self.uint()), self.hyper(), self.hyper()


class Open:
    """An open file's state."""

    def __init__(self, handle, stateid, sequence):
        self.handle, self.stateid = handle, stateid
        self.sequence = sequence


class Client4:
    """Requests of version 4; each gives a Reply."""

    _numbers, twice = itertools.count(), False

    def __init__(self, namespace, version, timeout=30, credentials=None):
        self.version, self._minor = version, int(version[2:])
        self._namespace = namespace
        self._timeout, self._credentials = timeout, credentials
        self._nfs = self._connection()
        self._owners = itertools.count()
        self._name = b"scale-test-%d-%d-%d" % (
            os.getpid(), next(self._numbers), time.time_ns())
        self._session = None
        if self._minor:
            self._make_session()
        else:
            self._set_client()

    def _connection(self):
        return Connection(self._namespace, PORT, NFS, 4, self._timeout,
                          self._credentials)

    def set_timeout(self, seconds):
        """From the next reconnection on."""
        self._timeout = seconds

    def reconnect(self):
        """After NoReply.  A session's slot is used up: a new client."""
        self._nfs.close()
        self.__init__(self._namespace, self.version, self._timeout,
                      self._credentials)

    def close(self):
        self._nfs.close()

    def _set_client(self):
        callback = struct.pack(">I", 0x40000000) + opaque(b"tcp") + opaque(
            b"0.0.0.0.0.0") + bytes(4)
        xdr = self._must(struct.pack(">I", SETCLIENTID) + os.urandom(8)
                         + opaque(self._name) + callback)
        self._client, confirm = xdr.hyper(), xdr.fixed(8)
        self._must(struct.pack(">IQ", SETCLIENTID_CONFIRM, self._client)
                   + confirm)

    def _make_session(self):
        xdr = self._must(struct.pack(">I", EXCHANGE_ID) + os.urandom(8)
                         + opaque(self._name) + bytes(12))
        self._client, sequence = xdr.hyper(), xdr.uint()
        channel = struct.pack(">7I", 0, 1 << 20, 1 << 20, 4096, 16, 1, 0)
        xdr = self._must(struct.pack(">IQII", CREATE_SESSION, self._client,
                                     sequence, 0) + channel + channel
                         + struct.pack(">III", 0x40000000, 1, 0))
        self._session, self._sequence = xdr.fixed(16), 0
        self._must(struct.pack(">II", RECLAIM_COMPLETE, 0))

    def _must(self, operation):
        status, _, xdr = self._compound([operation])
        assert status == OK, f"operation {operation[:4].hex()}: {status}"
        return self._next(xdr)

    def _compound(self, operations):
        """(status, how many results, Results); "later" is waited for."""
        end = time.monotonic() + PATIENCE
        while True:
            sent = operations
            if self._session:
                self._sequence += 1
                sent = [struct.pack(">I", SEQUENCE) + self._session
                        + struct.pack(">4I", self._sequence, 0, 0, 0),
                        *operations]
            reply = self._nfs.call(1, struct.pack(
                ">III", 0, self._minor, len(sent)) + b"".join(sent))
            if reply == GARBAGE_ARGS:
                return SERVERFAULT, 0, None
            xdr = Results(reply)
            status = xdr.uint()
            xdr.opaque()
            count = xdr.uint()
            if self._session and count:
                xdr.uint()
                assert xdr.uint() == OK, "SEQUENCE was refused"
                xdr.fixed(16 + 20)
                count -= 1
            if status != DELAY or time.monotonic() > end:
                return status, count, xdr
            time.sleep(0.01)

    @staticmethod
    def _next(xdr):
        """Past an operation's number and status; the Results."""
        xdr.uint()
        xdr.uint()
        return xdr

    def _run(self, *operations):
        """(status, Results at the first operation's result or None)."""
        status, _, xdr = self._compound(operations)
        return status, xdr if status == OK else None

    def root(self, path):
        """The handle of a pseudo path."""
        names = [name for name in path.split("/") if name]
        status, xdr = self._run(
            struct.pack(">I", PUTROOTFH),
            *(struct.pack(">I", LOOKUP) + opaque(name.encode())
              for name in names), struct.pack(">I", GETFH))
        assert status == OK, f"LOOKUP of {path}: {status}"
        for _ in range(1 + len(names)):
            self._next(xdr)
        return self._next(xdr).opaque()

    mount = root

    def getattr(self, handle):
        status, xdr = self._run(put(handle), ATTRIBUTES)
        if xdr is None:
            return Reply(status)
        self._next(xdr)
        return Reply(status, self._next(xdr).fattr()[0])

    def setattr(self, handle, **values):
        status, xdr = self._run(
            put(handle), struct.pack(">I", SETATTR) + ANONYMOUS
            + changes(**values), ATTRIBUTES)
        if xdr is None:
            return Reply(status)
        self._next(xdr)
        self._next(xdr).bitmap()
        return Reply(status, self._next(xdr).fattr()[0])

    def lookup(self, directory, name):
        return self._look(directory, struct.pack(">I", LOOKUP)
                          + opaque(name))

    def lookup_parent(self, directory):
        return self._look(directory, struct.pack(">I", LOOKUPP))

    def _look(self, directory, operation):
        status, xdr = self._run(put(directory), operation,
                                struct.pack(">I", GETFH), ATTRIBUTES)
        if xdr is None:
            return Reply(status)
        self._next(xdr)
        self._next(xdr)
        handle = self._next(xdr).opaque()
        return Reply(status, self._next(xdr).fattr()[0], handle)

    def access(self, handle, bits=0x3f):
        status, xdr = self._run(put(handle),
                                struct.pack(">II", ACCESS, bits), ATTRIBUTES)
        if xdr is None:
            return Reply(status)
        self._next(xdr)
        self._next(xdr).uint()
        granted = xdr.uint()
        return Reply(status, self._next(xdr).fattr()[0], data=granted)

    def readlink(self, handle):
        status, xdr = self._run(put(handle), struct.pack(">I", READLINK),
                                ATTRIBUTES)
        if xdr is None:
            return Reply(status)
        self._next(xdr)
        target = self._next(xdr).opaque()
        return Reply(status, self._next(xdr).fattr()[0], data=target)

    def read(self, handle, offset=0, count=65536, stateid=ANONYMOUS):
        status, xdr = self._run(
            put(handle), struct.pack(">I", READ) + stateid
            + struct.pack(">QI", offset, count), ATTRIBUTES)
        if xdr is None:
            return Reply(status)
        self._next(xdr)
        self._next(xdr).uint()
        data = xdr.opaque()
        return Reply(status, self._next(xdr).fattr()[0], data=data)

    def write(self, handle, offset, data, stateid=ANONYMOUS):
        status, xdr = self._run(
            put(handle), struct.pack(">I", WRITE) + stateid + struct.pack(
                ">QI", offset, FILE_SYNC) + opaque(data), ATTRIBUTES)
        if xdr is None:
            return Reply(status)
        self._next(xdr)
        self._next(xdr).fixed(16)
        return Reply(status, after=self._next(xdr).fattr()[0])

    def create(self, directory, name, how=UNCHECKED, mode=0o644,
               truncate=False, verifier=bytes(8)):
        if how == EXCLUSIVE:
            # Of 4.1 the verifier with attributes is asked for.
            kind = struct.pack(">I", 3 if self._minor else 2) + verifier
            if self._minor:
                kind += changes(mode=mode)
        else:
            kind = struct.pack(">I", HOW[how]) + changes(
                mode=mode, size=0 if truncate else None)
        reply = self._open(directory, name, struct.pack(">I", 1) + kind)
        if reply.state:
            self.close_file(reply.state)
        return reply

    def open_file(self, directory, name):
        """Open a file that is there; the Reply has its state."""
        return self._open(directory, name, struct.pack(">I", 0))

    def _open(self, directory, name, how):
        owner = self._name + b"-%d" % next(self._owners)
        status, _, xdr = self._compound([
            put(directory), struct.pack(">IIII", OPEN, 0, READ_WRITE, 0)
            + struct.pack(">Q", self._client) + opaque(owner) + how
            + bytes(4) + opaque(name), struct.pack(">I", GETFH), ATTRIBUTES])
        if status != OK:
            return Reply(status)
        self._next(xdr)
        stateid = self._next(xdr).fixed(16)
        change, flags = xdr.change_info(), xdr.uint()
        xdr.bitmap()
        if xdr.uint():
            raise AssertionError("a delegation nobody asked for")
        handle = self._next(xdr).opaque()
        attributes, _ = self._next(xdr).fattr()
        state = Open(handle, stateid, 1)
        if flags & CONFIRM:
            status, xdr = self._run(
                put(handle), struct.pack(">I", OPEN_CONFIRM) + stateid
                + struct.pack(">I", 1))
            if status != OK:
                return Reply(status)
            self._next(xdr)
            state.stateid = self._next(xdr).fixed(16)
            state.sequence = 2
        return Reply(OK, attributes, handle, change=change, state=state)

    def close_file(self, state):
        status, _ = self._run(put(state.handle), struct.pack(
            ">II", CLOSE, state.sequence) + state.stateid)
        return Reply(status)

    def mkdir(self, directory, name, mode=0o755):
        return self._make(directory, name, struct.pack(
            ">I", KINDS["directory"]), mode)

    def symlink(self, directory, name, target):
        return self._make(directory, name, struct.pack(
            ">I", KINDS["symlink"]) + opaque(target), 0o777)

    def mkfifo(self, directory, name, mode=0o644):
        return self._make(directory, name, struct.pack(
            ">I", KINDS["fifo"]), mode)

    def _make(self, directory, name, kind, mode):
        status, xdr = self._run(
            put(directory), struct.pack(">I", CREATE) + kind + opaque(name)
            + changes(mode=mode), struct.pack(">I", GETFH), ATTRIBUTES)
        if xdr is None:
            return Reply(status)
        self._next(xdr)
        change = self._next(xdr).change_info()
        xdr.bitmap()
        handle = self._next(xdr).opaque()
        return Reply(status, self._next(xdr).fattr()[0], handle,
                     change=change)

    def remove(self, directory, name, is_directory=False):
        del is_directory    # version 4 has one request for all
        status, xdr = self._run(put(directory), struct.pack(
            ">I", REMOVE) + opaque(name), ATTRIBUTES)
        if xdr is None:
            return Reply(status)
        self._next(xdr)
        change = self._next(xdr).change_info()
        return Reply(status, after=self._next(xdr).fattr()[0],
                     change=change)

    def rename(self, directory, name, to_directory, to_name):
        status, xdr = self._run(
            put(directory), struct.pack(">I", SAVEFH), put(to_directory),
            struct.pack(">I", RENAME) + opaque(name) + opaque(to_name),
            ATTRIBUTES)
        if xdr is None:
            return Reply(status)
        for _ in range(3):
            self._next(xdr)
        change = self._next(xdr).change_info()
        second = xdr.change_info()
        return Reply(status, change=change, second_change=second,
                     second_after=self._next(xdr).fattr()[0])

    def link(self, handle, directory, name):
        status, xdr = self._run(
            put(handle), struct.pack(">I", SAVEFH), put(directory),
            struct.pack(">I", LINK) + opaque(name), ATTRIBUTES)
        if xdr is None:
            return Reply(status)
        for _ in range(3):
            self._next(xdr)
        change = self._next(xdr).change_info()
        return Reply(status, change=change,
                     after=self._next(xdr).fattr()[0])

    def readdir(self, directory, plus=False, most=8192):
        """All names, without "." and ".."; as Client3's."""
        del plus            # attributes come anyway
        cookie, verifier, names, known = 0, bytes(8), {}, 0
        while True:
            status, xdr = self._run(put(directory), struct.pack(
                ">IQ", READDIR, cookie) + verifier + struct.pack(
                    ">II", most, most) + bitmap(WANTED[0] | FILEHANDLE,
                                                WANTED[1]))
            if xdr is None:
                return Reply(status)
            self._next(xdr)
            verifier = self._next(xdr).fixed(8)
            while xdr.uint():
                cookie, name = xdr.hyper(), xdr.opaque()
                attributes, handle = xdr.fattr()
                assert name not in names or self.twice, \
                    f"{name} was listed twice"
                names[name] = (attributes.fileid, attributes, handle)
            if xdr.uint():
                return Reply(OK, names=names)
            assert len(names) > known or self.twice, \
                "a listing that does not go on"
            known = len(names)


def put(handle):
    """PUTFH"""
    return struct.pack(">I", PUTFH) + opaque(handle)


ATTRIBUTES = struct.pack(">I", GETATTR) + bitmap(*WANTED)
