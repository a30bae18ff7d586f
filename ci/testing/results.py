# SPDX-License-Identifier: LGPL-3.0-or-later
"""Results of tests, and reading them from JUnit files."""

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

PASSED, FAILED = "passed", "failed"


@dataclass(frozen=True)
class Result:
    """One test; detail says why it failed."""
    name: str
    status: str
    detail: str = ""


def read_junit(path):
    """The Results in a JUnit file of pytest or ctest.

    A skipped test has tested nothing: it counts as failed.
    """
    return [_result(case)
            for case in ElementTree.parse(path).getroot().iter("testcase")]


def _result(case):
    name = case.get("name")
    if case.get("classname") not in (None, "", name):
        name = f"{case.get('classname')}.{name}"
    for tag in ("failure", "error"):
        found = case.find(tag)
        if found is not None:
            parts = [found.get("message"), found.text,
                     *(case.findtext(output) for output in
                       ("system-out", "system-err"))]
            return Result(name, FAILED, "\n".join(filter(None, parts)))
    skipped = case.find("skipped")
    if skipped is not None:
        return Result(name, FAILED,
                      f"skipped: {skipped.get('message', 'no reason given')}")
    # ctest says "notrun" or "disabled" for what it did not start.
    if case.get("status") in ("notrun", "disabled"):
        return Result(name, FAILED, f"skipped: {case.get('status')}")
    return Result(name, PASSED)
