#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-3.0-or-later
"""ci/test after its wrapper has looked for root and Python."""

import signal
import sys
import time
import traceback

from parts import available
from results import FAILED, PASSED
from runner import Runner

# Of a failed test's output so many lines are printed; all are in the log.
DETAIL_LINES = 60


def show(result):
    """Print a failed test and the end of what it said."""
    print(f"  FAILED {result.name}")
    lines = result.detail.strip().splitlines()
    if len(lines) > DETAIL_LINES:
        print(f"    ... ({len(lines) - DETAIL_LINES} more lines in the log)")
    for line in lines[-DETAIL_LINES:]:
        print(f"    {line}")


def run_part(name, function):
    """Run one part; its (passed, failed) numbers."""
    print(f"== {name}: {function.__doc__.splitlines()[0]}", flush=True)
    start = time.monotonic()
    runner = Runner(name)
    try:
        function(runner)
    except Exception:
        runner.add(name, False, traceback.format_exc())
    if not runner.results:
        runner.add(name, False, "ran no test")
    passed = sum(result.status == PASSED for result in runner.results)
    failed = len(runner.results) - passed
    for result in runner.results:
        if result.status == FAILED:
            show(result)
    seconds = time.monotonic() - start
    print(f"   {name}: {passed} of {len(runner.results)} passed in "
          f"{seconds:.1f} s" + (f" (log: {runner.log})" if failed else ""),
          flush=True)
    return passed, failed


def main():
    # A shell without job control starts what it puts into the background with
    # interrupts ignored, and everything started from there inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parts = available()
    wanted = sys.argv[1:]
    if "--list" in wanted:
        for name, function in parts.items():
            print(f"{name:12} {function.__doc__.splitlines()[0]}")
        return 0
    unknown = [name for name in wanted if name not in parts]
    if unknown:
        print(f"ci/test: no part \"{unknown[0]}\": use "
              f"{', '.join(parts)}", file=sys.stderr)
        return 64
    start = time.monotonic()
    total_passed = total_failed = 0
    for name, function in parts.items():
        if wanted and name not in wanted:
            continue
        passed, failed = run_part(name, function)
        total_passed += passed
        total_failed += failed
        if failed and name in ("setup", "build"):
            print(f"   nothing can be tested after {name} has failed")
            break
    print(f"total: {time.monotonic() - start:.1f} s")
    print(f"{total_passed} passed, {total_failed} failed")
    return 1 if total_failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("ci/test: interrupted")
