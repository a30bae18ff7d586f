# SPDX-License-Identifier: LGPL-3.0-or-later
"""freshprobe, which changes files beside a server and asks it for them."""

import json
import subprocess

from nfsbench.load import BUILD

PROGRAM = BUILD / "tests/bench/freshness/freshprobe"


def probe(namespace, what, *arguments, timeout=1200):
    """Run it inside; its report."""
    process = namespace.popen(PROGRAM, what, *arguments,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True)
    with process:
        try:
            out, errors = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise RuntimeError(f"freshprobe {what} ended with "
                           f"{process.returncode}: {errors.strip()}")
    return json.loads(out)
