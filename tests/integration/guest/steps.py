# SPDX-License-Identifier: LGPL-3.0-or-later
"""Single steps of tests that the host directs, on absolute paths."""

import os
import subprocess
import time

from context import server_lstat


def write(path, text):
    """Write a text file and close it."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def read(path):
    """A text file's content."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def write_tree(path, files):
    """Make a directory with {name: text} in it."""
    os.mkdir(path)
    for name, text in files.items():
        write(f"{path}/{name}", text)


def read_tree(path):
    """The {name: text} of a directory."""
    return {name: read(f"{path}/{name}") for name in names(path)}


def names(path):
    """The names in a directory, sorted."""
    return sorted(os.listdir(path))


def make_directory(path):
    os.mkdir(path)


def rename(old, new):
    os.rename(old, new)


def remove(path):
    os.unlink(path)


def attributes(path):
    """Attributes as the server has them now, or None."""
    return server_lstat(path)


def error_of(step, **arguments):
    """The errno name of the OSError that a step of this module raises."""
    import errno
    try:
        globals()[step](**arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    return None


def keep_working(path, marker, most=60):
    """Write, read back, rename and remove until /tmp/MARKER is there.

    Returns [rounds, longest round in seconds]; raises the first error, and
    TimeoutError after `most` seconds.
    """
    os.mkdir(path)
    end = time.monotonic() + most
    rounds, longest = 0, 0
    while not os.path.exists(f"/tmp/{marker}"):
        begin = time.monotonic()
        if begin > end:
            raise TimeoutError(f"worked {most} s and was not told to stop")
        data = os.urandom(5000)
        with open(f"{path}/new", "wb") as file:
            file.write(data)
            os.fsync(file.fileno())
        os.rename(f"{path}/new", f"{path}/{rounds % 7}")
        with open(f"{path}/{rounds % 7}", "rb") as file:
            assert file.read() == data, f"round {rounds}: other content"
        assert str(rounds % 7) in os.listdir(path)
        if rounds % 5 == 4:
            os.unlink(f"{path}/{rounds % 7}")
        rounds += 1
        longest = max(longest, time.monotonic() - begin)
    return [rounds, longest]


def command(argv, cwd=None, timeout=240):
    """Run a program; its output.  AssertionError if it fails."""
    result = subprocess.run(argv, cwd=cwd, timeout=timeout,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors="replace", check=False)
    assert result.returncode == 0, \
        f"{argv} ended with {result.returncode}:\n{result.stdout[-3000:]}"
    return result.stdout
