# SPDX-License-Identifier: LGPL-3.0-or-later
"""scalectl's command line and its output."""

import argparse
import json
import signal
import sys

from scalectl import config_command, parameters, service, stats_cli
from scalectl.errors import EXIT_FAILURE, EXIT_OK, RestartError, ScalectlError
from scalectl.version import version

EPILOG = """\
exit status:
  0  done, or nothing to do
  1  failed: a file cannot be written, or is locked
  2  wrong usage, or a value that is refused
  3  the server's configuration cannot be read or parsed
  4  the configuration is changed, but the server did not restart
  5  the server does not answer
"""


def _parser():
    parser = argparse.ArgumentParser(
        prog="scalectl", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Administer SCALE, the metadata and data cache for "
                    "NFS-Ganesha.")
    parser.add_argument("--version", action="version",
                        version=f"scalectl {version()}")
    groups = parser.add_subparsers(dest="group", required=True,
                                   metavar="COMMAND")
    config = groups.add_parser(
        "config", help="show and change the server's configuration",
        description="Show and change parameters in ganesha.conf.")
    verbs = config.add_subparsers(dest="verb", required=True,
                                  metavar="COMMAND")
    _add_get(verbs)
    _add_change(verbs)
    stats_cli.add(groups, EPILOG)
    return parser


def _add_common(parser):
    parser.add_argument("--file", metavar="FILE",
                        help="the server's configuration (default: the one "
                             "its service uses, normally "
                             f"{service.DEFAULT_CONFIG})")
    parser.add_argument("--json", action="store_true",
                        help="print JSON, errors included")


def _names():
    return ", ".join(parameter.name for parameter in parameters.PARAMETERS)


def _add_get(verbs):
    parser = verbs.add_parser(
        "get", help="show parameters", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Show parameters, their values in force, and where they "
                    "are set.")
    parser.add_argument("names", metavar="NAME", nargs="*",
                        help=f"one of {_names()}; default: all")
    _add_common(parser)
    parser.set_defaults(run=_get, show=_show_get)


def _add_change(verbs):
    parser = verbs.add_parser(
        "change", help="change parameters", epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Change parameters where they stand in ganesha.conf or "
                    "its included files; all else stays as it is.")
    parser.add_argument("assignments", metavar="NAME=VALUE", nargs="+",
                        help="for example MINOR_VERSIONS=0,1 or pagepool=1G")
    parser.add_argument("--restart", action="store_true",
                        help="restart the server if something changed")
    parser.add_argument("--service", metavar="UNIT", default=service.UNIT,
                        help="the systemd unit to restart (default: "
                             "%(default)s)")
    parser.add_argument("--dry-run", action="store_true",
                        help="print what would change; write nothing")
    _add_common(parser)
    parser.set_defaults(run=_change, show=_show_change)


def _path(options):
    return service.config_path() if options.file is None else options.file


def _get(options):
    chosen = [parameters.find(name) for name in options.names]
    return config_command.get(_path(options),
                              list(dict.fromkeys(chosen))
                              or parameters.PARAMETERS)


def _show_get(options, result):
    rows = result["parameters"]
    names = max(len(row["name"]) for row in rows)
    values = max(len(row["value"]) for row in rows)
    for row in rows:
        place = row["source"] if row["file"] is None \
            else f"{row['file']}:{row['line']}"
        print(f"{row['name']:{names}}  {row['value']:{values}}  {place}")


def _change(options):
    wanted = {}
    for text in options.assignments:
        parameter, value = parameters.assignment(text)
        if wanted.setdefault(parameter, value) != value:
            raise parameters.UsageError(
                f"{parameter.name} is given two values", "give one")
    result = config_command.change(
        _path(options), list(wanted.items()),
        dry_run=options.dry_run)
    result["restarted"] = False
    if options.restart and result["restart_needed"] and not options.dry_run:
        try:
            service.restart(options.service)
            result["restarted"] = True
        except RestartError as error:
            error.result = result
            raise
    return result


def _show_change(options, result):
    for row in result["parameters"]:
        place = f"{row['file']}:{row['line']}"
        if not row["changed"]:
            print(f"{row['name']} is already {row['value']} ({place})")
        elif row["in_force"]:
            print(f"{row['name']} stays {row['value']} ({place}); settings "
                  "that do not count are removed")
        elif result["dry_run"]:
            print(f"{row['name']} would change from {row['old']} to "
                  f"{row['value']} ({place})")
        else:
            print(f"{row['name']} changed from {row['old']} to "
                  f"{row['value']} ({place})")
    if result["dry_run"]:
        print(result["diff"], end="")
    elif result["restarted"]:
        print(f"{options.service} restarted")
    elif result["restart_needed"]:
        # Where --restart failed, its error follows.
        if not options.restart:
            print("restart the server for this to take effect: systemctl "
                  f"restart {options.service}")
    elif options.restart:
        print(f"nothing changed: {options.service} is not restarted")


def main(arguments=None):
    """Run scalectl; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")
    # Nothing is printed before all is written: a closed pipe may end it.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # An interruption must run the clean-up code.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(EXIT_FAILURE))
    options = _parser().parse_args(arguments)
    try:
        result = options.run(options)
    except ScalectlError as error:
        return _report(options, error)
    except KeyboardInterrupt:
        print("scalectl: interrupted", file=sys.stderr)
        return EXIT_FAILURE
    if result is None:
        # It has shown all it had to.
        return EXIT_OK
    if options.json:
        print(json.dumps({"ok": True, **result}, indent=2))
    else:
        options.show(options, result)
        _print_warnings(result)
    return EXIT_OK


def _print_warnings(result):
    for warning in result["warnings"]:
        print(f"scalectl: warning: {warning}", file=sys.stderr)


def _report(options, error):
    """Print an error; if the change itself was made, that too."""
    result = getattr(error, "result", None)
    if options.json:
        print(json.dumps({"ok": False, "error": error.as_dict(),
                          **(result or {})}, indent=2))
        return error.exit_code
    if result:
        options.show(options, result)
        _print_warnings(result)
    print(f"scalectl: {error}", file=sys.stderr)
    return error.exit_code
