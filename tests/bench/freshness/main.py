#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""How soon changes beside NFS are seen over NFS, and what that costs.

Delays: files are changed on the server (VFS) or by a second client of the
backend (GLUSTER, CEPH), and NFSv3 is asked about them, from before the change
until the answer is right; the time counts from the return of the last call
that makes the change.  Asking again and again is the worst case for a cache:
an invalidation meets a fetch.  Where a change takes a minute to be seen, many
are made at once, to different files, and each is asked for ever more rarely
(each 20th of the time, at least each 2 s): the minute is paid once.  There all
is asked for just before, so that it is nearly the whole minute.  What is not
seen within 130 s (30 where changes are told of or asked for; in a quick run 70
and 10) is lost.

Price: CREATE + WRITE + REMOVE by NFS, and calls on the server itself, with
Freshness = notify and with a time to live for ever, in turn.  Storm: up to
100,000 changes a second on the server while a client asks, then every file,
name and listing is compared; once more with the server stopped for 2 s, so
that the kernel's queue of events overflows.

A quick run takes 3 minutes, over VFS alone but with --system, a full one about
two hours, on a machine that does nothing else.
"""

import argparse

from delays import measure_delays
from nfsbench import options
from plot import draw
from price import measure_churn, measure_storm
from systems import BY_KEY

PARTS = ("delays", "price", "storm")


def measure(arguments, report, folder):
    parts = arguments.part or PARTS
    if "delays" in parts:
        outcomes = measure_delays(arguments, report, folder)
        if arguments.plot:
            draw(outcomes, arguments.plot)
    print()
    report.header()
    if "price" in parts:
        measure_churn(arguments, report, folder)
    if "storm" in parts:
        measure_storm(arguments, report, folder)


def main():
    parser = options.parser("freshness", __doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--part", action="append", choices=PARTS,
                        help="only this one; may be given again")
    parser.add_argument("--system", action="append", choices=list(BY_KEY),
                        help="delays of this one only; may be given again")
    parser.add_argument("--count", type=int, metavar="N",
                        help="changes of each kind, instead of 1000 or 50")
    parser.add_argument("--plot", metavar="FILE",
                        help="the delays as FILE.svg and FILE.png")
    arguments = parser.parse_args()
    if arguments.count is not None and arguments.count < 1:
        parser.error("--count must be at least 1")
    options.run("freshness", arguments, measure, header=False)


if __name__ == "__main__":
    main()
