# SPDX-License-Identifier: LGPL-3.0-or-later
"""Waiting with a deadline."""

import time


def wait_for(condition, within, what, step=0.05):
    """Call condition() until its value is true and return that value.

    Raises TimeoutError that names `what` after `within` seconds.
    """
    deadline = time.monotonic() + within
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {within} s for {what}")
        time.sleep(step)
