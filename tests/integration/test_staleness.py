# SPDX-License-Identifier: LGPL-3.0-or-later
"""What is forgotten when it must be: after its time, with ESTALE, with the
export."""

import os
import time

import pytest

from coherence.served import faulty, stop
from coherence.variants import FOREVER, KEEPS
from harness.answers import BADHANDLE, NOENT, OK, STALE
from harness.nfs import VERSIONS, connect
from harness.wait import wait_for

TTL = 3
SHORT = (f"Freshness = ttl; Attr_TTL = {TTL}; Name_TTL = {TTL}; "
         f"Negative_TTL = {TTL};")
# MDCACHE's own time is the same, so that stock Ganesha can be compared.  Both
# together must not be longer, but for MDCACHE's counting in whole seconds: a
# rest of life of less than 1 s that is handed up to it lasts up to 2 s.
EXPIRY = f"Attr_Expiration_Time = {TTL};"
LATE = TTL + 2.2
GONE = (STALE, BADHANDLE)


@pytest.fixture
def served(stack, folder, report):
    """served(...): coherence.served.faulty() for one test."""
    started = []

    def make(**arguments):
        one = faulty(folder("staleness"), stack, **arguments)
        started.append(one)
        report(one)
        return one

    yield make
    for one in started:
        stop(one)


@pytest.mark.parametrize("version", VERSIONS)
def test_changes_beside_the_server_are_seen_in_time(served, version):
    """Attributes, names and missing names, all within the TTL."""
    instance = served(options=SHORT, extra=EXPIRY)
    (instance.root / "changed").write_text("1")
    (instance.root / "removed").write_text("1")
    (instance.root / "directory").mkdir()
    client = connect(instance, version)
    handle = client.lookup(client.root, b"changed").handle
    removed = client.lookup(client.root, b"removed").handle
    below = client.lookup(client.root, b"directory").handle
    for _ in range(2):
        assert client.getattr(handle).attributes.size == 1
        assert client.lookup(client.root, b"made").status == NOENT
        assert client.lookup(below, b"made").status == NOENT
        client.readdir(client.root)
    (instance.root / "changed").write_text("three")
    os.unlink(instance.root / "removed")
    (instance.root / "made").write_text("")
    (instance.root / "directory/made").write_text("")
    begin = time.monotonic()

    def seen():
        names = client.readdir(client.root, plus=True).names
        return (client.getattr(handle).attributes.size == 5
                and client.getattr(removed).status in GONE
                and client.lookup(client.root, b"removed").status == NOENT
                and client.lookup(client.root, b"made").status == OK
                and client.lookup(below, b"made").status == OK
                and b"made" in names and b"removed" not in names)

    wait_for(seen, 3 * TTL, "the changes to be seen")
    assert time.monotonic() - begin < LATE
    client.close()


@pytest.mark.parametrize("kind", ("made", "renamed", "removed"))
@pytest.mark.parametrize("version", VERSIONS)
def test_hidden_behind_a_change_of_ones_own(served, version, kind):
    """MDCACHE, which keeps names here, has the directory's times of after
    both changes, and is given names of before the first."""
    instance = served(options=SHORT, extra=EXPIRY, mdcache=KEEPS)
    for name in ("a", "b"):
        (instance.root / name).write_text("")
    client = connect(instance, version)
    client.readdir(client.root, plus=True)
    began = time.monotonic()
    if kind == "made":
        (instance.root / "new").write_text("")
    elif kind == "renamed":
        os.rename(instance.root / "a", instance.root / "new")
    else:
        os.unlink(instance.root / "a")
    assert client.create(client.root, b"own").status == OK
    truth = {os.fsencode(name) for name in os.listdir(instance.root)}

    def seen():
        client.getattr(client.root)
        names = client.readdir(client.root, plus=True).names
        return (names is not None and set(names) - {b".", b".."} == truth
                and all((client.lookup(client.root, name).status == OK)
                        == (name in truth) for name in (b"a", b"b", b"new")))

    wait_for(seen, 3 * TTL, "the foreign change to be seen")
    assert time.monotonic() - began < LATE
    client.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_asking_does_not_lengthen_the_life(served, version):
    """Hits do not renew what is known."""
    instance = served(options=SHORT, extra=EXPIRY)
    (instance.root / "file").write_text("1")
    client = connect(instance, version)
    handle = client.lookup(client.root, b"file").handle
    (instance.root / "file").write_text("three")
    begin = time.monotonic()
    while client.getattr(handle).attributes.size != 5:
        assert time.monotonic() - begin < LATE
        time.sleep(0.05)
    client.close()


@pytest.mark.parametrize("version", ("3", "4.1"))
def test_removed_beside_the_server(served, version):
    """ESTALE is the answer to each request, and the name is free again."""
    instance = served(options=SHORT, extra=EXPIRY)
    client = connect(instance, version)
    path = instance.root / "file"
    path.write_text("old")
    # It is not read: a file that the server has open lives on.
    handle = client.lookup(client.root, b"file").handle
    assert client.getattr(handle).attributes.size == 3
    os.unlink(path)
    path.write_text("new")
    wait_for(lambda: client.getattr(handle).status in GONE, LATE,
             "the removed file's handle to be stale")
    for _ in range(3):
        assert client.getattr(handle).status in GONE
        assert client.read(handle).status in GONE
    found = wait_for(lambda: fresh(client, handle), LATE,
                     "the new file to be seen")
    assert client.read(found).data == b"new"
    assert client.remove(client.root, b"file").status == OK
    assert client.lookup(client.root, b"file").status == NOENT
    client.close()


def fresh(client, old):
    """The handle that the name has now, if it is not the old one."""
    reply = client.lookup(client.root, b"file")
    return reply.handle if reply.status == OK and reply.handle != old \
        else None


@pytest.mark.parametrize("version", VERSIONS)
def test_stale_answer_purges(served, version):
    """Found stale by one request, it is stale for the others at once."""
    instance = served(options=FOREVER)
    path = instance.root / "file"
    path.write_text("x")
    client, other = (connect(instance, version) for _ in range(2))
    handle = client.lookup(client.root, b"file").handle
    assert other.getattr(handle).status == OK
    os.unlink(path)
    # The kernel forgets an inode that nobody holds; FAULT says so at once.
    with instance.backend.control() as control:
        control.fail("read2,open2,reopen2,create_handle,getattrs", "STALE")
        assert client.read(handle).status in GONE
        control.fail("read2,open2,reopen2,create_handle,getattrs", "none")
    assert other.getattr(handle).status in GONE
    assert client.getattr(handle).status in GONE
    client.close()
    other.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_unexport_flushes(served, version):
    """What changed while it was not exported is right afterwards."""
    instance = served(options=FOREVER, pseudos=("/tree", "/stays"))
    server, export = instance.server, instance.export
    (instance.root / "file").write_text("1")
    (instance.root / "removed").write_text("1")
    client = connect(instance, version)
    for _ in range(2):
        client.readdir(client.root, plus=True)
        handle = client.lookup(client.root, b"file").handle
        assert client.lookup(client.root, b"made").status == NOENT
        assert client.lookup(client.root, b"removed").status == OK
    client.close()
    for number in (1, 2):
        server.remove_export(number)
    (instance.root / "file").write_text("three")
    (instance.root / "made").write_text("")
    os.unlink(instance.root / "removed")
    server.add_export(export)
    client = connect(instance, version)
    assert client.getattr(handle).attributes.size == 5
    assert client.lookup(client.root, b"made").status == OK
    assert client.lookup(client.root, b"removed").status == NOENT
    names = client.readdir(client.root, plus=True).names
    assert set(names) - {b".", b".."} == {b"file", b"made"}
    assert client.getattr(client.root).attributes.mtime == \
        os.lstat(instance.root).st_mtime_ns
    client.close()
