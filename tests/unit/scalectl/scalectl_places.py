# SPDX-License-Identifier: LGPL-3.0-or-later
"""Where scalectl and its modules are; makes the modules importable."""

import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
COMMAND = PROJECT / "config" / "scalectl" / "scalectl"
sys.dont_write_bytecode = True
sys.path.insert(0, str(PROJECT / "config"))
