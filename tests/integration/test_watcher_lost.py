# SPDX-License-Identifier: LGPL-3.0-or-later
"""When the kernel cannot tell: it is said once, in plain words, and what is
served is still no older than the time to live."""

import contextlib
import os
import pathlib
import re
import subprocess
import time

import pytest

from beside.filesystems import SUBVOLUME, mount_new, supported
from beside.served import Freshness, Place, serve, stats
from coherence.served import stop
from harness.answers import OK
from harness.nfs import VERSIONS, connect
from harness.wait import wait_for

pytestmark = [pytest.mark.xdist_group("watcher"), pytest.mark.scale_only]
KIND = supported()[0]
# The queue of the kernel's that is passed over: its default is 16384 events.
MANY = 20000
# The status that says so.
XDEV = 18
NOTIFY = Freshness("Freshness = notify;", "", 2.0)
# On a server that has to do without: names and attributes add up, and MDCACHE
# counts in whole seconds.
TTL = Freshness("Freshness = notify; Attr_TTL = 1; Name_TTL = 1; "
                "Negative_TTL = 1;", "Attr_Expiration_Time = 1;", 6.0)


@pytest.fixture
def served(stack, folder, report):
    """served(freshness, ...): serve() for one test."""
    started = []

    def make(freshness, kind=KIND, **arguments):
        one = serve(folder("watcher"), stack, freshness, [kind], **arguments)
        started.append(one)
        report(one)
        return one

    yield make
    for one in started:
        stop(one)


def warnings(instance, words):
    """The log's warnings of SCALE's with all of these words."""
    return [line for line in instance.server.log_text().splitlines()
            if re.search(r":(WARN|CRIT|EVENT) :", line)
            and all(word in line for word in words)]


def change(place):
    """A bit of everything, as a scenario."""
    (place.here / "file").write_text("x")
    (place.here / "directory").mkdir()
    (place.here / "removed").touch()
    yield ["new", "directory/new"]
    (place.here / "file").write_text("longer")
    (place.here / "new").touch()
    (place.here / "directory" / "new").touch()
    os.unlink(place.here / "removed")
    os.chmod(place.here / "directory", 0o700)
    yield


def test_the_queue_runs_over(served):
    """While the server is stopped: then all is forgotten, also in MDCACHE."""
    instance = served(NOTIFY)
    with contextlib.closing(Place(instance, KIND, NOTIFY.within)) as place:
        here = place.here
        for number in range(8):
            (here / f"file-{number}").write_text("x")
        (here / "directory").mkdir()
        (here / "directory" / "inside").touch()
        place.agree()
        place.agree()
        other = instance.backend.path(KIND, "noise")
        other.mkdir()
        place.agree()
        instance.server.freeze()
        try:
            for number in range(MANY):
                path = other / f"{number}"
                os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
                os.chmod(path, 0o600)
            # These come when the queue is full.
            (here / "file-0").write_text("changed")
            os.chmod(here / "file-1", 0o600)
            os.unlink(here / "file-2")
            os.rename(here / "file-3", here / "directory" / "moved")
            (here / "new").touch()
            os.rename(here / "directory", place.outside / "directory")
            (here / "directory").mkdir()
            os.link(here / "file-4", place.outside / "link")
        finally:
            instance.server.thaw()
        place.agree()
        watcher = stats(instance)["watcher"]
        assert watcher["counters"]["overflows"] >= 1
        assert all(one["watched"] for one in watcher["file_systems"])
        # And from then on it is told again.
        for _ in range(3):
            place.follow(change_again)
    said = warnings(instance, ("more changes", "forgotten"))
    assert len(said) == 1, said


def change_again(place):
    yield ["again"]
    (place.here / "again").write_text("x")
    yield
    (place.here / "again").write_text("longer")
    yield
    os.unlink(place.here / "again")
    yield


def test_without_the_capability(served):
    """As in an ordinary container."""
    instance = served(TTL, launcher=(
        "setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"))
    one, = stats(instance)["watcher"]["file_systems"]
    assert not one["watched"] and "CAP_SYS_ADMIN" in one["why_not"]
    status = subprocess.run(
        ["grep", "CapEff", f"/proc/{instance.server.pid}/status"],
        check=True, capture_output=True, text=True).stdout
    assert not int(status.split()[1], 16) & 1 << 21
    said = warnings(instance, ("CAP_SYS_ADMIN", "Attr_TTL"))
    assert len(said) == 1, said
    with contextlib.closing(Place(instance, KIND, TTL.within)) as place:
        place.follow(change)


@pytest.mark.parametrize("kind", [SUBVOLUME] * ("btrfs" in supported()))
def test_a_file_system_without_support(served, kind):
    """VFS has handles of it, and the kernel does not tell of it."""
    instance = served(TTL, kind)
    said = warnings(instance, ("does not watch", "subvolume", "Attr_TTL"))
    assert len(said) == 1, said
    with contextlib.closing(Place(instance, kind, TTL.within)) as place:
        place.follow(change)


def test_the_file_system_is_unmounted(served):
    """Lazily, while it is exported and in use: who has it open goes on."""
    instance = served(TTL)
    with contextlib.closing(Place(instance, KIND, TTL.within)) as place, \
            contextlib.ExitStack() as opened:
        place.follow(change)
        for name in ("here", "outside"):
            parent = os.open(getattr(place, name).parent, os.O_PATH)
            opened.callback(os.close, parent)
            setattr(place, name, pathlib.Path(f"/proc/self/fd/{parent}",
                                              place.name))
        for where in (f"{KIND}-again", KIND):
            instance.ns.run("umount", "-l", instance.rundir / where)
        instance.server.wait_log("does not watch .*no longer mounted")
        place.follow(change_again)
    assert len(warnings(instance, ("no longer mounted",))) == 1


def test_a_mount_comes_and_goes(served):
    """What it covers is not served from memory, and is there again after it.

    FSAL VFS of 4.3 serves what is mounted when the server starts; for the
    name of a later mount, and for a listing with it, it has an error.
    """
    instance = served(NOTIFY)
    with contextlib.closing(Place(instance, KIND, NOTIFY.within)) as place, \
            contextlib.ExitStack() as opened:
        clients = [opened.enter_context(contextlib.closing(
            connect(instance, version, f"/{KIND}"))) for version in VERSIONS]
        point = place.here / "point"
        point.mkdir()
        (point / "covered").write_text("x")
        (place.here / "file").write_text("x")
        place.agree()
        place.agree()
        where = instance.rundir / KIND / "exported" / place.name / "point"
        mount_new(instance.ns, "tmpfs", where)
        begin = time.monotonic()
        for client in clients:
            here = place.handles[client.version]
            wait_for(lambda: client.lookup(here, b"point").status == XDEV,
                     NOTIFY.within, "the mount to be seen")
            assert client.lookup(here, b"file").status == OK
        assert time.monotonic() - begin < NOTIFY.within
        instance.ns.run("umount", where)
        place.agree()
        (point / "covered").write_text("changed")
        place.agree()
