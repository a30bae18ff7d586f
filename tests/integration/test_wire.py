# SPDX-License-Identifier: LGPL-3.0-or-later
"""File handles that no client would send, and handles of what is gone.

Each must get an NFS error, and the server must go on serving.
"""

import random

import pytest

from backends import BACKENDS
from harness.rawnfs import (BADHANDLE, GARBAGE_ARGS, NOENT, OK, STALE, Nfs3,
                            Nfs40, NoReply)

EACH = [pytest.param(backend, id=backend,
                     marks=pytest.mark.xdist_group(backend))
        for backend in BACKENDS]
INVAL, SERVERFAULT, NOFILEHANDLE = 22, 10006, 10020
# NFS3ERR_IO comes from a PROXY_V4 backend whose server refused the handle.
IO = 5
REFUSALS = {STALE, BADHANDLE, GARBAGE_ARGS, INVAL, SERVERFAULT, NOFILEHANDLE,
            NOENT, IO}
# What stock Ganesha does.  A removed file's handle: behind FSAL_PROXY_V4 the
# second server keeps the file open, and so alive, and libcephfs its inode;
# FSAL_GLUSTER may say NOENT, which is no answer to GETATTR.
GONE = {"PROXY_V4": {OK, STALE, BADHANDLE}, "CEPH": {OK, STALE, BADHANDLE},
        "GLUSTER": {NOENT, STALE, BADHANDLE}}
# How many of the changed handles are taken: flags may be changed without
# harm; FSAL_CEPH does not look at a snapshot's number, FSAL_GLUSTER not at
# the volume's.
ACCEPTED = {"CEPH": 24, "GLUSTER": 28}


@pytest.fixture
def served(instances, report, backend):
    """(the instance, its root's handle by v3, by v4.0)."""
    instance = instances(backend)
    report(instance)
    nfs3, nfs40 = Nfs3(instance.ns), Nfs40(instance.ns)
    pseudo = instance.export.pseudo
    root = nfs3.mount(pseudo)
    assert nfs3.getattr(root) == OK
    yield instance, root, nfs40.root_handle(pseudo)
    # Whatever was sent, a new connection is served.
    again = Nfs3(instance.ns)
    assert again.getattr(again.mount(pseudo)) == OK
    again.close()
    assert instance.server.running and not instance.server.crashes()


def ask(nfs, handle):
    """GETATTR; a connection that the server ended counts as a refusal."""
    try:
        return nfs.getattr(handle)
    except ConnectionError:
        return GARBAGE_ARGS


def forged(handle):
    """Handles like this one: cut, grown, emptied, and with bits changed."""
    yield b""
    for length in range(1, len(handle)):
        yield handle[:length]
    for more in (1, 4):
        yield (handle + bytes(more))[:64]
    yield bytes(len(handle))
    yield b"\xff" * len(handle)
    rng = random.Random(7)
    for length in (8, 28, 40, 64):
        yield rng.randbytes(length)
    for position in range(len(handle)):
        changed = bytearray(handle)
        changed[position] ^= 0x5a
        yield bytes(changed)
    # The lengths inside a handle, set to the most that a byte holds.
    for position in range(min(8, len(handle))):
        changed = bytearray(handle)
        changed[position] = 0xff
        yield bytes(changed)


@pytest.mark.parametrize("backend", EACH)
@pytest.mark.parametrize("version", ("3", "4.0"))
def test_forged_handles(served, version):
    instance, root3, root4 = served
    kind, root = (Nfs3, root3) if version == "3" else (Nfs40, root4)
    answers = {}
    for handle in forged(root):
        nfs = kind(instance.ns)
        try:
            status = ask(nfs, handle)
        except NoReply:
            status = "no reply"
        nfs.close()
        if handle != root:
            answers.setdefault(status, []).append(handle.hex())
    accepted = answers.pop(OK, [])
    most = ACCEPTED.get(instance.backend.name, 8)
    assert len(accepted) <= most, f"accepted: {accepted}"
    silent = answers.pop("no reply", [])
    assert not silent, f"no reply to {silent}"
    assert set(answers) <= REFUSALS, f"{answers}"


@pytest.mark.parametrize("backend", EACH)
def test_removed_file(served, backend):
    """The handle of a file that was removed is stale, for each request."""
    instance, root, _ = served
    nfs = Nfs3(instance.ns)
    for number in range(5):
        name = b"removed-%d" % number
        status, handle = nfs.create(root, name)
        assert status == OK
        if handle is None:
            status, handle = nfs.lookup(root, name)
            assert status == OK
        assert nfs.getattr(handle) == OK
        assert nfs.remove(root, name) == OK
        assert nfs.lookup(root, name)[0] == NOENT
        answers = {nfs.getattr(handle), nfs.read(handle),
                   nfs.getattr(handle)}
        assert answers <= GONE.get(backend, {STALE, BADHANDLE}), answers
    nfs.close()


@pytest.mark.parametrize("backend", EACH)
def test_stale_directory(served):
    instance, root, _ = served
    mount = instance.mounted("4.1")
    client = instance.client()
    client.call("steps:make_directory", path=f"{mount}/going")
    nfs = Nfs3(instance.ns)
    status, handle = nfs.lookup(root, b"going")
    assert status == OK
    client.call("steps:command", argv=["rmdir", f"{mount}/going"])
    assert nfs.lookup(handle, b"name")[0] in (STALE, NOENT)
    assert nfs.create(handle, b"name")[0] in (STALE, NOENT)
    nfs.close()
