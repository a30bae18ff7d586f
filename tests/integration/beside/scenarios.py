# SPDX-License-Identifier: LGPL-3.0-or-later
"""All scenarios, by their names."""

import inspect

from beside import directories, files

SCENARIOS = {
    name: function for module in (files, directories)
    for name, function in inspect.getmembers(
        module, inspect.isgeneratorfunction)}
