# SPDX-License-Identifier: LGPL-3.0-or-later
"""A version 3 client that caches nothing and knows handles only."""

import os
import struct
import time

from harness.answers import (DELAY, EXCLUSIVE, GUARDED, OK, SERVERFAULT,
                             TYPES, UNCHECKED, Attributes, Reply)
from harness.ganesha import MOUNT_PORT, PORT
from harness.rawnfs import (GARBAGE_ARGS, MOUNT, NFS, Connection, opaque,
                            read_opaque)

FATTR = struct.Struct(">5I2Q2I2Q6I")
WCC = struct.Struct(">Q4I")
HOW = {UNCHECKED: 0, GUARDED: 1, EXCLUSIVE: 2}
FILE_SYNC = 2
FIFO_TYPE = 7
# How long a request that was answered "later" is sent again.
PATIENCE = 20


class Xdr:
    """Reads results in their order."""

    def __init__(self, data):
        self.data, self.offset = data, 0

    def uint(self):
        value, = struct.unpack_from(">I", self.data, self.offset)
        self.offset += 4
        return value

    def hyper(self):
        value, = struct.unpack_from(">Q", self.data, self.offset)
        self.offset += 8
        return value

    def opaque(self):
        value, self.offset = read_opaque(self.data, self.offset)
        return value

    def fixed(self, count):
        self.offset += count
        return self.data[self.offset - count:self.offset]

    def attributes(self):
        """fattr3"""
        (kind, mode, nlink, uid, gid, size, _, _, _, _, fileid, _, _, mtime,
         mtime_ns, ctime, ctime_ns) = FATTR.unpack_from(
             self.data, self.offset)
        self.offset += FATTR.size
        return Attributes(TYPES[kind], mode, nlink, uid, gid, size, fileid,
                          mtime * 10**9 + mtime_ns,
                          ctime * 10**9 + ctime_ns)

    def post_op(self):
        """post_op_attr"""
        return self.attributes() if self.uint() else None

    def handle(self):
        """post_op_fh3"""
        return self.opaque() if self.uint() else None

    def wcc(self):
        """wcc_data: (before, after)"""
        before = None
        if self.uint():
            size, *times = WCC.unpack_from(self.data, self.offset)
            self.offset += WCC.size
            before = (size, times[0] * 10**9 + times[1],
                      times[2] * 10**9 + times[3])
        return before, self.post_op()


def sattr(mode=None, uid=None, gid=None, size=None, mtime=None):
    """sattr3; mtime in nanoseconds."""
    parts = []
    for value in (mode, uid, gid):
        parts.append(bytes(4) if value is None
                     else struct.pack(">II", 1, value))
    parts.append(bytes(4) if size is None else struct.pack(">IQ", 1, size))
    parts.append(bytes(4))
    parts.append(bytes(4) if mtime is None else struct.pack(
        ">III", 2, *divmod(mtime, 10**9)))
    return b"".join(parts)


def where(directory, name):
    """diropargs3"""
    return opaque(directory) + opaque(name)


class Client3:
    """Requests of version 3; each gives a Reply."""

    version, twice = "3", False

    def __init__(self, namespace, timeout=30, credentials=None):
        self._namespace = namespace
        self._timeout, self._credentials = timeout, credentials
        self._nfs = self._connection(PORT, NFS)

    def _connection(self, port, program):
        return Connection(self._namespace, port, program, 3, self._timeout,
                          self._credentials)

    def set_timeout(self, seconds):
        """From the next reconnection on."""
        self._timeout = seconds

    def reconnect(self):
        """After NoReply: the answer may still come on the old connection."""
        self._nfs.close()
        self._nfs = self._connection(PORT, NFS)

    def close(self):
        self._nfs.close()

    def mount(self, path):
        """The handle of an export's root."""
        mount = self._connection(MOUNT_PORT, MOUNT)
        reply = mount.call(1, opaque(os.fsencode(path)))
        mount.close()
        assert struct.unpack_from(">I", reply)[0] == 0, f"mount of {path}"
        return read_opaque(reply, 4)[0]

    def _call(self, procedure, arguments):
        """(status, Xdr behind it); asked to come later, it does."""
        end = time.monotonic() + PATIENCE
        while True:
            reply = self._nfs.call(procedure, arguments)
            if reply == GARBAGE_ARGS:
                return SERVERFAULT, None
            xdr = Xdr(reply)
            status = xdr.uint()
            if status != DELAY or time.monotonic() > end:
                return status, xdr
            time.sleep(0.01)

    def getattr(self, handle):
        status, xdr = self._call(1, opaque(handle))
        return Reply(status, xdr.attributes() if status == OK else None)

    def setattr(self, handle, **changes):
        status, xdr = self._call(
            2, opaque(handle) + sattr(**changes) + bytes(4))
        return self._changed(status, xdr)

    @staticmethod
    def _changed(status, xdr):
        """Of the requests that answer with the object's wcc_data."""
        if xdr is None:
            return Reply(status)
        before, after = xdr.wcc()
        return Reply(status, after, before=before)

    def lookup(self, directory, name):
        status, xdr = self._call(3, where(directory, name))
        if status != OK:
            return Reply(status, after=xdr.post_op() if xdr else None)
        handle = xdr.opaque()
        attributes = xdr.post_op()
        return Reply(status, attributes, handle, after=xdr.post_op())

    def lookup_parent(self, directory):
        return self.lookup(directory, b"..")

    def access(self, handle, bits=0x3f):
        status, xdr = self._call(4, opaque(handle) + struct.pack(">I", bits))
        if xdr is None:
            return Reply(status)
        attributes = xdr.post_op()
        return Reply(status, attributes,
                     data=xdr.uint() if status == OK else None)

    def readlink(self, handle):
        status, xdr = self._call(5, opaque(handle))
        if xdr is None:
            return Reply(status)
        attributes = xdr.post_op()
        return Reply(status, attributes,
                     data=xdr.opaque() if status == OK else None)

    def read(self, handle, offset=0, count=65536):
        status, xdr = self._call(
            6, opaque(handle) + struct.pack(">QI", offset, count))
        if xdr is None:
            return Reply(status)
        attributes = xdr.post_op()
        if status != OK:
            return Reply(status, attributes)
        xdr.fixed(8)
        return Reply(status, attributes, data=xdr.opaque())

    def write(self, handle, offset, data):
        status, xdr = self._call(
            7, opaque(handle) + struct.pack(
                ">QII", offset, len(data), FILE_SYNC) + opaque(data))
        return self._changed(status, xdr)

    def create(self, directory, name, how=UNCHECKED, mode=0o644,
               truncate=False, verifier=bytes(8)):
        arguments = where(directory, name) + struct.pack(">I", HOW[how])
        if how == EXCLUSIVE:
            arguments += verifier
        else:
            arguments += sattr(mode=mode, size=0 if truncate else None)
        return self._made(8, arguments)

    def mkdir(self, directory, name, mode=0o755):
        return self._made(9, where(directory, name) + sattr(mode=mode))

    def symlink(self, directory, name, target):
        return self._made(10, where(directory, name) + sattr(mode=0o777)
                          + opaque(target))

    def mkfifo(self, directory, name, mode=0o644):
        return self._made(11, where(directory, name) + struct.pack(
            ">I", FIFO_TYPE) + sattr(mode=mode))

    def _made(self, procedure, arguments):
        status, xdr = self._call(procedure, arguments)
        if xdr is None:
            return Reply(status)
        handle = attributes = None
        if status == OK:
            handle, attributes = xdr.handle(), xdr.post_op()
        before, after = xdr.wcc()
        return Reply(status, attributes, handle, before, after)

    def remove(self, directory, name, is_directory=False):
        status, xdr = self._call(13 if is_directory else 12,
                                 where(directory, name))
        if xdr is None:
            return Reply(status)
        before, after = xdr.wcc()
        return Reply(status, before=before, after=after)

    def rename(self, directory, name, to_directory, to_name):
        status, xdr = self._call(
            14, where(directory, name) + where(to_directory, to_name))
        if xdr is None:
            return Reply(status)
        before, after = xdr.wcc()
        second_before, second_after = xdr.wcc()
        return Reply(status, before=before, after=after,
                     second_before=second_before, second_after=second_after)

    def link(self, handle, directory, name):
        status, xdr = self._call(15, opaque(handle) + where(directory, name))
        if xdr is None:
            return Reply(status)
        attributes = xdr.post_op()
        before, after = xdr.wcc()
        return Reply(status, attributes, before=before, after=after)

    def readdir(self, directory, plus=False, most=8192):
        """All names, "." and ".." as well; `most` bytes a request.

        None may come twice, unless self.twice says so.
        """
        cookie, verifier, names, after = 0, bytes(8), {}, None
        known = 0
        while True:
            arguments = opaque(directory) + struct.pack(">Q", cookie)
            arguments += verifier
            arguments += struct.pack(">II", most, most) if plus \
                else struct.pack(">I", most)
            status, xdr = self._call(17 if plus else 16, arguments)
            if xdr is None:
                return Reply(status)
            after = xdr.post_op()
            if status != OK:
                return Reply(status, after=after)
            verifier = xdr.fixed(8)
            while xdr.uint():
                fileid, name, cookie = xdr.hyper(), xdr.opaque(), xdr.hyper()
                attributes, handle = (xdr.post_op(), xdr.handle()) \
                    if plus else (None, None)
                assert name not in names or self.twice, \
                    f"{name} was listed twice"
                names[name] = (fileid, attributes, handle)
            if xdr.uint():
                return Reply(OK, after=after, names=names)
            assert len(names) > known or self.twice, \
                "a listing that does not go on"
            known = len(names)
