#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Software builds: stock Ganesha and SCALE in turn.

replay: recorded builds over slow backends.
"""

import replay
from nfsbench import options

PARTS = {"replay": replay}


def main():
    parser = options.parser("swbuild", __doc__.splitlines()[0])
    parser.add_argument("part", nargs="*", metavar="PART",
                        choices=[[], *PARTS],
                        help="only these: " + ", ".join(PARTS))
    parser.add_argument("--nfs", action="append",
                        choices=("3", "4.0", "4.1"),
                        help="only this version; may be given again")
    parser.add_argument("--backend", action="append",
                        choices=list(replay.PLACES),
                        help="only this one; may be given again")
    for part in PARTS.values():
        part.add_arguments(parser)
    arguments = parser.parse_args()

    def measure(arguments, report, folder):
        for name in arguments.part or PARTS:
            PARTS[name].measure(arguments, report, folder)

    options.run("swbuild", arguments, measure)


if __name__ == "__main__":
    main()
