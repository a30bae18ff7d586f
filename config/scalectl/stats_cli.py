# SPDX-License-Identifier: LGPL-3.0-or-later
"""The command line of scalectl stats."""

import argparse
import json
import sys
import time

from scalectl import control_client, stats_command, stats_tables

WATCH_SECONDS = 2.0
CLEAR = "\x1b[H\x1b[J"


def add(groups, epilog):
    """Add the command to the parser's groups."""
    parser = groups.add_parser(
        "stats", help="show what a running server counts", epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Show how full SCALE's cache is, what it answered from "
                    "memory and why not, and the calls to the backends.")
    parser.add_argument("--watch", metavar="SECONDS", nargs="?",
                        type=_seconds, const=WATCH_SECONDS,
                        help="go on, and show rates since the last look "
                             f"(default: every {WATCH_SECONDS:g} seconds)")
    parser.add_argument("--export", metavar="ID", type=int,
                        help="show this export alone")
    parser.add_argument("--socket", metavar="PATH",
                        help="the server's control socket (default: where "
                             "its configuration puts it, normally "
                             f"{control_client.DEFAULT_SOCKET})")
    parser.add_argument("--json", action="store_true",
                        help="print JSON, errors included; with --watch a "
                             "line for every look, of counts, not rates")
    parser.set_defaults(run=_run, show=_show)


def _seconds(text):
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0.1 <= seconds <= 86400:
        raise argparse.ArgumentTypeError(
            f"{text} is not a number of seconds from 0.1 to 86400")
    return seconds


def _run(options):
    path = options.socket or control_client.socket_path()
    if options.watch is not None:
        _watch(options, path)
        return None
    answer = stats_command.look(path, options.export)
    return {**stats_command.public(answer),
            "warnings": stats_command.warnings(answer)}


def _show(options, result):
    print(stats_tables.render(result, options.export is not None), end="")


def _watch(options, path):
    """Look again and again, until interrupted or the server is gone."""
    last = None
    try:
        while True:
            answer = stats_command.look(path, options.export)
            _print_look(options, last, answer)
            last = answer
            time.sleep(options.watch)
    except KeyboardInterrupt:
        # That is how it is meant to end.
        pass


def _print_look(options, last, answer):
    if options.json:
        print(json.dumps({"ok": True, **stats_command.public(answer)}),
              flush=True)
        return
    if last and stats_command.same_server(last, answer):
        shown = stats_command.difference(last, answer)
    else:
        # The first look, or a server that has begun again.
        shown = answer
    text = stats_tables.render(shown, options.export is not None)
    print(CLEAR + text if sys.stdout.isatty() else text + "\n", end="",
          flush=True)
