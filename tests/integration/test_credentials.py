# SPDX-License-Identifier: LGPL-3.0-or-later
"""What one user may see is not shown to another who may not.

FSAL_PROXY_V4 asks a second server, which squashes root, with each caller's
own credentials: so the backend decides, and differently for root than
Ganesha's own look at the mode would.  MDCACHE, which shares what it knows, is
set aside.
"""

import concurrent.futures
import contextlib
import dataclasses
import os

import pytest

from backends.fault import FaultOver
from backends.proxy_v4 import ProxyV4
from coherence.served import BUDGET, stop
from coherence.variants import ASIDE, EXPIRY, FOREVER, MDCACHE, NFSV4
from harness.answers import DENIED, NOENT, OK, PERM
from harness.ganesha import Settings
from harness.instance import Instance
from harness.nfs import VERSIONS, connect
from harness.rawnfs import auth_sys

pytestmark = pytest.mark.xdist_group("credentials")
ALICE, BOB, ROOT = 1000, 1001, 0
# Whom the second server refuses what is Alice's alone.
OTHERS = {"bob": BOB, "squashed-root": ROOT}
REFUSED = {DENIED, PERM}
# Alice's directories by their mode, made before the server starts: so what it
# knows of them it was told while a test ran.
PREPARED = {0o700: 30, 0o711: 6, 0o744: 6}
NAMES = [f"name-{number}" for number in range(10)]


class Squashing(ProxyV4):
    """The second server makes nobody of root."""

    squash = "Root_Squash"

    def start(self, namespace):
        super().start(namespace)
        for mode, count in PREPARED.items():
            for number in range(count):
                prepare(self.behind.directory / f"{mode:o}-{number}", mode)


def prepare(path, mode):
    """A directory of Alice's with files and a directory in it."""
    path.mkdir()
    (path / "inside").mkdir()
    for name in ("known", "other", *NAMES):
        (path / name).write_text("Alice's")
        (path / name).chmod(0o600)
    for each in (path, *path.iterdir()):
        os.chown(each, ALICE, ALICE)
    path.chmod(mode)


@pytest.fixture(scope="module")
def instance(stack, folder, request):
    """A server; "slow" with FAULT above FSAL_PROXY_V4."""
    rundir = folder("credentials")
    proxy = Squashing(rundir)
    slow = getattr(request, "param", None) == "slow"
    backend = FaultOver(rundir, proxy) if slow else proxy
    export = dataclasses.replace(backend.export(1, "/proxy"),
                                 extra=EXPIRY[ASIDE])
    one = Instance(
        rundir, dataclasses.replace(stack, scale=BUDGET, options=FOREVER),
        backend, Settings(nfsv4=NFSV4, blocks=[
            f"MDCACHE {{ {MDCACHE[ASIDE]} }}"]), [export])
    one.root = proxy.behind.directory
    yield one
    stop(one)


@pytest.fixture
def users(instance, report, version):
    """users(uid): a client with that user's credentials."""
    report(instance)
    with contextlib.ExitStack() as stack:
        yield lambda uid: stack.enter_context(contextlib.closing(connect(
            instance, version, "/proxy", credentials=auth_sys(uid, uid))))


@pytest.fixture(scope="module")
def private(instance):
    """private(mode): one of Alice's directories, not used before."""
    numbers = {mode: iter(range(count)) for mode, count in PREPARED.items()}
    return lambda mode: instance.root / f"{mode:o}-{next(numbers[mode])}"


def enter(client, path):
    """The directory's handle."""
    reply = client.lookup(client.root, os.fsencode(path.name))
    assert reply.status == OK
    return reply.handle


def fill(client, path):
    """Ask for all that may be known; the directory's handle."""
    here = enter(client, path)
    for _ in range(2):
        assert client.lookup(here, b"known").status == OK
        assert client.lookup(here, b"missing").status == NOENT
        assert set(client.readdir(here, plus=True).names) \
            >= {b"known", b"other"}
        assert client.access(here).status == OK
    return here


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("version", VERSIONS)
def test_filled_by_one(users, private, other):
    """Alice has seen all; nobody else learns what is there and what not."""
    path = private(0o700)
    alice, stranger = users(ALICE), users(OTHERS[other])
    here = fill(alice, path)
    theirs = enter(stranger, path)
    for _ in range(2):
        for name in (b"known", b"other", b"missing", b"never-asked-for"):
            assert stranger.lookup(theirs, name).status in REFUSED, name
        for plus in (False, True):
            assert stranger.readdir(theirs, plus).status in REFUSED
        assert stranger.create(theirs, b"new").status in REFUSED
        assert stranger.remove(theirs, b"known").status in REFUSED
    fill(alice, path)
    assert alice.lookup(here, b"new").status == NOENT


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("version", VERSIONS)
def test_refused_first(users, private, other):
    """A refusal is nobody else's, nor for ever."""
    path = private(0o700)
    alice, stranger = users(ALICE), users(OTHERS[other])
    theirs = enter(stranger, path)
    for _ in range(2):
        assert stranger.lookup(theirs, b"known").status in REFUSED
        assert stranger.lookup(theirs, b"missing").status in REFUSED
        assert stranger.readdir(theirs, plus=True).status in REFUSED
        fill(alice, path)


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("version", VERSIONS)
def test_may_pass_but_not_list(users, private, other):
    """Mode 0711: each name may be asked for, the names not be read."""
    path = private(0o711)
    alice, stranger = users(ALICE), users(OTHERS[other])
    fill(alice, path)
    theirs = enter(stranger, path)
    for _ in range(2):
        assert stranger.readdir(theirs, plus=True).status in REFUSED
        known = stranger.lookup(theirs, b"known")
        assert known.status == OK
        assert known.attributes.fileid == os.lstat(path / "known").st_ino
        assert stranger.lookup(theirs, b"missing").status == NOENT
        assert stranger.read(known.handle).status in REFUSED
        assert stranger.write(known.handle, 0, b"x").status in REFUSED
    fill(alice, path)


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("version", VERSIONS)
def test_may_list_but_not_pass(users, private, other):
    """Mode 0744: the names may be read, none be asked for."""
    path = private(0o744)
    alice, stranger = users(ALICE), users(OTHERS[other])
    fill(alice, path)
    theirs = enter(stranger, path)
    for _ in range(2):
        assert stranger.lookup(theirs, b"known").status in REFUSED
        assert stranger.lookup(theirs, b"missing").status in REFUSED


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("version", VERSIONS)
def test_permission_given_and_taken(users, private, other):
    """Alice's chmod counts at once, both ways."""
    path = private(0o700)
    alice, stranger = users(ALICE), users(OTHERS[other])
    here = fill(alice, path)
    theirs = enter(stranger, path)
    for _ in range(3):
        assert stranger.lookup(theirs, b"known").status in REFUSED
        assert alice.setattr(here, mode=0o755).status == OK
        fill(stranger, path)
        assert alice.setattr(here, mode=0o700).status == OK
        assert stranger.lookup(theirs, b"known").status in REFUSED
        assert stranger.lookup(theirs, b"missing").status in REFUSED
        assert stranger.readdir(theirs, plus=True).status in REFUSED


@pytest.mark.parametrize("version", VERSIONS)
def test_parent_of_a_private_directory(users, private):
    """".." is asked for where the directory may be passed only."""
    path = private(0o700)
    alice, root = users(ALICE), users(ROOT)
    here = alice.lookup(enter(alice, path), b"inside").handle
    assert alice.lookup_parent(here).status == OK
    assert alice.setattr(here, mode=0o700).status == OK
    assert alice.lookup_parent(here).status == OK
    assert root.lookup(here, b"name").status in REFUSED
    assert root.readdir(here).status in REFUSED


@pytest.mark.parametrize("instance", ("slow",), indirect=True)
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("version", VERSIONS)
def test_both_at_once(instance, users, private, other):
    """Those who wait for one fetch are not all of one mind."""
    path = private(0o700)
    alice, stranger = users(ALICE), users(OTHERS[other])
    mine, theirs = enter(alice, path), enter(stranger, path)
    with instance.backend.control() as control, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        control.latency("lookup,readdir,getattrs", fixed=5000)
        for number, name in enumerate(map(str.encode, NAMES)):
            for asked, want in ((name, OK), (b"no-" + name, NOENT)):
                pair = [(alice, mine), (stranger, theirs)]
                if number % 2:
                    pair.reverse()
                answers = {client: future for client, future in [
                    (client, pool.submit(client.lookup, here, asked))
                    for client, here in pair]}
                assert answers[alice].result().status == want
                assert answers[stranger].result().status in REFUSED
        listing = pool.submit(alice.readdir, mine, True)
        refused = pool.submit(stranger.readdir, theirs, True)
        assert len(listing.result().names) >= len(NAMES)
        assert refused.result().status in REFUSED
        control.clear()
