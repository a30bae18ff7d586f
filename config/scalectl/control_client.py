# SPDX-License-Identifier: LGPL-3.0-or-later
"""Asking a running server at its control socket."""

import json
import os
import socket
import struct

from scalectl import service
from scalectl.errors import ConfigError, ServerError
from scalectl.ganesha_conf import Config

PROTOCOL = 1
DEFAULT_SOCKET = "/run/ganesha-scale/control"
# The server itself gives a client ten.
SECONDS = 10
# Some ten thousand exports.
LONGEST_ANSWER = 64 << 20


def socket_path():
    """Where the server's configuration puts the socket.

    Raises ServerError when it says that there is none.
    """
    try:
        config = Config(service.config_path())
        block = next(iter(config.blocks_named("SCALE")), None)
        statements = block.statements("Control_Socket") if block else []
    except ConfigError:
        return DEFAULT_SOCKET
    if not statements or not statements[-1].terms:
        return DEFAULT_SOCKET
    path = statements[-1].terms[0].value()
    if path.lower() in ("", "none"):
        raise ServerError(
            "the server has no control socket: Control_Socket is none",
            "take it out of the SCALE block and restart the server",
            file=statements[-1].file.path, line=statements[-1].line)
    return path


def ask(path, command):
    """Send a command to the server; its answer, a dictionary.

    Raises ServerError, which names the remedy.
    """
    answer = _decode(path, _exchange(path, command))
    if answer.get("scale") != PROTOCOL:
        raise ServerError(
            f"the server at {path} speaks version {answer.get('scale')} of "
            f"the control protocol, scalectl version {PROTOCOL}",
            "install scalectl and the FSAL from one package, and restart "
            "the server")
    if answer.get("ok") is not True:
        raise ServerError(f"the server at {path} refused: "
                          f"{answer.get('error')}")
    return answer


def _exchange(path, command):
    """The line that the server answers with."""
    request = json.dumps({"scale": PROTOCOL, "command": command}) + "\n"
    with socket.socket(socket.AF_UNIX) as connection:
        # Not settimeout(): with that, a connect that would have to wait for
        # a busy server fails at once.
        for option in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
            connection.setsockopt(socket.SOL_SOCKET, option,
                                  struct.pack("ll", SECONDS, 0))
        try:
            connection.connect(path)
        except (OSError, ValueError) as error:
            raise _unreachable(path, error) from error
        try:
            # The command is to end quietly by SIGPIPE, but not here.
            connection.sendall(request.encode(), socket.MSG_NOSIGNAL)
        except BrokenPipeError:
            # Who is turned away is told why, perhaps before it has asked.
            pass
        except OSError as error:
            raise _unreachable(path, error) from error
        try:
            return _line(path, connection)
        except OSError as error:
            raise _unreachable(path, error) from error


def _line(path, connection):
    pieces, size = [], 0
    while not pieces or not pieces[-1].endswith(b"\n"):
        piece = connection.recv(1 << 16)
        size += len(piece)
        if not piece:
            raise ServerError(f"the server at {path} closed the connection "
                              "without an answer", "see the server's log")
        if size > LONGEST_ANSWER:
            raise _foreign(path)
        pieces.append(piece)
    return b"".join(pieces)


def _decode(path, line):
    try:
        answer = json.loads(line)
    except ValueError:
        answer = None
    if not isinstance(answer, dict):
        raise _foreign(path)
    return answer


def _foreign(path):
    return ServerError(f"what answers at {path} is not SCALE",
                       "name SCALE's control socket with --socket")


def _unreachable(path, error):
    """What an OSError means for the administrator."""
    start = "start the server with an export of FSAL SCALE, or name its " \
            "Control_Socket with --socket"
    if isinstance(error, PermissionError):
        return ServerError(f"no permission to connect to {path}",
                           "run scalectl as root")
    if isinstance(error, (FileNotFoundError, ConnectionRefusedError,
                          NotADirectoryError)):
        return ServerError(f"no server answers at {path}", start)
    if isinstance(error, (TimeoutError, BlockingIOError)):
        return ServerError(f"the server at {path} did not answer within "
                           f"{SECONDS} s", "try again; if it goes on, see "
                           "the server's log")
    if isinstance(error, ConnectionResetError):
        return ServerError(f"the server at {path} closed the connection "
                           "without an answer", "see the server's log")
    reason = os.strerror(error.errno) if isinstance(error, OSError) \
        and error.errno else str(error)
    return ServerError(f"{path} cannot be connected to: {reason}", start)
