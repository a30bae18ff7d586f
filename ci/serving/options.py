# SPDX-License-Identifier: LGPL-3.0-or-later
"""The arguments of ci/serve; its --help text is in ci/serve itself."""

import argparse
import pathlib
from dataclasses import dataclass

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
BACKENDS = ("VFS", "MEM", "PROXY_V4")
NFS_PORT = 2049


@dataclass(frozen=True)
class Options:
    """What is to be served.

    path: the directory, or the path on the server behind; made: it is the
    default directory, which is made when it is missing.
    """
    path: str
    made: bool
    port: int
    minor_versions: tuple
    backend: str
    server: str | None
    server_port: int

    @property
    def mount_port(self):
        return self.port + 1


class Parser(argparse.ArgumentParser):
    """Wrong usage ends with 64."""

    def error(self, message):
        self.exit(64, f"ci/serve: {message} (see 'ci/serve --help')\n")


def minor_versions(text):
    """"0", "1" or both: a sorted tuple of numbers."""
    parts = [part.strip() for part in text.split(",")]
    if not set(parts) <= {"0", "1"} or len(set(parts)) != len(parts):
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a list of NFSv4 minor versions: '
            "use 0, 1 or 0,1")
    return tuple(sorted(int(part) for part in parts))


def port(text):
    """A TCP port that has one above it."""
    if not text.isdecimal() or not 1 <= int(text) <= 65534:
        raise argparse.ArgumentTypeError(
            f'"{text}" is not a port: use 1 to 65534')
    return int(text)


def host_and_port(text):
    """HOST or HOST:PORT; an IPv6 address with a port needs brackets."""
    host, number = text, str(NFS_PORT)
    if text.startswith("["):
        host, _, rest = text[1:].partition("]")
        number = rest.removeprefix(":") or number
    elif text.count(":") == 1:
        host, number = text.split(":")
    if not host:
        raise argparse.ArgumentTypeError(f'"{text}" names no host')
    return host, port(number)


def parse(argv):
    """The Options, and whether only checks were asked for (--check)."""
    parser = Parser(prog="ci/serve", add_help=False, allow_abbrev=False)
    parser.add_argument("dir", nargs="?")
    parser.add_argument("--port", type=port, default=NFS_PORT)
    parser.add_argument("--minor-versions", type=minor_versions,
                        default=(0, 1))
    parser.add_argument("--backend", type=str.upper, choices=BACKENDS,
                        default="VFS")
    parser.add_argument("--server", type=host_and_port)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args(argv)
    if args.backend == "MEM" and args.dir is not None:
        parser.error("MEM keeps its files in memory and takes no directory")
    if args.backend == "PROXY_V4" and args.server is None:
        parser.error("PROXY_V4 needs --server HOST, the NFSv4 server behind")
    if args.backend != "PROXY_V4" and args.server is not None:
        parser.error("--server is for --backend PROXY_V4 only")
    if args.backend == "PROXY_V4" and not (args.dir or "/").startswith("/"):
        parser.error(f'"{args.dir}" is not an absolute path on the server')
    defaults = {"VFS": str(BUILD / "export"), "MEM": "/scale",
                "PROXY_V4": "/"}
    path = args.dir
    if args.backend == "VFS" and path is not None:
        path = str(pathlib.Path(path).resolve())
    host, number = args.server or (None, NFS_PORT)
    return Options(path or defaults[args.backend],
                   args.backend == "VFS" and args.dir is None, args.port,
                   args.minor_versions, args.backend, host, number), args.check
