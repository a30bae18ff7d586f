# SPDX-License-Identifier: LGPL-3.0-or-later
"""Where a backend does not do what a check wants, with SCALE or without.

A listed check must fail with the symptom; one that succeeds is a failure, for
then the table is wrong.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Difference:
    backend: str
    versions: str   # regular expression
    check: str
    symptom: str    # regular expression, found in the failure's text
    reason: str


DIFFERENCES = ()


def difference(backend, version, check):
    """The entry for a check, or None."""
    for entry in DIFFERENCES:
        if (entry.backend == backend and entry.check == check
                and re.fullmatch(entry.versions, version)):
            return entry
    return None
