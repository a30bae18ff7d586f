#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""ci/serve after everything is installed and built.

With --check it only says whether the arguments are right and can be served.
"""

import signal
import sys

from checks import check, make_default
from configuration import MEM_FILE_SIZE, mount_lines
from errors import ServeError
from options import parse
from server import Server


class Stopped(Exception):
    """A signal asked to stop."""


def on_signal(_number, _frame):
    # One request is enough: the next must not interrupt the stopping.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    raise Stopped


def say(text):
    print(f"ci/serve: {text}", flush=True)


def describe(options):
    """What is exported, in words."""
    if options.backend == "MEM":
        return (f"files in memory (MEM keeps the first {MEM_FILE_SIZE >> 10} "
                "KiB of each, and nothing when it stops)")
    if options.backend == "PROXY_V4":
        return (f"{options.path} of the NFS server {options.server}:"
                f"{options.server_port} (PROXY_V4)")
    return f"{options.path} (VFS)"


def serve(options):
    """Serve until a signal comes; the exit status."""
    server = Server(options)
    status = 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    try:
        say(f"starting ganesha.nfsd with SCALE over {describe(options)}")
        server.start()
        say(f"serving; the log is {server.log}; Ctrl-C stops")
        for version, line in mount_lines(options):
            print(f"  NFSv{version:4}{line}", flush=True)
        server.wait()
    except Stopped:
        say("stopping")
    except ServeError as error:
        print(f"ci/serve: {error}", file=sys.stderr)
        status = 1
    finally:
        clean = server.stop()
    if status == 0 and not clean:
        print(f"ci/serve: ganesha.nfsd did not stop cleanly; see "
              f"{server.log}", file=sys.stderr)
        return 1
    if status == 0:
        say("stopped")
    return status


def main():
    options, check_only = parse(sys.argv[1:])
    try:
        check(options)
        if check_only:
            return 0
        if options.made:
            make_default(options.path)
    except ServeError as error:
        print(f"ci/serve: {error}", file=sys.stderr)
        return 1
    return serve(options)


if __name__ == "__main__":
    sys.exit(main())
