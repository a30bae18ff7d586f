# SPDX-License-Identifier: LGPL-3.0-or-later
"""A client of the cluster changes what SCALE has in memory.

GlusterFS tells of it by up-calls; CephFS tells nobody, and is asked each time:
its client has leases on what it knows.
"""

import itertools

import pytest

from beside.remote import CASES, one_at_a_time
from harness.answers import BADHANDLE, NOENT, OK, STALE
from harness.nfs import VERSIONS, connect
from harness.wait import wait_for

pytestmark = pytest.mark.scale_only
GONE = (STALE, BADHANDLE, NOENT)
NUMBERS = itertools.count()


def cases():
    return [pytest.param(name, version, id=f"{name}-{version}",
                         marks=pytest.mark.xdist_group(name + " second"))
            for name in CASES for version in VERSIONS]


@pytest.fixture(scope="module")
def clusters(stack, folder):
    """clusters(name): (the server, the second client), one at a time."""
    yield from one_at_a_time(stack, folder, "second-", CASES)


class Pair:
    """An NFS client and the second client in a new directory."""

    def __init__(self, instance, second, name, version):
        self.within = CASES[name].within
        self.path = f"test-{next(NUMBERS)}"
        self._second = second
        self.nfs = connect(instance, version)
        made = self.nfs.mkdir(self.nfs.root, self.path.encode(), 0o777)
        assert made.status == OK
        self.here = made.handle or self.nfs.lookup(
            self.nfs.root, self.path.encode()).handle

    def second(self, operation, name, *arguments):
        """A change by the second client."""
        if operation == "rename":
            arguments = [f"{self.path}/{arguments[0]}"]
        self._second.ask(operation, f"{self.path}/{name}", *arguments)

    def soon(self, condition, what):
        if self.within:
            wait_for(condition, self.within, what, step=0.01)
        assert condition(), what

    def status(self, name):
        return self.nfs.lookup(self.here, name).status

    def names(self):
        return set(self.nfs.readdir(self.here).names) - {b".", b".."}


@pytest.fixture
def pair(clusters, report, backend, version):
    instance, second = clusters(backend)
    report(instance)
    one = Pair(instance, second, backend, version)
    yield one
    one.nfs.close()


@pytest.mark.parametrize("backend, version", cases())
def test_attributes(pair):
    assert pair.nfs.create(pair.here, b"file").status == OK
    handle = pair.nfs.lookup(pair.here, b"file").handle
    for number in range(8):
        for _ in range(2):
            assert pair.nfs.getattr(handle).status == OK
        mode, size = 0o600 + number, 10 * number
        pair.second("chmod", "file", mode)
        pair.second("truncate", "file", size)

        def seen():
            by_handle = pair.nfs.getattr(handle).attributes
            by_name = pair.nfs.lookup(pair.here, b"file").attributes
            return {(found.mode, found.size) for found in (
                by_handle, by_name)} == {(mode, size)}

        pair.soon(seen, "the new mode and size")


@pytest.mark.parametrize("backend, version", cases())
def test_names(pair):
    for number in range(6):
        name = f"new-{number}"
        for _ in range(2):
            assert pair.status(name.encode()) == NOENT
            pair.names()
        pair.second("create", name)
        pair.soon(lambda: pair.status(name.encode()) == OK, "the new name")
        pair.soon(lambda: name.encode() in pair.names(),
                  "the new name in the listing")
        handle = pair.nfs.lookup(pair.here, name.encode()).handle
        pair.second("rename", name, "renamed")
        pair.soon(lambda: pair.status(b"renamed") == OK, "its other name")
        pair.soon(lambda: pair.status(name.encode()) == NOENT,
                  "the old name's end")
        pair.second("unlink", "renamed")
        pair.soon(lambda: pair.status(b"renamed") == NOENT, "its end")
        pair.soon(lambda: b"renamed" not in pair.names(),
                  "its end in the listing")

        def gone():
            reply = pair.nfs.getattr(handle)
            return reply.status in GONE or reply.attributes.nlink == 0

        pair.soon(gone, "the end of its handle")


@pytest.mark.parametrize("backend, version", cases())
def test_directories(pair):
    for number in range(4):
        name = f"d{number}"
        assert pair.status(name.encode()) == NOENT
        pair.second("mkdir", name)
        pair.soon(lambda: pair.status(name.encode()) == OK, "the directory")
        below = pair.nfs.lookup(pair.here, name.encode()).handle
        assert pair.nfs.lookup(below, b"inside").status == NOENT
        pair.second("create", f"{name}/inside")
        pair.soon(lambda: pair.nfs.lookup(below, b"inside").status == OK,
                  "the file in it")
