# SPDX-License-Identifier: LGPL-3.0-or-later
"""Changes made by a cluster's own client, seen through each version.

Exports of GLUSTER and CEPH whose administrator says nothing of freshness.
Versions 3, 4.0 and 4.1 look at the same directory: before each change they
have seen it by names, by a listing and by handles, missing names, too.
"""

import contextlib
import dataclasses
import itertools
import re

import pytest

from backends.gluster import VOLUME
from beside.remote import AUTO, STOCK_OPTIONS, one_at_a_time, serve
from coherence.served import stop
from harness.answers import NOENT, OK
from harness.nfs import VERSIONS, connect
from harness.wait import wait_for

pytestmark = pytest.mark.scale_only
NUMBERS = itertools.count()


class Place:
    """A new directory, its three observers and who changes it."""

    def __init__(self, instance, second, within):
        self._second, self._within = second, within
        self.path = f"beside-{next(NUMBERS)}"
        self._clients = [connect(instance, version) for version in VERSIONS]
        for client in self._clients:
            if client is self._clients[0]:
                assert client.mkdir(client.root, self.path.encode(),
                                    0o777).status == OK
            client.here = client.lookup(client.root,
                                        self.path.encode()).handle

    def close(self):
        for client in self._clients:
            client.close()

    def change(self, operation, name, *arguments):
        """By the cluster's client; names are relative to the directory."""
        if operation in ("rename", "link"):
            arguments = [f"{self.path}/{arguments[0]}"]
        self._second.ask(operation, f"{self.path}/{name}", *arguments)

    def see(self, **names):
        """Every version sees them as they are: attributes, or None.

        "data" is a file's content, "names" those in a directory.
        """
        names = {name.replace("_", "."): expected
                 for name, expected in names.items()}
        if self._within:
            wait_for(lambda: not any(list(self._wrong(client, names))
                                     for client in self._clients),
                     self._within, f"{names} to be seen", step=0.01)
        for client in self._clients * 2:
            assert not list(self._wrong(client, names))

    def _wrong(self, client, names):
        listed = client.readdir(client.here, plus=True).names
        for name, expected in names.items():
            reply = client.lookup(client.here, name.encode())
            there = name.encode() in listed
            if expected is None:
                if reply.status != NOENT or there:
                    yield f"{client.version} {name}: {reply.status}, {there}"
                continue
            if reply.status != OK or not there:
                yield f"{client.version} {name}: {reply.status}, {there}"
                continue
            for attributes in (reply.attributes,
                               listed[name.encode()][1],
                               client.getattr(reply.handle).attributes):
                yield from self._different(client, name, attributes, expected)
            if "data" in expected:
                data = client.read(reply.handle).data
                if data != expected["data"]:
                    yield f"{client.version} {name}: {data}"
            if "names" in expected:
                below = set(client.readdir(reply.handle).names)
                if below - {b".", b".."} != expected["names"]:
                    yield f"{client.version} {name}: {below}"

    @staticmethod
    def _different(client, name, attributes, expected):
        for field, value in expected.items():
            if field in ("data", "names"):
                continue
            if getattr(attributes, field) != value:
                yield (f"{client.version} {name}: {field} "
                       f"{getattr(attributes, field)}, not {value}")


@pytest.fixture(scope="module")
def clusters(stack, folder):
    """clusters(name): (the server, the second client), one at a time."""
    yield from one_at_a_time(stack, folder, "remote-", AUTO)


@pytest.fixture
def place(clusters, report, backend):
    instance, second = clusters(backend)
    report(instance)
    with contextlib.closing(Place(instance, second,
                                  AUTO[backend].within)) as one:
        yield one


def a_log_grows(place):
    place.change("create", "log")
    place.see(log={"size": 0, "data": b""})
    for number in range(1, 5):
        place.change("append", "log", "line\n")
        place.see(log={"size": 5 * number, "data": b"line\n" * number})


def an_editor_saves(place):
    place.change("create", "file")
    place.see(file={"size": 0}, file_new=None)
    for text in ("two and more", "3"):
        place.change("create", "file.new")
        place.change("append", "file.new", text)
        place.change("rename", "file.new", "file")
        place.see(file={"size": len(text), "data": text.encode()},
                  file_new=None)


def a_log_rotates(place):
    place.change("create", "log")
    place.change("append", "log", "old")
    place.see(log={"data": b"old"}, log_1=None)
    place.change("rename", "log", "log.1")
    place.change("create", "log")
    place.see(log={"data": b""}, log_1={"data": b"old"})


def attributes_change(place):
    place.change("create", "file")
    place.change("mkdir", "directory")
    place.see(file={"mode": 0o644}, directory={"mode": 0o755})
    for name in ("file", "directory"):
        place.change("chmod", name, 0o711)
        place.see(**{name: {"mode": 0o711}})
        place.change("chown", name, 123, 456)
        place.see(**{name: {"uid": 123, "gid": 456}})
        place.change("utimes", name, 10**9)
        place.see(**{name: {"mtime": 10**18}})


def a_missing_name_is_made(place):
    for name in ("one", "two", "three"):
        place.see(**{name: None})
        place.change("create", name)
        place.see(**{name: {"size": 0}})


def one_of_four_is_removed(place):
    names = ["a", "b", "c", "d"]
    for name in names:
        place.change("create", name)
    while names:
        place.see(**{name: {"size": 0} for name in names})
        gone = names.pop(len(names) // 2)
        place.change("unlink", gone)
        place.see(**{gone: None}, **{name: {"size": 0} for name in names})


def a_tree_is_copied_in(place):
    place.see(tree=None)
    place.change("mkdir", "tree")
    names = set()
    for number in range(10):
        place.change("create", f"tree/.f{number}.x")
        place.change("append", f"tree/.f{number}.x", "data")
        place.change("rename", f"tree/.f{number}.x", f"tree/f{number}")
        names.add(b"f%d" % number)
        if number % 4 == 1:
            place.see(tree={"names": set(names)})
    place.see(tree={"names": names})


def a_directory_is_made_again(place):
    for number in range(3):
        place.see(directory=None)
        place.change("mkdir", "directory")
        place.change("create", f"directory/file{number}")
        place.see(directory={"names": {b"file%d" % number}})
        place.change("unlink", f"directory/file{number}")
        place.see(directory={"names": set()})
        place.change("rmdir", "directory")


def a_file_is_truncated(place):
    place.change("create", "file")
    place.change("append", "file", "x" * 5000)
    place.see(file={"size": 5000, "data": b"x" * 5000})
    for size in (100, 0, 300):
        place.change("truncate", "file", size)
        place.see(file={"size": size})
    place.see(file={"data": bytes(300)})


def a_hard_link_is_made(place):
    place.change("create", "file")
    place.see(file={"nlink": 1}, second=None)
    place.change("link", "file", "second")
    place.see(file={"nlink": 2}, second={"nlink": 2})
    place.change("append", "second", "by the other name")
    place.see(file={"size": 17}, second={"size": 17})
    place.change("unlink", "file")
    place.see(file=None, second={"nlink": 1})


SCENARIOS = (a_log_grows, an_editor_saves, a_log_rotates, attributes_change,
             a_missing_name_is_made, one_of_four_is_removed,
             a_tree_is_copied_in, a_directory_is_made_again,
             a_file_is_truncated, a_hard_link_is_made)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("backend", [
    pytest.param(name, marks=pytest.mark.xdist_group(name + " remote"))
    for name in AUTO])
def test_seen(place, scenario):
    scenario(place)


@pytest.mark.parametrize("backend, words", [
    pytest.param("GLUSTER", "kept fresh by upcall", id="GLUSTER",
                 marks=pytest.mark.xdist_group("GLUSTER remote")),
    pytest.param("CEPH", "kept fresh by ask", id="CEPH",
                 marks=pytest.mark.xdist_group("CEPH remote"))])
def test_what_auto_takes(clusters, backend, words):
    instance, _ = clusters(backend)
    assert words in instance.server.log_text()


@pytest.mark.xdist_group("GLUSTER wrong options")
def test_volume_that_does_not_tell(stack, folder, report):
    """The log has the commands that would change it; the export has a TTL."""
    case = dataclasses.replace(
        AUTO["GLUSTER"], volume=STOCK_OPTIONS,
        options="Freshness = upcall; "
                "Attr_TTL = 2; Name_TTL = 2; Negative_TTL = 2;")
    instance = serve(folder("remote-untold"), stack, case)
    report(instance)
    second = instance.backend.second_client()
    try:
        log = instance.server.log_text()
        warning = re.search(r"WARN.* by ttl, not by upcall: (.*)", log)
        assert warning
        for words in ("features.cache-invalidation on",
                      "performance.stat-prefetch off"):
            assert f"gluster volume set {VOLUME} {words};" in warning[1]
        assert "kept fresh by ttl\n" in log
        with contextlib.closing(Place(instance, second, 6)) as place:
            a_missing_name_is_made(place)
    finally:
        second.stop()
        stop(instance)
