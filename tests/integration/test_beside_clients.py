# SPDX-License-Identifier: LGPL-3.0-or-later
"""Changes beside NFS while clients make their own, and what they cost."""

import contextlib
import os
import threading
import time

import pytest

from beside.filesystems import supported
from beside.scenarios import SCENARIOS
from beside.served import BLIND, Place, serve, stats
from coherence.served import stop
from harness.answers import EXIST, NOENT, OK, SERVERFAULT
from harness.ganesha import Export
from harness.nfs import VERSIONS, connect
from harness.rawnfs import NoReply
from harness.wait import wait_for

pytestmark = [pytest.mark.xdist_group("beside clients"),
              pytest.mark.scale_only]
KIND = supported()[0]
MANY, BURST = 1000, 20000
# What MDCACHE holds of what SCALE told it, at most.
MDCACHE_SECONDS = 2.1


@pytest.fixture(scope="module")
def instance(stack, folder, freshness):
    one = serve(folder("clients"), stack, freshness, [KIND])
    yield one
    stop(one)


@pytest.fixture
def place(instance, report, freshness):
    report(instance)
    with contextlib.closing(Place(instance, KIND, freshness.within)) as one:
        yield one


@pytest.fixture
def clients(instance):
    with contextlib.ExitStack() as stack:
        yield {version: stack.enter_context(contextlib.closing(
            connect(instance, version, f"/{KIND}"))) for version in VERSIONS}


def test_a_burst(place, clients, freshness):
    """Twenty thousand files come into a listed directory, change, and go."""
    names = {f"file-{number}".encode() for number in range(BURST)}
    late = max(10, freshness.within)    # a listing takes its time

    def listed(client):
        found = client.readdir(place.handles[client.version], plus=True,
                               most=1 << 17).names
        return {name: parts[1] for name, parts in found.items()
                if name not in (b".", b"..")}

    assert all(not listed(client) for client in clients.values())
    for name in names:
        os.close(os.open(place.here / os.fsdecode(name),
                         os.O_CREAT | os.O_WRONLY, 0o644))
    for client in clients.values():
        wait_for(lambda: set(listed(client)) == names, late, "all names")
    for name in names:
        os.chmod(place.here / os.fsdecode(name), 0o600)
    time.sleep(freshness.within)
    for client in clients.values():
        for name in sorted(names)[::1000]:
            found = client.lookup(place.handles[client.version], name)
            assert found.attributes.mode == 0o600
    assert {found.mode for found in listed(client).values()} == {0o600}
    left = set(sorted(names)[::1000])
    for name in names - left:
        os.unlink(place.here / os.fsdecode(name))
    time.sleep(freshness.within)
    for client in clients.values():
        assert set(listed(client)) == left
    place.agree()


def test_others_change_what_clients_change(place, clients):
    """Clients and others make and remove the same names, all at once."""
    place.change = False
    names = [b"n%d" % number for number in range(8)]
    end, errors = threading.Event(), []
    (place.here / "below").mkdir()
    place.agree()

    def by_client(client):
        here = place.handles[client.version]
        number = 0
        # Ganesha, stock too, has no answer for what goes in that moment:
        # version 3 gets none, version 4 SERVERFAULT (beside/looker.py).
        client.set_timeout(3)
        client.reconnect()
        try:
            while not end.is_set():
                number += 1
                name, other = names[number % 8], names[number * 3 % 7]
                done = (client.create(here, name, mode=0o600),
                        client.lookup(here, name),
                        client.rename(here, name, here, other),
                        client.mkdir(here, b"d%d" % (number % 3)),
                        client.remove(here, b"d%d" % (number % 3), True),
                        client.remove(here, other))
                bad = {reply.status for reply in done} - {
                    OK, NOENT, EXIST, 66, 21, 20, 70, 10001, SERVERFAULT}
                assert not bad, bad
        except NoReply:
            client.reconnect()
        except Exception as error:
            errors.append((client.version, error))

    threads = [threading.Thread(target=by_client, args=(client,))
               for client in clients.values()]
    for thread in threads:
        thread.start()
    until, number = time.monotonic() + 4, 0
    while time.monotonic() < until:
        number += 1
        path = place.here / os.fsdecode(names[number * 5 % 8])
        with contextlib.suppress(OSError):
            path.write_text(f"{number}")
        with contextlib.suppress(OSError):
            os.rename(path, place.here / f"mine-{number % 4}")
        with contextlib.suppress(OSError):
            os.rmdir(place.here / f"d{number % 3}")
        with contextlib.suppress(OSError):
            os.mkdir(place.here / f"d{number % 3}")
        with contextlib.suppress(OSError):
            os.unlink(place.here / f"mine-{number * 3 % 4}")
        time.sleep(0.002 if number % 50 else 0.1)
    end.set()
    for thread in threads:
        thread.join()
    assert not errors, errors
    place.agree()


@pytest.mark.parametrize("chunks", ("SCALE's", "MDCACHE's"))
def test_listings_while_others_change(stack, folder, report, freshness,
                                      chunks):
    """Page by page: what stays is listed, and by SCALE not twice.

    MDCACHE goes back to a chunk's begin when the place in it where it would
    go on was removed; with Dir_Chunk = 0 it has none.
    """
    own = chunks == "SCALE's"
    instance = serve(folder("listings"), stack, freshness, [KIND],
                     mdcache="Dir_Chunk = 0;" if own else "")
    report(instance)
    stays = {b"stays-%d" % number for number in range(MANY)}
    end, wrong, listings = threading.Event(), [], []

    def lists(client, here):
        client.twice = not own
        try:
            while not end.is_set():
                names = client.readdir(here, plus=True, most=4096).names
                # None: one of them went between listing and looking.
                if names is not None and not stays <= set(names):
                    wrong.append(sorted(stays - set(names))[:5])
                listings.append(names is not None)
        except Exception as error:
            wrong.append(error)

    try:
        with contextlib.closing(Place(instance, KIND, freshness.within)) \
                as place, contextlib.ExitStack() as opened:
            for name in stays:
                (place.here / os.fsdecode(name)).touch()
            threads = [threading.Thread(target=lists, args=(
                opened.enter_context(contextlib.closing(connect(
                    instance, version, f"/{KIND}"))),
                place.handles[version])) for version in VERSIONS * 2]
            for thread in threads:
                thread.start()
            until, number = time.monotonic() + 5, 0
            while time.monotonic() < until:
                number += 1
                path = place.here / f"goes-{number * 7 % 40}"
                path.touch()
                os.rename(path, place.here / f"moved-{number % 40}")
                time.sleep(0.02)
                (place.here / f"moved-{number * 3 % 40}").unlink(True)
                time.sleep(0.02)
            end.set()
            for thread in threads:
                thread.join()
            assert not wrong, wrong[:5]
            assert sum(listings) > 10
            place.agree()
    finally:
        stop(instance)


def counts(instance):
    """(invalidations by source, calls to the backend by operation)."""
    total = stats(instance)["total"]
    return total["invalidations"], {
        name: call["count"] for name, call in total["calls"].items()}


def grown(after, before):
    """What has grown, by how much."""
    return {name: value - before.get(name, 0)
            for name, value in after.items() if value != before.get(name, 0)}


@pytest.mark.parametrize("version", VERSIONS)
def test_own_changes_are_not_told_back(instance, place, clients, version):
    """What was changed by NFS is right already."""
    client, here = clients[version], place.handles[version]
    place.change = False
    client.readdir(here, plus=True)
    time.sleep(0.5)
    before, _ = counts(instance)
    for number in range(50):
        name = b"own-%d" % number
        assert client.create(here, name).status == OK
        handle = client.lookup(here, name).handle
        assert client.write(handle, 0, b"x" * 100).status == OK
        assert client.setattr(handle, mode=0o600).status == OK
        assert client.link(handle, here, b"link").status == OK
        assert client.rename(here, b"link", here, b"renamed").status == OK
        assert client.remove(here, b"renamed").status == OK
        assert client.remove(here, name).status == OK
    time.sleep(0.5)
    after, _ = counts(instance)
    told = grown(after, before)
    assert told["own_change"] >= 300 and "notify" not in told, told
    place.agree()


def test_what_a_foreign_change_costs(instance, place, clients):
    """A name comes into a directory of a thousand: no more is asked again
    than this name and the directory's attributes."""
    for number in range(MANY):
        (place.here / f"file-{number}").write_text("x")

    def listed(client):
        return set(client.readdir(place.handles[client.version], plus=True)
                   .names) - {b".", b".."}

    for client in clients.values():
        wait_for(lambda: len(listed(client)) == MANY, place.within + 2,
                 "all names")
    time.sleep(MDCACHE_SECONDS)
    before, calls_before = counts(instance)
    (place.here / "new").write_text("x")
    for client in clients.values():
        here = place.handles[client.version]
        wait_for(lambda: client.lookup(here, b"new").status == OK,
                 place.within, "the new name", step=0.01)
        assert b"new" in listed(client)
        for number in range(60):
            assert client.lookup(here, b"none-%d" % number).status == NOENT
    time.sleep(MDCACHE_SECONDS)
    for client in clients.values():
        assert len(listed(client)) == MANY + 1
        for number in range(0, MANY, 20):
            assert client.lookup(place.handles[client.version],
                                 b"file-%d" % number).status == OK
    after, calls_after = counts(instance)
    calls = grown(calls_after, calls_before)
    told = grown(after, before).get("notify", 0)
    assert 1 <= told <= 8, told
    assert "readdir" not in calls, calls
    assert sum(calls.get(name, 0) for name in (
        "lookup", "getattrs", "create_handle")) <= 8, calls


VFS = "FSAL { Name = VFS; }"
OTHERS = {
    "plain": VFS,
    "null": f"FSAL {{ Name = NULL; {VFS} }}",
}


@pytest.mark.parametrize("fsal", OTHERS.values(), ids=OTHERS)
def test_an_export_beside_scale(stack, folder, report, freshness, fsal):
    """What is changed through an export of the same file system that SCALE
    does not cache."""
    rundir = folder("beside-plain")
    path = str(rundir / KIND / "exported")
    exports = [Export(1, f"/{KIND}", VFS, path=path, extra=freshness.extra),
               Export(2, "/plain", fsal, path=path, stacked=False)]
    instance = serve(rundir, stack, freshness, [KIND], exports=exports)
    report(instance)
    try:
        with contextlib.closing(Place(instance, KIND, freshness.within)) \
                as place, contextlib.ExitStack() as opened:
            plain = [opened.enter_context(contextlib.closing(
                connect(instance, version, "/plain")))
                for version in VERSIONS]
            name = os.fsencode(place.name)
            for client in plain:
                here = client.lookup(client.root, name).handle
                (place.here / "there").touch()
                place.agree()
                assert client.create(here, b"file").status == OK
                place.agree()
                handle = client.lookup(here, b"file").handle
                assert client.write(handle, 0, b"text").status == OK
                place.agree()
                assert client.setattr(handle, mode=0o600).status == OK
                place.agree()
                assert client.rename(here, b"file", here, b"there") \
                    .status == OK
                place.agree()
                assert client.remove(here, b"there").status == OK
                place.agree()
    finally:
        stop(instance)


def test_scenarios_can_fail(stack, folder, report):
    """The control: who is told nothing fails each of the scenarios."""
    instance = serve(folder("blind"), stack, BLIND, [KIND])
    report(instance)
    passed = []
    try:
        for name, scenario in SCENARIOS.items():
            place = Place(instance, KIND, 0.2)
            with contextlib.closing(place):
                try:
                    place.follow(scenario)
                    passed.append(name)
                except AssertionError:
                    pass
        assert not passed
    finally:
        stop(instance)
