# SPDX-License-Identifier: LGPL-3.0-or-later
"""Changes made beside the server, told by the backend.

FAULT makes the up-calls, so that a test says when: also while a fetch is on
its way, whose answer is then too old to be kept.
"""

import concurrent.futures
import contextlib
import os
import shutil

import pytest

from coherence.served import faulty, stop
from harness.answers import BADHANDLE, NOENT, OK, STALE
from harness.nfs import VERSIONS, connect

pytestmark = [pytest.mark.xdist_group("upcalls"), pytest.mark.scale_only]
UPCALL = ("Freshness = upcall; Attr_TTL = -1; Name_TTL = -1; "
          "Negative_TTL = -1;")
GONE = (STALE, BADHANDLE, NOENT)
EXPORT = 1
# The up-calls that tell of a change of an object, or of a directory's names.
ATTRIBUTES, NAMES = "attrs", "attrs,content"


@pytest.fixture(scope="module")
def instance(stack, folder):
    one = faulty(folder("upcalls"), stack, UPCALL)
    yield one
    stop(one)


@pytest.fixture
def fault(instance, report):
    report(instance)
    with instance.backend.control() as control:
        yield control
        control.clear()
        control.go()


@pytest.fixture
def here(instance):
    """A directory of the test's own, made beside the server; cleared."""
    path = instance.root / "here"
    path.mkdir()
    yield path
    shutil.rmtree(path)
    with instance.backend.control() as control:
        control.invalidate(EXPORT, "/", NAMES)


@pytest.fixture
def client(instance, here, fault, version):
    fault.invalidate(EXPORT, "/", NAMES)
    with contextlib.closing(connect(instance, version)) as one:
        reply = one.lookup(one.root, b"here")
        assert reply.status == OK
        one.here = reply.handle
        yield one


@pytest.fixture
def other(instance, version):
    """A second connection, for a request that is held."""
    with contextlib.closing(connect(instance, version)) as one:
        yield one


def known(client, path, name="file", text="1"):
    """A file whose attributes are known; its handle."""
    (path / name).write_text(text)
    reply = client.lookup(client.here, name.encode())
    assert reply.status == OK
    for _ in range(2):
        assert client.getattr(reply.handle).attributes.size == len(text)
    return reply.handle


@pytest.mark.parametrize("version", VERSIONS)
def test_nothing_is_seen_without_an_upcall(client, here, fault):
    """The control: what the other tests see is the up-call's doing."""
    handle = known(client, here)
    assert client.lookup(client.here, b"none").status == NOENT
    fault.reset()
    (here / "file").write_text("three")
    (here / "none").write_text("")
    for _ in range(3):
        assert client.getattr(handle).attributes.size == 1
        assert client.lookup(client.here, b"none").status == NOENT
    counts = fault.counts()["counts"]
    assert not {"getattrs", "lookup", "create_handle"} & set(counts), counts


@pytest.mark.parametrize("by", ("path", "handle"))
@pytest.mark.parametrize("flags", (ATTRIBUTES, NAMES, "cache"))
@pytest.mark.parametrize("version", VERSIONS)
def test_attributes(client, here, fault, flags, by):
    handle = known(client, here)
    target = "/here/file" if by == "path" else handle
    for text in ("three", "", "and again"):
        (here / "file").write_text(text)
        fault.invalidate(EXPORT, target, flags)
        found = client.getattr(handle).attributes
        assert found.size == len(text)
        assert found.mtime == os.lstat(here / "file").st_mtime_ns
        assert client.lookup(client.here, b"file").attributes.size \
            == len(text)
        listed = client.readdir(client.here, plus=True).names[b"file"][1]
        assert listed.size == len(text)


@pytest.mark.parametrize("version", VERSIONS)
def test_names_of_a_directory(client, here, fault):
    """Negative names turn positive, names go, the listing follows."""
    known(client, here)
    for number in range(3):
        name = f"new-{number}"
        for _ in range(2):
            assert client.lookup(client.here, name.encode()).status == NOENT
            client.readdir(client.here, plus=True)
        (here / name).write_text("x")
        fault.invalidate(EXPORT, "/here", NAMES)
        assert client.lookup(client.here, name.encode()).status == OK
        assert name.encode() in client.readdir(client.here).names
        os.unlink(here / name)
        fault.invalidate(EXPORT, "/here", NAMES)
        assert client.lookup(client.here, name.encode()).status == NOENT
        assert name.encode() not in client.readdir(client.here).names
    os.rename(here / "file", here / "renamed")
    fault.invalidate(EXPORT, "/here", NAMES)
    assert client.lookup(client.here, b"renamed").status == OK
    assert client.lookup(client.here, b"file").status == NOENT


@pytest.mark.parametrize("version", VERSIONS)
def test_another_object_has_the_name(client, here, fault):
    old = known(client, here)
    (here / "new").write_text("three")
    os.rename(here / "new", here / "file")
    fault.invalidate(EXPORT, "/here", NAMES)
    fault.invalidate(EXPORT, old, ATTRIBUTES)
    found = client.lookup(client.here, b"file")
    assert found.attributes.size == 5
    assert found.handle != old
    reply = client.getattr(old)
    assert reply.status in GONE or reply.attributes.nlink == 0


@contextlib.contextmanager
def held(fault, pool, ops, function, *arguments):
    """A request whose answer has been got from the backend, and is held.

    What is done inside is done while it is; then it may go on.
    """
    fault.hold(ops, after=True)
    try:
        future = pool.submit(function, *arguments)
        fault.wait_held()
        yield future
    finally:
        fault.go()
    future.result()


@pytest.fixture
def pool():
    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        yield threads


@pytest.mark.parametrize("version", VERSIONS)
def test_upcall_meets_getattr(client, other, here, fault, pool):
    """The old attributes, in hand when the up-call came, are not kept."""
    handle = known(client, here)
    for text in ("three", "fourteen", "x"):
        fault.invalidate(EXPORT, handle, ATTRIBUTES)
        with held(fault, pool, "getattrs", other.getattr, handle):
            (here / "file").write_text(text)
            fault.invalidate(EXPORT, handle, ATTRIBUTES)
        for _ in range(2):
            assert client.getattr(handle).attributes.size == len(text)


@pytest.mark.parametrize("version", VERSIONS)
def test_upcall_meets_lookup_of_a_missing_name(client, other, here, fault,
                                               pool):
    """The name is made while its absence is on the way."""
    for number in range(3):
        name = f"new-{number}"
        with held(fault, pool, "lookup", other.lookup, client.here,
                  name.encode()):
            (here / name).write_text("x")
            fault.invalidate(EXPORT, "/here", NAMES)
        for _ in range(2):
            assert client.lookup(client.here, name.encode()).status == OK


@pytest.mark.parametrize("version", VERSIONS)
def test_upcall_meets_lookup_of_a_name(client, other, here, fault, pool):
    """The name goes while its object is on the way."""
    for number in range(3):
        name = f"old-{number}"
        (here / name).write_text("x")
        fault.invalidate(EXPORT, "/here", NAMES)
        with held(fault, pool, "lookup", other.lookup, client.here,
                  name.encode()):
            os.unlink(here / name)
            fault.invalidate(EXPORT, "/here", NAMES)
        for _ in range(2):
            assert client.lookup(client.here, name.encode()).status == NOENT


@pytest.mark.parametrize("version", VERSIONS)
def test_upcall_meets_the_attributes_of_a_lookup(client, other, here, fault,
                                                 pool):
    """An object seen for the first time, with attributes that are old."""
    (here / "file").write_text("1")
    fault.invalidate(EXPORT, "/here", NAMES)
    with held(fault, pool, "lookup", other.lookup, client.here, b"file"):
        (here / "file").write_text("three")
        fault.invalidate(EXPORT, "/here/file", ATTRIBUTES)
    for _ in range(2):
        found = client.lookup(client.here, b"file")
        assert found.attributes.size == 5
        assert client.getattr(found.handle).attributes.size == 5


@pytest.mark.parametrize("version", VERSIONS)
def test_upcall_meets_listing(client, other, here, fault, pool):
    """Names come and go while the listing is on its way."""
    known(client, here, "goes")
    fault.invalidate(EXPORT, "/here", NAMES)
    with held(fault, pool, "readdir", other.readdir, client.here, True):
        os.unlink(here / "goes")
        (here / "comes").write_text("x")
        fault.invalidate(EXPORT, "/here", NAMES)
    for _ in range(2):
        names = set(client.readdir(client.here).names) - {b".", b".."}
        assert names == {b"comes"}
        assert client.lookup(client.here, b"goes").status == NOENT
        assert client.lookup(client.here, b"comes").status == OK


@pytest.mark.parametrize("version", VERSIONS)
def test_upcall_meets_own_change(client, other, here, fault, pool):
    """A change through the server whose answer is on the way does not hide
    the foreign one that came behind it."""
    handle = known(client, here)
    for mode in (0o600, 0o644):
        with held(fault, pool, "setattr2", lambda: other.setattr(
                handle, mode=mode)):
            (here / "file").write_text(f"mode {mode:o}")
            fault.invalidate(EXPORT, handle, ATTRIBUTES)
        found = client.getattr(handle).attributes
        truth = os.lstat(here / "file")
        assert (found.size, found.mode, found.ctime) == \
            (truth.st_size, mode, truth.st_ctime_ns)
