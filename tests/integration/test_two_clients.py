# SPDX-License-Identifier: LGPL-3.0-or-later
"""Two kernel clients on one export: locks, and each other's changes.

By version 3 locks go through NLM, and each side has a statd for it.
"""

import time

import pytest

from backends import BACKENDS
from harness.kclient import GuestFailure

CASES = [pytest.param(backend, version, id=f"{backend}-{version}",
                      marks=pytest.mark.xdist_group(backend))
         for backend in BACKENDS for version in ("3", "4.0", "4.1")]


@pytest.fixture
def pair(instances, report, backend, version):
    """Two clients and, for each, the path of one new empty directory."""
    instance = instances(backend)
    report(instance)
    name = f"two-{version}-{time.time_ns()}"
    options = "lock" if version == "3" else ""
    paths = [f"{instance.mounted(version, number, options)}/{name}"
             for number in (0, 1)]
    clients = instance.client(0), instance.client(1)
    clients[0].call("steps:make_directory", path=paths[0])
    return clients, paths


@pytest.mark.parametrize("backend, version", CASES)
def test_write_lock_keeps_the_other_out(pair):
    (one, two), paths = pair
    mine, other = (path + "/f" for path in paths)
    one.call("steps:write", path=mine, text="x" * 1000)
    assert two.call("locks:conflicting", path=other, kind="write") is None
    held = one.start("locks:hold", path=mine, name="w", kind="write",
                     start=100, length=50)
    one.call("locks:is_held", name="w")
    assert not two.call("locks:can_take", path=other, kind="write")
    assert not two.call("locks:can_take", path=other, kind="read", start=149,
                        length=1)
    assert two.call("locks:can_take", path=other, kind="write", length=100)
    assert two.call("locks:can_take", path=other, kind="write", start=150)
    assert two.call("locks:conflicting", path=other, kind="read") == \
        ["write", 100, 50]
    one.call("locks:release", name="w")
    one.wait(held)
    assert two.call("locks:can_take", path=other, kind="write")


@pytest.mark.parametrize("backend, version", CASES)
def test_read_locks_are_shared(pair):
    (one, two), paths = pair
    mine, other = (path + "/f" for path in paths)
    one.call("steps:write", path=mine, text="x")
    held = one.start("locks:hold", path=mine, name="r", kind="read")
    one.call("locks:is_held", name="r")
    assert two.call("locks:can_take", path=other, kind="read")
    assert not two.call("locks:can_take", path=other, kind="write")
    one.call("locks:release", name="r")
    one.wait(held)


@pytest.mark.parametrize("backend, version", CASES)
def test_waiting_for_a_lock(pair):
    (one, two), paths = pair
    mine, other = (path + "/f" for path in paths)
    one.call("steps:write", path=mine, text="x")
    held = one.start("locks:hold", path=mine, name="first", kind="write")
    one.call("locks:is_held", name="first")
    waiting = two.start("locks:hold", deadline=40, path=other, name="second",
                        kind="write", wait=True)
    time.sleep(1)
    assert not waiting.done()
    one.call("locks:release", name="first")
    one.wait(held)
    two.call("locks:is_held", deadline=30, name="second", within=25)
    two.call("locks:release", name="second")
    assert two.wait(waiting) > 0.5


@pytest.mark.parametrize("backend, version", CASES)
def test_counting_under_a_lock(pair):
    """Each client must read what the other has just written."""
    clients, paths = pair
    clients[0].call("steps:write", path=paths[0] + "/n", text="0" * 20)
    running = [client.start("locks:add_one", deadline=90, path=path + "/n",
                            times=15)
               for client, path in zip(clients, paths)]
    for client, future in zip(clients, running):
        client.wait(future)
    for client, path in zip(clients, paths):
        assert int(client.call("locks:locked_read", path=path + "/n")) == 30


@pytest.mark.parametrize("backend, version", CASES)
def test_close_to_open(pair, backend):
    """What one has closed, the other sees when it opens."""
    (one, two), paths = pair
    # FSAL_GLUSTER tells whole seconds: within one, nothing seems to change.
    pause = 1.1 if backend == "GLUSTER" else 0
    for number in range(3):
        text = f"version {number} " * (number + 1)
        one.call("steps:write", path=paths[0] + "/f", text=text)
        assert two.call("steps:read", path=paths[1] + "/f") == text
        time.sleep(pause)
        two.call("steps:write", path=paths[1] + "/f", text=text.upper())
        assert one.call("steps:read", path=paths[0] + "/f") == text.upper()
        time.sleep(pause)


@pytest.mark.parametrize("backend, version", CASES)
def test_changes_of_names(pair, backend):
    """Asked anew, the server tells each of the other's changes at once."""
    (one, two), paths = pair
    one.call("steps:write", path=paths[0] + "/a", text="a")
    assert two.call("steps:attributes", path=paths[1] + "/a")["size"] == 1
    two.call("steps:write", path=paths[1] + "/a", text="four")
    assert one.call("steps:attributes", path=paths[0] + "/a")["size"] == 4
    one.call("steps:remove", path=paths[0] + "/a")
    assert "a" not in two.call("steps:names", path=paths[1])
    if backend == "CEPH":
        # FSAL_CEPH serves the handle of a removed file for a while, and a
        # client that still has the name opens by handle.
        return
    with pytest.raises(GuestFailure, match="ESTALE|Stale|No such file"):
        assert two.call("steps:read", path=paths[1] + "/a") is None
