# SPDX-License-Identifier: LGPL-3.0-or-later
"""Freshness = notify: which file systems are watched."""

import json
import socket
import time

import pytest

from backends import BACKENDS
from harness.answers import NOENT, OK
from harness.ganesha import Stack
from harness.instance import Instance
from harness.nfs import connect
from harness.wait import wait_for

CONTROL = "/run/ganesha-scale/control"

pytestmark = [pytest.mark.scale_only, pytest.mark.xdist_group("VFS")]


class MountPoint(BACKENDS["VFS"]):
    """The exported directory is where a file system is mounted."""

    def start(self, namespace):
        super().start(namespace)
        namespace.run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs",
                      self.directory)


def watcher(instance):
    """What is watched, and the counters."""
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(10)
        control.connect(f"/proc/{instance.server.pid}/root{CONTROL}")
        control.sendall(b'{"scale": 1, "command": "stats"}\n')
        with control.makefile("rb") as answer:
            return json.loads(answer.readline())["watcher"]


def test_what_lies_above_a_mount_point_is_not_watched(stack, folder, report):
    """VFS claims it, too, when Ganesha asks for the parent of the root."""
    rundir = folder("watched")
    notify = Stack("scale", stack.module, options="Freshness = notify;")
    instance = Instance(rundir, notify, MountPoint(rundir))
    report(instance)
    try:
        inside = f"/proc/{instance.ns.pid}/root{instance.backend.directory}"
        client = connect(instance, "3")
        assert client.lookup(client.root, b"new").status == NOENT
        assert watcher(instance)["file_systems"] == [
            {"path": str(instance.backend.directory), "watched": True}]
        before = watcher(instance)["counters"]["events"]
        for number in range(100):
            (rundir / f"beside{number}").touch()
        time.sleep(0.2)
        assert watcher(instance)["counters"]["events"] == before
        with open(f"{inside}/new", "wb"):
            pass
        wait_for(lambda: client.lookup(client.root, b"new").status == OK, 2,
                 "the new file to be seen")
        assert watcher(instance)["counters"]["events"] > before
        client.close()
    finally:
        instance.stop()
