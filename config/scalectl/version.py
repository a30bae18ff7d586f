# SPDX-License-Identifier: LGPL-3.0-or-later
"""scalectl's version.

The build writes build_version.py from the project's version. In a source
tree without one, the version is read from the top CMakeLists.txt.
"""

import os
import re


def version():
    """Return the version, such as "1.2.0"; a source tree adds "-source"."""
    try:
        from scalectl.build_version import VERSION
        return VERSION
    except ImportError:
        pass
    here = os.path.dirname(os.path.realpath(__file__))
    cmake = os.path.join(here, "..", "..", "CMakeLists.txt")
    try:
        with open(cmake, encoding="utf-8") as file:
            text = file.read()
    except OSError:
        text = ""
    found = re.search(r"\bproject\s*\([^)]*\bVERSION\s+([0-9][0-9.]*)", text)
    return (found.group(1) if found else "0") + "-source"
