# SPDX-License-Identifier: LGPL-3.0-or-later
"""What the tests of scalectl share."""

import os
import subprocess
import tempfile

import pytest
from hypothesis.configuration import set_hypothesis_home_dir

from scalectl_places import COMMAND

# Hypothesis keeps tables on disk, by default in the current folder.
HYPOTHESIS_HOME = tempfile.TemporaryDirectory(prefix="hypothesis-")
set_hypothesis_home_dir(HYPOTHESIS_HOME.name)


@pytest.fixture
def conf(tmp_path):
    """A function that writes a file of the configuration, returns its path."""
    def write(text, name="ganesha.conf"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path
    return write


@pytest.fixture
def scalectl():
    """A function that runs the command as a process of its own."""
    def run(*arguments, **options):
        return subprocess.run([COMMAND, *map(str, arguments)],
                              capture_output=True, text=True, check=False,
                              timeout=60, **options)
    return run


@pytest.fixture
def as_nobody():
    """Keyword arguments for scalectl() that take away root's rights."""
    if os.geteuid() != 0:
        return {}
    return {"user": 65534, "group": 65534, "extra_groups": []}
