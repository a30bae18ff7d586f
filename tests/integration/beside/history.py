# SPDX-License-Identifier: LGPL-3.0-or-later
"""What was true when, and whether an answer was.

A fact is a tuple such as ("name", directory's Key, name); it has one value
after another, None where there is no such thing.  A value is true from the
moment the change to it began, for it may have been made at once, until the
moment the next change had been made.  An answer got while a change is made
may be part of what was and part of what comes, where a value has parts.
"""

import bisect
import time
from typing import NamedTuple


class Period(NamedTuple):
    """A value that was true from begin to end; end is None if it is now."""
    begin: float
    end: float | None
    value: object


NEVER = (Period(0, None, None),)
# Anything: while a request changes something in more than one step.
ANYTHING = object()


class Refused(Exception):
    """The change was not made."""


class History:
    """One thread records; others may ask when it has ended."""

    def __init__(self):
        self._periods = {}
        self.changes = self.refused = 0

    def begin(self, fact, value):
        """What is so from the start."""
        self._periods[fact] = [Period(0, None, value)]

    def record(self, change, values, steps=False):
        """Make a change and note the values behind it.

        change(): makes it, or raises Refused; values(): {fact: value} after
        it; steps: whether it may be more than one system call.
        """
        begin = time.monotonic()
        try:
            change()
        except Refused:
            self.refused += 1
            return
        end = time.monotonic()
        for fact, value in values().items():
            periods = self._periods.setdefault(fact, list(NEVER))
            if periods[-1].value != value:
                periods[-1] = periods[-1]._replace(end=end)
                if steps:
                    periods.append(Period(begin, end, ANYTHING))
                periods.append(Period(begin, None, value))
        self.changes += 1

    def age(self, fact, accepts, asked, answered, mixes=None):
        """How long ago an answer was last true, in seconds; None if never.

        0 if it was true while it was asked for.  accepts(value): whether the
        answer says that; mixes(old, new): whether it may be of both.
        """
        periods = self._periods.get(fact, NEVER)
        last = bisect.bisect_right(periods, answered,
                                   key=lambda period: period.begin)
        for number in range(last - 1, -1, -1):
            _, end, value = periods[number]
            if value is ANYTHING:
                if asked <= end:
                    return 0
            elif accepts(value):
                return max(0, asked - end) if end is not None else 0
            elif mixes and number:
                before = periods[number - 1]
                if before.value is not ANYTHING and mixes(before.value,
                                                          value):
                    return max(0, asked - before.end)
        return None

    def went(self, fact, asked, answered):
        """How long ago it was last that something was no more."""
        ended = [period.end for period in self._periods.get(fact, NEVER)
                 if period.end is not None and period.value is not None
                 and period.begin < answered]
        return max(0, asked - ended[-1]) if ended else None

    def story(self, fact):
        """All periods, for a failure's report."""
        return self._periods.get(fact, NEVER)
