# SPDX-License-Identifier: LGPL-3.0-or-later
"""The watcher begins and ends with what is served, whatever happens then."""

import contextlib
import dataclasses
import os
import pathlib
import threading

import pytest

from beside.filesystems import supported
from beside.looker import find
from beside.served import FRESHNESS, Place, serve, stats
from beside.world import World
from coherence.served import stop
from harness.answers import OK
from harness.nfs import VERSIONS, connect
from harness.wait import wait_for

pytestmark = [pytest.mark.xdist_group("watcher"), pytest.mark.scale_only]
KIND = supported()[0]
NOTIFY = FRESHNESS["notify"]


@pytest.fixture
def instance(stack, folder, report):
    one = serve(folder("life"), stack, NOTIFY, [KIND])
    report(one)
    yield one
    stop(one)


def change(place, text):
    """Some of everything that is remembered."""
    here = place.here
    (here / "file").write_text(text)
    os.rename(here / "old", here / text)
    (here / "old").write_text(f"new {text}")
    (here / "directory" / text).mkdir()
    os.chmod(here / "directory", 0o700 if here.stat().st_mode & 7 else 0o755)


def test_changed_while_it_was_not_exported(instance):
    """And what is made an export of while the server runs is watched."""
    server, export = instance.server, instance.backend.exports(NOTIFY)[0]
    with contextlib.closing(Place(instance, KIND, NOTIFY.within)) as place:
        (place.here / "old").touch()
        (place.here / "directory").mkdir()
        place.agree()
        place.agree()
        for turn in ("one", "two"):
            server.remove_export(export.export_id)
            assert not stats(instance)["watcher"]["file_systems"]
            change(place, turn)
            server.add_export(export)
            place.agree()
            change(place, turn + "-more")
            place.agree()


def test_one_of_two_exports_goes(instance):
    """The other goes on, and is told."""
    server, export = instance.server, instance.backend.exports(NOTIFY)[0]
    with contextlib.closing(Place(instance, KIND, NOTIFY.within)) as place:
        (place.here / "old").touch()
        (place.here / "directory").mkdir()
        for turn in range(3):
            place.agree()
            server.add_export(dataclasses.replace(
                export, export_id=7, pseudo="/second"))
            client = connect(instance, VERSIONS[turn], "/second")
            here = find(client, client.root, os.fsencode(place.name),
                        NOTIFY.within)
            assert client.create(here, b"by the second").status == OK
            place.agree()
            change(place, f"before-{turn}")
            place.agree()
            client.close()
            server.remove_export(7)
            change(place, f"after-{turn}")
            place.agree()
            os.unlink(place.here / "by the second")


def test_the_configuration_is_read_again(instance):
    """SIGHUP leaves what is watched alone."""
    with contextlib.closing(Place(instance, KIND, NOTIFY.within)) as place:
        (place.here / "old").touch()
        (place.here / "directory").mkdir()
        place.agree()
        for turn in range(2):
            instance.server.reload()
            instance.server.wait_log(
                "(?s:.*Reread exports complete){%d}" % (turn + 1))
            change(place, f"turn-{turn}")
            place.agree()
        assert all(one["watched"] for one in
                   stats(instance)["watcher"]["file_systems"])


@pytest.mark.parametrize("version", VERSIONS[1:])
def test_what_is_open_is_removed(instance, version):
    """Who has it open by NFS reads and writes it to the end."""
    with contextlib.closing(Place(instance, KIND, NOTIFY.within)) as place, \
            contextlib.closing(connect(instance, version, f"/{KIND}")) \
            as client:
        here = place.handles[version]
        for name in ("removed", "replaced"):
            (place.here / name).write_text("first")
        place.agree()
        opened = {name: client.open_file(here, name).state
                  for name in (b"removed", b"replaced")}
        place.agree()
        os.unlink(place.here / "removed")
        (place.here / "new").write_text("another file")
        os.rename(place.here / "new", place.here / "replaced")
        place.agree()
        for state in opened.values():
            found = client.getattr(state.handle)
            assert found.status == OK and found.attributes.nlink == 0
            assert client.write(state.handle, 5, b" and second",
                                state.stateid).status == OK
            assert client.read(state.handle, stateid=state.stateid).data \
                == b"first and second"
        (place.here / "removed").write_text("comes again")
        place.agree()
        for state in opened.values():
            assert client.close_file(state).status == OK
        place.agree()


def test_what_is_removed_gives_its_space_back(instance):
    """Nobody keeps it open for the sake of a read or write that is over."""
    with contextlib.closing(Place(instance, KIND, NOTIFY.within)) as place:
        for version in VERSIONS:
            with contextlib.closing(connect(
                    instance, version, f"/{KIND}")) as client:
                name = f"file-{version}"
                (place.here / name).write_text("x" * 5000)
                handle = find(client, place.handles[version],
                              os.fsencode(name), NOTIFY.within)
                assert client.read(handle).status == OK
                assert client.write(handle, 0, b"y").status == OK
                (place.here / name).unlink()
        place.change = False
        place.agree()
        wait_for(lambda: not deleted(instance.server.pid), NOTIFY.within,
                 "the removed files to be closed")


def deleted(pid):
    """What a process has open that has no name any more."""
    found = []
    for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            target = os.readlink(link)
            if target.endswith(" (deleted)") and "/exported/" in target:
                found.append(target)
    return found


def test_it_starts_and_stops_under_fire(stack, folder, report):
    """While others change what it is about to serve, serves, and served."""
    one = serve(folder("fire"), stack, NOTIFY, [KIND])
    report(one)
    path, end = one.backend.path, threading.Event()
    here, outside = (path(KIND, "exported", "fire"),
                     path(KIND, "outside", "fire"))
    here.mkdir()
    outside.mkdir()
    world = World(here, outside, "fire")

    def fire():
        while not end.is_set():
            world.run(0.2)

    thread = threading.Thread(target=fire)
    thread.start()
    try:
        for _ in range(3):
            clients = [connect(one, version, f"/{KIND}")
                       for version in VERSIONS]
            for client in clients:
                for name in (client.readdir(find(
                        client, client.root, b"fire", NOTIFY.within),
                        plus=True).names or ()):
                    client.lookup(client.root, name)
            assert one.server.stop() == 0
            assert not one.server.crashes()
            for client in clients:
                client.close()
            one.server.start()
    finally:
        end.set()
        thread.join()
        stop(one)
