# SPDX-License-Identifier: LGPL-3.0-or-later
"""Tests of the Debian package and of 'make install'.

The package is really installed, in a copy-on-write view of this machine's
root (an overlay in a mount namespace), so the machine itself is not changed.
Run as root after ci/setup:

    /usr/bin/python3 -m pytest tests/package
"""

import pathlib
import subprocess
import tempfile

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / "build"
# One overlay for all of a script's commands; it is gone with the namespace.
IN_OVERLAY = """
set -e
mount -t tmpfs layers "$1"
mkdir "$1/upper" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/upper,workdir=$1/work" \
    "$1/root"
mount -t proc proc "$1/root/proc"
mount --rbind /dev "$1/root/dev"
mount -t tmpfs run "$1/root/run"
mount -t tmpfs tmp "$1/root/tmp"
mount --bind "$2" "$1/root/mnt"
ip link set lo up
chroot "$1/root" /bin/bash -e -c "$3"
"""


def run(*command, check=True, **kwargs):
    """Run a command; its output, which a failure shows."""
    result = subprocess.run(
        list(map(str, command)), stdout=subprocess.PIPE, text=True,
        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False,
        timeout=150, **kwargs)
    assert not check or result.returncode == 0, result.stdout
    return result.stdout


@pytest.fixture(scope="session")
def package():
    """The package file, made by cpack."""
    with tempfile.TemporaryDirectory(prefix="scale-package-") as folder:
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", folder)
        files = list(pathlib.Path(folder).glob("*.deb"))
        assert len(files) == 1, files
        yield files[0]


@pytest.fixture
def in_machine(package):
    """in_machine(script): run a script on a machine like this one.

    The package's folder is /mnt there, and $package the file; the network is
    a loopback of its own.
    """
    def run_script(script):
        with tempfile.TemporaryDirectory(prefix="scale-root-") as folder:
            return run("unshare", "--mount", "--pid", "--net", "--fork",
                       "--kill-child", "--propagation", "private", "bash",
                       "-c", IN_OVERLAY, "in-overlay", folder,
                       package.parent,
                       f"package=/mnt/{package.name}\n{script}")
    return run_script
