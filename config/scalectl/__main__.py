# SPDX-License-Identifier: LGPL-3.0-or-later
"""Run scalectl as a module: /usr/bin/python3 -m scalectl."""

import sys

from scalectl.cli import main

if __name__ == "__main__":
    sys.exit(main())
