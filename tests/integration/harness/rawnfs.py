# SPDX-License-Identifier: LGPL-3.0-or-later
"""NFS 3 and 4.0 requests made by hand, for what no client would send.

Only what the tests need: MOUNT, LOOKUP, GETATTR, CREATE, REMOVE, READ of
version 3, and PUTFH with GETATTR of version 4.0.
"""

import itertools
import os
import socket
import struct

from harness.ganesha import MOUNT_PORT, PORT

OK, NOENT, STALE, BADHANDLE = 0, 2, 70, 10001
MOUNT, NFS = 100005, 100003
# What RPC itself may answer to a request that it cannot decode.
GARBAGE_ARGS = -4


class NoReply(TimeoutError):
    """The server did not answer in time."""


def opaque(data):
    """XDR of bytes of variable length."""
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


def read_opaque(data, offset=0):
    """(bytes, offset behind them) of an XDR opaque."""
    length, = struct.unpack_from(">I", data, offset)
    start = offset + 4
    return data[start:start + length], start + length + -length % 4


def auth_sys(uid=0, gid=0, groups=()):
    """AUTH_SYS credentials."""
    body = struct.pack(">I", 0) + opaque(b"tests") + struct.pack(
        f">{3 + len(groups)}I", uid, gid, len(groups), *groups)
    return struct.pack(">I", 1) + opaque(body)


class Connection:
    """One TCP connection; `credentials` are auth_sys()'s, root's if None."""

    def __init__(self, namespace, port, program, version, timeout=5,
                 credentials=None):
        self._socket = namespace.connect("127.0.0.1", port)
        self._socket.settimeout(timeout)
        self._program, self._version = program, version
        self._xids = itertools.count(int.from_bytes(os.urandom(3), "big"))
        # Credentials, and an empty verifier.
        self._auth = (credentials or auth_sys()) + bytes(8)

    def call(self, procedure, arguments):
        """The results' XDR, or GARBAGE_ARGS; NoReply after the timeout."""
        xid = next(self._xids) & 0xffffffff
        message = struct.pack(">IIIIII", xid, 0, 2, self._program,
                              self._version, procedure)
        message += self._auth + arguments
        self._socket.sendall(
            struct.pack(">I", 0x80000000 | len(message)) + message)
        while True:
            reply = self._record()
            if struct.unpack_from(">I", reply)[0] == xid:
                return self._body(reply)

    def _body(self, reply):
        state, = struct.unpack_from(">I", reply, 8)
        assert state == 0, "the server denied the request"
        _, offset = read_opaque(reply, 16)
        accepted, = struct.unpack_from(">I", reply, offset)
        if accepted == 4:
            return GARBAGE_ARGS
        assert accepted == 0, f"RPC answered {accepted}"
        return reply[offset + 4:]

    def _record(self):
        data, last = b"", False
        while not last:
            mark, = struct.unpack(">I", self._exactly(4))
            last = bool(mark & 0x80000000)
            data += self._exactly(mark & 0x7fffffff)
        return data

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            try:
                block = self._socket.recv(count - len(data))
            except socket.timeout:
                raise NoReply("no reply from the server") from None
            if not block:
                raise ConnectionError("the server closed the connection")
            data += block
        return data

    def close(self):
        self._socket.close()


class Nfs3:
    """Version 3 by hand; handles are bytes, statuses are numbers."""

    def __init__(self, namespace, timeout=5):
        self._namespace = namespace
        self._nfs = Connection(namespace, PORT, NFS, 3, timeout)

    def mount(self, path):
        """The root's handle."""
        mount = Connection(self._namespace, MOUNT_PORT, MOUNT, 3)
        reply = mount.call(1, opaque(os.fsencode(path)))
        mount.close()
        assert struct.unpack_from(">I", reply)[0] == 0, f"mount of {path}"
        return read_opaque(reply, 4)[0]

    def call(self, procedure, arguments):
        """The results' XDR of any procedure."""
        return self._nfs.call(procedure, arguments)

    def _status(self, procedure, arguments):
        reply = self.call(procedure, arguments)
        if reply == GARBAGE_ARGS:
            return GARBAGE_ARGS, b""
        return struct.unpack_from(">I", reply)[0], reply

    def getattr(self, handle):
        """The status of a GETATTR."""
        return self._status(1, opaque(handle))[0]

    def lookup(self, directory, name):
        """(status, handle or None)."""
        status, reply = self._status(3, opaque(directory) + opaque(name))
        return status, read_opaque(reply, 4)[0] if status == OK else None

    def create(self, directory, name):
        """(status, handle or None) of an unchecked CREATE."""
        arguments = opaque(directory) + opaque(name) + struct.pack(
            ">7I", 0, 1, 0o644, 0, 0, 0, 0) + struct.pack(">I", 0)
        status, reply = self._status(8, arguments)
        if status != OK or struct.unpack_from(">I", reply, 4)[0] == 0:
            return status, None
        return status, read_opaque(reply, 8)[0]

    def remove(self, directory, name):
        """The status of a REMOVE."""
        return self._status(12, opaque(directory) + opaque(name))[0]

    def read(self, handle, offset=0, count=100):
        """The status of a READ."""
        return self._status(6, opaque(handle) + struct.pack(
            ">QI", offset, count))[0]

    def close(self):
        self._nfs.close()


class Nfs40:
    """Version 4.0 by hand."""

    def __init__(self, namespace, timeout=5):
        self._nfs = Connection(namespace, PORT, NFS, 4, timeout)

    def getattr(self, handle):
        """The status of COMPOUND { PUTFH handle, GETATTR type }."""
        arguments = opaque(b"") + struct.pack(">II", 0, 2)
        arguments += struct.pack(">I", 22) + opaque(handle)
        arguments += struct.pack(">III", 9, 1, 1 << 1)
        reply = self._nfs.call(1, arguments)
        if reply == GARBAGE_ARGS:
            return GARBAGE_ARGS
        return struct.unpack_from(">I", reply)[0]

    def root_handle(self, path):
        """The handle of a pseudo path such as "/vfs"."""
        names = [name for name in path.split("/") if name]
        arguments = opaque(b"") + struct.pack(">II", 0, len(names) + 2)
        arguments += struct.pack(">I", 24)
        for name in names:
            arguments += struct.pack(">I", 15) + opaque(name.encode())
        arguments += struct.pack(">I", 10)
        reply = self._nfs.call(1, arguments)
        status, = struct.unpack_from(">I", reply)
        assert status == OK, f"LOOKUP of {path}: {status}"
        # status, tag, count, then (op, status) of PUTROOTFH and LOOKUPs,
        # then GETFH's (op, status, handle).
        offset = 12 + 8 * (len(names) + 1) + 8
        return read_opaque(reply, offset)[0]

    def close(self):
        self._nfs.close()
