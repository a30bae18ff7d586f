# SPDX-License-Identifier: LGPL-3.0-or-later
"""Names that come and go are right at once, for whoever asks.

What is known is known for ever here, unless a test says otherwise: only a
change can be the reason that it is forgotten.  MDCACHE is set aside, so that
each request arrives at what is below it.
"""

import contextlib
import itertools
import os
import random
import threading
import time

import pytest

from coherence.served import faulty, stop
from coherence.variants import FOREVER
from harness.answers import (EXCLUSIVE, GUARDED, NOENT, OK, STALE,
                             UNCHECKED, BADHANDLE)
from harness.nfs import VERSIONS, connect

pytestmark = pytest.mark.xdist_group("names")
GONE = {STALE, BADHANDLE, NOENT}
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def instance(stack, folder):
    one = faulty(folder("names"), stack, FOREVER)
    yield one
    stop(one)


@pytest.fixture
def clients(instance, report):
    """{version: client}, each with a new directory's handle as `here`."""
    report(instance)
    name = b"test-%d" % next(NUMBERS)
    found = {version: connect(instance, version) for version in VERSIONS}
    found["3"].mkdir(found["3"].root, name)
    for client in found.values():
        client.here = client.lookup(client.root, name).handle
        client.path = instance.root / os.fsdecode(name)
    yield found
    for client in found.values():
        client.close()


def made(client, name, **arguments):
    """A new file's handle."""
    reply = client.create(client.here, name, **arguments)
    assert reply.status == OK
    return reply.handle


def directory(client, name):
    reply = client.mkdir(client.here, name)
    assert reply.status == OK
    return reply.handle


def by_rename(client, name):
    made(client, b"other")
    return client.rename(client.here, b"other", client.here, name)


def by_rename_from_elsewhere(client, name):
    elsewhere = directory(client, b"elsewhere")
    assert client.create(elsewhere, b"other").status == OK
    reply = client.rename(elsewhere, b"other", client.here, name)
    assert client.remove(client.here, b"elsewhere", True).status == OK
    return reply


def by_rename_of_directory(client, name):
    directory(client, b"other")
    return client.rename(client.here, b"other", client.here, name)


def by_link(client, name):
    reply = client.link(made(client, b"first"), client.here, name)
    assert client.remove(client.here, b"first").status == OK
    return reply


WAYS = {
    "create": lambda client, name: client.create(
        client.here, name, UNCHECKED),
    "guarded": lambda client, name: client.create(
        client.here, name, GUARDED),
    "exclusive": lambda client, name: client.create(
        client.here, name, EXCLUSIVE, verifier=bytes(7) + b"\1"),
    "mkdir": lambda client, name: client.mkdir(client.here, name),
    "symlink": lambda client, name: client.symlink(
        client.here, name, b"nowhere/else"),
    "mkfifo": lambda client, name: client.mkfifo(client.here, name),
    "rename": by_rename,
    "rename_from_elsewhere": by_rename_from_elsewhere,
    "rename_of_directory": by_rename_of_directory,
    "link": by_link,
}
DIRECTORIES = {"mkdir", "rename_of_directory"}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("version", VERSIONS)
def test_negative_turns_positive(clients, version, way):
    maker = clients[version]
    for number in range(4):
        name = b"name-%d" % number
        for client in clients.values():
            for _ in range(2):
                assert client.lookup(client.here, name).status == NOENT
        assert WAYS[way](maker, name).status == OK
        truth = os.lstat(maker.path / os.fsdecode(name))
        for client in clients.values():
            reply = client.lookup(client.here, name)
            assert reply.status == OK, \
                f"v{client.version} does not see what was made"
            assert reply.attributes.fileid == truth.st_ino
            assert reply.attributes.nlink == truth.st_nlink
            names = client.readdir(client.here).names
            assert names[name][0] == truth.st_ino
        assert maker.remove(maker.here, name, way in DIRECTORIES).status \
            == OK
        for client in clients.values():
            assert client.lookup(client.here, name).status == NOENT
            assert name not in client.readdir(client.here).names


@pytest.mark.parametrize("version", VERSIONS)
def test_missing_directory_comes(clients, version):
    """What is missing on the way to a name is found when it is made."""
    maker = clients[version]
    for client in clients.values():
        assert client.lookup(client.here, b"include").status == NOENT
    below = directory(maker, b"include")
    assert maker.create(below, b"stdio.h").status == OK
    for client in clients.values():
        found = client.lookup(client.here, b"include")
        assert found.status == OK
        assert client.lookup(found.handle, b"stdio.h").status == OK
        assert client.lookup(found.handle, b"none.h").status == NOENT


class Watchers:
    """Threads that look names up, each on a connection of its own.

    A lookup that begins after a change was answered must see it; one that
    ended before the change began must not.
    """

    def __init__(self, instance, path, version, threads=4):
        self._end = threading.Event()
        self.names = []
        self.begun, self.done = {}, {}
        self.wrong = []
        self.looks = 0
        self._threads = [
            threading.Thread(target=self._watch, args=(number,))
            for number in range(threads)]
        self._clients = [connect(instance, version) for _ in self._threads]
        for client in self._clients:
            client.here = client.lookup(client.root, path).handle

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        for thread in self._threads:
            thread.join()
        for client in self._clients:
            client.close()

    def _watch(self, number):
        client = self._clients[number]
        rng = random.Random(number)
        while not self._end.is_set():
            names = self.names[-3:]
            if not names:
                time.sleep(0.001)
                continue
            name = rng.choice(names)
            begin = time.monotonic()
            try:
                status = client.lookup(client.here, name).status
            except Exception as error:
                self.wrong.append((name, repr(error)))
                return
            self._judge(name, status, begin, time.monotonic())
            self.looks += 1

    def _judge(self, name, status, begin, end):
        """`done` and `begun` have the changes' times, as (there, when)."""
        done = [there for there, when in list(self.done[name])
                if when < begin]
        begun = [there for there, when in list(self.begun[name])
                 if when < end]
        if len(done) == len(begun) and status != (OK if done[-1] else NOENT):
            self.wrong.append((name, status, "there" if done[-1] else "gone"))

    def add(self, name):
        """A name that is not there, to be looked up from now on."""
        self.begun[name], self.done[name] = [(False, 0.0)], [(False, 0.0)]
        self.names.append(name)

    def change(self, name, there, function):
        """Make a change after which the name is there, or gone."""
        self.begun[name].append((there, time.monotonic()))
        reply = function()
        assert reply.status == OK, f"{name}: {reply.status}"
        self.done[name].append((there, time.monotonic()))


@contextlib.contextmanager
def slow(instance, **delay):
    """The backend's own calls take a while, each another."""
    with instance.backend.control() as control:
        control.latency("lookup,getattrs,readdir,open2,unlink,rename,mkdir,"
                        "link", **(delay or {"uniform": (0, 1500)}))
        yield
        control.clear()


@pytest.mark.parametrize("way", ("guarded", "mkdir", "rename", "link"))
@pytest.mark.parametrize("version", VERSIONS)
def test_lookups_race_with_changes(clients, instance, version, way):
    """Made and removed again and again under the watchers' eyes."""
    maker = clients[version]
    with slow(instance), Watchers(
            instance, os.fsencode(maker.path.name), version) as watchers:
        for number in range(25):
            name = b"name-%d" % number
            watchers.add(name)
            time.sleep(0.002)
            watchers.change(name, True, lambda: WAYS[way](maker, name))
            time.sleep(0.004)
            watchers.change(name, False, lambda: maker.remove(
                maker.here, name, way in DIRECTORIES))
            time.sleep(0.002)
            watchers.change(name, True, lambda: WAYS[way](maker, name))
    assert not watchers.wrong, watchers.wrong[:5]
    assert watchers.looks > 50


@pytest.mark.parametrize("version", VERSIONS)
def test_listings_race_with_changes(clients, instance, version):
    """After all is quiet the directory is as the backend has it."""
    maker = clients[version]
    others = [connect(instance, version) for _ in range(3)]
    end = threading.Event()

    def read(client):
        while not end.is_set():
            client.readdir(maker.here, plus=True)

    with slow(instance):
        for _ in range(6):
            end.clear()
            threads = [threading.Thread(target=read, args=(client,))
                       for client in others]
            for thread in threads:
                thread.start()
            for number in range(6):
                assert maker.create(maker.here, b"n%d" % number).status == OK
                if number % 2:
                    assert maker.remove(
                        maker.here, b"n%d" % (number - 1)).status == OK
            end.set()
            for thread in threads:
                thread.join()
            want = {os.fsencode(name) for name in os.listdir(maker.path)}
            for client in clients.values():
                names = set(client.readdir(client.here).names)
                assert names - {b".", b".."} == want
            for name in want:
                assert maker.remove(maker.here, name).status == OK
    for client in others:
        client.close()


@pytest.mark.parametrize("version", VERSIONS)
def test_rename_over_existing(clients, version):
    maker = clients[version]
    source, target = made(maker, b"source"), made(maker, b"target")
    for client in clients.values():
        for name in (b"source", b"target"):
            assert client.lookup(client.here, name).status == OK
    moved = maker.getattr(source).attributes.fileid
    assert maker.rename(maker.here, b"source", maker.here, b"target") \
        .status == OK
    for client in clients.values():
        assert client.lookup(client.here, b"source").status == NOENT
        found = client.lookup(client.here, b"target")
        assert found.attributes.fileid == moved
        assert found.attributes.nlink == 1
    gone = maker.getattr(target)
    assert gone.status in GONE or gone.attributes.nlink == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_rename_over_one_of_two_names(clients, version):
    maker = clients[version]
    target = made(maker, b"target")
    assert maker.link(target, maker.here, b"second").status == OK
    made(maker, b"source")
    for client in clients.values():
        found = client.lookup(client.here, b"second")
        assert found.attributes.nlink == 2
        client.target = found.handle
    assert maker.rename(maker.here, b"source", maker.here, b"target") \
        .status == OK
    truth = os.lstat(maker.path / "second")
    for client in clients.values():
        for reply in (client.lookup(client.here, b"second"),
                      client.getattr(client.target)):
            assert reply.status == OK
            assert reply.attributes.nlink == 1
            assert reply.attributes.ctime == truth.st_ctime_ns


@pytest.mark.parametrize("version", VERSIONS)
def test_rename_over_empty_directory(clients, version):
    maker = clients[version]
    source, target = directory(maker, b"source"), directory(maker, b"target")
    assert maker.create(source, b"inside").status == OK
    for client in clients.values():
        here = client.lookup(client.here, b"target")
        assert client.lookup(here.handle, b"inside").status == NOENT
    before = maker.getattr(maker.here).attributes.nlink
    assert maker.rename(maker.here, b"source", maker.here, b"target") \
        .status == OK
    for client in clients.values():
        here = client.lookup(client.here, b"target")
        assert client.lookup(here.handle, b"inside").status == OK
        assert client.getattr(client.here).attributes.nlink == before - 1
    gone = maker.getattr(target)
    assert gone.status in GONE or gone.attributes.nlink == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_directory_moves(clients, version):
    """".." is the new parent, and both parents' nlink is right."""
    maker = clients[version]
    one, two = directory(maker, b"one"), directory(maker, b"two")
    moving = maker.mkdir(one, b"moving").handle
    inodes = {name: os.lstat(maker.path / name).st_ino
              for name in ("one", "two")}
    for client in clients.values():
        here = client.lookup(client.here, b"one").handle
        client.moving = client.lookup(here, b"moving").handle
        assert client.lookup_parent(client.moving).attributes.fileid == \
            inodes["one"]
    for source, to, parent in ((one, two, "two"), (two, one, "one"),
                               (one, two, "two")):
        assert maker.rename(source, b"moving", to, b"moving").status == OK
        for client in clients.values():
            assert client.lookup_parent(client.moving).attributes.fileid \
                == inodes[parent]
            for name in ("one", "two"):
                here = client.lookup(client.here, name.encode())
                assert here.attributes.nlink == \
                    os.lstat(maker.path / name).st_nlink
                assert (client.lookup(here.handle, b"moving").status == OK) \
                    == (name == parent)
            listed = client.readdir(client.moving, plus=True).names
            if b".." in listed:
                assert listed[b".."][0] == inodes[parent]
    assert maker.getattr(moving).status == OK


@pytest.mark.parametrize("version", VERSIONS)
def test_unlink_with_links_left(clients, version):
    maker = clients[version]
    made(maker, b"n0")
    first = maker.lookup(maker.here, b"n0").handle
    for number in range(1, 4):
        assert maker.link(first, maker.here, b"n%d" % number).status == OK
        for client in clients.values():
            for other in range(number + 1):
                assert client.lookup(client.here, b"n%d" % other) \
                    .attributes.nlink == number + 1
    for number in range(3):
        assert maker.remove(maker.here, b"n%d" % number).status == OK
        for client in clients.values():
            assert client.lookup(client.here, b"n%d" % number).status \
                == NOENT
            left = client.lookup(client.here, b"n3")
            assert left.attributes.nlink == 3 - number
            assert client.getattr(left.handle).attributes.nlink == 3 - number
    assert maker.remove(maker.here, b"n3").status == OK
    gone = maker.getattr(first)
    assert gone.status in GONE or gone.attributes.nlink == 0


def truncate_by_setattr(client, name, handle):
    del name
    return client.setattr(handle, size=0)


def truncate_by_create(client, name, handle):
    del handle
    return client.create(client.here, name, UNCHECKED, truncate=True)


@pytest.mark.parametrize("how", (truncate_by_setattr, truncate_by_create))
@pytest.mark.parametrize("version", VERSIONS)
def test_truncation(clients, version, how):
    maker = clients[version]
    handle = made(maker, b"file")
    assert maker.write(handle, 0, b"x" * 5000).status == OK
    for client in clients.values():
        found = client.lookup(client.here, b"file")
        assert found.attributes.size == 5000
        client.file = found.handle
        assert client.read(client.file).data == b"x" * 5000
    assert how(maker, b"file", handle).status == OK
    for client in clients.values():
        assert client.lookup(client.here, b"file").attributes.size == 0
        assert client.getattr(client.file).attributes.size == 0
        assert client.read(client.file).data == b""
    assert maker.write(handle, 0, b"new").status == OK
    for client in clients.values():
        assert client.getattr(client.file).attributes.size == 3
        assert client.read(client.file).data == b"new"
