# SPDX-License-Identifier: LGPL-3.0-or-later
"""Freshness = notify: which file systems are watched."""

import json
import os
import socket
import time

import pytest

from backends import BACKENDS
from beside.filesystems import mount_new, supported
from harness.answers import NOENT, OK
from harness.ganesha import Export, Settings, Stack
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


class Overlay(MountPoint):
    """An overlay, of which the kernel makes handles."""

    def start(self, namespace):
        super().start(namespace)
        for name in ("lower", "upper", "work"):
            namespace.run("mkdir", self.directory / name)
        namespace.run("mount", "-t", "overlay", "overlay", "-o",
                      ",".join(["nfs_export=on", "index=on",
                                f"lowerdir={self.directory}/lower",
                                f"upperdir={self.directory}/upper",
                                f"workdir={self.directory}/work"]),
                      self.directory)


@pytest.fixture
def serve(stack, folder, report):
    """serve(backend's class, ...): a server that is told, for one test."""
    started = []

    def make(backend, exports=None, settings=None):
        rundir = folder("watched")
        notify = Stack("scale", stack.module, options="Freshness = notify;")
        backend = backend(rundir)
        instance = Instance(rundir, notify, backend,
                            settings and settings(backend),
                            exports and exports(backend))
        report(instance)
        started.append(instance)
        return instance

    yield make
    for instance in started:
        instance.stop()


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


def test_an_overlay_is_not_watched(serve):
    """Of what is done to its layers the kernel does not tell."""
    instance = serve(Overlay)
    one, = watcher(instance)["file_systems"]
    assert not one["watched"] and "this machine alone" in one["why_not"]


def test_directories_of_the_servers_own(serve):
    """Ganesha makes them, and not by an export: they are seen all the same."""
    def settings(backend):
        return Settings(nfsv4="Lease_Lifetime = 20; Graceless = true; "
                        f'RecoveryRoot = "{backend.directory}/state";')

    class State(BACKENDS["VFS"]):
        def start(self, namespace):
            super().start(namespace)
            namespace.run("mkdir", self.directory / "state")

    instance = serve(State, settings=settings)
    client = connect(instance, "3")
    state = instance.backend.directory / "state"
    path = next(state.glob("**/node0"))
    handle = client.root
    for name in path.relative_to(instance.backend.directory).parts:
        handle = client.lookup(handle, name.encode()).handle
    assert set(client.readdir(handle).names) == {b".", b".."}
    other = connect(instance, "4.1")
    assert other.create(other.root, b"file").status == OK
    wait_for(lambda: len(list(path.iterdir())) == 1, 5,
             "the server to keep something of its client")
    name, = [one.name.encode() for one in path.iterdir()]
    wait_for(lambda: name in client.readdir(handle).names, 2,
             "it to be listed")
    assert client.lookup(handle, name).status == OK
    other.close()
    client.close()


class Device(MountPoint):
    """A file system on a device, and another export."""

    def start(self, namespace):
        BACKENDS["VFS"].start(self, namespace)
        self.ns = namespace
        mount_new(namespace, supported()[0], self.mounted)

    @property
    def mounted(self):
        return self.directory.with_name("device")

    def exports(self):
        return [Export(1, "/vfs", "FSAL { Name = VFS; }",
                       path=str(self.directory)),
                Export(2, "/device", "FSAL { Name = VFS; }",
                       path=str(self.mounted))]

    def again(self):
        """Mount it as another device."""
        image = self.mounted.with_name("device.image")
        device = self.ns.run("stat", "-c", "%d", self.mounted).stdout
        self.ns.run("umount", self.mounted)
        other = self.mounted.with_name("other.image")
        self.ns.run("truncate", "-s", "1M", other)
        taken = []
        try:
            for _ in range(16):
                taken.append(self.ns.run("losetup", "-f", "--show",
                                         other).stdout.strip())
                self.ns.run("mount", "-o", "loop", image, self.mounted)
                if self.ns.run("stat", "-c", "%d",
                               self.mounted).stdout != device:
                    return
                self.ns.run("umount", self.mounted)
            raise AssertionError("it is always the same device")
        finally:
            for one in taken:
                self.ns.run("losetup", "-d", one)


def test_a_device_of_another_number(serve):
    """Unmounted while it was not exported, and mounted by another name."""
    instance = serve(Device, exports=lambda backend: backend.exports())
    both = instance.server.exports
    instance.server.exports = both[:1]
    instance.server.reload()
    wait_for(lambda: len(watcher(instance)["file_systems"]) == 1, 10,
             "the export to go")
    instance.backend.again()
    instance.server.exports = both
    instance.server.reload()
    wait_for(lambda: len(watcher(instance)["file_systems"]) == 2, 10,
             "the export to come")
    assert all(one["watched"] for one in watcher(instance)["file_systems"])


def open_files(instance, directory):
    """What the server has open below a directory."""
    fds = f"/proc/{instance.server.pid}/fd"
    paths = []
    for fd in os.listdir(fds):
        try:
            paths.append(os.readlink(f"{fds}/{fd}"))
        except FileNotFoundError:
            pass
    return {path.removeprefix(f"{directory}/") for path in paths
            if path.startswith(f"{directory}/")}


def test_what_is_replaced_or_removed_is_let_go(serve):
    """Its space is not kept by a descriptor that nobody uses."""
    instance = serve(BACKENDS["VFS"])
    directory = instance.backend.directory
    names = ("replaced", "removed", "stays")
    for name in names:
        (directory / name).write_text("x")
    client = connect(instance, "3")
    for name in names:
        handle = client.lookup(client.root, name.encode()).handle
        assert client.read(handle, 0, 1).status == OK
    assert open_files(instance, directory) == set(names)
    (directory / "new").write_text("y")
    os.rename(directory / "new", directory / "replaced")
    os.unlink(directory / "removed")
    wait_for(lambda: open_files(instance, directory) == {"stays"}, 5,
             "the two to be closed")
    client.close()
