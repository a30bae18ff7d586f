# SPDX-License-Identifier: LGPL-3.0-or-later
"""Handles of what another export serves, and handles that were changed.

Each is refused whether what it names has been forgotten or is in use just
then.  (Stock Ganesha answers one while its entry is in MDCACHE, hence
scale_only.)
"""

import contextlib
import dataclasses
import os
import shutil
import tempfile

import pytest

from backends.mem import Mem
from backends.vfs import Vfs
from coherence.variants import FIRST, FOREVER, MDCACHE, NFSV4
from harness.answers import (BADHANDLE, INVAL, NOENT, OK, SERVERFAULT, STALE)
from harness.ganesha import Export, Settings
from harness.instance import Instance
from harness.nfs import VERSIONS, connect

pytestmark = [pytest.mark.xdist_group("foreign"), pytest.mark.scale_only]
REFUSED = {STALE, BADHANDLE}
CHANGED = REFUSED | {INVAL, NOENT, SERVERFAULT}
# Where the export's number is in a handle of Ganesha's.
NUMBER = slice(2, 4)


@pytest.fixture(scope="module")
def instance(stack, folder):
    """Two file systems of this machine and one of FSAL_MEM.

    Two of FSAL_MEM would not do: it serves each other's handles itself.
    """
    rundir = folder("foreign")
    other = tempfile.mkdtemp(prefix="scale-", dir="/dev/shm")
    os.chmod(other, 0o1777)
    backend = Vfs(rundir)
    one = Instance(
        rundir, dataclasses.replace(stack, options=FOREVER), backend,
        Settings(nfsv4=NFSV4, blocks=[*Mem.blocks,
                                      f"MDCACHE {{ {MDCACHE[FIRST]} }}"]),
        [backend.export(1, "/disk"), Export(
            2, "/memory", "FSAL { Name = VFS; }", path=other),
         Export(3, "/mem", "FSAL { Name = MEM; }", path="/mem")])
    yield one
    running, crashes = one.server.running, one.server.crashes()
    one.stop()
    shutil.rmtree(other)
    assert running and not crashes, crashes


@pytest.fixture
def pair(instance, report, version, here, there):
    """(a client of one export, a client of the other)."""
    report(instance)
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(contextlib.closing(
            connect(instance, version, pseudo))) for pseudo in (here, there)]


def forged(foreign, ours):
    """A handle with the number of our export."""
    return foreign[:2] + ours[NUMBER] + foreign[4:]


def forget(client, directory, count=60):
    """Use other objects until MDCACHE has forgotten those before."""
    for number in range(count):
        client.create(directory, b"other-%d" % number)
        client.lookup(directory, b"other-%d" % number)


# Not FSAL_MEM's under the number of FSAL_VFS: stock Ganesha ends then, too.
EXPORTS = [("/disk", "/memory"), ("/memory", "/disk"), ("/mem", "/disk")]


@pytest.mark.parametrize("heat", ("cold", "hot"))
@pytest.mark.parametrize("here, there", EXPORTS)
@pytest.mark.parametrize("version", VERSIONS)
def test_of_another_export(pair, heat):
    """What the other export serves is not served under our number."""
    ours, theirs = pair
    name = b"file-" + heat.encode()
    assert theirs.create(theirs.root, name).status == OK
    foreign = theirs.lookup(theirs.root, name).handle
    assert theirs.write(foreign, 0, b"secret").status == OK
    directory = theirs.mkdir(theirs.root, name + b"-d").handle \
        or theirs.lookup(theirs.root, name + b"-d").handle
    assert theirs.create(directory, b"inside").status == OK
    if heat == "cold":
        forget(theirs, theirs.root)
    for _ in range(2):
        if heat == "hot":
            assert theirs.getattr(foreign).status == OK
            assert theirs.lookup(directory, b"inside").status == OK
        handle = forged(foreign, ours.root)
        assert ours.getattr(handle).status in REFUSED
        assert ours.read(handle).status in REFUSED
        assert ours.setattr(handle, mode=0o600).status in REFUSED
        handle = forged(directory, ours.root)
        assert ours.lookup(handle, b"inside").status in REFUSED
        assert ours.lookup_parent(handle).status in REFUSED
        assert ours.readdir(handle).status in REFUSED
        assert ours.create(handle, b"more").status in REFUSED
    assert theirs.getattr(foreign).status == OK
    assert set(theirs.readdir(directory).names) - {b".", b".."} \
        == {b"inside"}
    assert theirs.remove(directory, b"inside").status == OK
    assert theirs.remove(theirs.root, name + b"-d", True).status == OK
    assert theirs.remove(theirs.root, name).status == OK


@pytest.mark.parametrize("heat", ("cold", "hot"))
@pytest.mark.parametrize("here, there", [("/disk", "/disk")])
@pytest.mark.parametrize("version", VERSIONS)
def test_changed(pair, heat):
    """No change of a byte makes a handle of another object's."""
    client, other = pair
    assert client.create(client.root, b"file").status == OK
    handle = client.lookup(client.root, b"file").handle
    fileid = client.getattr(handle).attributes.fileid
    if heat == "cold":
        forget(other, other.root)
    for position in range(4, len(handle)):
        changed = bytearray(handle)
        changed[position] ^= 0x5a
        if heat == "hot":
            assert other.getattr(handle).status == OK
        reply = client.getattr(bytes(changed))
        assert reply.status in CHANGED or \
            reply.attributes.fileid == fileid, \
            f"byte {position}: {reply.status} {reply.attributes}"
    assert client.remove(client.root, b"file").status == OK
