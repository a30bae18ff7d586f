#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""Control FSAL FAULT while the server runs.

As a module:

    fault = FaultControl("/run/fault.sock")
    fault.latency("lookup,getattrs", fixed=500)
    fault.reset()
    ...
    fault.counts()["counts"].get("lookup", 0)

As a command, with the commands that fault.h lists:

    faultctl.py /run/fault.sock latency all fixed 500
    faultctl.py /run/fault.sock counts
"""

import argparse
import contextlib
import json
import socket
import struct
import sys
import time

MASK = (1 << 64) - 1


class FaultError(RuntimeError):
    """FAULT refused a command; the text says why."""


class FaultControl:
    """A connection to the control socket at `path`; times in microseconds.

    `ops` is an operation's name, several with commas between, or "all".
    `target` is a path below the export's root, or a client's handle (bytes).
    """

    def __init__(self, path, timeout=30):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(timeout)
        try:
            self._socket.connect(str(path))
        except OSError:
            self._socket.close()
            raise
        self._file = self._socket.makefile("rb")

    def ask(self, *words):
        """Send a command; the answer as a dictionary."""
        line = " ".join(str(word) for word in words)
        self._socket.sendall(line.encode() + b"\n")
        answer = self._file.readline()
        if not answer.endswith(b"\n"):
            raise ConnectionError("FAULT closed the control connection")
        answer = json.loads(answer)
        if "error" in answer:
            raise FaultError(answer["error"])
        return answer

    def counts(self, export_id=None):
        """Calls since reset(), of one export or of all.

        "counts" and "failed": {operation: number}, without zeros; "calls":
        the sum of what needs a round trip; "local": of what does not.
        """
        return self.ask("counts", *([] if export_id is None else [export_id]))

    def reset(self):
        """Count from zero."""
        self.ask("reset")

    def info(self):
        """Operations and their classes, exports, settings, calls held."""
        return self.ask("info")

    def latency(self, ops, **delay):
        """fixed=US, uniform=(MIN, MAX) or exponential=MEAN; none without."""
        self.ask("latency", ops, *delay_words(delay))

    def complete_later(self, ops, **delay):
        """read2 and write2 are completed later; `delay` as in latency()."""
        self.ask("async", ops, *delay_words(delay))

    def capacity(self, rate=None, servers=1):
        """At most `rate` calls a second by so many servers; None: no limit."""
        if rate is None:
            self.ask("capacity", "none")
        else:
            self.ask("capacity", rate, servers)

    def fail(self, ops, error, rate=None, following=None, after=False):
        """Answer with an error such as "STALE"; "none" ends it.

        rate: a probability; following: only the next so many calls; after:
        the backend does it, and its answer is lost.
        """
        words = ["fail", ops, error]
        if rate is not None:
            words += ["rate", rate]
        elif following is not None:
            words += ["next", following]
        self.ask(*words, *(["after"] if after else []))

    def hold(self, ops, after=False):
        """Stop calls before (or after) the backend is asked, until go()."""
        self.ask("hold", ops, *(["after"] if after else []))

    def go(self):
        """End all holds."""
        self.ask("go")

    def wait_held(self, number=1, within=10):
        """Wait until so many calls are held."""
        end = time.monotonic() + within
        while self.info()["held"] < number:
            if time.monotonic() > end:
                raise TimeoutError(f"no {number} calls are held")
            time.sleep(0.002)

    def clear(self):
        """No latency, capacity, failure or hold."""
        self.ask("clear")

    def invalidate(self, export_id, target, flags="cache"):
        """Make an up-call; flags as "attrs,content", or "cache" for all."""
        self.ask("invalidate", export_id, flags, target_word(target))

    def bump(self, export_id, target):
        """Give a tree's object another size, mtime and change."""
        self.ask("bump", export_id, target_word(target))

    def hide(self, export_id, target):
        """Take a tree's object away: no such name, its handle stale."""
        self.ask("hide", export_id, target_word(target))

    def show(self, export_id, target):
        """Bring a hidden object back."""
        self.ask("show", export_id, target_word(target))

    def close(self):
        self._file.close()
        self._socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def delay_words(delay):
    """The words of a delay given as one keyword argument, or none."""
    if not delay:
        return ["none"]
    (kind, value), = delay.items()
    return [kind, *(value if isinstance(value, tuple) else (value,))]


def target_word(target):
    return target.hex() if isinstance(target, bytes) else target


def mix(number):
    """tree_mix() of the tree."""
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9 & MASK
    number = (number ^ number >> 27) * 0x94d049bb133111eb & MASK
    return number ^ number >> 31


def tree_content(fileid, size, version=0):
    """The content of a tree's file."""
    seed = mix(fileid) + version
    words = (mix(seed + word & MASK) for word in range((size + 7) // 8))
    return b"".join(struct.pack("<Q", word) for word in words)[:size]


def table(answer):
    """Counts for people."""
    lines = [f"{'operation':<28}{'calls':>12}{'failed':>10}"]
    failed = answer["failed"]
    for name, number in sorted(answer["counts"].items(),
                               key=lambda item: -item[1]):
        lines.append(f"{name:<28}{number:>12}{failed.get(name, 0):>10}")
    lines.append(f"{answer['calls']} calls that need a round trip, "
                 f"{answer['local']} that do not")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(
        description="Control FSAL FAULT in a running server.",
        epilog="The commands are in the head of tests/fsal_fault/fault.h. "
               "Exit status: 0 done, 1 refused, 2 wrong usage.")
    parser.add_argument("--version", action="version", version="faultctl 1")
    parser.add_argument("--json", action="store_true",
                        help="print the answer as it came")
    parser.add_argument("socket", help="the path that Control names")
    parser.add_argument("command", nargs=argparse.REMAINDER,
                        help="as: counts, latency all fixed 500, clear")
    arguments = parser.parse_args()
    if not arguments.command:
        parser.error("no command; try: counts")
    try:
        with contextlib.closing(FaultControl(arguments.socket)) as control:
            answer = control.ask(*arguments.command)
    except FaultError as error:
        print(f"faultctl: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"faultctl: {arguments.socket}: {error}; is the server up, and "
              "is this the Control of its FAULT block?", file=sys.stderr)
        return 1
    if "counts" in answer and not arguments.json:
        print(table(answer))
    elif answer or arguments.json:
        print(json.dumps(answer, indent=None if arguments.json else 2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
