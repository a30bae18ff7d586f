# SPDX-License-Identifier: LGPL-3.0-or-later
"""The RPC NULL call over TCP: does a service answer?"""

import socket
import struct

NFS, MOUNT = 100003, 100005
XID = 0x5ca1e


def ping(host, port, program, version, timeout=5):
    """Call procedure 0; OSError when no proper answer comes.

    timeout is in seconds.
    """
    # CALL, RPC version 2, procedure 0, no credentials, no verifier (RFC 5531)
    call = struct.pack(">10I", XID, 0, 2, program, version, 0, 0, 0, 0, 0)
    with socket.create_connection((host, port), timeout) as connection:
        connection.sendall(struct.pack(">I", 1 << 31 | len(call)) + call)
        answer = b""
        while len(answer) < 28:
            part = connection.recv(28 - len(answer))
            if not part:
                raise ConnectionError("the connection was closed")
            answer += part
    # fragment, XID, REPLY, MSG_ACCEPTED, verifier (2), SUCCESS
    _, xid, kind, accepted, _, _, status = struct.unpack(">7I", answer)
    if (xid, kind, accepted, status) != (XID, 1, 0, 0):
        raise ConnectionError(
            f"program {program} version {version} is not served there")
