# SPDX-License-Identifier: LGPL-3.0-or-later
"""Several exports in one server, and changing them while clients work."""

import dataclasses

import pytest

from backends import BACKENDS
from backends.mem import Mem
from harness.ganesha import Export, Settings
from harness.kclient import GuestFailure
from harness.wait import wait_for

VERSIONS = ("3", "4.0", "4.1")
MOST_SECONDS = 90       # that the work may go on
LONGEST_ROUND = 8.0     # seconds


def mem_export(export_id, pseudo):
    return Export(export_id, pseudo, "FSAL { Name = MEM; }", path=pseudo)


def vfs_export(directory, export_id, pseudo, **arguments):
    return Export(export_id, pseudo, "FSAL { Name = VFS; }",
                  path=str(directory), **arguments)


class Work:
    """I/O on the first export by all versions, until end()."""

    def __init__(self, instance):
        self.client = instance.client(1)
        self.futures = [
            self.client.start(
                "steps:keep_working", deadline=MOST_SECONDS + 10,
                path=f"{instance.mounted(version, 1)}/work-{version}",
                marker="enough", most=MOST_SECONDS)
            for version in VERSIONS]

    def going_on(self):
        return not any(future.done() for future in self.futures)

    def end(self):
        assert self.going_on(), "the work failed before it was told to end"
        self.client.call("steps:write", path="/tmp/enough", text="")
        for future in self.futures:
            rounds, longest = self.client.wait(future)
            assert rounds > 5
            assert longest < LONGEST_ROUND, f"a round took {longest:.1f} s"


@pytest.mark.parametrize("way", ("dbus", "sighup"))
def test_exports_change_while_clients_work(own_instance, way):
    instance = own_instance("VFS")
    server, client = instance.server, instance.client()
    first = instance.export
    other = instance.rundir / "other"
    other.mkdir()
    (other / "there").write_text("before")
    work = Work(instance)

    added = vfs_export(other, 50, "/added")
    if way == "dbus":
        server.add_export(added)
    else:
        server.exports = [first, added]
        server.reload()
        server.wait_log("Export.*50|reread|Reread")
    paths = {version: mount_soon(client, version, "/added")
             for version in VERSIONS}
    for version, path in paths.items():
        assert client.call("steps:read", path=f"{path}/there") == "before"
        client.call("steps:write", path=f"{path}/{version}", text=version)
        assert (other / version).read_text() == version

    changed = dataclasses.replace(added, access="RO")
    if way == "dbus":
        server.update_export(changed)
    else:
        server.exports = [first, changed]
        server.reload()
    for version, path in paths.items():
        assert soon(lambda: client.call(
            "steps:error_of", step="write", path=f"{path}/no-{version}",
            text="") == "EROFS"), f"{version}: still writable"
        assert client.call("steps:read", path=f"{path}/there") == "before"
        assert not (other / f"no-{version}").exists()

    if way == "dbus":
        server.remove_export(50)
    else:
        server.exports = [first]
        server.reload()
    for version, path in paths.items():
        assert soon(lambda: client.call(
            "steps:error_of", step="read", path=f"{path}/there")), \
            f"{version}: the removed export is still served"
    work.end()
    assert server.running and not server.crashes()


def soon(condition, within=10):
    """condition() becomes true."""
    try:
        return wait_for(condition, within, "the change to be seen", step=0.3)
    except TimeoutError:
        return False


def mount_soon(client, version, pseudo):
    """Mount an export that was just added."""
    found = []

    def attempt():
        try:
            found.append(client.mount(version, pseudo))
        except GuestFailure:
            return False
        return True

    assert soon(attempt), f"{pseudo} cannot be mounted by {version}"
    return found[0]


def test_different_backends_do_not_mix(own_instance, tmp_path):
    """Same names, other content; two MEM exports have like handles."""
    second = tmp_path / "second"
    second.mkdir()
    exports = [BACKENDS["VFS"](tmp_path / "unused").export(1, "/vfs1"),
               vfs_export(second, 2, "/vfs2"),
               mem_export(3, "/mem1"), mem_export(4, "/mem2")]
    exports[0].path = str(tmp_path)
    instance = own_instance("VFS", exports=exports,
                            settings=Settings(blocks=list(Mem.blocks)))
    client = instance.client()
    paths = {(export.pseudo, version): client.mount(version, export.pseudo)
             for export in exports for version in VERSIONS}

    def content(pseudo, version):
        return {name: f"{pseudo} {version} {name}" for name in "abc"}

    for (pseudo, version), path in paths.items():
        client.call("steps:write_tree", path=f"{path}/d{version}",
                    files=content(pseudo, version))
    for (pseudo, _), path in paths.items():
        for other in VERSIONS:
            assert client.call("steps:read_tree", path=f"{path}/d{other}") \
                == content(pseudo, other)
    assert (second / "d3" / "a").read_text() == "/vfs2 3 a"
    assert not instance.server.crashes()


def test_one_directory_exported_twice(own_instance):
    """Both exports share the server's entries; one may go away."""
    instance = own_instance("VFS")
    directory = instance.backend.directory
    client, server = instance.client(), instance.server
    server.add_export(vfs_export(directory, 61, "/twin"))
    for version in VERSIONS:
        ours = instance.mounted(version, options="lookupcache=none")
        twin = client.mount(version, "/twin")
        client.call("steps:write", path=f"{ours}/f{version}", text="ours")
        assert client.call("steps:read", path=f"{twin}/f{version}") == "ours"
        client.call("steps:write", path=f"{twin}/f{version}", text="twin's")
        assert (directory / f"f{version}").read_text() == "twin's"
        assert client.call("steps:attributes",
                           path=f"{ours}/f{version}")["size"] == 6
        client.call("steps:rename", old=f"{twin}/f{version}",
                    new=f"{twin}/moved{version}")
        assert client.call("steps:attributes",
                           path=f"{ours}/f{version}") is None
        client.unmount(twin)
    server.remove_export(61)
    for version in VERSIONS:
        ours = instance.mounted(version)
        assert client.call("steps:read",
                           path=f"{ours}/moved{version}") == "twin's"
        client.call("steps:write", path=f"{ours}/after{version}", text="on")
        client.call("steps:remove", path=f"{ours}/moved{version}")
    assert sorted(path.name for path in directory.iterdir()) == \
        ["after3", "after4.0", "after4.1"]
    assert server.running and not server.crashes()


def test_export_added_and_removed_again_and_again(own_instance):
    instance = own_instance("VFS")
    server, client = instance.server, instance.client()
    other = instance.rundir / "other"
    other.mkdir()
    for number in range(5):
        server.add_export(vfs_export(other, 70 + number % 2, "/again"))
        path = client.mount("4.1", "/again")
        client.call("steps:write", path=f"{path}/f{number}", text="x")
        client.unmount(path)
        server.remove_export(70 + number % 2)
    assert len(list(other.iterdir())) == 5
    client.call("steps:write", path=instance.mounted("3") + "/f", text="x")
    assert server.running and not server.crashes()
