#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Software builds: stock Ganesha and SCALE in turn.

The load is SWBUILD's, in which a BUILD is 500 operations a second: it rises
until the average response time passes 10 ms; see tests/swbuild.

  local   VFS over a hot file system
  beyond  VFS, ten times the files that MDCACHE holds
  remote  FAULT, PROXY_V4, CEPH and GLUSTER
  small   millions of files in a container with little memory
  replay  recorded builds over slow backends

A quick run has smaller file sets and short points, and takes under 3 minutes
for each part, and for each backend of remote, of which it measures FAULT alone
but with --backend.  A full run says at its start how long it takes.
"""

import argparse
import contextlib
import resource

import beyond
import local
import remote
import replay
import small
from nfsbench import options

PARTS = {"local": local, "beyond": beyond, "remote": remote, "small": small,
         "replay": replay}


# PROXY_V4 leaves two files open on the server behind for each that NFSv3
# makes there.
OPEN_FILES = 1 << 20


def measure(arguments, report, folder):
    parts = arguments.part or PARTS
    total = sum(PARTS[part].seconds(arguments) for part in parts)
    kind = ("quick, with smaller file sets and short points: not the figures "
            "of a full run" if arguments.quick else "full")
    print(f"A {kind}; about {max(1, round(total / 60))} minutes at most.",
          flush=True)
    for part in parts:
        PARTS[part].measure(arguments, report, folder)


def main():
    parser = options.parser("swbuild", __doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--part", action="append", choices=list(PARTS),
                        help="only this one; may be given again")
    parser.add_argument("--nfs", action="append",
                        choices=("3", "4.0", "4.1"),
                        help="only this version; may be given again")
    parser.add_argument("--backend", action="append",
                        choices=list(remote.PLACES),
                        help="of remote and replay, only this one; may be "
                             "given again")
    parser.add_argument("--plot", metavar="FILE",
                        help="the curves, as FILE-PART.svg or .png")
    for part in (remote, small, replay):
        part.add_arguments(parser)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    options.run("swbuild", parser.parse_args(), measure)


if __name__ == "__main__":
    main()
